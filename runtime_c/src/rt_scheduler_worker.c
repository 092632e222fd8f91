/* The worker's loop: finalise the last batch and take the next one under one lock, then, without it, settle
 * the last batch (histograms, callbacks, release) and run the next. */
#include "rt_scheduler_parts.h"

/* A batch holds about this much work at most, so that a worker with long tasks does not keep others
 * waiting. */
#define BATCH_BUDGET_NS UINT64_C(100000)

static rt_histogram *stage_of(rt_worker *self, rt_scheduler_stage stage) { return &self->histograms[stage]; }

static bool is_sampled(uint64_t *counter) { return (*counter)++ % RT_SCHEDULER_SAMPLE_EVERY == 0; }

/* ---- under the lock ---- */

/* What was not run goes back to the front, in its order; after abandon it is cancelled. */
static void give_back(rt_scheduler *scheduler, const rt_batch *batch) {
    if (scheduler->abandoned) {
        scheduler->cancelled += batch->count - batch->ran;
        return;
    }
    for (uint32_t i = batch->group_count; i > batch->left; i--) {
        rt_ready_queue_push_front(&scheduler->ready, batch->groups[i - 1]);
    }
}

static void record_one(rt_worker *self, rt_history *history, uint32_t *entry) {
    if (!is_sampled(&self->recorded)) {
        rt_history_put(history, entry);
        return;
    }
    const rt_clock *const clock = self->scheduler->clock;
    const uint64_t before_ns = rt_clock_now_ns(clock);
    rt_history_put(history, entry);
    const uint64_t after_ns = rt_clock_now_ns(clock);
    rt_histogram_record(stage_of(self, RT_SCHEDULER_HISTORY_PRUNING),
                        rt_clock_interval_ns(before_ns, after_ns, &self->clamped_intervals));
}

static void finalise(rt_worker *self, const rt_batch *batch, uint64_t now_ns) {
    rt_scheduler *const scheduler = self->scheduler;
    uint32_t failed = 0;
    for (uint32_t i = 0; i < batch->ran; i++) {
        failed += batch->tasks[i]->status != RT_OK;
        rt_history_entry_of(&scheduler->history, self->spares[i])->record.finalised_ns = now_ns;
        record_one(self, &scheduler->history, &self->spares[i]);
    }
    scheduler->failed += failed;
    scheduler->completed += batch->ran - failed;
    scheduler->holding--;
    if (batch->ran < batch->count) {
        give_back(scheduler, batch);
    }
}

/* At least one task, at most this worker's share of what is queued: with fewer tasks than workers each takes
 * one, so that nobody waits behind a long task while another worker is free. */
static void take(rt_worker *self, rt_batch *batch, uint64_t now_ns) {
    rt_scheduler *const scheduler = self->scheduler;
    batch->count = 0;
    batch->ran = 0;
    batch->group_count = 0;
    if (scheduler->held || scheduler->ready.count == 0 || scheduler->holding >= scheduler->max_active) {
        return;
    }
    const uint64_t share = scheduler->ready.count / scheduler->worker_count;
    const uint32_t most = share < self->batch_limit ? (uint32_t)share : self->batch_limit;
    batch->dequeued_ns = now_ns;
    batch->count =
        rt_ready_queue_take(&scheduler->ready, most > 0 ? most : 1, batch->groups, &batch->group_count);
    scheduler->dequeues++;
    scheduler->dequeued += batch->count;
    scheduler->holding++;
    if (scheduler->holding > scheduler->holding_peak) {
        scheduler->holding_peak = scheduler->holding;
    }
}

/* Sleeps until somebody picks this worker from the idle stack. */
static void park(rt_worker *self) {
    rt_scheduler *const scheduler = self->scheduler;
    self->woken = false;
    scheduler->idle_stack[scheduler->idle++] = self;
    if (scheduler->wait_armed && rt_scheduler_is_idle(scheduler)) {
        scheduler->wait_armed = false;
        pthread_cond_broadcast(&scheduler->changed);
    }
    while (!self->woken && !scheduler->stopping) {
        pthread_cond_wait(&self->wake, &scheduler->lock);
    }
    if (self->woken) {
        scheduler->waking--;
    }
}

/* ---- without the lock ---- */

