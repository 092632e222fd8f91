/* What happened over the time of a run: submission, batches, phases, periods, and whether the queue was stable. */
#include "rt_record_parts.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- scalars ---- */

/* slots / occupancy is the completion rate that cannot be exceeded. */
static void write_slots(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps) {
    const rt_histogram *const execution = result->histograms[RT_STAGE_EXECUTION];
    const char *const unlimited = result->has_slots ? NULL : "suspended tasks have no limit";
    const char *const none_ran = execution->count > 0 ? NULL : "no task came to an end";
    const double occupancy_ns =
        execution->count > 0 ? (double)execution->sum_ns / (double)execution->count : 0.0;
    const char *const no_time = occupancy_ns > 0 ? NULL : "tasks took no time";
    rt_record_uint(json, gaps, "slots", result->slots, unlimited);
    rt_record_double(json, gaps, "slot_occupancy_mean_ms", occupancy_ns / 1e6, none_ran);
    rt_record_double(json, gaps, "capacity_per_second",
                     no_time == NULL ? (double)result->slots / (occupancy_ns / 1e9) : 0.0,
                     unlimited != NULL  ? unlimited
                     : none_ran != NULL ? none_ran
                                        : no_time);
}

static void write_held(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps) {
    const char *const not_held = !result->is_held    ? "the workers were not held"
                                 : !result->held.seen ? "the submission broke off before the release"
                                                      : NULL;
    const char *const unread =
        result->held.has_bytes ? NULL : "nothing was queued, or the kernel did not tell RssAnon";
    rt_record_double(json, gaps, "bytes_per_queued_task", result->held.bytes_per_task,
                     not_held != NULL ? not_held : unread);
    rt_record_uint(json, gaps, "queue_at_release", result->held.queue, not_held);
}

void rt_record_write_submission(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps) {
    const double submit_s = (double)result->submit_ns / 1e9;
    rt_json_uint(json, "yields_done", result->yields_done);
    rt_json_uint(json, "suspensions", result->suspensions);
    rt_json_uint(json, "suspended_peak", result->suspended_peak);
    rt_json_double(json, "submit_ms", rt_record_ms(result->submit_ns));
    rt_json_double(json, "drain_ms", rt_record_ms(result->drain_ns));
    rt_record_double(json, gaps, "admitted_per_second",
                     submit_s > 0 ? (double)result->tasks_admitted / submit_s : 0.0,
                     submit_s > 0 ? NULL : "no time passed during the submission");
    rt_record_write_lateness(json, result, gaps);
    write_slots(json, result, gaps);
    write_held(json, result, gaps);
}

/* ---- series ---- */

static void write_size(rt_json *json, uint64_t bytes) {
    if (bytes == 0) {
        rt_json_null(json, NULL); /* /proc could not be read at that moment */
    } else {
        rt_json_uint(json, NULL, bytes);
    }
}

static void write_batches(rt_json *json, const rt_workload_result *result) {
    static const char *const columns[] = {"batch",     "tasks_done",     "t_ms",
                                          "rss_bytes", "rss_anon_bytes", "allocated_bytes"};
    rt_record_series_begin(json, "batch_memory", columns, COUNT(columns));
    for (uint32_t i = 0; i < result->batch_count; i++) {
        const rt_workload_batch *const row = &result->batches[i];
        rt_json_array_begin(json, NULL);
        rt_json_uint(json, NULL, row->batch);
        rt_json_uint(json, NULL, row->tasks_done);
        rt_json_double(json, NULL, rt_record_ms(row->t_ns));
        write_size(json, row->rss_bytes);
        write_size(json, row->rss_anon_bytes);
        rt_json_uint(json, NULL, row->allocated_bytes);
        rt_json_array_end(json);
    }
    rt_record_series_end(json);
}

static void write_latency(rt_json *json, const rt_course_period *row, uint64_t ns) {
    if (row->latencies == 0) {
        rt_json_null(json, NULL);
    } else {
        rt_json_double(json, NULL, rt_record_ms(ns));
    }
}

