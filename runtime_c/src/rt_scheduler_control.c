/* The scheduler steered from outside: wait, hold, cancel, abandon. */
#include "rt_scheduler_parts.h"

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
    rt_lock_hold hold = rt_scheduler_lock(self, RT_SCHEDULER_CONTROL);
    bool done = reached(self, in_flight);
    const struct timespec deadline = rt_clock_deadline(done ? 0 : timeout_ns);
    while (!done && error == 0) {
        arm(self, in_flight);
        rt_scheduler_end_hold(self, &hold);
        error = timeout_ns == RT_SCHEDULER_FOREVER
                    ? pthread_cond_wait(&self->changed, &self->lock)
                    : pthread_cond_timedwait(&self->changed, &self->lock, &deadline);
        done = reached(self, in_flight);
    }
    rt_scheduler_unlock(self, &hold);
    return done ? RT_OK : RT_TIMED_OUT;
}

rt_status rt_scheduler_wait_in_flight(rt_scheduler *self, uint64_t in_flight, uint64_t timeout_ns) {
    return wait_for(self, is_at_most, in_flight, timeout_ns);
}

rt_status rt_scheduler_wait_idle(rt_scheduler *self, uint64_t timeout_ns) {
    return wait_for(self, is_quiet, 0, timeout_ns);
}

/* ---- hold, cancel, abandon ---- */

static rt_status set_held(rt_scheduler *self, bool held) {
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    rt_lock_hold hold = rt_scheduler_lock(self, RT_SCHEDULER_CONTROL);
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    rt_scheduler_add_idle(self, now_ns);
    self->held = held;
    rt_scheduler_update_yield(self);
    rt_worker *const helper = rt_scheduler_pick_idle(self, now_ns);
    rt_scheduler_unlock(self, &hold);
    rt_scheduler_signal(helper);
    return RT_OK;
}

rt_status rt_scheduler_hold(rt_scheduler *self) { return set_held(self, true); }

rt_status rt_scheduler_release(rt_scheduler *self) { return set_held(self, false); }

/* Sets the request unless the task has ended; a worker may end it at this very moment. */
static bool ask_to_cancel(rt_task *task, uint64_t id) {
    uint8_t control = rt_task_control(task);
    bool asked = false;
    while (!asked && (control & RT_TASK_ADMITTED) != 0 && task->id == id) {
        asked = __atomic_compare_exchange_n(&task->control, &control, control | RT_TASK_CANCEL, true,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return asked;
}

rt_status rt_scheduler_cancel(rt_scheduler *self, rt_task *task, uint64_t id) {
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    rt_worker *helper = NULL;
    rt_lock_hold hold = rt_scheduler_lock(self, RT_SCHEDULER_CONTROL);
    const bool stopped = rt_scheduler_is_abandoned(self);
    const bool asked = !stopped && ask_to_cancel(task, id);
    if (asked) {
        const uint64_t now_ns = rt_clock_now_ns(self->clock);
        rt_scheduler_add_idle(self, now_ns);
        rt_scheduler_wake_task(self, task);
        rt_scheduler_update_yield(self);
        helper = rt_scheduler_pick_idle(self, now_ns);
    }
    rt_scheduler_unlock(self, &hold);
    rt_scheduler_signal(helper);
    return stopped ? RT_STOPPED : asked ? RT_OK : RT_NOT_FOUND;
}

void rt_scheduler_abandon_locked(rt_scheduler *self) {
    atomic_store_explicit(&self->abandoned, true, memory_order_relaxed);
    rt_scheduler_take_back_queued(self);
    rt_scheduler_wake_all(self);
    rt_scheduler_update_yield(self);
}

rt_status rt_scheduler_abandon(rt_scheduler *self) {
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    rt_lock_hold hold = rt_scheduler_lock(self, RT_SCHEDULER_CONTROL);
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    rt_scheduler_add_idle(self, now_ns);
    rt_scheduler_abandon_locked(self);
    rt_worker *const helper = rt_scheduler_pick_idle(self, now_ns);
    self->wait_armed = false;
    pthread_cond_broadcast(&self->changed);
    rt_scheduler_unlock(self, &hold);
    rt_scheduler_signal(helper);
    return RT_OK;
}
