/* The configuration: every key of the schema whose role is config, in its order. */
#include "rt_record_parts.h"

static void write_first_keys(rt_json *json, const rt_run_options *options) {
    rt_json_string(json, "suite", options->suite);
    rt_json_string(json, "benchmark_version", options->benchmark_version);
    rt_json_uint(json, "agents", options->agents);
    rt_json_uint(json, "tasks", options->tasks);
    rt_json_uint(json, "workers", options->workers);
    rt_json_uint(json, "aux_workers", options->aux_workers);
    rt_json_uint(json, "probes", options->probes);
    rt_json_uint(json, "context_bytes", options->context_bytes);
    rt_json_string(json, "access_pattern", options->access_pattern);
    rt_json_uint(json, "queue_limit", options->queue_limit);
    rt_json_uint(json, "max_active", options->max_active);
    rt_json_uint(json, "history_limit_tasks", options->history_limit_tasks);
    rt_json_uint(json, "history_limit_bytes", options->history_limit_bytes);
    rt_json_uint(json, "output_bytes", options->output_bytes);
    rt_json_string(json, "submission", options->submission);
    rt_json_uint(json, "window", options->window);
    rt_json_uint(json, "rate_per_s", options->rate_per_s);
    rt_json_string(json, "task_stack", options->task_stack);
    rt_json_uint(json, "sampler_interval_ms", options->sampler_interval_ms);
}

/* The keys that the minor version 1 of the schema brought. */
static void write_work(rt_json *json, const rt_run_options *options) {
    rt_json_string(json, "workload", options->workload);
    rt_json_uint(json, "workload_seed", options->workload_seed);
    rt_json_string(json, "variant", options->variant);
    rt_json_uint(json, "priorities", options->priorities);
    rt_json_uint(json, "batches", options->batches);
    rt_json_uint(json, "yields", options->yields);
    rt_json_uint(json, "stack_bytes", options->stack_bytes);
    rt_json_uint(json, "max_suspended", options->max_suspended);
    rt_json_string(json, "wait_mode", options->wait_mode);
    rt_json_uint(json, "wait_us", options->wait_us);
    rt_json_string(json, "wait_distribution", options->wait_distribution);
    rt_json_uint(json, "timeout_us", options->timeout_us);
    rt_json_uint(json, "fail_permille", options->fail_permille);
    rt_json_uint(json, "slow_permille", options->slow_permille);
    rt_json_uint(json, "cancel_permille", options->cancel_permille);
    rt_json_uint(json, "slow_us", options->slow_us);
}

static void write_disturbances(rt_json *json, const rt_run_options *options) {
    rt_json_string(json, "fault_ramp", options->fault_ramp);
    rt_json_uint(json, "memory_limit_bytes", options->memory_limit_bytes);
    rt_json_uint(json, "kill_after_tasks", options->kill_after_tasks);
    rt_json_uint(json, "outage_start_ms", options->outage_start_ms);
    rt_json_uint(json, "outage_ms", options->outage_ms);
    rt_json_string(json, "retry_policy", options->retry_policy);
    rt_json_uint(json, "retry_attempts", options->retry_attempts);
    rt_json_uint(json, "retry_delay_us", options->retry_delay_us);
    rt_json_uint(json, "tenants", options->tenants);
    rt_json_uint(json, "steady_ms", options->steady_ms);
    rt_json_uint(json, "pause_ms", options->pause_ms);
    rt_json_uint(json, "burst_ms", options->burst_ms);
    rt_json_uint(json, "burst_factor", options->burst_factor);
    rt_json_string(json, "snapshot", options->snapshot);
    rt_json_uint(json, "rollbacks", options->rollbacks);
    rt_json_uint(json, "rewrite_permille", options->rewrite_permille);
    rt_json_uint(json, "overview_bytes", options->overview_bytes);
}

void rt_record_write_configuration(rt_json *json, const rt_run_options *options) {
    write_first_keys(json, options);
    write_work(json, options);
    write_disturbances(json, options);
}