static void write_period(rt_json *json, const rt_course_period *row) {
    rt_json_array_begin(json, NULL);
    rt_json_double(json, NULL, rt_record_ms(row->t_ns));
    rt_json_uint(json, NULL, row->submitted);
    rt_json_uint(json, NULL, row->completed);
    rt_json_uint(json, NULL, row->failed);
    rt_json_uint(json, NULL, row->cancelled);
    rt_json_uint(json, NULL, row->timed_out);
    write_latency(json, row, row->p50_ns);
    write_latency(json, row, row->p95_ns);
    write_latency(json, row, row->p99_ns);
    rt_json_uint(json, NULL, row->queue);
    rt_json_uint(json, NULL, row->active);
    write_size(json, row->rss_bytes);
    rt_json_uint(json, NULL, row->threads);
    if (row->written_bytes == UINT64_MAX) {
        rt_json_null(json, NULL);
    } else {
        rt_json_uint(json, NULL, row->written_bytes);
    }
    rt_json_array_end(json);
}

static void write_periods(rt_json *json, const rt_course *course) {
    static const char *const columns[] = {"t_ms",      "submitted", "completed", "failed", "cancelled",
                                          "timed_out", "p50_ms",    "p95_ms",    "p99_ms", "queue",
                                          "active",    "rss_bytes", "threads",   "log_bytes"};
    rt_record_series_begin(json, "periods", columns, COUNT(columns));
    for (uint32_t i = 0; i < rt_course_periods(course); i++) {
        write_period(json, rt_course_period_at(course, i));
    }
    rt_record_series_end(json);
}

/* ---- objects ---- */

static void write_phase(rt_json *json, const char *key, const rt_course_phase *phase) {
    rt_json_object_begin(json, key);
    rt_json_double(json, "elapsed_ms", rt_record_ms(phase->elapsed_ns));
    rt_json_uint(json, "tasks_submitted", phase->submitted);
    rt_json_uint(json, "tasks_completed", phase->completed);
    rt_json_uint(json, "tasks_failed", phase->failed);
    rt_json_uint(json, "queue_at_start", phase->queue_at_start);
    rt_json_uint(json, "queue_at_end", phase->queue_at_end);
    rt_json_uint(json, "queue_peak", phase->queue_peak);
    rt_record_write_histogram(json, "queue", &phase->queue, 1);
    rt_json_object_end(json);
}

static void write_phases(rt_json *json, const rt_course *course) {
    rt_json_object_begin(json, "phases");
    for (int phase = 0; phase < RT_LOAD_PHASES; phase++) {
        const rt_course_phase *const account = rt_course_phase_of(course, (rt_load_phase)phase);
        if (account->seen) {
            write_phase(json, rt_load_phase_name((rt_load_phase)phase), account);
        }
    }
    rt_json_object_end(json);
}

static void write_growth(rt_json *json, const rt_workload_stability *stability, rt_record_gaps *gaps) {
    const rt_backlog_growth *const growth = &stability->growth;
    if (stability->growth_missing != NULL) {
        rt_record_null(json, gaps, "stability_window", stability->growth_missing);
        return;
    }
    rt_json_object_begin(json, "stability_window");
    rt_json_double(json, "window_ms", rt_record_ms(growth->window_ns));
    rt_json_double(json, "queue_first", growth->queue_first);
    rt_json_double(json, "queue_last", growth->queue_last);
    rt_json_double(json, "growth_per_second", growth->growth_per_second);
    rt_json_bool(json, "growing", growth->growing);
    rt_json_object_end(json);
}

static void write_little(rt_json *json, const rt_workload_stability *stability, rt_record_gaps *gaps) {
    const rt_backlog_little *const little = &stability->little;
    if (stability->little_missing != NULL) {
        rt_record_null(json, gaps, "littles_law", stability->little_missing);
        return;
    }
    rt_json_object_begin(json, "littles_law");
    rt_json_double(json, "window_ms", rt_record_ms(little->window_ns));
    rt_json_double(json, "arrival_rate_per_s", little->arrival_rate_per_s);
    rt_json_double(json, "mean_in_system", little->mean_in_system);
    rt_json_double(json, "mean_time_ms", little->mean_time_ms);
    rt_json_double(json, "product", little->product);
    rt_json_double(json, "error_percent", little->error_percent);
    rt_json_object_end(json);
}

void rt_record_write_course(rt_json *json, const rt_workload_result *result, rt_record_gaps *gaps) {
    if (result->batches != NULL) {
        write_batches(json, result);
    }
    if (result->course == NULL) {
        return;
    }
    if (rt_course_periods(result->course) > 0) {
        write_periods(json, result->course);
    }
    write_phases(json, result->course);
    write_growth(json, &result->stability, gaps);
    write_little(json, &result->stability, gaps);
}
