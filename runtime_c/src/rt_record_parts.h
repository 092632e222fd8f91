/* Private to rt_record*.c: each of these writes one part of the record. */
#ifndef RT_RECORD_PARTS_H
#define RT_RECORD_PARTS_H

#include "rt_fact.h"
#include "rt_histogram.h"
#include "rt_json.h"
#include "rt_record.h"

static inline double rt_record_ms(uint64_t ns) { return (double)ns / 1e6; }

void rt_record_write_configuration(rt_json *json, const rt_run_options *options);

/* The percentiles that stand as scalars, and the reasons of those that are null. */
void rt_record_write_latencies(rt_json *json, const rt_workload_result *result);
void rt_record_write_latency_reasons(rt_json *json, const rt_workload_result *result);
void rt_record_write_histograms(rt_json *json, const rt_workload_result *result);
void rt_record_write_histogram(rt_json *json, const char *key, const rt_histogram *histogram,
                               uint32_t sample_every);

void rt_record_write_timeline(rt_json *json, const rt_sampler *sampler);
void rt_record_write_memory(rt_json *json, const rt_record *record);
void rt_record_write_contention(rt_json *json, const rt_record *record);

/* The value, or null when it is missing. */
void rt_record_write_optional(rt_json *json, const char *key, const rt_fact_uint *fact);

/* The member of `unavailable` for a value that is missing; nothing when `missing` is NULL. */
void rt_record_write_reason(rt_json *json, const char *key, const char *missing);

#endif
