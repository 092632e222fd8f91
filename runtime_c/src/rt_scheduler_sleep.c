/* Tasks that wait for a moment: into the heap of sleepers and out of it, and on a worker that waits too. */
#include "rt_scheduler_parts.h"

/* ---- under the lock ---- */

static void requeue(rt_scheduler *self, rt_ready_lane lane, rt_task *task) {
    rt_ready_queue_push(&self->ready, lane, task);
    self->requeued++;
}

static void update_next_wake(rt_scheduler *self) {
    self->next_wake_ns = rt_sleepers_next_ns(&self->sleepers);
}

void rt_scheduler_park_batch(rt_scheduler *self, rt_batch *batch, uint64_t now_ns) {
    for (uint32_t i = 0; i < batch->parked_count; i++) {
        rt_task *const task = batch->parked[i];
        rt_activation *const activation = task->activation;
        const bool ends = (rt_task_control(task) & RT_TASK_CANCEL) != 0 || rt_scheduler_is_abandoned(self);
        self->yields += activation->yields;
        if (activation->yields || ends || activation->sleeper.wake_ns <= now_ns) {
            requeue(self, activation->yields ? RT_READY_LANE : RT_READY_FRONT_LANE, task);
        } else {
            rt_task_set(task, RT_TASK_ASLEEP);
            rt_sleepers_add(&self->sleepers, &activation->sleeper);
        }
    }
    self->parked += batch->parked_count;
    batch->parked_count = 0;
    update_next_wake(self);
    rt_scheduler_raise_peak(self);
}

static void wake_sleeper(rt_scheduler *self, rt_activation *activation) {
    rt_sleepers_remove(&self->sleepers, &activation->sleeper);
    rt_task_clear(activation->task, RT_TASK_ASLEEP);
    requeue(self, RT_READY_FRONT_LANE, activation->task);
}

/* More than these are left to the next turn, which follows at once, so that the lock is not held for long. */
#define MOST_WOKEN_AT_ONCE (2u * RT_SCHEDULER_MAX_BATCH)

void rt_scheduler_wake_due(rt_scheduler *self, uint64_t now_ns) {
    for (unsigned i = 0; i < MOST_WOKEN_AT_ONCE && self->next_wake_ns <= now_ns; i++) {
        wake_sleeper(self, rt_activation_of(self->sleepers.first));
        update_next_wake(self);
    }
    rt_scheduler_raise_peak(self);
}

void rt_scheduler_wake_task(rt_scheduler *self, rt_task *task) {
    const uint8_t control = rt_task_control(task);
    if ((control & RT_TASK_ASLEEP) != 0) {
        wake_sleeper(self, task->activation);
        update_next_wake(self);
        rt_scheduler_raise_peak(self);
    } else if ((control & RT_TASK_WAITING) != 0) {
        pthread_cond_signal(&task->activation->worker->wake);
    }
}

void rt_scheduler_wake_all(rt_scheduler *self) {
    while (self->sleepers.first != NULL) {
        wake_sleeper(self, rt_activation_of(self->sleepers.first));
    }
    update_next_wake(self);
    for (uint32_t i = 0; i < self->started_threads; i++) {
        pthread_cond_signal(&self->workers[i].wake);
    }
}

rt_worker *rt_scheduler_pick_timekeeper(rt_scheduler *self) {
    if (self->next_wake_ns >= self->timekeeper_ns || self->idle == 0) {
        return NULL;
    }
    if (self->timekeeper == NULL) {
        self->timekeeper = self->idle_stack[0]; /* the one that is picked last for other work */
    }
    self->timekeeper_ns = self->next_wake_ns;
    return self->timekeeper;
}

/* ---- without the lock ---- */

struct timespec rt_scheduler_real_deadline(const rt_scheduler *self, uint64_t wake_ns) {
    const uint64_t now_ns = rt_clock_now_ns(self->clock);
    return rt_clock_deadline(wake_ns > now_ns ? wake_ns - now_ns : 0);
}

/* Everything of the batch but the running task goes where it would go at the end of the batch: the worker is
 * about to wait. Enters and leaves with the lock held, and lets go of it for the callbacks. */
static void flush_batch(rt_worker *self, rt_lock_hold *hold) {
    rt_scheduler *const scheduler = self->scheduler;
    rt_batch *const batch = &self->batches[self->current];
    const uint64_t now_ns = rt_clock_now_ns(scheduler->clock);
    const uint32_t entry = self->spares[batch->ran]; /* the running task's own */
    rt_scheduler_add_idle(scheduler, now_ns);
    rt_worker_finalise(self, batch, now_ns);
    self->spares[batch->ran] = self->spares[0];
    self->spares[0] = entry;
    rt_scheduler_update_yield(scheduler);
    const bool notify = rt_scheduler_reaches_waiter(scheduler);
    rt_worker *const helper = rt_scheduler_pick_idle(scheduler, now_ns);
    rt_worker *const keeper = rt_scheduler_pick_timekeeper(scheduler);
    rt_scheduler_unlock(scheduler, hold);
    rt_scheduler_signal(helper);
    rt_scheduler_signal(keeper);
    if (notify) {
        pthread_cond_broadcast(&scheduler->changed);
    }
    rt_worker_settle(self, batch, now_ns);
    batch->count = 1;
    batch->ran = 0;
    batch->slices = 1;
    *hold = rt_scheduler_lock(scheduler, RT_SCHEDULER_CONTROL);
}

static bool is_over(const rt_activation *activation) {
    return (rt_task_control(activation->task) & RT_TASK_CANCEL) != 0 ||
           rt_scheduler_is_abandoned(activation->scheduler) ||
           rt_clock_now_ns(activation->scheduler->clock) >= activation->sleeper.wake_ns;
}

void rt_worker_wait_with(rt_worker *self, rt_activation *activation) {
    rt_scheduler *const scheduler = self->scheduler;
    rt_task *const task = activation->task;
    rt_lock_hold hold = rt_scheduler_lock(scheduler, RT_SCHEDULER_CONTROL);
    flush_batch(self, &hold);
    activation->admitted_ns = task->admitted_ns;
    task->activation = activation;
    rt_task_set(task, RT_TASK_WAITING);
    rt_scheduler_end_hold(scheduler, &hold);
    while (!is_over(activation)) {
        const struct timespec deadline = rt_scheduler_real_deadline(scheduler, activation->sleeper.wake_ns);
        pthread_cond_timedwait(&self->wake, &scheduler->lock, &deadline);
    }
    rt_task_clear(task, RT_TASK_WAITING);
    task->admitted_ns = activation->admitted_ns;
    pthread_mutex_unlock(&scheduler->lock);
}
