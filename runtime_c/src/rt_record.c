#include "rt_record.h"

#include <stdio.h>

#include "rt_clock.h"

/* The four stages whose percentiles stand as scalars, and the prefix of their keys. */
static const struct {
    rt_stage stage;
    const char *prefix;
} scalar_stages[] = {{RT_STAGE_QUEUE, "scheduler_latency"},
                     {RT_STAGE_EXECUTION, "execution"},
                     {RT_STAGE_FINALISATION, "finalisation"},
                     {RT_STAGE_END_TO_END, "end_to_end"}};

#define SCALAR_STAGES (sizeof scalar_stages / sizeof *scalar_stages)

static const struct {
    const char *name;
    uint64_t a, b;
} quantiles[] = {{"p50", 50, 100}, {"p95", 95, 100}, {"p99", 99, 100}, {"max", 1, 1}};

#define QUANTILES (sizeof quantiles / sizeof *quantiles)

static double milliseconds(uint64_t ns) { return (double)ns / 1e6; }

static void write_identity(rt_json *json, const rt_record *record) {
    char started_at[RT_CLOCK_DATE_BYTES];
    rt_clock_date(record->result->started_at_s, started_at);
    rt_json_uint(json, "index", record->options->index);
    rt_json_uint(json, "repetition", record->options->repetition);
    rt_json_string(json, "run_id", record->options->run_id);
    rt_json_string(json, "started_at", started_at);
    rt_json_string(json, "recorded_by", "runtime");
}

static void write_configuration(rt_json *json, const rt_run_options *options) {
    rt_json_string(json, "suite", options->suite);
    rt_json_string(json, "benchmark_version", options->benchmark_version);
    rt_json_uint(json, "agents", options->agents);
    rt_json_uint(json, "tasks", options->tasks);
    rt_json_uint(json, "workers", options->workers);
    rt_json_uint(json, "aux_workers", options->aux_workers);
    rt_json_uint(json, "probes", options->probes);
    rt_json_uint(json, "context_bytes", options->context_bytes);
    rt_json_string(json, "access_pattern", options->access_pattern);
    rt_json_uint(json, "queue_limit", options->queue_limit);
    rt_json_uint(json, "max_active", options->max_active);
    rt_json_uint(json, "history_limit_tasks", options->history_limit_tasks);
    rt_json_uint(json, "history_limit_bytes", options->history_limit_bytes);
    rt_json_uint(json, "output_bytes", options->output_bytes);
    rt_json_string(json, "submission", options->submission);
    rt_json_uint(json, "window", options->window);
    rt_json_uint(json, "rate_per_s", options->rate_per_s);
    rt_json_string(json, "task_stack", options->task_stack);
    rt_json_uint(json, "sampler_interval_ms", options->sampler_interval_ms);
}

/* The keys that the minor version 1 of the schema brought. */
static void write_work(rt_json *json, const rt_run_options *options) {
    rt_json_string(json, "workload", options->workload);
    rt_json_uint(json, "workload_seed", options->workload_seed);
    rt_json_string(json, "variant", options->variant);
    rt_json_uint(json, "priorities", options->priorities);
    rt_json_uint(json, "batches", options->batches);
    rt_json_uint(json, "yields", options->yields);
    rt_json_uint(json, "stack_bytes", options->stack_bytes);
    rt_json_uint(json, "max_suspended", options->max_suspended);
    rt_json_string(json, "wait_mode", options->wait_mode);
    rt_json_uint(json, "wait_us", options->wait_us);
    rt_json_string(json, "wait_distribution", options->wait_distribution);
    rt_json_uint(json, "timeout_us", options->timeout_us);
    rt_json_uint(json, "fail_permille", options->fail_permille);
    rt_json_uint(json, "slow_permille", options->slow_permille);
    rt_json_uint(json, "cancel_permille", options->cancel_permille);
    rt_json_uint(json, "slow_us", options->slow_us);
}

