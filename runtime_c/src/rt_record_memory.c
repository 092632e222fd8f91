/* Memory: by the kernel's account, by the allocator's, and by owner. */
#include "rt_record_parts.h"

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

void rt_record_write_memory(rt_json *json, const rt_record *record) {
    const rt_workload_bytes *bytes = &record->result->bytes;
    const rt_allocator *own = record->allocator;
    rt_json_object_begin(json, "memory");
    rt_json_string(json, "rss_api", RT_MEMORY_RSS_API);
    rt_json_uint(json, "rss_anon_at_end_bytes", record->memory_after.rss_anon_bytes);
    rt_json_uint(json, "rss_file_at_end_bytes", record->memory_after.rss_file_bytes);
    rt_record_write_optional(json, "pss_at_end_bytes", &record->pss_bytes);
    rt_json_uint(json, "virtual_at_end_bytes", record->memory_after.virtual_bytes);
    rt_record_write_optional(json, "cgroup_current_bytes", &record->cgroup_current_bytes);
    rt_record_write_optional(json, "cgroup_peak_bytes", &record->cgroup_peak_bytes);
    rt_json_uint(json, "allocated_total_bytes", bytes->allocated_total_bytes + own->allocated_bytes);
    rt_json_uint(json, "allocations", bytes->allocations + own->allocations);
    rt_json_uint(json, "live_objects", bytes->live_objects + own->live_objects);
    write_owners(json, record);
    rt_json_object_begin(json, "unavailable");
    rt_record_write_reason(json, "pss_at_end_bytes", record->pss_bytes.missing);
    rt_record_write_reason(json, "cgroup_current_bytes", record->cgroup_current_bytes.missing);
    rt_record_write_reason(json, "cgroup_peak_bytes", record->cgroup_peak_bytes.missing);
    rt_json_object_end(json);
    rt_json_object_end(json);
}
