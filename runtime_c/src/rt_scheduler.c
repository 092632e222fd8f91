/* Life of the scheduler: create and destroy. */
#include "rt_scheduler_parts.h"

#include <string.h>

/* Outputs larger than this a batch make a worker take fewer tasks at once. */
#define BATCH_OUTPUT_BYTES (256u * 1024u)

/* Pooled stacks at rest that keep their pages, beside one a worker. */
#define IDLE_STACKS 1024u

_Static_assert(sizeof(rt_task) == RT_LINE_BYTES, "a queued task is one cache line");

/* ---- create and destroy ---- */

static rt_status check_options(const rt_scheduler_options *options, rt_message *why) {
    if (options->workers == 0 || options->workers > RT_SCHEDULER_MAX_WORKERS) {
        return rt_fail(why, RT_INVALID, "workers is %u; choose 1 to %u", options->workers,
                       RT_SCHEDULER_MAX_WORKERS);
    }
    if (options->max_active == 0) {
        return rt_fail(why, RT_INVALID, "max_active is 0, so no task could ever run; choose 1 or more");
    }
    if (options->queue_limit == 0) {
        return rt_fail(why, RT_INVALID,
                       "queue_limit is 0, so every task would be rejected; choose 1 or more");
    }
    if (options->hooks.run == NULL) {
        return rt_fail(why, RT_INVALID, "there is no runner; set hooks.run");
    }
    if (options->stack_bytes != 0 && (options->stack_bytes < RT_SCHEDULER_MIN_STACK_BYTES ||
                                      options->stack_bytes > RT_SCHEDULER_MAX_STACK_BYTES)) {
        return rt_fail(why, RT_INVALID, "stack_bytes is %u; choose 0 (none) or %u to %u",
                       options->stack_bytes, RT_SCHEDULER_MIN_STACK_BYTES, RT_SCHEDULER_MAX_STACK_BYTES);
    }
    return RT_OK;
}

static uint32_t batch_limit_for(uint32_t output_capacity_bytes) {
    const uint32_t fitting =
        output_capacity_bytes == 0 ? RT_SCHEDULER_MAX_BATCH : BATCH_OUTPUT_BYTES / output_capacity_bytes + 1;
    return fitting < RT_SCHEDULER_MAX_BATCH ? fitting : RT_SCHEDULER_MAX_BATCH;
}

static void copy_options(rt_scheduler *self, const rt_scheduler_options *options) {
    self->allocator = options->allocator;
    self->clock = options->clock != NULL ? options->clock : &rt_clock_machine;
    self->hooks = options->hooks;
    self->worker_count = options->workers;
    self->max_active = options->max_active < options->workers ? options->max_active : options->workers;
    self->output_capacity_bytes = options->output_capacity_bytes;
    self->batch_limit = batch_limit_for(options->output_capacity_bytes);
    self->queue_limit = options->queue_limit;
    self->max_suspended = options->max_suspended == 0 ? UINT64_MAX : options->max_suspended;
    self->sample_every = options->contention_sample_every;
    self->next_wake_ns = UINT64_MAX;
    self->timekeeper_ns = UINT64_MAX;
    self->pid = getpid();
}

/* Deadlines must not move with the wall clock. */
static void init_condition(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The lock is held for some 100 ns, far less than it costs to sleep: so a waiter spins for a moment first. */
static void init_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static rt_status allocate_worker(rt_scheduler *self, uint32_t index) {
    rt_worker *const worker = &self->workers[index];
    init_condition(&worker->wake);
    worker->scheduler = self;
    worker->index = index;
    worker->batch_limit = 1; /* until it is known how long tasks take */
    for (uint32_t i = 0; i < self->batch_limit; i++) {
        worker->spares[i] = rt_history_spare(&self->history, index * self->batch_limit + i);
    }
    worker->histograms = rt_allocate_owned(self->allocator, RT_OWNER_HISTOGRAMS, RT_SCHEDULER_STAGES,
                                           sizeof *worker->histograms);
    if (worker->histograms == NULL) {
        return RT_NO_MEMORY;
    }
    for (unsigned stage = 0; stage < RT_SCHEDULER_STAGES; stage++) {
        worker->histograms[stage].min_ns = UINT64_MAX; /* the rest is zero: fresh pages stay untouched */
    }
    return RT_OK;
}

static rt_status allocate_parts(rt_scheduler *self, const rt_scheduler_options *options) {
    self->workers = rt_allocate_lines(self->allocator, self->worker_count, sizeof *self->workers);
    self->idle_stack = rt_allocate_array(self->allocator, self->worker_count, sizeof *self->idle_stack);
    const rt_status status = rt_history_init(&self->history, self->allocator, options->history_limit_tasks,
                                             options->history_limit_bytes, options->output_capacity_bytes,
                                             (uint64_t)self->worker_count * self->batch_limit);
    if (self->workers == NULL || self->idle_stack == NULL || status != RT_OK ||
        rt_scheduler_create_contention(self) != RT_OK) {
        return RT_NO_MEMORY;
    }
    for (uint32_t i = 0; i < self->worker_count; i++) {
        if (allocate_worker(self, i) != RT_OK) {
            return RT_NO_MEMORY;
        }
    }
    return RT_OK;
}

/* Every worker has its first stack before a thread starts, so that none can fail for want of it. */
static rt_status allocate_stacks(rt_scheduler *self, uint32_t stack_bytes, rt_message *why) {
    if (stack_bytes == 0) {
        return RT_OK;
    }
    const rt_status watched = rt_overflow_watch(why);
    if (watched != RT_OK) {
        return watched;
    }
    self->watches_overflow = true;
    rt_status status =
        rt_stack_pool_create(self->allocator, stack_bytes, IDLE_STACKS + self->worker_count, &self->stacks);
    for (uint32_t i = 0; i < self->worker_count && status == RT_OK; i++) {
        status = rt_worker_prepare_stack(&self->workers[i]);
    }
    return status == RT_OK
               ? RT_OK
               : rt_fail(why, status, "no memory for the first stacks of %u workers; choose fewer",
                         self->worker_count);
}

static rt_status start_threads(rt_scheduler *self, rt_thread_start start, rt_message *why) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, RT_STACK_BYTES);
    int error = 0;
    for (uint32_t i = 0; i < self->worker_count && error == 0; i++) {
        rt_worker *const worker = &self->workers[i];
        error = start(&worker->thread, &attributes, rt_worker_main, worker);
        self->started_threads += error == 0;
    }
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        return RT_OK;
    }
    return rt_fail(why, RT_NO_THREAD,
                   "worker %u of %u could not start: %s; raise the limits of threads and memory, or choose "
                   "fewer workers",
                   self->started_threads + 1, self->worker_count, strerror(error));
}