static void call_back(rt_worker *self, const rt_task *task, uint64_t finalised_ns) {
    const rt_scheduler_hooks *const hooks = &self->scheduler->hooks;
    if (!is_sampled(&self->settled)) {
        hooks->finished(hooks->context, task, finalised_ns, self->index);
        return;
    }
    const rt_clock *const clock = self->scheduler->clock;
    const uint64_t before_ns = rt_clock_now_ns(clock);
    hooks->finished(hooks->context, task, finalised_ns, self->index);
    const uint64_t after_ns = rt_clock_now_ns(clock);
    rt_histogram_record(stage_of(self, RT_SCHEDULER_CALLBACK),
                        rt_clock_interval_ns(before_ns, after_ns, &self->clamped_intervals));
}

/* Returns the execution time. */
static uint64_t record_stages(rt_worker *self, const rt_task *task, uint64_t finalised_ns) {
    uint64_t *const clamped = &self->clamped_intervals;
    const uint64_t queue_ns = rt_clock_interval_ns(task->submitted_ns, task->started_ns, clamped);
    const uint64_t execution_ns = rt_clock_interval_ns(task->started_ns, task->ended_ns, clamped);
    const uint64_t finalisation_ns = rt_clock_interval_ns(task->ended_ns, finalised_ns, clamped);
    rt_histogram_record(stage_of(self, RT_SCHEDULER_QUEUE), queue_ns);
    rt_histogram_record(stage_of(self, RT_SCHEDULER_EXECUTION), execution_ns);
    rt_histogram_record(stage_of(self, RT_SCHEDULER_FINALISATION), finalisation_ns);
    rt_histogram_record(stage_of(self, RT_SCHEDULER_END_TO_END), queue_ns + execution_ns + finalisation_ns);
    return execution_ns;
}

/* The mean time of a task decides how many fit the next batch. The longest of the batch is left out: it is
 * usually one during which the thread was not running. */
static void adapt_batch_limit(rt_worker *self, uint64_t total_ns, uint64_t longest_ns, uint32_t ran) {
    const uint64_t lately_ns = ran > 1 ? (total_ns - longest_ns) / (ran - 1) : total_ns;
    self->mean_run_ns = self->mean_run_ns == 0 ? lately_ns : (3 * self->mean_run_ns + lately_ns) / 4;
    const uint64_t fitting = BATCH_BUDGET_NS / (self->mean_run_ns + 1) + 1;
    const uint32_t most = self->scheduler->batch_limit;
    self->batch_limit = fitting < most ? (uint32_t)fitting : most;
}

static void settle(rt_worker *self, const rt_batch *batch, uint64_t finalised_ns) {
    const rt_scheduler_hooks *const hooks = &self->scheduler->hooks;
    uint64_t total_ns = 0;
    uint64_t longest_ns = 0;
    for (uint32_t i = 0; i < batch->ran; i++) {
        const rt_task *const task = batch->tasks[i];
        const uint64_t execution_ns = record_stages(self, task, finalised_ns);
        total_ns += execution_ns;
        longest_ns = execution_ns > longest_ns ? execution_ns : longest_ns;
        if (hooks->finished != NULL) {
            call_back(self, task, finalised_ns);
        }
    }
    adapt_batch_limit(self, total_ns, longest_ns, batch->ran);
    if (hooks->released != NULL) {
        hooks->released(hooks->context, batch->tasks, batch->ran);
    }
}

static void fill_record(rt_task_record *record, const rt_task *task, uint32_t worker) {
    record->task_id = task->id;
    record->submitted_ns = task->submitted_ns;
    record->admitted_ns = task->admitted_ns;
    record->dequeued_ns = task->dequeued_ns;
    record->started_ns = task->started_ns;
    record->ended_ns = task->ended_ns;
    record->output_bytes = task->output_bytes;
    record->worker = (uint16_t)worker;
    record->priority = task->priority;
    record->status = task->status;
}

