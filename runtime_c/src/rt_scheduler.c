/* The scheduler seen from outside: create, submit, wait, hold, abandon, destroy. */
#include "rt_scheduler_parts.h"

#include <string.h>

/* Outputs larger than this a batch make a worker take fewer tasks at once. */
#define BATCH_OUTPUT_BYTES (256u * 1024u)

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
    if (self->workers == NULL || self->idle_stack == NULL || status != RT_OK) {
        return RT_NO_MEMORY;
    }
    for (uint32_t i = 0; i < self->worker_count; i++) {
        if (allocate_worker(self, i) != RT_OK) {
            return RT_NO_MEMORY;
        }
    }
    return RT_OK;
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
    status = start_threads(self, options->start_thread != NULL ? options->start_thread : pthread_create, why);
    if (status != RT_OK) {
        rt_scheduler_destroy(self);
        return status;
    }
    *out = self;
    return RT_OK;
}

/* Nothing admitted stays queued, and batches are given back. Under the lock. */
static void cancel_queued(rt_scheduler *self) {
    self->abandoned = true;
    self->cancelled += self->ready.count;
    rt_ready_queue_init(&self->ready);
    rt_scheduler_update_yield(self);
}

/* The flag and the wake-ups under one lock: a worker is either before its test of the flag or asleep. */
static void stop_threads(rt_scheduler *self) {
    pthread_mutex_lock(&self->lock);
    cancel_queued(self);
    self->stopping = true;
    for (uint32_t i = 0; i < self->started_threads; i++) {
        pthread_cond_signal(&self->workers[i].wake);
    }
    pthread_mutex_unlock(&self->lock);
    for (uint32_t i = 0; i < self->started_threads; i++) {
        pthread_join(self->workers[i].thread, NULL);
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
    rt_history_reset(&self->history, self->allocator);
    rt_free(self->allocator, self->idle_stack);
    rt_free_lines(self->allocator, self->workers);
    rt_free_lines(self->allocator, self);
}

/* ---- submit ---- */

static uint64_t started_tasks(const rt_scheduler *self) {
    uint64_t started = 0;
    for (uint32_t i = 0; i < self->worker_count; i++) {
        started += (atomic_load_explicit(&self->workers[i].steps, memory_order_relaxed) + 1) / 2;
    }
    return started;
}

/* Admitted and not started. Under the lock it can only fall while it is being read, so the answer is a length
 * that the queue had during the call. */
static uint64_t queued_tasks(const rt_scheduler *self) {
    return self->admitted - self->cancelled - started_tasks(self);
}

/* How many of `count` tasks find room. What is in flight is at least what is queued, and known without asking
 * the workers: only when that does not fit their counters are read. */
static size_t room_for(const rt_scheduler *self, size_t count) {
    if (rt_scheduler_in_flight(self) + count <= self->queue_limit) {
        return count;
    }
    const uint64_t queued = queued_tasks(self);
    const uint64_t room = queued < self->queue_limit ? self->queue_limit - queued : 0;
    return count < room ? count : (size_t)room;
}

/* After an admission, the only moment at which the queue can be longer than ever. */
static void raise_peak(rt_scheduler *self) {
    if (rt_scheduler_in_flight(self) > self->queue_peak) {
        const uint64_t queued = queued_tasks(self);
        self->queue_peak = queued > self->queue_peak ? queued : self->queue_peak;
    }
}

static size_t admit(rt_scheduler *self, rt_task *const *tasks, size_t count) {
    const size_t room = room_for(self, count);
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    for (size_t i = 0; i < room; i++) {
        tasks[i]->admitted_ns = now_ns;
        rt_ready_queue_push_back(&self->ready, tasks[i]);
    }
    self->admitted += room;
    self->rejected += count - room;
    raise_peak(self);
    rt_scheduler_update_yield(self);
    return room;
}

rt_status rt_scheduler_submit_many(rt_scheduler *self, rt_task *const *tasks, size_t count,
                                   size_t *admitted) {
    size_t room = 0;
    rt_worker *helper = NULL;
    rt_status status = RT_STOPPED;
    if (admitted != NULL) {
        *admitted = 0;
    }
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    pthread_mutex_lock(&self->lock);
    if (!self->abandoned) {
        room = admit(self, tasks, count);
        status = room == count ? RT_OK : RT_FULL;
        helper = rt_scheduler_pick_idle(self);
    }
    pthread_mutex_unlock(&self->lock);
    rt_scheduler_signal(helper);
    if (admitted != NULL) {
        *admitted = room;
    }
    return status;
}

rt_status rt_scheduler_submit(rt_scheduler *self, rt_task *task) {
    return rt_scheduler_submit_many(self, &task, 1, NULL);
}

/* ---- wait ---- */

typedef bool (*condition)(const rt_scheduler *self, uint64_t in_flight);

static bool is_at_most(const rt_scheduler *self, uint64_t in_flight) {
    return rt_scheduler_in_flight(self) <= in_flight;
}

static bool is_quiet(const rt_scheduler *self, uint64_t in_flight) {
    (void)in_flight;
    return rt_scheduler_is_idle(self);
}

/* Asks to be woken at this number; with several waiters at the highest, so that none sleeps too long. */
static void arm(rt_scheduler *self, uint64_t in_flight) {
    self->wait_at_most = self->wait_armed && self->wait_at_most > in_flight ? self->wait_at_most : in_flight;
    self->wait_armed = true;
}

static rt_status wait_for(rt_scheduler *self, condition reached, uint64_t in_flight, uint64_t timeout_ns) {
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    int error = 0;
    pthread_mutex_lock(&self->lock);
    bool done = reached(self, in_flight);
    const struct timespec deadline = rt_clock_deadline(done ? 0 : timeout_ns);
    while (!done && error == 0) {
        arm(self, in_flight);
        error = timeout_ns == RT_SCHEDULER_FOREVER
                    ? pthread_cond_wait(&self->changed, &self->lock)
                    : pthread_cond_timedwait(&self->changed, &self->lock, &deadline);
        done = reached(self, in_flight);
    }
    pthread_mutex_unlock(&self->lock);
    return done ? RT_OK : RT_TIMED_OUT;
}

rt_status rt_scheduler_wait_in_flight(rt_scheduler *self, uint64_t in_flight, uint64_t timeout_ns) {
    return wait_for(self, is_at_most, in_flight, timeout_ns);
}

rt_status rt_scheduler_wait_idle(rt_scheduler *self, uint64_t timeout_ns) {
    return wait_for(self, is_quiet, 0, timeout_ns);
}

/* ---- hold and abandon ---- */

static rt_status set_held(rt_scheduler *self, bool held) {
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    pthread_mutex_lock(&self->lock);
    self->held = held;
    rt_scheduler_update_yield(self);
    rt_worker *const helper = rt_scheduler_pick_idle(self);
    pthread_mutex_unlock(&self->lock);
    rt_scheduler_signal(helper);
    return RT_OK;
}

rt_status rt_scheduler_hold(rt_scheduler *self) { return set_held(self, true); }

rt_status rt_scheduler_release(rt_scheduler *self) { return set_held(self, false); }

rt_status rt_scheduler_abandon(rt_scheduler *self) {
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    pthread_mutex_lock(&self->lock);
    cancel_queued(self);
    self->wait_armed = false;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    return RT_OK;
}
