/* What the workers contended for, and whose CPU time it was. */
#include "rt_record_parts.h"

static void write_acquisitions(rt_json *json, const rt_scheduler_contention_report *report) {
    rt_json_object_begin(json, "lock_acquisitions");
    rt_json_uint(json, "submit", report->acquisitions[RT_SCHEDULER_SUBMIT]);
    rt_json_uint(json, "turn", report->acquisitions[RT_SCHEDULER_TURN]);
    rt_json_uint(json, "control", report->acquisitions[RT_SCHEDULER_CONTROL]);
    rt_json_object_end(json);
}

/* Of all workers' time in the window, from the first admission to the last change. */
static void write_idle(rt_json *json, const rt_record *record) {
    const rt_scheduler_contention_report *const report = &record->result->contention;
    const double whole_ns = (double)report->window_ns * (double)record->options->workers;
    const double idle = whole_ns > 0 ? (double)report->idle_ns / whole_ns : 0.0;
    const double queued = whole_ns > 0 ? (double)report->idle_while_queued_ns / whole_ns : 0.0;
    if (whole_ns > 0) {
        rt_json_double(json, "idle_ratio", idle > 1.0 ? 1.0 : idle);
        rt_json_double(json, "idle_while_queued_ratio", queued > idle ? idle : queued);
    } else {
        rt_json_null(json, "idle_ratio");
        rt_json_null(json, "idle_while_queued_ratio");
    }
}

void rt_record_write_contention(rt_json *json, const rt_record *record) {
    const rt_workload_result *const result = record->result;
    rt_json_object_begin(json, "contention");
    rt_json_uint(json, "dequeues", result->dequeues);
    rt_json_uint(json, "wakeups", result->wakeups);
    rt_json_double(json, "mean_batch", result->mean_batch);
    write_acquisitions(json, &result->contention);
    rt_json_uint(json, "lock_sample_every", result->contention.sample_every);
    write_idle(json, record);
    rt_json_double(json, "worker_cpu_ms", rt_record_ms(result->worker_cpu_ns));
    rt_json_double(json, "submitter_cpu_ms", rt_record_ms(record->submitter_cpu_ns));
    rt_json_double(json, "sampler_cpu_ms", rt_record_ms(rt_sampler_cpu_ns(record->sampler)));
    rt_json_double(json, "auxiliary_cpu_ms", rt_record_ms(result->auxiliary_cpu_ns));
    rt_json_object_end(json);
}
