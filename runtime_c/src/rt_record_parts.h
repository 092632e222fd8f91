/* Private to rt_record*.c: each of these writes one part of the record. */
#ifndef RT_RECORD_PARTS_H
#define RT_RECORD_PARTS_H

#include "rt_fact.h"
#include "rt_histogram.h"
#include "rt_json.h"
#include "rt_record.h"

#include <stdbool.h>
#include <stddef.h>

#define RT_RECORD_KEY_BYTES 48
#define RT_RECORD_MAX_GAPS 64

static inline double rt_record_ms(uint64_t ns) { return (double)ns / 1e6; }

/* The values that are null, in the order in which they were written, and why. */
typedef struct rt_record_gaps {
    size_t count;
    char keys[RT_RECORD_MAX_GAPS][RT_RECORD_KEY_BYTES];
    const char *reasons[RT_RECORD_MAX_GAPS];
} rt_record_gaps;

/* Each writes the value, or null and its reason into the gaps when `missing` is not NULL. */
void rt_record_double(rt_json *json, rt_record_gaps *gaps, const char *key, double value, const char *missing);
void rt_record_uint(rt_json *json, rt_record_gaps *gaps, const char *key, uint64_t value, const char *missing);
void rt_record_null(rt_json *json, rt_record_gaps *gaps, const char *key, const char *missing);
void rt_record_write_gaps(rt_json *json, const rt_record_gaps *gaps); /* `unavailable`; nothing without gaps */

/* The value, or null when it is missing. */
void rt_record_write_optional(rt_json *json, const char *key, const rt_fact_uint *fact);
/* The member of `unavailable` for a value that is missing; nothing when `missing` is NULL. */
void rt_record_write_reason(rt_json *json, const char *key, const char *missing);

void rt_record_write_configuration(rt_json *json, const rt_run_options *options);

/* The percentiles that stand as scalars. */
void rt_record_write_latencies(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps);
void rt_record_write_lateness(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps);
void rt_record_write_histograms(rt_json *json, const rt_record *record);
void rt_record_write_experiment_histograms(rt_json *json, const rt_subject *subject); /* nothing without any */
void rt_record_write_histogram(rt_json *json, const char *key, const rt_histogram *histogram,
                               uint32_t sample_every);

/* Submission, slots and what was held: the scalars after the counts of work. */
void rt_record_write_submission(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps);

/* An object of columns and rows: begin, each row as an array of the writer's own, end. */
void rt_record_series_begin(rt_json *json, const char *key, const char *const *columns, size_t count);
void rt_record_series_end(rt_json *json);

void rt_record_write_timeline(rt_json *json, const rt_sampler *sampler);
void rt_record_write_memory(rt_json *json, const rt_record *record);
void rt_record_write_contention(rt_json *json, const rt_record *record);
void rt_record_write_course(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps);
void rt_record_write_faults(rt_json *json, const rt_workload_result *result);

#endif
