#include "rt_options.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "rt_agent_pool.h"
#include "rt_context_store.h"
#include "rt_json.h"
#include "rt_task_body.h"

#define TASKS_MAX (UINT64_C(1) << 40)
#define RATE_MAX UINT64_C(1000000000)
#define INTERVAL_MS_MAX UINT64_C(3600000)

static const struct {
    const char *name;
    size_t offset;
    uint64_t low, high;
} ranges[] = {
#define RANGE(member, low, high) {#member, offsetof(rt_run_options, member), low, high}
    RANGE(index, 0, RT_JSON_INTEGER_MAX),
    RANGE(repetition, 1, RT_JSON_INTEGER_MAX),
    RANGE(agents, 1, RT_AGENT_POOL_MAX_ROLES),
    RANGE(tasks, 1, TASKS_MAX),
    RANGE(workers, 1, RT_SCHEDULER_MAX_WORKERS),
    RANGE(aux_workers, 0, RT_SCHEDULER_MAX_WORKERS),
    RANGE(probes, 0, RT_TASK_BODY_MAX_PROBES),
    RANGE(context_bytes, 1, RT_CONTEXT_MAX_BYTES),
    RANGE(queue_limit, 1, TASKS_MAX),
    RANGE(max_active, 1, UINT32_MAX),
    RANGE(history_limit_tasks, 0, UINT32_MAX),
    RANGE(history_limit_bytes, 0, RT_CONTEXT_MAX_BYTES),
    RANGE(output_bytes, 0, RT_TASK_BODY_MAX_OUTPUT_BYTES),
    RANGE(sampler_interval_ms, 1, INTERVAL_MS_MAX),
#undef RANGE
};

void rt_options_init(rt_run_options *options) {
    rt_workload_options defaults;
    rt_workload_options_init(&defaults);
    *options = (rt_run_options){
        .suite = "scale",
        .benchmark_version = RT_BENCHMARK_VERSION,
        .repetition = 1,
        .agents = defaults.agents,
        .tasks = defaults.tasks,
        .workers = defaults.workers,
        .aux_workers = defaults.aux_workers,
        .probes = defaults.probes,
        .context_bytes = defaults.context_bytes,
        .access_pattern = RT_WORKLOAD_ACCESS_PATTERN,
        .queue_limit = defaults.queue_limit,
        .max_active = defaults.max_active,
        .history_limit_tasks = defaults.history_limit_tasks,
        .history_limit_bytes = defaults.history_limit_bytes,
        .output_bytes = defaults.output_bytes,
        .submission = rt_submission_name(defaults.submission),
        .window = defaults.window,
        .rate_per_s = defaults.rate_per_s,
        .task_stack = RT_WORKLOAD_TASK_STACK,
        .sampler_interval_ms = 10,
    };
}

static bool only_of(const char *text, const char *allowed, size_t shortest, size_t longest) {
    size_t length = strlen(text);
    return length >= shortest && length <= longest && strspn(text, allowed) == length;
}

static rt_status check_names(const rt_run_options *options, rt_message *why) {
    static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (options->suite == NULL || !only_of(options->suite, name_letters, 1, RT_OPTIONS_SUITE_BYTES - 1)) {
        return rt_fail(why, RT_INVALID, "suite is not a name; choose 1 to 64 of a-z, 0-9, _ and -");
    }
    if (options->run_id != NULL && !only_of(options->run_id, "0123456789abcdef", 16, 16)) {
        return rt_fail(why, RT_INVALID,
                       "run_id is not 16 lower-case hexadecimal digits; leave it out to have one drawn");
    }
    return RT_OK;
}

static rt_status check_choice(const char *name, const char *value, const char *first, const char *second,
                              rt_message *why) {
    if (value != NULL && (strcmp(value, first) == 0 || strcmp(value, second) == 0)) {
        return RT_OK;
    }
    const char *shown = value == NULL ? "missing" : value;
    if (strcmp(first, second) == 0) {
        return rt_fail(why, RT_INVALID, "%s is %.40s; choose %s", name, shown, first);
    }
    return rt_fail(why, RT_INVALID, "%s is %.40s; choose %s or %s", name, shown, first, second);
}

