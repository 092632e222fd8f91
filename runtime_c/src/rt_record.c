#include "rt_record_parts.h"

#include <stdio.h>

#include "rt_clock.h"

/* ---- values that may be missing ---- */

static void add_gap(rt_record_gaps *gaps, const char *key, const char *reason) {
    if (gaps->count < RT_RECORD_MAX_GAPS) {
        snprintf(gaps->keys[gaps->count], RT_RECORD_KEY_BYTES, "%s", key);
        gaps->reasons[gaps->count++] = reason;
    }
}

void rt_record_null(rt_json *json, rt_record_gaps *gaps, const char *key, const char *missing) {
    rt_json_null(json, key);
    add_gap(gaps, key, missing);
}

void rt_record_double(rt_json *json, rt_record_gaps *gaps, const char *key, double value,
                      const char *missing) {
    if (missing == NULL) {
        rt_json_double(json, key, value);
    } else {
        rt_record_null(json, gaps, key, missing);
    }
}

void rt_record_uint(rt_json *json, rt_record_gaps *gaps, const char *key, uint64_t value,
                    const char *missing) {
    if (missing == NULL) {
        rt_json_uint(json, key, value);
    } else {
        rt_record_null(json, gaps, key, missing);
    }
}

void rt_record_write_gaps(rt_json *json, const rt_record_gaps *gaps) {
    if (gaps->count == 0) {
        return;
    }
    rt_json_object_begin(json, "unavailable");
    for (size_t i = 0; i < gaps->count; i++) {
        rt_json_string(json, gaps->keys[i], gaps->reasons[i]);
    }
    rt_json_object_end(json);
}

void rt_record_write_optional(rt_json *json, const char *key, const rt_fact_uint *fact) {
    if (fact->missing == NULL) {
        rt_json_uint(json, key, fact->value);
    } else {
        rt_json_null(json, key);
    }
}

void rt_record_write_reason(rt_json *json, const char *key, const char *missing) {
    if (missing != NULL) {
        rt_json_string(json, key, missing);
    }
}

/* ---- the parts ---- */

static void write_identity(rt_json *json, const rt_record *record) {
    char started_at[RT_CLOCK_DATE_BYTES];
    rt_clock_date(record->result->started_at_s, started_at);
    rt_json_uint(json, "index", record->options->index);
    rt_json_uint(json, "repetition", record->options->repetition);
    rt_json_string(json, "run_id", record->options->run_id);
    rt_json_string(json, "started_at", started_at);
    rt_json_string(json, "recorded_by", "runtime");
}

static void write_outcome(rt_json *json, const rt_record *record) {
    rt_json_string(json, "outcome", record->outcome);
    rt_json_string(json, "phase", rt_phase_name(record->result->phase));
    if (record->cause == NULL) {
        rt_json_null(json, "cause");
    } else {
        rt_json_string(json, "cause", record->cause);
    }
}

static void write_counts(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps) {
    rt_json_uint(json, "tasks_submitted", result->tasks_submitted);
    rt_json_uint(json, "tasks_admitted", result->tasks_admitted);
    rt_json_uint(json, "tasks_completed", result->tasks_completed);
    rt_json_uint(json, "tasks_failed", result->tasks_failed);
    rt_json_uint(json, "tasks_cancelled", result->tasks_cancelled);
    rt_json_uint(json, "tasks_timed_out", result->tasks_timed_out);
    rt_json_uint(json, "tasks_rejected", result->tasks_rejected);
    rt_json_uint(json, "active_at_end", result->active_at_end);
    rt_json_uint(json, "queue_at_end", result->queue_at_end);
    rt_json_double(json, "elapsed_ms", rt_record_ms(result->elapsed_ns));
    rt_record_double(json, gaps, "tasks_per_second", result->tasks_per_second,
                     result->has_rate ? NULL : "no time passed between start and end");
}

static void write_cpu(rt_json *json, const rt_record *record) {
    rt_json_double(json, "cpu_user_ms", rt_record_ms(record->usage.user_ns));
    rt_json_double(json, "cpu_system_ms", rt_record_ms(record->usage.system_ns));
    rt_json_uint(json, "voluntary_switches", record->usage.voluntary_switches);
    rt_json_uint(json, "involuntary_switches", record->usage.involuntary_switches);
}

