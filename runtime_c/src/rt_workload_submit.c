/* How tasks reach the scheduler: in a closed loop with a window, in batches of it, or all at once while the workers
 * are held. The open loops are in rt_workload_open.c. */
#include "rt_memory.h"
#include "rt_workload_parts.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Released tasks come back late by what each worker settles (a batch) beside the batch that it runs. Suspended
 * tasks are in no queue and under no limit of it. */
uint64_t rt_workload_task_objects(const rt_workload_options *options) {
    const uint64_t batches = options->workers * (uint64_t)RT_SCHEDULER_MAX_BATCH;
    if (options->submission == RT_SUBMISSION_CLOSED) {
        return least(options->window + batches + RT_SUBMIT_BATCH, options->tasks);
    }
    const uint64_t suspended = options->stack_bytes == 0 ? 0
                               : options->max_suspended == 0 ? options->tasks
                                                             : options->max_suspended;
    return least(least(options->queue_limit, options->tasks) + suspended + 2 * batches + RT_SUBMIT_MOST,
                 options->tasks);
}

/* ---- a batch ---- */

static void fill_in(const rt_workload *self, rt_task *const *tasks, uint64_t first_id, size_t count,
                    const uint64_t *due_ns) {
    const uint64_t now_ns = due_ns == NULL ? rt_clock_now_ns(self->clock) : 0;
    const uint64_t timeout_ns = self->options.timeout_us * 1000u;
    const uint32_t priorities = self->options.priorities;
    for (size_t i = 0; i < count; i++) {
        const uint64_t submitted_ns = due_ns == NULL ? now_ns : due_ns[i];
        tasks[i]->id = first_id + i;
        tasks[i]->priority = (uint8_t)(priorities == 1 ? 0 : (first_id + i) % priorities);
        tasks[i]->submitted_ns = submitted_ns;
        tasks[i]->deadline_ns = timeout_ns == 0 ? 0 : submitted_ns + timeout_ns;
    }
}

/* That some have ended by now is part of the experiment. */
static void cancel_chosen(rt_workload *self, rt_task *const *tasks, uint64_t first_id, size_t admitted) {
    if (self->chosen.permille[RT_FAULT_CANCEL] == 0) {
        return;
    }
    for (size_t i = 0; i < admitted; i++) {
        if (rt_faults_choose(&self->chosen, RT_FAULT_CANCEL, first_id + i)) {
            self->cancels_asked++;
            rt_scheduler_cancel(self->scheduler, tasks[i], first_id + i);
        }
    }
}

rt_status rt_workload_submit_batch(rt_workload *self, uint64_t first_id, size_t count,
                                   const uint64_t *due_ns) {
    rt_task *tasks[RT_SUBMIT_MOST];
    size_t admitted;
    const size_t taken = rt_task_pool_take(self->pool, tasks, count);
    if (taken < count) { /* there is room: rt_workload_task_objects says so */
        rt_task_pool_give(self->pool, tasks, taken);
        return RT_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(tasks[i], 1); /* a worker wrote there last: fetch all at once, not one by one */
    }
    fill_in(self, tasks, first_id, count, due_ns);
    const rt_status status = rt_scheduler_submit_many(self->scheduler, tasks, count, &admitted);
    rt_task_pool_give(self->pool, tasks + admitted, count - admitted);
    cancel_chosen(self, tasks, first_id, admitted);
    return status == RT_FULL ? RT_OK : status; /* rejections are counted by the scheduler */
}

/* ---- closed ---- */

/* Waits in slices, so that a request to stop, which may come from a signal handler, is seen. */
static rt_status wait_in_flight(rt_workload *self, uint64_t in_flight) {
    rt_status status = RT_TIMED_OUT;
    while (status == RT_TIMED_OUT && !rt_workload_must_stop(self)) {
        status = rt_scheduler_wait_in_flight(self->scheduler, in_flight, RT_STOP_POLL_NS);
    }
    return status == RT_TIMED_OUT ? RT_STOPPED : status;
}

