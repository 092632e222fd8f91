/* What a run tells: progress, the proof, the result. */
#include "rt_workload_parts.h"

#include <string.h>

static const char *const stage_names[RT_STAGES] = {
    [RT_STAGE_QUEUE] = "queue",
    [RT_STAGE_EXECUTION] = "execution",
    [RT_STAGE_FINALISATION] = "finalisation",
    [RT_STAGE_END_TO_END] = "end_to_end",
    [RT_STAGE_ROLE_LOOKUP] = "role_lookup",
    [RT_STAGE_PROMPT] = "prompt",
    [RT_STAGE_CALLBACK] = "callback",
    [RT_STAGE_HISTORY_PRUNING] = "history_pruning",
};

const char *rt_stage_name(rt_stage stage) { return stage_names[stage]; }

uint32_t rt_stage_sample_every(rt_stage stage) {
    return stage >= RT_STAGE_ROLE_LOOKUP ? RT_SCHEDULER_SAMPLE_EVERY : 1;
}

/* ---- progress ---- */

static uint64_t elapsed_ns(const rt_workload *self, rt_phase phase) {
    if (phase == RT_PHASE_SETUP) {
        return 0;
    }
    const uint64_t start_ns = atomic_load(&self->started_ns);
    const uint64_t end_ns =
        phase >= RT_PHASE_FINISHED ? atomic_load(&self->finished_ns) : rt_clock_now_ns(self->clock);
    return end_ns > start_ns && start_ns != 0 ? end_ns - start_ns : 0;
}

void rt_workload_progress_read(rt_workload *self, rt_workload_progress *out) {
    rt_scheduler_counts counts;
    const rt_phase phase = (rt_phase)atomic_load(&self->phase);
    rt_scheduler_count(self->scheduler, &counts);
    *out = (rt_workload_progress){.phase = phase,
                                  .tasks = self->options.tasks,
                                  .tasks_submitted = counts.submitted,
                                  .tasks_admitted = counts.admitted,
                                  .tasks_completed = counts.completed,
                                  .tasks_failed = counts.failed,
                                  .tasks_cancelled = counts.cancelled,
                                  .tasks_rejected = counts.rejected,
                                  .queue = counts.queued,
                                  .queue_peak = counts.queue_peak,
                                  .active = counts.active,
                                  .elapsed_ns = elapsed_ns(self, phase)};
}

/* ---- the proof ---- */

/* Counts how often each task was seen and adds up what the seen ones must have done. */
static void expect(const rt_workload *self, rt_workload_checks *checks, rt_task_body_counts *expected) {
    const bool probes = self->options.runner == RT_RUNNER_PROBES;
    for (uint64_t id = 0; id < self->options.tasks; id++) {
        const uint8_t seen = atomic_load_explicit(&self->seen[id], memory_order_relaxed);
        checks->tasks_seen_never += seen == 0;
        checks->tasks_seen_once += seen == 1;
        checks->tasks_seen_twice += seen > 1;
        if (seen > 0 && probes) {
            rt_task_body_expect(self->body, id, expected);
        }
    }
}

static const char *first_difference(const rt_workload_checks *checks, const rt_task_body_counts *done,
                                    const rt_task_body_counts *expected, const rt_scheduler_counts *counts) {
    const struct {
        const char *name;
        bool holds;
    } rules[] = {
        {"context_checksum", checks->context_checksum == checks->context_checksum_expected},
        {"probe_checksum", checks->probe_checksum == checks->probe_checksum_expected},
        {"tasks_seen_once", checks->tasks_seen_once == counts->completed + counts->failed},
        {"tasks_seen_twice", checks->tasks_seen_twice == 0},
        {"lookups_failed", checks->lookups_failed == 0},
        {"role_lookups", done->role_lookups == expected->role_lookups},
        {"prompt_bytes", done->prompt_bytes == expected->prompt_bytes},
        {"probes_done", done->probes_done == expected->probes_done},
        {"output_bytes_written", done->output_bytes_written == expected->output_bytes_written},
        {"active_at_end", counts->active == 0},
        {"queue_at_end", counts->queued == 0},
        {"tasks_submitted", counts->submitted == counts->admitted + counts->rejected},
        {"tasks_admitted", counts->admitted == counts->completed + counts->failed + counts->cancelled},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].holds) {
            return rules[i].name;
        }
    }
    return NULL;
}

rt_status rt_workload_verify(rt_workload *self, rt_message *why) {
    if (atomic_load(&self->phase) < RT_PHASE_FINISHED) {
        return rt_fail(why, RT_BUSY, "the run is not finished; execute it first");
    }
    rt_task_body_counts done;
    rt_task_body_counts expected = {.role_lookups = 0};
    rt_scheduler_counts counts;
    rt_workload_checks checks = {.tasks_seen_once = 0};
    rt_task_body_count(self->body, &done);
    rt_scheduler_count(self->scheduler, &counts);
    expect(self, &checks, &expected);
    checks.context_checksum = rt_task_body_context_checksum(self->body);
    checks.context_checksum_expected = rt_task_body_context_expected(self->body);
    checks.probe_checksum = done.probe_checksum;
    checks.probe_checksum_expected = expected.probe_checksum;
    checks.role_lookups_expected = expected.role_lookups;
    checks.prompt_bytes_expected = expected.prompt_bytes;
    checks.probes_expected = expected.probes_done;
    checks.output_bytes_expected = expected.output_bytes_written;
    checks.lookups_failed = done.lookups_failed;
    const char *const difference = first_difference(&checks, &done, &expected, &counts);
    checks.passed = difference == NULL;
    self->checks = checks;
    atomic_store(&self->phase, RT_PHASE_VERIFIED);
    return checks.passed
               ? RT_OK
               : rt_fail(why, RT_FAILED, "%s is not what the formulas and counts require", difference);
}

