/* Runs the tasks of a batch. A runner may be suspended in here and come back on another worker, so nothing of
 * a worker is kept across it: what is needed afterwards is asked of the activation. */
#include "rt_scheduler_parts.h"

/* A batch that has taken so long, four times what was planned, is ended: its tasks are longer than those before,
 * and other workers may be free. */
#define BATCH_OVERRUN_NS INT64_C(400000)

static void fill_record(rt_task_record *record, const rt_task *task, uint16_t worker) {
    record->task_id = task->id;
    record->submitted_ns = task->submitted_ns;
    record->admitted_ns = task->admitted_ns;
    record->dequeued_ns = task->dequeued_ns;
    record->started_ns = task->started_ns;
    record->ended_ns = task->ended_ns;
    record->output_bytes = task->output_bytes;
    record->worker = worker;
    record->priority = task->priority;
    record->status = task->status;
}

/* The entry of the history that the next task to end on this worker fills. */
static rt_history_entry *next_entry(const rt_worker *self) {
    const rt_batch *const batch = &self->batches[self->current];
    return rt_history_entry_of(&self->scheduler->history, self->spares[batch->ran]);
}

/* The one place where a task ends: nobody finds it to cancel it from here on. */
static void end_task(rt_worker *self, rt_task *task, rt_status status, uint8_t how, uint16_t worker) {
    rt_batch *const batch = &self->batches[self->current];
    task->status = (uint8_t)status;
    fill_record(&next_entry(self)->record, task, worker);
    __atomic_store_n(&task->control, how, __ATOMIC_RELAXED);
    batch->tasks[batch->ran++] = task;
}

/* Its runner never starts: it was cancelled or its deadline passed while it was queued. */
static void end_unstarted(rt_worker *self, rt_task *task, uint64_t now_ns) {
    const bool cancelled = (rt_task_control(task) & RT_TASK_CANCEL) != 0;
    const uint64_t steps = atomic_load_explicit(&self->steps, memory_order_relaxed);
    task->dequeued_ns = self->batches[self->current].dequeued_ns;
    task->started_ns = now_ns;
    task->ended_ns = now_ns;
    task->output_bytes = 0;
    atomic_store_explicit(&self->steps, steps + 2, memory_order_relaxed);
    end_task(self, task, cancelled ? RT_CANCELLED : RT_TIMED_OUT, RT_TASK_UNSTARTED, UINT16_MAX);
}

void rt_worker_end_started(rt_worker *self, rt_task *task, uint64_t dequeued_ns, rt_status status,
                           uint32_t output_bytes) {
    rt_batch *const batch = &self->batches[self->current];
    const uint64_t deadline_ns = task->deadline_ns;
    const uint64_t ended_ns = rt_clock_now_ns(self->scheduler->clock);
    const uint64_t steps = atomic_load_explicit(&self->steps, memory_order_relaxed);
    atomic_store_explicit(&self->steps, steps + 1, memory_order_relaxed);
    self->running = NULL;
    batch->overran = (int64_t)(ended_ns - batch->dequeued_ns) > BATCH_OVERRUN_NS;
    task->ended_ns = ended_ns;
    task->dequeued_ns = dequeued_ns;
    task->output_bytes = output_bytes;
    if (deadline_ns != 0 && ended_ns >= deadline_ns) {
        status = RT_TIMED_OUT;
    }
    end_task(self, task, status, 0, (uint16_t)self->index);
}

static rt_worker *run_one(rt_worker *self, rt_task *task) {
    rt_scheduler *const scheduler = self->scheduler;
    const uint64_t started_ns = rt_clock_now_ns(scheduler->clock);
    const uint64_t deadline_ns = task->deadline_ns;
    if ((rt_task_control(task) & RT_TASK_CANCEL) != 0 || (deadline_ns != 0 && started_ns >= deadline_ns)) {
        end_unstarted(self, task, started_ns);
        return self;
    }
    rt_activation activation;
    activation.run = (rt_task_run){.task_id = task->id,
                                   .worker = self->index,
                                   .output_capacity_bytes = scheduler->output_capacity_bytes,
                                   .output = next_entry(self)->output,
                                   .sampled = self->runs++ % RT_SCHEDULER_SAMPLE_EVERY == 0};
    activation.scheduler = scheduler;
    activation.worker = self;
    activation.task = task;
    activation.dequeued_ns = self->batches[self->current].dequeued_ns;
    const uint64_t steps = atomic_load_explicit(&self->steps, memory_order_relaxed);
    atomic_store_explicit(&self->steps, steps + 1, memory_order_relaxed);
    task->started_ns = started_ns;
    self->running = &activation;
    rt_status status = scheduler->hooks.run(scheduler->hooks.context, &activation.run);
    if (activation.run.output_bytes > scheduler->output_capacity_bytes) {
        activation.run.output_bytes = 0;
        status = RT_TOO_SMALL;
    }
    rt_worker_end_started(activation.worker, task, activation.dequeued_ns, status,
                          activation.run.output_bytes);
    return activation.worker;
}

/* Another core wrote these lines last; they arrive while the task before is running. */
static void prefetch_for(const rt_worker *self, const rt_batch *batch, const rt_task_group *group) {
    const uint32_t next = batch->left + 1;
    const rt_task *const task = group->count > 0            ? group->first
                                : next < batch->group_count ? batch->groups[next].first
                                                            : NULL;
    if (task != NULL) {
        const rt_history_entry *const entry =
            rt_history_entry_of(&self->scheduler->history, self->spares[batch->ran + 1]);
        __builtin_prefetch(task, 1);
        __builtin_prefetch(&entry->record, 1);
        __builtin_prefetch(entry->output, 1);
    }
}

/* After abandon nothing new starts, but what has started is brought to its end. */
static bool must_go_on(const rt_scheduler *scheduler, const rt_task *task) {
    return rt_scheduler_is_abandoned(scheduler) && (rt_task_control(task) & RT_TASK_ACTIVATED) != 0;
}

/* NULL: the batch is at its end, or what is left of it is to be given back: something of higher priority is
 * queued, or it takes too long. */
static rt_task *next_task(rt_worker *self, rt_batch *batch) {
    for (; batch->left < batch->group_count; batch->left++) {
        rt_task_group *const group = &batch->groups[batch->left];
        if (group->count == 0) {
            continue;
        }
        rt_task *const task = group->first;
        const uint32_t above = atomic_load_explicit(&self->scheduler->yield_above, memory_order_relaxed);
        const bool yields = above > task->priority || batch->parked_above > task->priority || batch->overran;
        if (yields && !must_go_on(self->scheduler, task)) {
            return NULL;
        }
        group->first = task->next;
        group->count--;
        prefetch_for(self, batch, group);
        return task;
    }
    return NULL;
}

rt_worker *rt_worker_run_batch(rt_worker *self) {
    rt_batch *batch = &self->batches[self->current];
    rt_task *task = next_task(self, batch);
    while (task != NULL) {
        batch->slices++;
        if ((rt_task_control(task) & RT_TASK_ACTIVATED) != 0) {
            rt_worker_resume(self, task);
        }
        self = run_one(self, task);
        batch = &self->batches[self->current];
        task = next_task(self, batch);
    }
    return self;
}
