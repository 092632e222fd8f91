#include "rt_subject.h"

#include "rt_options.h"

#include <string.h>

/* ---- create and destroy ---- */

static rt_status create_context(rt_subject *self, const rt_run_options *options, rt_allocator *allocator,
                                rt_message *why) {
    const rt_context_experiment_options context = {.allocator = allocator,
                                                   .clock = &rt_clock_machine,
                                                   .seed = options->workload_seed,
                                                   .context_bytes = options->context_bytes,
                                                   .rewrite_permille = (uint32_t)options->rewrite_permille,
                                                   .overview_bytes = (uint32_t)options->overview_bytes};
    return rt_context_experiment_create(&context, &self->context, why);
}

static rt_status create_lookup(rt_subject *self, const rt_run_options *options, rt_allocator *allocator,
                               rt_message *why) {
    const rt_lookup_experiment_options lookup = {.allocator = allocator,
                                                 .clock = &rt_clock_machine,
                                                 .seed = options->workload_seed,
                                                 .tasks = options->tasks,
                                                 .agents = (uint32_t)options->agents};
    return rt_lookup_experiment_create(&lookup, &self->lookup, why);
}

rt_status rt_subject_create(rt_subject *self, const rt_run_options *options, rt_allocator *allocator,
                            rt_message *why) {
    rt_status status;
    if (rt_option_is(options->workload, "context")) {
        status = create_context(self, options, allocator, why);
    } else if (rt_option_is(options->workload, "lookup")) {
        status = create_lookup(self, options, allocator, why);
    } else {
        rt_workload_options workload;
        rt_options_to_workload(options, &workload);
        status = rt_workload_create(&workload, &self->workload, why);
    }
    if (status == RT_OK && atomic_load(&self->stop_requested) != 0) {
        rt_subject_request_stop(self);
    }
    return status;
}

void rt_subject_destroy(rt_subject *self) {
    rt_workload_destroy(self->workload);
    rt_context_experiment_destroy(self->context);
    rt_lookup_experiment_destroy(self->lookup);
    self->workload = NULL;
    self->context = NULL;
    self->lookup = NULL;
}

/* ---- run ---- */

rt_status rt_subject_execute(rt_subject *self, rt_message *why) {
    if (self->workload != NULL) {
        return rt_workload_execute(self->workload, why);
    }
    self->ended_with = self->context != NULL ? rt_context_experiment_execute(self->context, why)
                                             : rt_lookup_experiment_execute(self->lookup, why);
    return self->ended_with;
}

void rt_subject_request_stop(rt_subject *self) {
    atomic_store(&self->stop_requested, 1);
    if (self->workload != NULL) {
        rt_workload_request_stop(self->workload);
    } else if (self->context != NULL) {
        rt_context_experiment_request_stop(self->context);
    } else if (self->lookup != NULL) {
        rt_lookup_experiment_request_stop(self->lookup);
    }
}

static bool read_experiment(const rt_subject *self, rt_experiment_progress *out) {
    if (self->context != NULL) {
        rt_context_experiment_progress(self->context, out);
    } else if (self->lookup != NULL) {
        rt_lookup_experiment_progress(self->lookup, out);
    }
    return self->context != NULL || self->lookup != NULL;
}

static rt_phase phase_of(const rt_experiment_progress *progress) {
    return progress->finished ? RT_PHASE_FINISHED : progress->executing ? RT_PHASE_SUBMIT : RT_PHASE_SETUP;
}

void rt_subject_progress(rt_subject *self, rt_workload_progress *out) {
    rt_experiment_progress progress;
    *out = (rt_workload_progress){.phase = RT_PHASE_SETUP};
    if (self->workload != NULL) {
        rt_workload_progress_read(self->workload, out);
    } else if (read_experiment(self, &progress)) {
        *out = (rt_workload_progress){.phase = phase_of(&progress),
                                      .tasks = progress.tasks,
                                      .tasks_submitted = progress.tasks_begun,
                                      .tasks_admitted = progress.tasks_begun,
                                      .tasks_completed = progress.tasks_done,
                                      .elapsed_ns = progress.elapsed_ns};
    }
}

void rt_subject_observe(rt_subject *self, rt_workload_progress *out) {
    if (self->workload != NULL) {
        rt_workload_observe(self->workload, out);
    } else {
        rt_subject_progress(self, out);
    }
}

/* ---- afterwards ---- */

rt_status rt_subject_verify(rt_subject *self, rt_message *why) {
    if (self->workload != NULL) {
        return rt_workload_verify(self->workload, why);
    }
    return self->context != NULL ? rt_context_experiment_verify(self->context, why)
                                 : rt_lookup_experiment_verify(self->lookup, why);
}

/* What was begun and not done broke off with the run, or was taken back by a stop. */
static void read_counts(const rt_subject *self, rt_workload_result *out) {
    rt_experiment_progress progress;
    read_experiment(self, &progress);
    const uint64_t left = progress.tasks_begun - progress.tasks_done;
    out->tasks_submitted = progress.tasks_begun;
    out->tasks_admitted = progress.tasks_begun;
    out->tasks_completed = progress.tasks_done;
    out->stopped = self->ended_with == RT_STOPPED;
    out->tasks_cancelled = out->stopped ? left : 0;
    out->tasks_failed = out->stopped ? 0 : left;
    out->phase = self->ended_with == RT_OK ? RT_PHASE_FINISHED : RT_PHASE_SUBMIT;
}

static void read_times(rt_workload_result *out) {
    out->elapsed_ns = out->finished_ns > out->started_ns ? out->finished_ns - out->started_ns : 0;
    out->has_rate = out->elapsed_ns > 0;
    out->tasks_per_second =
        out->has_rate ? (double)out->tasks_completed / ((double)out->elapsed_ns / 1e9) : 0.0;
}

static rt_status read_context(const rt_subject *self, rt_workload_result *out) {
    rt_context_experiment_result context;
    const rt_status status = rt_context_experiment_result_read(self->context, &context);
    if (status == RT_OK) {
        out->started_at_s = context.started_at_s;
        out->started_ns = context.started_ns;
        out->finished_ns = context.finished_ns;
        out->checks.passed = context.passed;
    }
    return status;
}

static rt_status read_lookup(const rt_subject *self, rt_workload_result *out) {
    rt_lookup_experiment_result lookup;
    const rt_status status = rt_lookup_experiment_result_read(self->lookup, &lookup);
    if (status == RT_OK) {
        out->started_at_s = lookup.started_at_s;
        out->started_ns = lookup.started_ns;
        out->finished_ns = lookup.finished_ns;
        out->checks.passed = lookup.passed;
    }
    return status;
}

rt_status rt_subject_result(rt_subject *self, rt_workload_result *out) {
    if (self->workload != NULL) {
        return rt_workload_result_read(self->workload, out);
    }
    memset(out, 0, sizeof *out);
    const rt_status status = self->context != NULL ? read_context(self, out) : read_lookup(self, out);
    if (status == RT_OK) {
        read_counts(self, out);
        read_times(out);
    }
    return status;
}

void rt_subject_account(rt_subject *self, rt_memory_account *account) {
    if (self->workload != NULL) {
        rt_workload_account(self->workload, account);
    }
}
