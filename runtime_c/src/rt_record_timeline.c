/* Series: what the sampler saw, and how they are written. */
#include "rt_record_parts.h"

void rt_record_series_begin(rt_json *json, const char *key, const char *const *columns, size_t count) {
    if (key != NULL) {
        rt_json_object_begin(json, key);
    }
    rt_json_array_begin(json, "columns");
    for (size_t i = 0; i < count; i++) {
        rt_json_string(json, NULL, columns[i]);
    }
    rt_json_array_end(json);
    rt_json_array_begin(json, "rows");
}

void rt_record_series_end(rt_json *json) {
    rt_json_array_end(json);
    rt_json_object_end(json);
}

static void write_row(rt_json *json, const rt_sample *row) {
    rt_json_array_begin(json, NULL);
    rt_json_double(json, NULL, rt_record_ms(row->t_ns));
    rt_json_uint(json, NULL, row->queue);
    rt_json_uint(json, NULL, row->active);
    if (row->rss_bytes == 0) {
        rt_json_null(json, NULL); /* /proc could not be read at that moment */
    } else {
        rt_json_uint(json, NULL, row->rss_bytes);
    }
    rt_json_uint(json, NULL, row->threads);
    rt_json_double(json, NULL, rt_record_ms(row->cpu_ns));
    rt_json_array_end(json);
}

void rt_record_write_timeline(rt_json *json, const rt_sampler *sampler) {
    static const char *const columns[] = {"t_ms", "queue", "active", "rss_bytes", "threads", "cpu_ms"};
    rt_json_object_begin(json, "timeline");
    rt_json_uint(json, "interval_ms", rt_sampler_interval_ns(sampler) / 1000000u);
    rt_json_bool(json, "in_process", true);
    rt_json_bool(json, "children", false);
    rt_json_uint(json, "samples", rt_sampler_count(sampler));
    rt_json_double(json, "cost_cpu_ms", rt_record_ms(rt_sampler_cost_ns(sampler)));
    rt_record_series_begin(json, NULL, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < rt_sampler_count(sampler); i++) {
        write_row(json, rt_sampler_row(sampler, i));
    }
    rt_record_series_end(json);
}