static void write_disturbances(rt_json *json, const rt_run_options *options) {
    rt_json_string(json, "fault_ramp", options->fault_ramp);
    rt_json_uint(json, "memory_limit_bytes", options->memory_limit_bytes);
    rt_json_uint(json, "kill_after_tasks", options->kill_after_tasks);
    rt_json_uint(json, "outage_start_ms", options->outage_start_ms);
    rt_json_uint(json, "outage_ms", options->outage_ms);
    rt_json_string(json, "retry_policy", options->retry_policy);
    rt_json_uint(json, "retry_attempts", options->retry_attempts);
    rt_json_uint(json, "retry_delay_us", options->retry_delay_us);
    rt_json_uint(json, "tenants", options->tenants);
    rt_json_uint(json, "steady_ms", options->steady_ms);
    rt_json_uint(json, "pause_ms", options->pause_ms);
    rt_json_uint(json, "burst_ms", options->burst_ms);
    rt_json_uint(json, "burst_factor", options->burst_factor);
    rt_json_string(json, "snapshot", options->snapshot);
    rt_json_uint(json, "rollbacks", options->rollbacks);
    rt_json_uint(json, "rewrite_permille", options->rewrite_permille);
    rt_json_uint(json, "overview_bytes", options->overview_bytes);
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

static void write_counts(rt_json *json, const rt_workload_result *result) {
    rt_json_uint(json, "tasks_submitted", result->tasks_submitted);
    rt_json_uint(json, "tasks_admitted", result->tasks_admitted);
    rt_json_uint(json, "tasks_completed", result->tasks_completed);
    rt_json_uint(json, "tasks_failed", result->tasks_failed);
    rt_json_uint(json, "tasks_cancelled", result->tasks_cancelled);
    rt_json_uint(json, "tasks_timed_out", result->tasks_timed_out);
    rt_json_uint(json, "tasks_rejected", result->tasks_rejected);
    rt_json_uint(json, "active_at_end", result->active_at_end);
    rt_json_uint(json, "queue_at_end", result->queue_at_end);
    rt_json_double(json, "elapsed_ms", milliseconds(result->elapsed_ns));
    if (result->has_rate) {
        rt_json_double(json, "tasks_per_second", result->tasks_per_second);
    } else {
        rt_json_null(json, "tasks_per_second");
    }
}

static void latency_key(char key[48], size_t stage, size_t quantile) {
    snprintf(key, 48, "%s_%s_ms", scalar_stages[stage].prefix, quantiles[quantile].name);
}

static void write_latencies(rt_json *json, const rt_workload_result *result) {
    char key[48];
    for (size_t s = 0; s < SCALAR_STAGES; s++) {
        const rt_histogram *histogram = result->histograms[scalar_stages[s].stage];
        for (size_t q = 0; q < QUANTILES; q++) {
            latency_key(key, s, q);
            if (histogram->count == 0) {
                rt_json_null(json, key);
            } else {
                uint64_t ns = rt_histogram_percentile_ns(histogram, quantiles[q].a, quantiles[q].b);
                rt_json_double(json, key, milliseconds(ns));
            }
        }
    }
}

static void write_resources(rt_json *json, const rt_record *record) {
    const rt_workload_result *result = record->result;
    rt_json_uint(json, "retained_tasks", result->retained_tasks);
    rt_json_uint(json, "retained_bytes", result->retained_bytes);
    rt_json_uint(json, "peak_rss_bytes", record->memory_after.peak_rss_bytes);
    rt_json_uint(json, "rss_at_start_bytes", record->memory_before.rss_bytes);
    rt_json_uint(json, "rss_at_end_bytes", record->memory_after.rss_bytes);
    rt_json_uint(json, "queue_peak", result->queue_peak);
    rt_json_uint(json, "active_peak", result->active_peak);
    rt_json_double(json, "cpu_user_ms", milliseconds(record->usage.user_ns));
    rt_json_double(json, "cpu_system_ms", milliseconds(record->usage.system_ns));
    rt_json_uint(json, "voluntary_switches", record->usage.voluntary_switches);
    rt_json_uint(json, "involuntary_switches", record->usage.involuntary_switches);
    rt_json_uint(json, "threads_peak", rt_sampler_threads_peak(record->sampler));
    rt_json_uint(json, "role_lookups", result->role_lookups);
    rt_json_uint(json, "prompt_bytes", result->prompt_bytes);
    rt_json_uint(json, "probes_done", result->probes_done);
    rt_json_uint(json, "output_bytes_written", result->output_bytes_written);
    rt_json_uint(json, "clamped_intervals", result->clamped_intervals);
    if (record->load_average.missing == NULL) {
        rt_json_double(json, "load_average_before", record->load_average.value);
    } else {
        rt_json_null(json, "load_average_before");
    }
}

static void write_buckets(rt_json *json, const rt_histogram *histogram) {
    rt_json_array_begin(json, "buckets");
    for (uint32_t i = 0; i < RT_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0) {
            continue;
        }
        rt_json_array_begin(json, NULL);
        rt_json_uint(json, NULL, i);
        rt_json_uint(json, NULL, histogram->buckets[i]);
        rt_json_array_end(json);
    }
    rt_json_array_end(json);
}

