/* A worker's turn: finalise the last batch and take the next one under one lock, and sleep when there is
 * nothing to do. What happens without the lock is in rt_scheduler_run.c and rt_scheduler_settle.c. */
#include "rt_scheduler_parts.h"

/* ---- give back: under the lock ---- */

/* After abandon: started tasks are added to `kept`, to be brought to their end; the others are the caller's
 * again. */
static void sort_out(rt_scheduler *self, rt_task_group group, rt_task **kept) {
    rt_task *task = group.first;
    for (uint32_t i = 0; i < group.count; i++) {
        rt_task *const next = task->next;
        if ((rt_task_control(task) & RT_TASK_ACTIVATED) != 0) {
            task->next = *kept;
            *kept = task;
        } else {
            self->taken_back++;
        }
        task = next;
    }
}

static void queue_kept(rt_scheduler *self, rt_task *kept) {
    while (kept != NULL) {
        rt_task *const next = kept->next;
        rt_ready_queue_push_back(&self->ready, kept);
        kept = next;
    }
}

/* What was not run goes back to the front, in its order. */
static void give_back(rt_scheduler *self, rt_batch *batch) {
    rt_task *kept = NULL;
    for (uint32_t i = batch->group_count; i > batch->left; i--) {
        const rt_task_group group = batch->groups[i - 1];
        if (rt_scheduler_is_abandoned(self)) {
            sort_out(self, group, &kept);
        } else if (group.count > 0) {
            rt_ready_queue_push_front(&self->ready, group);
        }
    }
    queue_kept(self, kept);
    batch->group_count = 0;
    batch->left = 0;
}

void rt_scheduler_take_back_queued(rt_scheduler *self) {
    if (self->parked == 0) { /* nothing in the queue can have started: no task need be looked at */
        self->taken_back += self->ready.count;
        rt_ready_queue_init(&self->ready);
        return;
    }
    rt_task *kept = NULL;
    while (self->ready.count > 0) {
        sort_out(self, rt_ready_queue_take_group(&self->ready, UINT32_MAX), &kept);
    }
    queue_kept(self, kept);
}

/* ---- finalise: under the lock ---- */

static void record_one(rt_worker *self, rt_history *history, uint32_t *entry) {
    if (self->recorded++ % RT_SCHEDULER_SAMPLE_EVERY != 0) {
        rt_history_put(history, entry);
        return;
    }
    const rt_clock *const clock = self->scheduler->clock;
    const uint64_t before_ns = rt_clock_now_ns(clock);
    rt_history_put(history, entry);
    const uint64_t after_ns = rt_clock_now_ns(clock);
    rt_histogram_record(&self->histograms[RT_SCHEDULER_HISTORY_PRUNING],
                        rt_clock_interval_ns(before_ns, after_ns, &self->clamped_intervals));
}

/* How often each status ended a task. */
typedef struct ends {
    uint32_t completed, cancelled, timed_out;
} ends;

static void count_end(ends *self, uint8_t status) {
    self->completed += status == RT_OK;
    self->cancelled += status == RT_CANCELLED;
    self->timed_out += status == RT_TIMED_OUT;
}

void rt_worker_finalise(rt_worker *self, rt_batch *batch, uint64_t now_ns) {
    rt_scheduler *const scheduler = self->scheduler;
    ends ended = {0, 0, 0};
    for (uint32_t i = 0; i < batch->ran; i++) {
        count_end(&ended, batch->tasks[i]->status);
        rt_history_entry_of(&scheduler->history, self->spares[i])->record.finalised_ns = now_ns;
        record_one(self, &scheduler->history, &self->spares[i]);
    }
    scheduler->completed += ended.completed;
    scheduler->failed += batch->ran - ended.completed - ended.cancelled - ended.timed_out;
    if (ended.cancelled + ended.timed_out > 0) {
        scheduler->cancelled += ended.cancelled;
        scheduler->timed_out += ended.timed_out;
    }
    if (batch->parked_count > 0) {
        rt_scheduler_park_batch(scheduler, batch, now_ns);
    }
    if (batch->left < batch->group_count) {
        give_back(scheduler, batch);
    }
}

