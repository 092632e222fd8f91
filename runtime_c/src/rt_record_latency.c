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

static void latency_key(char key[48], size_t stage, size_t quantile) {
    snprintf(key, 48, "%s_%s_ms", scalar_stages[stage].prefix, quantiles[quantile].name);
}

void rt_record_write_latencies(rt_json *json, const rt_workload_result *result) {
    char key[48];
    for (size_t s = 0; s < SCALAR_STAGES; s++) {
        const rt_histogram *histogram = result->histograms[scalar_stages[s].stage];
        for (size_t q = 0; q < QUANTILES; q++) {
            latency_key(key, s, q);
            if (histogram->count == 0) {
                rt_json_null(json, key);
            } else {
                uint64_t ns = rt_histogram_percentile_ns(histogram, quantiles[q].a, quantiles[q].b);
                rt_json_double(json, key, rt_record_ms(ns));
            }
        }
    }
}

void rt_record_write_latency_reasons(rt_json *json, const rt_workload_result *result) {
    char key[48];
    for (size_t s = 0; s < SCALAR_STAGES; s++) {
        for (size_t q = 0; result->histograms[scalar_stages[s].stage]->count == 0 && q < QUANTILES; q++) {
            latency_key(key, s, q);
            rt_json_string(json, key, "no task came to an end");
        }
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

void rt_record_write_histograms(rt_json *json, const rt_workload_result *result) {
    rt_json_object_begin(json, "histograms");
    for (int stage = 0; stage < RT_STAGES; stage++) {
        rt_record_write_histogram(json, rt_stage_name((rt_stage)stage), result->histograms[stage],
                                  rt_stage_sample_every((rt_stage)stage));
    }
    rt_json_object_end(json);
}