static rt_status submit_closed(rt_workload *self, uint64_t first, uint64_t end) {
    const uint64_t window = self->options.window;
    const uint64_t refill_at = window / 2;
    uint64_t room = window;
    rt_status status = RT_OK;
    for (uint64_t next = first; next < end && status == RT_OK;) {
        if (rt_workload_must_stop(self)) {
            return RT_STOPPED;
        }
        if (room == 0) {
            status = wait_in_flight(self, refill_at);
            room = window - refill_at;
            continue;
        }
        const size_t count = (size_t)least(least(RT_SUBMIT_BATCH, room), end - next);
        status = rt_workload_submit_batch(self, next, count, NULL);
        next += count;
        room -= count;
    }
    return status;
}

/* ---- batches ---- */

static void note_batch(rt_workload *self, uint32_t batch) {
    rt_memory_usage memory = {.rss_bytes = 0};
    if (rt_memory_read("", &memory) != RT_OK) {
        memory = (rt_memory_usage){.rss_bytes = 0};
    }
    self->batches[self->batch_count++] = (rt_workload_batch){
        .batch = batch,
        .tasks_done = self->options.tasks / self->options.batches * batch,
        .t_ns = rt_workload_since_start(self, rt_clock_now_ns(self->clock)),
        .rss_bytes = memory.rss_bytes,
        .rss_anon_bytes = memory.rss_anon_bytes,
        .allocated_bytes = atomic_load(&self->allocator.allocated_bytes),
    };
}

/* The last batch is drained here too: its memory is read like that of the others. */
static rt_status submit_batches(rt_workload *self) {
    const uint64_t tasks = self->options.tasks / self->options.batches;
    rt_status status = RT_OK;
    for (uint32_t batch = 1; status == RT_OK && batch <= self->options.batches; batch++) {
        status = submit_closed(self, (batch - 1) * tasks, batch * tasks);
        self->last_submit_ns = rt_clock_now_ns(self->clock);
        if (status == RT_OK) {
            status = wait_in_flight(self, 0);
        }
        if (status == RT_OK) {
            note_batch(self, batch);
        }
    }
    return status;
}

/* ---- held ---- */

static rt_status queue_all(rt_workload *self) {
    rt_status status = RT_OK;
    for (uint64_t next = 0; next < self->options.tasks && status == RT_OK;) {
        if (rt_workload_must_stop(self)) {
            return RT_STOPPED;
        }
        const size_t count = (size_t)least(RT_SUBMIT_MOST, self->options.tasks - next);
        status = rt_workload_submit_batch(self, next, count, NULL);
        next += count;
    }
    return status;
}

static void look_at_queue(rt_workload *self, rt_status read_before, const rt_memory_usage *before) {
    rt_scheduler_counts counts;
    rt_memory_usage after;
    rt_scheduler_count(self->scheduler, &counts);
    self->held.seen = true;
    self->held.queue = counts.queued;
    self->held.has_bytes =
        counts.queued > 0 && read_before == RT_OK && rt_memory_read("", &after) == RT_OK;
    if (self->held.has_bytes) {
        self->held.bytes_per_task =
            ((double)after.rss_anon_bytes - (double)before->rss_anon_bytes) / (double)counts.queued;
    }
}

static rt_status submit_held(rt_workload *self) {
    rt_memory_usage before = {.rss_bytes = 0};
    const rt_status read = rt_memory_read("", &before);
    rt_scheduler_hold(self->scheduler);
    const rt_status status = queue_all(self);
    self->last_submit_ns = rt_clock_now_ns(self->clock);
    if (status == RT_OK) {
        look_at_queue(self, read, &before);
    }
    atomic_store(&self->submitted_ns, rt_clock_now_ns(self->clock));
    rt_scheduler_release(self->scheduler);
    return status;
}

rt_status rt_workload_submit_all(rt_workload *self) {
    switch (self->options.submission) {
    case RT_SUBMISSION_HELD:
        return submit_held(self);
    case RT_SUBMISSION_PACED:
    case RT_SUBMISSION_POISSON:
        return rt_workload_submit_open(self);
    default:
        return self->options.batches > 1 ? submit_batches(self)
                                         : submit_closed(self, 0, self->options.tasks);
    }
}