bool rt_scheduler_reaches_waiter(rt_scheduler *self) {
    if (!self->wait_armed || rt_scheduler_in_flight(self) > self->wait_at_most) {
        return false;
    }
    self->wait_armed = false;
    return true;
}

/* ---- take: under the lock ---- */

/* So much work is done before another worker could be awake, and for less CPU. At 100,000 tasks a second of
 * 1 us each this halves the context switches: 175 instead of 280 a 1,000 tasks (two-core VM, Linux 6.18). */
#define WAKE_COST_NS UINT64_C(20000)

/* At most this worker's share of what is queued: with fewer tasks than workers each takes one, so that nobody
 * waits behind a long task while another worker is free. But where tasks are so short that all there are take
 * less time than waking somebody, one worker takes them all. */
static uint32_t most_to_take(const rt_worker *self) {
    const rt_scheduler *const scheduler = self->scheduler;
    const uint64_t share = scheduler->ready.count / scheduler->worker_count;
    const uint64_t short_ones = scheduler->mean_run_ns > 0 ? WAKE_COST_NS / scheduler->mean_run_ns : 0;
    const uint64_t most = share > short_ones ? share : short_ones;
    if (most == 0) {
        return 1;
    }
    return most < self->batch_limit ? (uint32_t)most : self->batch_limit;
}

static void take(rt_worker *self, rt_batch *batch, uint64_t now_ns) {
    rt_scheduler *const scheduler = self->scheduler;
    batch->count = 0;
    batch->ran = 0;
    batch->slices = 0;
    batch->group_count = 0;
    batch->left = 0;
    batch->suspended = false;
    batch->overran = false;
    batch->parked_above = 0;
    if (!rt_scheduler_may_take(scheduler) || scheduler->holding >= scheduler->max_active) {
        return;
    }
    batch->dequeued_ns = now_ns;
    batch->count =
        rt_ready_queue_take(&scheduler->ready, most_to_take(self), batch->groups, &batch->group_count);
    scheduler->dequeues++;
    scheduler->dequeued += batch->count;
    scheduler->holding++;
    if (scheduler->holding > scheduler->holding_peak) {
        scheduler->holding_peak = scheduler->holding;
    }
}

/* ---- sleep: under the lock ---- */

static void leave_idle_stack(rt_worker *self) {
    rt_scheduler *const scheduler = self->scheduler;
    uint32_t at = scheduler->idle - 1;
    while (scheduler->idle_stack[at] != self) {
        at--;
    }
    for (scheduler->idle--; at < scheduler->idle; at++) {
        scheduler->idle_stack[at] = scheduler->idle_stack[at + 1];
    }
    rt_scheduler_free_timekeeper(scheduler, self);
}

/* The worker at the bottom of the idle stack keeps the time: it is picked last for other work. */
static void keep_time(rt_worker *self) {
    rt_scheduler *const scheduler = self->scheduler;
    scheduler->idle_stack[scheduler->idle - 1] = scheduler->idle_stack[0];
    scheduler->idle_stack[0] = self;
    scheduler->timekeeper = self;
}

static bool is_due_timekeeper(const rt_worker *self) {
    const rt_scheduler *const scheduler = self->scheduler;
    return scheduler->timekeeper == self && scheduler->next_wake_ns != UINT64_MAX &&
           scheduler->next_wake_ns <= rt_clock_now_ns(scheduler->clock);
}

static void wait_for_work(rt_worker *self) {
    rt_scheduler *const scheduler = self->scheduler;
    if (scheduler->timekeeper == self) {
        scheduler->timekeeper_ns = scheduler->next_wake_ns; /* also when nobody sleeps any more */
    }
    if (scheduler->timekeeper != self || scheduler->next_wake_ns == UINT64_MAX) {
        pthread_cond_wait(&self->wake, &scheduler->lock);
        return;
    }
    const struct timespec deadline = rt_scheduler_real_deadline(scheduler, scheduler->next_wake_ns);
    pthread_cond_timedwait(&self->wake, &scheduler->lock, &deadline);
}

/* Sleeps until somebody picks this worker from the idle stack, or the first sleeping task is due and this
 * worker keeps the time. Returns when that was. */