static void write_rss(rt_json *json, const rt_record *record) {
    rt_json_uint(json, "peak_rss_bytes", record->memory_after.peak_rss_bytes);
    rt_json_uint(json, "rss_at_start_bytes", record->memory_before.rss_bytes);
    rt_json_uint(json, "rss_at_end_bytes", record->memory_after.rss_bytes);
}

static void write_process(rt_json *json, const rt_record *record) {
    write_rss(json, record);
    write_cpu(json, record);
    if (record->sampler != NULL) {
        rt_json_uint(json, "threads_peak", rt_sampler_threads_peak(record->sampler));
    }
}

static void write_resources(rt_json *json, const rt_record *record, rt_record_gaps *gaps) {
    const rt_workload_result *result = record->result;
    rt_json_uint(json, "retained_tasks", result->retained_tasks);
    rt_json_uint(json, "retained_bytes", result->retained_bytes);
    write_rss(json, record);
    rt_json_uint(json, "queue_peak", result->queue_peak);
    rt_json_uint(json, "active_peak", result->active_peak);
    write_cpu(json, record);
    rt_json_uint(json, "threads_peak", rt_sampler_threads_peak(record->sampler));
    rt_json_uint(json, "role_lookups", result->role_lookups);
    rt_json_uint(json, "prompt_bytes", result->prompt_bytes);
    rt_json_uint(json, "probes_done", result->probes_done);
    rt_json_uint(json, "output_bytes_written", result->output_bytes_written);
    rt_record_write_submission(json, result, gaps);
    rt_json_uint(json, "clamped_intervals", result->clamped_intervals);
    rt_record_double(json, gaps, "load_average_before", record->load_average.value,
                     record->load_average.missing);
}

static void write_checks(rt_json *json, const rt_workload_checks *checks) {
    rt_json_object_begin(json, "checks");
    rt_json_hex64(json, "context_checksum", checks->context_checksum);
    rt_json_hex64(json, "context_checksum_expected", checks->context_checksum_expected);
    rt_json_hex64(json, "probe_checksum", checks->probe_checksum);
    rt_json_hex64(json, "probe_checksum_expected", checks->probe_checksum_expected);
    rt_json_uint(json, "tasks_seen_once", checks->tasks_seen_once);
    rt_json_uint(json, "tasks_seen_never", checks->tasks_seen_never);
    rt_json_uint(json, "tasks_seen_twice", checks->tasks_seen_twice);
    rt_json_uint(json, "prompt_bytes_expected", checks->prompt_bytes_expected);
    rt_json_uint(json, "lookups_failed", checks->lookups_failed);
    rt_json_object_end(json);
}

/* The workload tasks: everything that passed through the scheduler. */
static void write_tasks(rt_json *json, const rt_record *record, rt_record_gaps *gaps) {
    const rt_workload_result *const result = record->result;
    write_counts(json, result, gaps);
    rt_record_write_latencies(json, result, gaps);
    write_resources(json, record, gaps);
    rt_record_write_histograms(json, record);
    rt_record_write_timeline(json, record->sampler);
    rt_record_write_memory(json, record);
    rt_record_write_contention(json, record);
    write_checks(json, &result->checks);
    rt_record_write_course(json, result, gaps);
    rt_record_write_faults(json, result);
    if (result->rollback != NULL) {
        rt_rollback_write(result->rollback, json, "rollback");
    }
}

/* The other workloads, and a run that did not come up: counts, times and resources, and the workload's own object. */
static void write_experiment(rt_json *json, const rt_record *record, rt_record_gaps *gaps) {
    const rt_subject *const subject = record->subject;
    write_counts(json, record->result, gaps);
    write_process(json, record);
    rt_record_write_experiment_histograms(json, subject);
    if (record->sampler != NULL) {
        rt_record_write_timeline(json, record->sampler);
        rt_record_write_memory(json, record);
    }
    if (subject->context != NULL) {
        rt_context_experiment_write(subject->context, json, "context");
    } else if (subject->lookup != NULL) {
        rt_lookup_experiment_write(subject->lookup, json, "lookup");
    }
}

void rt_record_write(rt_json *json, const char *key, const rt_record *record) {
    rt_record_gaps gaps = {.count = 0};
    rt_json_object_begin(json, key);
    write_identity(json, record);
    rt_record_write_configuration(json, record->options);
    write_outcome(json, record);
    if (record->subject->workload != NULL) {
        write_tasks(json, record, &gaps);
    } else {
        write_experiment(json, record, &gaps);
    }
    rt_record_write_gaps(json, &gaps);
    rt_json_object_end(json);
}