/* ---- the result ---- */

static rt_status merge_histograms(rt_workload *self) {
    if (self->histograms != NULL) {
        return RT_OK;
    }
    self->histograms =
        rt_allocate_owned(&self->allocator, RT_OWNER_HISTOGRAMS, RT_STAGES, sizeof *self->histograms);
    if (self->histograms == NULL) {
        return RT_NO_MEMORY;
    }
    for (unsigned stage = 0; stage < RT_STAGES; stage++) {
        rt_histogram_init(&self->histograms[stage]);
    }
    rt_histogram *const all = self->histograms;
    rt_scheduler_merge(self->scheduler, RT_SCHEDULER_QUEUE, &all[RT_STAGE_QUEUE]);
    rt_scheduler_merge(self->scheduler, RT_SCHEDULER_EXECUTION, &all[RT_STAGE_EXECUTION]);
    rt_scheduler_merge(self->scheduler, RT_SCHEDULER_FINALISATION, &all[RT_STAGE_FINALISATION]);
    rt_scheduler_merge(self->scheduler, RT_SCHEDULER_END_TO_END, &all[RT_STAGE_END_TO_END]);
    rt_scheduler_merge(self->scheduler, RT_SCHEDULER_CALLBACK, &all[RT_STAGE_CALLBACK]);
    rt_scheduler_merge(self->scheduler, RT_SCHEDULER_HISTORY_PRUNING, &all[RT_STAGE_HISTORY_PRUNING]);
    rt_task_body_merge_lookup(self->body, &all[RT_STAGE_ROLE_LOOKUP]);
    rt_task_body_merge_prompt(self->body, &all[RT_STAGE_PROMPT]);
    return RT_OK;
}

static void add_stacks(rt_memory_account *account, rt_owner owner, const rt_scheduler *scheduler) {
    rt_scheduler_bytes bytes;
    if (scheduler != NULL) {
        rt_scheduler_account(scheduler, &bytes);
        rt_memory_account_add_stacks(account, owner, bytes.stack_reserved_bytes, bytes.stack_committed_bytes);
    }
}

void rt_workload_account(rt_workload *self, rt_memory_account *account) {
    rt_memory_account_add(account, &self->allocator);
    rt_memory_account_add_object(account, RT_OWNER_RUNTIME, sizeof *self);
    add_stacks(account, RT_OWNER_STACKS, self->scheduler);
    add_stacks(account, RT_OWNER_AUXILIARY, self->auxiliary);
}

static void read_counts(const rt_scheduler_counts *counts, rt_workload_result *out) {
    out->tasks_submitted = counts->submitted;
    out->tasks_admitted = counts->admitted;
    out->tasks_completed = counts->completed;
    out->tasks_failed = counts->failed;
    out->tasks_cancelled = counts->cancelled;
    out->tasks_rejected = counts->rejected;
    out->active_at_end = counts->active;
    out->queue_at_end = counts->queued;
    out->queue_peak = counts->queue_peak;
    out->active_peak = counts->active_peak;
    out->retained_tasks = counts->retained_tasks;
    out->retained_bytes = counts->retained_bytes;
    out->clamped_intervals = counts->clamped_intervals;
    out->dequeues = counts->dequeues;
    out->wakeups = counts->wakeups;
    out->mean_batch = counts->dequeues > 0 ? (double)counts->dequeued / (double)counts->dequeues : 0.0;
}

static void read_times(const rt_workload *self, rt_workload_result *out) {
    out->phase = self->ended_in;
    out->stopped = self->stopped;
    out->started_at_s = self->started_at_s;
    out->started_ns = atomic_load(&self->started_ns);
    out->finished_ns = atomic_load(&self->finished_ns);
    out->elapsed_ns = elapsed_ns(self, RT_PHASE_FINISHED);
    out->has_rate = out->elapsed_ns > 0;
    out->tasks_per_second =
        out->has_rate ? (double)out->tasks_completed / ((double)out->elapsed_ns / 1e9) : 0.0;
}

static void read_body(const rt_workload *self, rt_workload_result *out) {
    rt_task_body_counts done;
    rt_task_body_count(self->body, &done);
    out->role_lookups = done.role_lookups;
    out->prompt_bytes = done.prompt_bytes;
    out->probes_done = done.probes_done;
    out->output_bytes_written = done.output_bytes_written;
    out->clamped_intervals += done.clamped_intervals;
}

rt_status rt_workload_result_read(rt_workload *self, rt_workload_result *out) {
    if (atomic_load(&self->phase) < RT_PHASE_FINISHED) {
        return RT_BUSY;
    }
    const rt_status status = merge_histograms(self);
    if (status != RT_OK) {
        return status;
    }
    rt_scheduler_counts counts;
    *out = (rt_workload_result){.checks = self->checks};
    rt_scheduler_count(self->scheduler, &counts);
    read_counts(&counts, out);
    read_times(self, out);
    read_body(self, out);
    for (unsigned stage = 0; stage < RT_STAGES; stage++) {
        out->histograms[stage] = &self->histograms[stage];
    }
    if (self->auxiliary != NULL) {
        rt_scheduler_count(self->auxiliary, &counts);
        out->aux_workers_alive = counts.idle;
    }
    return RT_OK;
}
