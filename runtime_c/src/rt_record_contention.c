/* What the workers contended for. */
#include "rt_record_parts.h"

void rt_record_write_contention(rt_json *json, const rt_record *record) {
    const rt_workload_result *const result = record->result;
    rt_json_object_begin(json, "contention");
    rt_json_uint(json, "dequeues", result->dequeues);
    rt_json_uint(json, "wakeups", result->wakeups);
    rt_json_double(json, "mean_batch", result->mean_batch);
    rt_json_object_end(json);
}
