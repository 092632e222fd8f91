/* The object `lookup` of the run record. */
#include "rt_lookup_experiment.h"

#define MOST_GAPS 24u

/* Keys whose value is null. */
typedef struct lookup_gaps {
    const char *keys[MOST_GAPS];
    size_t count;
} lookup_gaps;

static void write_ratio(rt_json *json, lookup_gaps *gaps, const char *key, double numerator,
                        uint64_t denominator) {
    if (denominator > 0) {
        rt_json_double(json, key, numerator / (double)denominator);
    } else {
        rt_json_null(json, key);
        gaps->keys[gaps->count++] = key;
    }
}

static void write_percentile(rt_json *json, lookup_gaps *gaps, const char *key, const rt_histogram *histogram,
                             uint64_t percent) {
    if (histogram->count > 0) {
        rt_json_uint(json, key, rt_histogram_percentile_ns(histogram, percent, 100));
    } else {
        rt_json_null(json, key);
        gaps->keys[gaps->count++] = key;
    }
}

static void write_index(rt_json *json, lookup_gaps *gaps, const rt_lookup_experiment_result *result) {
    const rt_agent_pool_shape *const shape = &result->built;
    rt_json_uint(json, "roles", result->roles);
    rt_json_double(json, "build_ms", (double)result->build_ns / 1e6);
    write_ratio(json, gaps, "build_ns_per_role", (double)result->build_ns, shape->roles);
    rt_json_uint(json, "index_bytes", shape->index_bytes);
    write_ratio(json, gaps, "bytes_per_role", (double)shape->registry_bytes, shape->roles);
    write_ratio(json, gaps, "load_factor", (double)shape->roles, shape->places);
    rt_json_uint(json, "longest_probe", shape->longest_probe);
    write_ratio(json, gaps, "mean_probe", (double)shape->probes, shape->roles);
    rt_json_uint(json, "collisions", shape->collisions);
}

static void write_changes(rt_json *json, lookup_gaps *gaps, const rt_lookup_experiment_result *result) {
    const rt_agent_pool_shape *const shape = &result->after_removal;
    const uint64_t added_again = result->completed ? result->removed : 0;
    rt_json_uint(json, "removed", result->removed);
    write_ratio(json, gaps, "remove_ns_per_role", (double)result->remove_ns, result->removed);
    write_ratio(json, gaps, "mean_probe_after_removal", (double)shape->probes, shape->roles);
    rt_json_uint(json, "longest_probe_after_removal", shape->longest_probe);
    write_ratio(json, gaps, "add_again_ns_per_role", (double)result->add_again_ns, added_again);
}

static void write_answers(rt_json *json, const rt_lookup_experiment_result *result) {
    const rt_lookup_answers *const before = &result->lookups, *const after = &result->lookups_after_removal;
    rt_json_uint(json, "found", before->found);
    rt_json_uint(json, "not_found", before->not_found);
    rt_json_uint(json, "found_after_removal", after->found);
    rt_json_uint(json, "not_found_after_removal", after->not_found);
    rt_json_uint(json, "wrong", before->wrong + after->wrong);
}

static void write_unavailable(rt_json *json, const lookup_gaps *gaps,
                              const rt_lookup_experiment_result *result) {
    rt_json_object_begin(json, "unavailable");
    for (size_t i = 0; i < gaps->count; i++) {
        rt_json_string(json, gaps->keys[i],
                       result->completed ? "there is none of these with so few roles or lookups"
                                         : "the run ended before this step");
    }
    rt_json_object_end(json);
}

void rt_lookup_experiment_write(const rt_lookup_experiment *self, rt_json *json, const char *key) {
    rt_lookup_experiment_result result = {.completed = false};
    lookup_gaps gaps = {.count = 0};
    const rt_histogram *times[RT_LOOKUP_TIMES];
    rt_lookup_experiment_result_read(self, &result);
    for (int i = 0; i < RT_LOOKUP_TIMES; i++) {
        times[i] = rt_lookup_experiment_histogram(self, (rt_lookup_times)i);
    }
    rt_json_object_begin(json, key);
    write_index(json, &gaps, &result);
    rt_json_uint(json, "lookups_per_reading", RT_LOOKUP_BATCH);
    rt_json_uint(json, "clock_read_ns", result.clock_read_ns);
    write_percentile(json, &gaps, "hit_ns_p50", times[RT_LOOKUP_HIT], 50);
    write_percentile(json, &gaps, "hit_ns_p99", times[RT_LOOKUP_HIT], 99);
    write_percentile(json, &gaps, "miss_ns_p50", times[RT_LOOKUP_MISS], 50);
    write_percentile(json, &gaps, "miss_ns_p99", times[RT_LOOKUP_MISS], 99);
    write_changes(json, &gaps, &result);
    write_percentile(json, &gaps, "after_removal_hit_ns_p50", times[RT_LOOKUP_HIT_AFTER_REMOVAL], 50);
    write_percentile(json, &gaps, "after_removal_miss_ns_p50", times[RT_LOOKUP_MISS_AFTER_REMOVAL], 50);
    write_answers(json, &result);
    write_unavailable(json, &gaps, &result);
    rt_json_object_end(json);
}
