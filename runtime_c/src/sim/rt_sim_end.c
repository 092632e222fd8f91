/* How a task ends, and everything that is counted then. */
#include "rt_sim_state.h"

#include <stdlib.h>

static uint64_t duration_of(const rt_sim_task *task) { return task->ended_ns - task->arrived_ns; }

/* The baseline of its origin, changed by every degradation that was applied to it. */
static bool succeeds(const rt_sim *self, const rt_sim_slot *task) {
    const rt_sim_scenario *const scenario = &self->scenario;
    int64_t threshold = (int64_t)(scenario->recorded_count > 0 ? scenario->recorded[task->origin].success
                                                               : scenario->classes[task->origin].success);
    for (uint32_t i = 0; i < scenario->degradations_count; i++) {
        threshold +=
            (((uint32_t)task->degraded >> i) & 1u) != 0 ? scenario->degradations[i].success_delta : 0;
    }
    const uint64_t key = rt_sim_draw(scenario->seed, task->task, RT_SIM_DRAW_SUCCESS, (rt_sim_place){0});
    return (int64_t)(key >> 32) < threshold;
}

static uint32_t steps_done(const rt_sim_slot *task, uint32_t outcome) {
    return outcome == RT_SIM_FINISHED ? task->steps
                                      : task->step + (task->use != RT_SIM_MODEL_OPERATION ? 1u : 0u);
}

void rt_sim_task_summary(const rt_sim *self, const rt_sim_slot *task, uint32_t outcome, rt_sim_task *out) {
    const bool started = task->steps > 0;
    *out = (rt_sim_task){.task = task->task,
                         .origin = task->origin,
                         .tenant = task->tenant,
                         .outcome = outcome,
                         .succeeded = outcome == RT_SIM_FINISHED && succeeds(self, task),
                         .steps = started ? steps_done(task, outcome) : 0,
                         .degradations = task->degraded,
                         .logical_operations = task->logical,
                         .attempts = rt_sim_link_of(self, task)->attempts,
                         .arrived_ns = task->arrived_ns,
                         .ended_ns = self->now_ns,
                         .tokens_input = task->tokens_input,
                         .tokens_cached = task->tokens_cached,
                         .tokens_output = task->tokens_output,
                         .cost_pusd = task->cost_pusd};
}

/* ---- the slowest ---- */

/* a took less long than b; of equals, the later one counts as less. */
static bool is_less(const rt_sim_task *a, const rt_sim_task *b) {
    return duration_of(a) < duration_of(b) || (duration_of(a) == duration_of(b) && a->task > b->task);
}

static void sink(rt_sim_task *heap, size_t count, rt_sim_task entry) {
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && is_less(&heap[child + 1], &heap[child]);
        if (!is_less(&heap[child], &entry)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static void keep_slowest(rt_sim *self, const rt_sim_task *task) {
    rt_sim_task *const heap = self->slowest;
    if (self->slowest_count < self->scenario.slowest_limit) {
        size_t at = self->slowest_count++;
        while (at > 0 && is_less(task, &heap[(at - 1) / 2])) {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = *task;
    } else if (self->slowest_count > 0 && is_less(&heap[0], task)) {
        sink(heap, self->slowest_count, *task);
    }
}

static int by_duration(const void *a, const void *b) { return is_less(a, b) - is_less(b, a); }

void rt_sim_sort_slowest(rt_sim *self) {
    if (self->slowest_count > 1) {
        qsort(self->slowest, self->slowest_count, sizeof *self->slowest, by_duration);
    }
}

/* ---- counts ---- */

static void count_group(rt_sim_group *group, const rt_sim_task *task) {
    group->finished += task->outcome == RT_SIM_FINISHED;
    group->succeeded += task->succeeded;
    group->failed += task->outcome == RT_SIM_FAILED;
    group->shed += task->outcome == RT_SIM_SHED_TASK;
}

static void count_amplification(rt_sim *self, const rt_sim_task *task) {
    rt_sim_totals *const totals = &self->totals;
    const uint64_t a = task->attempts, l = task->logical_operations;
    totals->sampled++;
    totals->sample_attempts += a;
    totals->sample_logical += l;
    totals->sample_aa += (unsigned __int128)a * a;
    totals->sample_al += (unsigned __int128)a * l;
    totals->sample_ll += (unsigned __int128)l * l;
}

/* What is counted for every task, also for those that the end of the run cuts off. */
static void count_sums(rt_sim *self, const rt_sim_task *task) {
    rt_sim_totals *const totals = &self->totals;
    totals->sojourn_ns += duration_of(task);
    totals->tokens_input += task->tokens_input;
    totals->tokens_cached += task->tokens_cached;
    totals->tokens_output += task->tokens_output;
    totals->cost_pusd += task->cost_pusd;
    totals->task_attempts += task->attempts;
    const uint32_t evaluated =
        rt_sim_id_find(self->scenario.evaluation_ids, self->scenario.evaluation_count, task->task);
    if (evaluated != UINT32_MAX) {
        self->evaluated[evaluated] = *task;
    }
}

static void count_measured(rt_sim *self, const rt_sim_task *task) {
    const uint64_t duration_ns = duration_of(task);
    self->totals.measured++;
    if (task->outcome == RT_SIM_SHED_TASK) {
        return;
    }
    keep_slowest(self, task);
    if (task->outcome == RT_SIM_FINISHED) {
        rt_histogram_record(&self->histograms[RT_SIM_HISTOGRAM_DURATION], duration_ns);
        rt_histogram_record(&self->histograms[RT_SIM_HISTOGRAM_STEPS], task->steps);
        if (self->classes != NULL) {
            rt_histogram_record(self->classes[task->origin].duration, duration_ns);
        }
    }
}

void rt_sim_task_count(rt_sim *self, const rt_sim_slot *slot, uint32_t outcome) {
    rt_sim_task task;
    rt_sim_task_summary(self, slot, outcome, &task);
    count_sums(self, &task);
    if (outcome == RT_SIM_UNFINISHED) {
        self->totals.unfinished++;
        return;
    }
    self->totals.finished += outcome == RT_SIM_FINISHED;
    self->totals.succeeded += task.succeeded;
    self->totals.failed += outcome == RT_SIM_FAILED;
    self->totals.shed += outcome == RT_SIM_SHED_TASK;
    count_group(&self->tenants[task.tenant], &task);
    if (self->classes != NULL) {
        count_group(&self->classes[task.origin], &task);
    }
    if (outcome != RT_SIM_SHED_TASK) {
        count_amplification(self, &task);
    }
    if (task.task >= self->scenario.warmup_tasks) {
        count_measured(self, &task);
    }
    if (outcome != RT_SIM_FINISHED && self->failures_count < self->scenario.failed_limit) {
        self->failures[self->failures_count++] = task;
    }
}

void rt_sim_task_end(rt_sim *self, uint32_t slot, uint32_t outcome) {
    const uint32_t number = self->slots[slot].task;
    if (outcome != RT_SIM_SHED_TASK) {
        rt_sim_area_change(&self->busy, -1, self->now_ns);
    }
    rt_sim_trace_span(self, &self->slots[slot], RT_SIM_SPAN_TASK, outcome);
    rt_sim_task_count(self, &self->slots[slot], outcome);
    rt_sim_cache_drop(self, slot);
    rt_sim_slot_give(self, slot);
    rt_sim_area_change(&self->in_flight, -1, self->now_ns);
    if (self->scenario.arrival == RT_SIM_CLOSED) {
        rt_sim_think(self, number);
    }
}