static void write_histogram(rt_json *json, rt_stage stage, const rt_histogram *histogram) {
    char sum[RT_HISTOGRAM_SUM_BYTES];
    rt_histogram_sum_text(histogram, sum);
    rt_json_object_begin(json, rt_stage_name(stage));
    rt_json_string(json, "layout", RT_HISTOGRAM_LAYOUT);
    rt_json_string(json, "unit", "ns");
    rt_json_uint(json, "sample_every", rt_stage_sample_every(stage));
    rt_json_uint(json, "count", histogram->count);
    rt_json_string(json, "sum_ns", sum);
    if (histogram->count == 0) {
        rt_json_null(json, "min_ns");
        rt_json_null(json, "max_ns");
    } else {
        rt_json_uint(json, "min_ns", histogram->min_ns);
        rt_json_uint(json, "max_ns", histogram->max_ns);
    }
    write_buckets(json, histogram);
    rt_json_object_end(json);
}

static void write_histograms(rt_json *json, const rt_workload_result *result) {
    rt_json_object_begin(json, "histograms");
    for (int stage = 0; stage < RT_STAGES; stage++) {
        write_histogram(json, (rt_stage)stage, result->histograms[stage]);
    }
    rt_json_object_end(json);
}

static void write_row(rt_json *json, const rt_sample *row) {
    rt_json_array_begin(json, NULL);
    rt_json_double(json, NULL, milliseconds(row->t_ns));
    rt_json_uint(json, NULL, row->queue);
    rt_json_uint(json, NULL, row->active);
    if (row->rss_bytes == 0) {
        rt_json_null(json, NULL); /* /proc could not be read at that moment */
    } else {
        rt_json_uint(json, NULL, row->rss_bytes);
    }
    rt_json_uint(json, NULL, row->threads);
    rt_json_double(json, NULL, milliseconds(row->cpu_ns));
    rt_json_array_end(json);
}

static void write_timeline(rt_json *json, const rt_sampler *sampler) {
    static const char *const columns[] = {"t_ms", "queue", "active", "rss_bytes", "threads", "cpu_ms"};
    rt_json_object_begin(json, "timeline");
    rt_json_uint(json, "interval_ms", rt_sampler_interval_ns(sampler) / 1000000u);
    rt_json_bool(json, "in_process", true);
    rt_json_bool(json, "children", false);
    rt_json_uint(json, "samples", rt_sampler_count(sampler));
    rt_json_double(json, "cost_cpu_ms", milliseconds(rt_sampler_cost_ns(sampler)));
    rt_json_array_begin(json, "columns");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        rt_json_string(json, NULL, columns[i]);
    }
    rt_json_array_end(json);
    rt_json_array_begin(json, "rows");
    for (size_t i = 0; i < rt_sampler_count(sampler); i++) {
        write_row(json, rt_sampler_row(sampler, i));
    }
    rt_json_array_end(json);
    rt_json_object_end(json);
}

static void write_owners(rt_json *json, const rt_record *record) {
    const rt_workload_bytes *bytes = &record->result->bytes;
    rt_json_object_begin(json, "owners");
    rt_json_uint(json, "runtime_bytes", bytes->runtime_bytes);
    rt_json_uint(json, "context_bytes", bytes->context_bytes);
    rt_json_uint(json, "task_bytes", bytes->task_bytes);
    rt_json_uint(json, "stack_bytes", bytes->stack_bytes);
    rt_json_uint(json, "history_bytes", bytes->history_bytes);
    rt_json_uint(json, "verification_bytes", bytes->verification_bytes);
    rt_json_uint(json, "auxiliary_bytes", bytes->auxiliary_bytes);
    rt_json_uint(json, "histogram_bytes", bytes->histogram_bytes);
    rt_json_uint(json, "sampler_bytes", rt_sampler_bytes(record->sampler));
    rt_json_object_end(json);
}

