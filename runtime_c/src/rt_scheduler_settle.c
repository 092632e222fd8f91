/* What is done for a finalised batch without the lock: histograms, callbacks, release, and what the next
 * batch may hold. */
#include "rt_scheduler_parts.h"

/* A batch holds about this much work at most, so that a worker with long tasks does not keep others
 * waiting. */
#define BATCH_BUDGET_NS UINT64_C(100000)

static void call_back(rt_worker *self, const rt_task *task, uint64_t finalised_ns) {
    const rt_scheduler_hooks *const hooks = &self->scheduler->hooks;
    const uint32_t worker = (rt_task_control(task) & RT_TASK_UNSTARTED) != 0 ? UINT32_MAX : self->index;
    if (self->settled++ % RT_SCHEDULER_SAMPLE_EVERY != 0) {
        hooks->finished(hooks->context, task, finalised_ns, worker);
        return;
    }
    const rt_clock *const clock = self->scheduler->clock;
    const uint64_t before_ns = rt_clock_now_ns(clock);
    hooks->finished(hooks->context, task, finalised_ns, worker);
    const uint64_t after_ns = rt_clock_now_ns(clock);
    rt_histogram_record(&self->histograms[RT_SCHEDULER_CALLBACK],
                        rt_clock_interval_ns(before_ns, after_ns, &self->clamped_intervals));
}

/* Returns the execution time. A task that never started is in no latency: its stages would be 0. */
static uint64_t record_stages(rt_worker *self, const rt_task *task, uint64_t finalised_ns) {
    if ((rt_task_control(task) & RT_TASK_UNSTARTED) != 0) {
        return 0;
    }
    uint64_t *const clamped = &self->clamped_intervals;
    rt_histogram *const stages = self->histograms;
    const uint64_t queue_ns = rt_clock_interval_ns(task->submitted_ns, task->started_ns, clamped);
    const uint64_t execution_ns = rt_clock_interval_ns(task->started_ns, task->ended_ns, clamped);
    const uint64_t finalisation_ns = rt_clock_interval_ns(task->ended_ns, finalised_ns, clamped);
    rt_histogram_record(&stages[RT_SCHEDULER_QUEUE], queue_ns);
    rt_histogram_record(&stages[RT_SCHEDULER_EXECUTION], execution_ns);
    rt_histogram_record(&stages[RT_SCHEDULER_FINALISATION], finalisation_ns);
    rt_histogram_record(&stages[RT_SCHEDULER_END_TO_END], queue_ns + execution_ns + finalisation_ns);
    return execution_ns;
}

static void adapt_batch_limit(rt_worker *self, uint64_t lately_ns) {
    self->mean_run_ns = self->mean_run_ns == 0 ? lately_ns : (3 * self->mean_run_ns + lately_ns) / 4;
    const uint64_t fitting = BATCH_BUDGET_NS / (self->mean_run_ns + 1) + 1;
    const uint32_t most = self->scheduler->batch_limit;
    self->batch_limit = fitting < most ? (uint32_t)fitting : most;
}

/* The mean time that a task kept this worker. The longest of a batch is left out: it is usually one during
 * which the thread was not running. Where tasks were suspended their own times say nothing about the worker,
 * and the time of the whole batch is shared out. */
static uint64_t mean_ns(const rt_batch *batch, uint64_t total_ns, uint64_t longest_ns,
                        uint64_t finalised_ns) {
    if (batch->suspended) {
        const uint64_t whole_ns = finalised_ns > batch->dequeued_ns ? finalised_ns - batch->dequeued_ns : 0;
        return whole_ns / (batch->slices > 0 ? batch->slices : 1);
    }
    return batch->ran > 1 ? (total_ns - longest_ns) / (batch->ran - 1) : total_ns;
}

void rt_worker_settle(rt_worker *self, const rt_batch *batch, uint64_t finalised_ns) {
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
    if (batch->slices > 0) {
        adapt_batch_limit(self, mean_ns(batch, total_ns, longest_ns, finalised_ns));
    }
    if (hooks->released != NULL && batch->ran > 0) {
        hooks->released(hooks->context, batch->tasks, batch->ran);
    }
}