static uint64_t park(rt_worker *self, rt_lock_hold *hold) {
    rt_scheduler *const scheduler = self->scheduler;
    self->woken = false;
    scheduler->idle_stack[scheduler->idle++] = self;
    if (scheduler->wait_armed && rt_scheduler_is_idle(scheduler)) {
        scheduler->wait_armed = false;
        pthread_cond_broadcast(&scheduler->changed);
    }
    rt_scheduler_end_hold(scheduler, hold);
    if (scheduler->timekeeper == NULL && scheduler->next_wake_ns != UINT64_MAX) {
        keep_time(self);
    }
    rt_scheduler_signal(rt_scheduler_pick_timekeeper(scheduler));
    while (!self->woken && !scheduler->stopping && !is_due_timekeeper(self)) {
        wait_for_work(self);
    }
    const uint64_t now_ns = rt_clock_now_ns(scheduler->clock);
    rt_scheduler_add_idle(scheduler, now_ns);
    if (self->woken) {
        scheduler->waking--;
    } else {
        leave_idle_stack(self);
    }
    scheduler->acquisitions[RT_SCHEDULER_TURN]++;
    return now_ns;
}

/* ---- the loop ---- */

/* The part of a turn under the lock. False: the scheduler stops, and there is nothing left to do. */
static bool pass(rt_worker *self, rt_batch *last, rt_batch *next, uint64_t now_ns) {
    rt_scheduler *const scheduler = self->scheduler;
    scheduler->turns++;
    rt_scheduler_add_idle(scheduler, now_ns);
    if (last->count > 0) {
        rt_worker_finalise(self, last, now_ns);
        scheduler->holding--;
        scheduler->mean_run_ns = self->mean_run_ns;
    }
    if (scheduler->next_wake_ns <= now_ns) {
        rt_scheduler_wake_due(scheduler, now_ns);
    }
    take(self, next, now_ns);
    rt_scheduler_update_yield(scheduler);
    return last->count > 0 || next->count > 0 || !scheduler->stopping;
}

/* Finalises the batch that was run and takes the next one, sleeping until there is one. False: the end. */
static bool turn(rt_worker *self) {
    rt_scheduler *const scheduler = self->scheduler;
    rt_batch *const last = &self->batches[self->current];
    rt_batch *const next = &self->batches[1 - self->current];
    rt_lock_hold hold = rt_scheduler_lock_turn(self);
    uint64_t now_ns = hold.timed ? hold.taken_ns : rt_clock_now_ns(scheduler->clock);
    bool goes_on = pass(self, last, next, now_ns);
    while (goes_on && last->count == 0 && next->count == 0) {
        now_ns = park(self, &hold);
        goes_on = pass(self, last, next, now_ns);
    }
    const bool notify = last->count > 0 && rt_scheduler_reaches_waiter(scheduler);
    rt_worker *const helper = rt_scheduler_pick_idle(scheduler, now_ns);
    rt_worker *const keeper = rt_scheduler_pick_timekeeper(scheduler);
    rt_scheduler_unlock(scheduler, &hold);
    rt_scheduler_signal(helper);
    rt_scheduler_signal(keeper);
    if (notify) {
        pthread_cond_broadcast(&scheduler->changed);
    }
    if (last->count > 0) {
        rt_worker_settle(self, last, now_ns);
    }
    self->current = 1 - self->current;
    return goes_on;
}

rt_worker *rt_worker_loop(rt_worker *self) {
    while (turn(self)) {
        self = rt_worker_run_batch(self);
    }
    return self;
}

static void find_stack(rt_worker *self) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &self->stack, &self->stack_bytes);
        pthread_attr_destroy(&attributes);
    }
}

void *rt_worker_main(void *argument) {
    rt_worker *const self = argument;
    rt_scheduler *const scheduler = self->scheduler;
    pthread_mutex_lock(&scheduler->lock); /* other workers may read it through rt_scheduler_account */
    find_stack(self);
    pthread_mutex_unlock(&scheduler->lock);
    if (scheduler->stacks == NULL) {
        rt_worker_loop(self);
    } else {
        rt_worker_loop_pooled(self);
    }
    return NULL;
}
