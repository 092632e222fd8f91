/* What a run tells: progress and the result. */
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
                                  .tasks_timed_out = counts.timed_out,
                                  .tasks_rejected = counts.rejected,
                                  .queue = counts.queued,
                                  .queue_peak = counts.queue_peak,
                                  .active = counts.active,
                                  .elapsed_ns = elapsed_ns(self, phase),
                                  .in_flight_s = counts.in_flight_s,
                                  .in_flight_at_ns = counts.in_flight_at_ns};
}

void rt_workload_observe(rt_workload *self, rt_workload_progress *out) {
    rt_workload_progress_read(self, out);
    if (self->backlog == NULL || out->phase < RT_PHASE_SUBMIT || out->phase > RT_PHASE_DRAIN ||
        atomic_load(&self->started_ns) == 0) {
        return;
    }
    rt_backlog_row row = {.t_ns = out->elapsed_ns,
                          .queue = out->queue,
                          .admitted = out->tasks_admitted,
                          .in_system_s = out->in_flight_s,
                          .in_system_at_ns = out->in_flight_at_ns};
    row.in_system = out->tasks_admitted - out->tasks_completed - out->tasks_failed - out->tasks_cancelled -
                    out->tasks_timed_out;
    for (uint32_t i = 0; i <= self->options.workers; i++) {
        row.ended += atomic_load_explicit(&self->tallies[i].ended, memory_order_relaxed);
        row.ended_time_ns += atomic_load_explicit(&self->tallies[i].time_ns, memory_order_relaxed);
    }
    rt_backlog_add(self->backlog, &row);
}

/* ---- the result ---- */

static rt_status merge_histograms(rt_workload *self) {
    if (self->histograms != NULL) {
        return RT_OK;
    }
    self->histograms =
        rt_allocate_owned(&self->allocator, RT_OWNER_HISTOGRAMS, RT_STAGES + 1, sizeof *self->histograms);
    if (self->histograms == NULL) {
        return RT_NO_MEMORY;
    }
    for (unsigned stage = 0; stage <= RT_STAGES; stage++) {
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
    if (self->provider != NULL) {
        rt_provider_merge(self->provider, &all[RT_STAGES]);
    }
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
    out->tasks_timed_out = counts->timed_out;
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
    out->suspensions = counts->suspensions;
    out->suspended_peak = counts->suspended_peak;
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

static uint64_t time_between(uint64_t from_ns, uint64_t until_ns) {
    return until_ns > from_ns ? until_ns - from_ns : 0;
}

static void read_submission(const rt_workload *self, rt_workload_result *out) {
    const rt_workload_options *const options = &self->options;
    for (uint32_t i = 0; self->tallies != NULL && i < options->workers; i++) {
        out->yields_done += atomic_load_explicit(&self->tallies[i].yields, memory_order_relaxed);
    }
    out->submit_ns = time_between(out->started_ns, self->last_submit_ns);
    out->drain_ns = time_between(atomic_load(&self->submitted_ns), out->finished_ns);
    out->has_slots = options->stack_bytes == 0 || options->max_suspended > 0;
    out->slots = options->workers + (out->has_slots ? options->max_suspended : 0u);
    out->lateness = self->lateness;
    out->course = self->course;
    out->rollback = self->rollback;
    out->batches = self->batch_count > 0 ? self->batches : NULL;
    out->batch_count = self->batch_count;
    out->is_held = options->submission == RT_SUBMISSION_HELD;
    out->held = self->held;
}

static void read_faults(const rt_workload *self, rt_workload_result *out) {
    rt_workload_faults *const faults = &out->faults;
    faults->any = self->tenants != NULL;
    out->tenants = self->tenants;
    if (!faults->any) {
        return;
    }
    faults->failed_chosen = rt_faults_count(&self->chosen, RT_FAULT_FAIL);
    faults->slow_chosen = rt_faults_count(&self->chosen, RT_FAULT_SLOW);
    faults->cancels_asked = self->cancels_asked;
    faults->failed_unplanned = self->failed_unplanned;
    rt_provider_count(self->provider, &faults->provider);
    out->clamped_intervals += faults->provider.clamped_intervals;
    out->provider_wait = self->options.wait_mode != RT_WAIT_NONE ? &self->histograms[RT_STAGES] : NULL;
    faults->has_outage = self->options.outage_ms > 0;
    if (faults->has_outage) {
        const uint64_t start_ns = self->options.outage_start_ms * 1000000u;
        rt_backlog_outage_of(self->backlog, start_ns, start_ns + self->options.outage_ms * 1000000u,
                             out->submit_ns, &faults->outage);
    }
}

static void read_stability(const rt_workload *self, rt_workload_result *out) {
    rt_workload_stability *const stability = &out->stability;
    if (!rt_workload_is_open(self)) {
        return;
    }
    const rt_backlog_window window =
        rt_backlog_window_of(out->submit_ns, rt_arrivals_cycle_ns(&self->arrivals));
    stability->growth_missing = rt_backlog_growth_of(self->backlog, window, &stability->growth);
    stability->little_missing = rt_backlog_little_of(self->backlog, window, &stability->little);
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
    read_submission(self, out);
    read_faults(self, out);
    read_stability(self, out);
    rt_scheduler_end_contention(self->scheduler);
    rt_scheduler_contention(self->scheduler, &out->contention);
    out->worker_cpu_ns = self->worker_cpu_ns;
    out->auxiliary_cpu_ns = self->auxiliary_cpu_ns;
    for (unsigned stage = 0; stage < RT_STAGES; stage++) {
        out->histograms[stage] = &self->histograms[stage];
    }
    if (self->auxiliary != NULL) {
        rt_scheduler_count(self->auxiliary, &counts);
        out->aux_workers_alive = counts.idle;
    }
    return RT_OK;
}