static void run_one(rt_worker *self, rt_task *task, uint64_t dequeued_ns, rt_history_entry *entry) {
    rt_scheduler *const scheduler = self->scheduler;
    const uint64_t steps = atomic_load_explicit(&self->steps, memory_order_relaxed);
    rt_task_run run = {.task_id = task->id,
                       .worker = self->index,
                       .output_capacity_bytes = scheduler->output_capacity_bytes,
                       .output = entry->output,
                       .sampled = is_sampled(&self->runs)};
    atomic_store_explicit(&self->steps, steps + 1, memory_order_relaxed);
    task->started_ns = rt_clock_now_ns(scheduler->clock);
    rt_status status = scheduler->hooks.run(scheduler->hooks.context, &run);
    task->ended_ns = rt_clock_now_ns(scheduler->clock);
    atomic_store_explicit(&self->steps, steps + 2, memory_order_relaxed);
    if (run.output_bytes > run.output_capacity_bytes) {
        run.output_bytes = 0;
        status = RT_TOO_SMALL;
    }
    task->dequeued_ns = dequeued_ns;
    task->output_bytes = run.output_bytes;
    task->status = (uint8_t)status;
    fill_record(&entry->record, task, self->index);
}

/* Another core wrote these lines last; they arrive while the task before is running. */
static void prefetch_for(const rt_task *task, const rt_history_entry *entry) {
    __builtin_prefetch(task, 1);
    __builtin_prefetch(&entry->record, 1);
    __builtin_prefetch(entry->output, 1);
}

/* Runs a group, or the part of it before something of higher priority is queued. */
static void run_group(rt_worker *self, rt_batch *batch, rt_task_group *group, const rt_task *after) {
    const rt_history *const history = &self->scheduler->history;
    while (group->count > 0) {
        rt_task *const task = group->first;
        const uint32_t above = atomic_load_explicit(&self->scheduler->yield_above, memory_order_relaxed);
        if (above > task->priority) {
            return;
        }
        group->first = task->next;
        group->count--;
        if (batch->ran + 1 < batch->count) {
            prefetch_for(group->count > 0 ? group->first : after,
                         rt_history_entry_of(history, self->spares[batch->ran + 1]));
        }
        run_one(self, task, batch->dequeued_ns, rt_history_entry_of(history, self->spares[batch->ran]));
        batch->tasks[batch->ran++] = task;
    }
}

static void run_batch(rt_worker *self, rt_batch *batch) {
    for (batch->left = 0; batch->left < batch->group_count; batch->left++) {
        const uint32_t next = batch->left + 1;
        run_group(self, batch, &batch->groups[batch->left],
                  next < batch->group_count ? batch->groups[next].first : NULL);
        if (batch->groups[batch->left].count > 0) {
            return;
        }
    }
}

/* ---- the loop ---- */

/* Whether somebody waits for what this finalisation reached; if so the caller wakes them after unlocking. */
static bool reaches_waiter(rt_scheduler *self) {
    if (!self->wait_armed || rt_scheduler_in_flight(self) > self->wait_at_most) {
        return false;
    }
    self->wait_armed = false;
    return true;
}

/* One pass. `last` has run; afterwards `next` has. Enters and leaves with the lock held. */
static void turn(rt_worker *self, const rt_batch *last, rt_batch *next) {
    rt_scheduler *const scheduler = self->scheduler;
    const uint64_t now_ns = rt_clock_now_ns(scheduler->clock);
    scheduler->turns++;
    bool notify = false;
    if (last->count > 0) {
        finalise(self, last, now_ns);
        notify = reaches_waiter(scheduler);
    }
    take(self, next, now_ns);
    rt_scheduler_update_yield(scheduler);
    if (last->count == 0 && next->count == 0) {
        park(self);
        return;
    }
    rt_worker *const helper = rt_scheduler_pick_idle(scheduler);
    pthread_mutex_unlock(&scheduler->lock);
    rt_scheduler_signal(helper);
    if (notify) {
        pthread_cond_broadcast(&scheduler->changed);
    }
    if (last->ran > 0) {
        settle(self, last, now_ns);
    }
    run_batch(self, next);
    pthread_mutex_lock(&scheduler->lock);
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
    rt_batch batches[2] = {{.count = 0}, {.count = 0}};
    uint32_t last = 0;
    pthread_mutex_lock(&scheduler->lock);
    find_stack(self);
    /* While stopping, abandon has emptied the queue: one more pass finalises what was run. */
    while (!scheduler->stopping || batches[last].count > 0) {
        turn(self, &batches[last], &batches[1 - last]);
        last = 1 - last;
    }
    pthread_mutex_unlock(&scheduler->lock);
    return NULL;
}