rt_status rt_scheduler_create(const rt_scheduler_options *options, rt_scheduler **out, rt_message *why) {
    *out = NULL;
    rt_status status = check_options(options, why);
    if (status != RT_OK) {
        return status;
    }
    rt_scheduler *const self = rt_allocate_lines(options->allocator, 1, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the scheduler; free some and run again");
    }
    copy_options(self, options);
    init_lock(&self->lock);
    init_condition(&self->changed);
    status = allocate_parts(self, options);
    if (status != RT_OK) {
        rt_scheduler_destroy(self);
        return rt_fail(why, status,
                       "no memory for %u workers and a history of %llu tasks; choose fewer of them",
                       options->workers, (unsigned long long)options->history_limit_tasks);
    }
    status = allocate_stacks(self, options->stack_bytes, why);
    if (status == RT_OK) {
        status =
            start_threads(self, options->start_thread != NULL ? options->start_thread : pthread_create, why);
    }
    if (status != RT_OK) {
        rt_scheduler_destroy(self);
        return status;
    }
    *out = self;
    return RT_OK;
}

/* The flag and the wake-ups under one lock: a worker is either before its test of the flag or asleep. */
static void stop_threads(rt_scheduler *self) {
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    rt_scheduler_abandon_locked(self); /* wakes every worker */
    pthread_mutex_unlock(&self->lock);
    for (uint32_t i = 0; i < self->started_threads; i++) {
        pthread_join(self->workers[i].thread, NULL);
    }
}

/* After the threads have ended; a thread that never started still has its first stack. In a child after fork
 * only the memory goes. */
static void destroy_stacks(rt_scheduler *self) {
    const bool forked = rt_scheduler_is_forked(self);
    for (uint32_t i = 0; self->stacks != NULL && !forked && i < self->worker_count; i++) {
        rt_coroutine *const unused = self->workers[i].coroutine;
        if (unused != NULL) {
            rt_stack_pool_give(self->stacks, rt_coroutine_drop(unused));
        }
    }
    rt_stack_pool_destroy(self->stacks);
    if (self->watches_overflow && !forked) {
        rt_overflow_unwatch();
    }
}

static void destroy_conditions(rt_scheduler *self) {
    for (uint32_t i = 0; self->workers != NULL && i < self->worker_count; i++) {
        if (self->workers[i].scheduler != NULL) {
            pthread_cond_destroy(&self->workers[i].wake);
        }
    }
}

void rt_scheduler_destroy(rt_scheduler *self) {
    if (self == NULL) {
        return;
    }
    if (!rt_scheduler_is_forked(self)) {
        stop_threads(self);
        destroy_conditions(self);
        pthread_cond_destroy(&self->changed);
        pthread_mutex_destroy(&self->lock);
    }
    for (uint32_t i = 0; self->workers != NULL && i < self->worker_count; i++) {
        rt_free_lines(self->allocator, self->workers[i].histograms);
    }
    destroy_stacks(self);
    rt_free_lines(self->allocator, self->lock_histograms);
    rt_history_reset(&self->history, self->allocator);
    rt_free(self->allocator, self->idle_stack);
    rt_free_lines(self->allocator, self->workers);
    rt_free_lines(self->allocator, self);
}