static void write_optional(rt_json *json, const char *key, const rt_fact_uint *fact) {
    if (fact->missing == NULL) {
        rt_json_uint(json, key, fact->value);
    } else {
        rt_json_null(json, key);
    }
}

static void write_reason(rt_json *json, const char *key, const char *missing) {
    if (missing != NULL) {
        rt_json_string(json, key, missing);
    }
}

static void write_memory(rt_json *json, const rt_record *record) {
    const rt_workload_bytes *bytes = &record->result->bytes;
    const rt_allocator *own = record->allocator;
    rt_json_object_begin(json, "memory");
    rt_json_string(json, "rss_api", RT_MEMORY_RSS_API);
    rt_json_uint(json, "rss_anon_at_end_bytes", record->memory_after.rss_anon_bytes);
    rt_json_uint(json, "rss_file_at_end_bytes", record->memory_after.rss_file_bytes);
    write_optional(json, "pss_at_end_bytes", &record->pss_bytes);
    rt_json_uint(json, "virtual_at_end_bytes", record->memory_after.virtual_bytes);
    write_optional(json, "cgroup_current_bytes", &record->cgroup_current_bytes);
    write_optional(json, "cgroup_peak_bytes", &record->cgroup_peak_bytes);
    rt_json_uint(json, "allocated_total_bytes", bytes->allocated_total_bytes + own->allocated_bytes);
    rt_json_uint(json, "allocations", bytes->allocations + own->allocations);
    rt_json_uint(json, "live_objects", bytes->live_objects + own->live_objects);
    write_owners(json, record);
    rt_json_object_begin(json, "unavailable");
    write_reason(json, "pss_at_end_bytes", record->pss_bytes.missing);
    write_reason(json, "cgroup_current_bytes", record->cgroup_current_bytes.missing);
    write_reason(json, "cgroup_peak_bytes", record->cgroup_peak_bytes.missing);
    rt_json_object_end(json);
    rt_json_object_end(json);
}

static void write_contention(rt_json *json, const rt_workload_result *result) {
    rt_json_object_begin(json, "contention");
    rt_json_uint(json, "dequeues", result->dequeues);
    rt_json_uint(json, "wakeups", result->wakeups);
    rt_json_double(json, "mean_batch", result->mean_batch);
    rt_json_object_end(json);
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

/* Only a run that was stopped before it did anything, or a kernel without its usual files, has such gaps. */
static void write_unavailable(rt_json *json, const rt_record *record) {
    const rt_workload_result *result = record->result;
    char key[48];
    if (result->has_rate && result->histograms[RT_STAGE_END_TO_END]->count > 0 &&
        record->load_average.missing == NULL) {
        return;
    }
    rt_json_object_begin(json, "unavailable");
    write_reason(json, "load_average_before", record->load_average.missing);
    write_reason(json, "tasks_per_second", result->has_rate ? NULL : "no time passed between start and end");
    for (size_t s = 0; s < SCALAR_STAGES; s++) {
        for (size_t q = 0; result->histograms[scalar_stages[s].stage]->count == 0 && q < QUANTILES; q++) {
            latency_key(key, s, q);
            rt_json_string(json, key, "no task came to an end");
        }
    }
    rt_json_object_end(json);
}

void rt_record_write(rt_json *json, const char *key, const rt_record *record) {
    rt_json_object_begin(json, key);
    write_identity(json, record);
    write_configuration(json, record->options);
    write_work(json, record->options);
    write_disturbances(json, record->options);
    write_outcome(json, record);
    write_counts(json, record->result);
    write_latencies(json, record->result);
    write_resources(json, record);
    write_histograms(json, record->result);
    write_timeline(json, record->sampler);
    write_memory(json, record);
    write_contention(json, record->result);
    write_checks(json, &record->result->checks);
    write_unavailable(json, record);
    rt_json_object_end(json);
}
