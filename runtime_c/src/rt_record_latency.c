/* Latencies: percentiles as scalars, and every histogram. */
#include "rt_record_parts.h"

#include <stdio.h>

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

static void write_percentiles(rt_json *json, const char *prefix, const rt_histogram *histogram,
                              rt_record_gaps *gaps, const char *missing) {
    char key[RT_RECORD_KEY_BYTES];
    for (size_t q = 0; q < QUANTILES; q++) {
        snprintf(key, sizeof key, "%s_%s_ms", prefix, quantiles[q].name);
        const uint64_t ns =
            missing == NULL ? rt_histogram_percentile_ns(histogram, quantiles[q].a, quantiles[q].b) : 0;
        rt_record_double(json, gaps, key, rt_record_ms(ns), missing);
    }
}

void rt_record_write_latencies(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps) {
    for (size_t s = 0; s < SCALAR_STAGES; s++) {
        const rt_histogram *const histogram = result->histograms[scalar_stages[s].stage];
        write_percentiles(json, scalar_stages[s].prefix, histogram, gaps,
                          histogram->count > 0 ? NULL : "no task came to an end");
    }
}

void rt_record_write_lateness(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps) {
    const rt_histogram *const lateness = result->lateness;
    write_percentiles(json, "lateness", lateness, gaps,
                      lateness == NULL        ? "there is no schedule: the loop is not open"
                      : lateness->count == 0 ? "no task was submitted"
                                             : NULL);
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

void rt_record_write_histogram(rt_json *json, const char *key, const rt_histogram *histogram,
                               uint32_t sample_every) {
    char sum[RT_HISTOGRAM_SUM_BYTES];
    rt_histogram_sum_text(histogram, sum);
    rt_json_object_begin(json, key);
    rt_json_string(json, "layout", RT_HISTOGRAM_LAYOUT);
    rt_json_string(json, "unit", "ns");
    rt_json_uint(json, "sample_every", sample_every);
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

static void write_locks(rt_json *json, const rt_scheduler_contention_report *contention) {
    static const char *const sites[RT_SCHEDULER_SITES] = {"submit", "turn", "control"};
    char key[RT_RECORD_KEY_BYTES];
    for (int site = 0; contention->sample_every > 0 && site < RT_SCHEDULER_SITES; site++) {
        snprintf(key, sizeof key, "lock_wait_%s", sites[site]);
        rt_record_write_histogram(json, key, contention->wait[site], contention->sample_every);
        snprintf(key, sizeof key, "lock_hold_%s", sites[site]);
        rt_record_write_histogram(json, key, contention->hold[site], contention->sample_every);
    }
}

void rt_record_write_histograms(rt_json *json, const rt_record *record) {
    const rt_workload_result *const result = record->result;
    rt_json_object_begin(json, "histograms");
    for (int stage = 0; stage < RT_STAGES; stage++) {
        rt_record_write_histogram(json, rt_stage_name((rt_stage)stage), result->histograms[stage],
                                  rt_stage_sample_every((rt_stage)stage));
    }
    if (result->lateness != NULL) {
        rt_record_write_histogram(json, "lateness", result->lateness, 1);
    }
    if (result->provider_wait != NULL) {
        rt_record_write_histogram(json, "provider_wait", result->provider_wait, 1);
    }
    write_locks(json, &result->contention);
    if (result->rollback != NULL) {
        rt_record_write_histogram(json, "snapshot", rt_rollback_snapshot_times(result->rollback), 1);
        rt_record_write_histogram(json, "rollback", rt_rollback_rollback_times(result->rollback), 1);
    }
    rt_json_object_end(json);
}

void rt_record_write_experiment_histograms(rt_json *json, const rt_subject *subject) {
    if (subject->lookup == NULL) {
        return;
    }
    rt_json_object_begin(json, "histograms");
    for (int i = 0; i < RT_LOOKUP_TIMES; i++) {
        const rt_lookup_times which = (rt_lookup_times)i;
        rt_record_write_histogram(json, rt_lookup_times_name(which),
                                  rt_lookup_experiment_histogram(subject->lookup, which), RT_LOOKUP_BATCH);
    }
    rt_json_object_end(json);
}