static rt_status check_range(const char *name, uint64_t value, uint64_t low, uint64_t high, rt_message *why) {
    if (value >= low && value <= high) {
        return RT_OK;
    }
    if (low == high) {
        return rt_fail(why, RT_INVALID, "%s is %" PRIu64 "; choose %" PRIu64, name, value, low);
    }
    return rt_fail(why, RT_INVALID, "%s is %" PRIu64 "; choose %" PRIu64 " to %" PRIu64, name, value, low,
                   high);
}

/* A window means nothing in open loop and a rate nothing in closed loop: the unused one must be 0, so that equal
 * work has one configuration and not many. */
static rt_status check_submission(const rt_run_options *options, rt_message *why) {
    const char *closed = rt_submission_name(RT_SUBMISSION_CLOSED),
               *paced = rt_submission_name(RT_SUBMISSION_PACED);
    rt_status status = check_choice("submission", options->submission, closed, paced, why);
    if (status != RT_OK) {
        return status;
    }
    bool is_closed = strcmp(options->submission, closed) == 0;
    status = check_range(is_closed ? "window (of closed submission)" : "window (of paced submission)",
                         options->window, is_closed ? 1 : 0, is_closed ? UINT32_MAX : 0, why);
    if (status != RT_OK) {
        return status;
    }
    return check_range(is_closed ? "rate_per_s (of closed submission)" : "rate_per_s (of paced submission)",
                       options->rate_per_s, is_closed ? 0 : 1, is_closed ? 0 : RATE_MAX, why);
}

rt_status rt_options_check(const rt_run_options *options, rt_message *why) {
    rt_status status = check_names(options, why);
    for (size_t i = 0; status == RT_OK && i < sizeof ranges / sizeof *ranges; i++) {
        uint64_t value;
        memcpy(&value, (const char *)options + ranges[i].offset, sizeof value);
        status = check_range(ranges[i].name, value, ranges[i].low, ranges[i].high, why);
    }
    if (status == RT_OK) {
        status = check_choice("benchmark_version", options->benchmark_version, RT_BENCHMARK_VERSION,
                              RT_BENCHMARK_VERSION, why);
    }
    if (status == RT_OK) {
        status = check_choice("access_pattern", options->access_pattern, RT_WORKLOAD_ACCESS_PATTERN,
                              RT_WORKLOAD_ACCESS_PATTERN, why);
    }
    if (status == RT_OK) {
        status = check_choice("task_stack", options->task_stack, RT_WORKLOAD_TASK_STACK,
                              RT_WORKLOAD_TASK_STACK, why);
    }
    return status == RT_OK ? check_submission(options, why) : status;
}

static rt_submission submission_of(const rt_run_options *options) {
    bool is_closed = strcmp(options->submission, rt_submission_name(RT_SUBMISSION_CLOSED)) == 0;
    return is_closed ? RT_SUBMISSION_CLOSED : RT_SUBMISSION_PACED;
}

void rt_options_own_strings(rt_run_options *options) {
    options->benchmark_version = RT_BENCHMARK_VERSION;
    options->access_pattern = RT_WORKLOAD_ACCESS_PATTERN;
    options->task_stack = RT_WORKLOAD_TASK_STACK;
    options->submission = rt_submission_name(submission_of(options));
}

void rt_options_to_workload(const rt_run_options *options, rt_workload_options *out) {
    rt_workload_options_init(out);
    out->tasks = options->tasks;
    out->agents = (uint32_t)options->agents;
    out->workers = (uint32_t)options->workers;
    out->aux_workers = (uint32_t)options->aux_workers;
    out->probes = (uint32_t)options->probes;
    out->context_bytes = options->context_bytes;
    out->queue_limit = options->queue_limit;
    out->max_active = (uint32_t)options->max_active;
    out->history_limit_tasks = options->history_limit_tasks;
    out->history_limit_bytes = options->history_limit_bytes;
    out->output_bytes = (uint32_t)options->output_bytes;
    out->submission = submission_of(options);
    out->window = (uint32_t)options->window;
    out->rate_per_s = options->rate_per_s;
}
