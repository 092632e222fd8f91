/* Handing tasks over: admission, its bound, and the length of the queue. */
#include "rt_scheduler_parts.h"

static uint64_t started_slices(const rt_scheduler *self) {
    uint64_t started = 0;
    for (uint32_t i = 0; i < self->worker_count; i++) {
        started += (atomic_load_explicit(&self->workers[i].steps, memory_order_relaxed) + 1) / 2;
    }
    return started;
}

/* Waiting for a worker. Under the lock it can only fall while it is being read, so the answer is a length that
 * the queue had during the call. */
uint64_t rt_scheduler_queued(const rt_scheduler *self) {
    return self->admitted + self->requeued - self->taken_back - started_slices(self);
}

/* How many of `count` tasks find room. What is in flight is at least what is queued, and known without asking
 * the workers: only when that does not fit their counters are read. */
static size_t room_for(const rt_scheduler *self, size_t count) {
    if (rt_scheduler_in_flight(self) + count <= self->queue_limit) {
        return count;
    }
    const uint64_t queued = rt_scheduler_queued(self);
    const uint64_t room = queued < self->queue_limit ? self->queue_limit - queued : 0;
    return count < room ? count : (size_t)room;
}

/* Only an admission or a task queued again can make the queue longer than ever. */
void rt_scheduler_raise_peak(rt_scheduler *self) {
    if (rt_scheduler_in_flight(self) > self->queue_peak) {
        const uint64_t queued = rt_scheduler_queued(self);
        self->queue_peak = queued > self->queue_peak ? queued : self->queue_peak;
    }
}

static size_t admit(rt_scheduler *self, rt_task *const *tasks, size_t count, uint64_t now_ns) {
    const size_t room = room_for(self, count);
    if (self->admitted == 0) {
        self->first_ns = now_ns; /* what workers waited before is nobody's idle time */
        self->changed_ns = now_ns;
        self->idle_ns = 0;
        self->idle_while_queued_ns = 0;
    }
    rt_scheduler_add_idle(self, now_ns);
    for (size_t i = 0; i < room; i++) {
        tasks[i]->admitted_ns = now_ns;
        __atomic_store_n(&tasks[i]->control, RT_TASK_ADMITTED, __ATOMIC_RELAXED);
        rt_ready_queue_push_back(&self->ready, tasks[i]);
    }
    self->admitted += room;
    self->rejected += count - room;
    rt_scheduler_raise_peak(self);
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
    rt_lock_hold hold = rt_scheduler_lock(self, RT_SCHEDULER_SUBMIT);
    if (!rt_scheduler_is_abandoned(self)) {
        const uint64_t now_ns = rt_clock_now_ns(self->clock);
        room = admit(self, tasks, count, now_ns);
        status = room == count ? RT_OK : RT_FULL;
        helper = rt_scheduler_pick_idle(self, now_ns);
    }
    rt_scheduler_unlock(self, &hold);
    rt_scheduler_signal(helper);
    if (admitted != NULL) {
        *admitted = room;
    }
    return status;
}

rt_status rt_scheduler_submit(rt_scheduler *self, rt_task *task) {
    return rt_scheduler_submit_many(self, &task, 1, NULL);
}
