#include "rt_options.h"

#include <string.h>

const rt_option_choice rt_option_choices[] = {
#define CHOICE(member, ...) {#member, offsetof(rt_run_options, member), {__VA_ARGS__, NULL}}
    CHOICE(benchmark_version, RT_BENCHMARK_VERSION),
    CHOICE(access_pattern, "uniform", "sequential", "strided", "hot"),
    CHOICE(submission, "closed", "paced", "poisson", "held"),
    CHOICE(task_stack, "inline", "pooled"),
    CHOICE(workload, "tasks", "context", "lookup"),
    CHOICE(wait_mode, "none", "blocking", "yielding"),
    CHOICE(wait_distribution, "constant", "exponential"),
    CHOICE(fault_ramp, "none", "linear"),
    CHOICE(retry_policy, "none", "immediate", "backoff"),
    CHOICE(snapshot, "none", "at_rest", "running"),
#undef CHOICE
};
const size_t rt_option_choice_count = sizeof rt_option_choices / sizeof *rt_option_choices;

bool rt_option_is(const char *value, const char *word) { return strcmp(value, word) == 0; }

static void init_new_keys(rt_run_options *options) {
    options->workload = "tasks";
    options->workload_seed = 1;
    options->variant = "none";
    options->priorities = 1;
    options->batches = 1;
    options->wait_mode = "none";
    options->wait_distribution = "constant";
    options->fault_ramp = "none";
    options->retry_policy = "none";
    options->tenants = 1;
    options->burst_factor = 1;
    options->snapshot = "none";
    options->overview_bytes = 3900;
}

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
    init_new_keys(options);
}

void rt_options_own_strings(rt_run_options *options) {
    for (size_t i = 0; i < rt_option_choice_count; i++) {
        const rt_option_choice *const choice = &rt_option_choices[i];
        const char **const value = (const char **)(void *)((char *)options + choice->offset);
        for (const char *const *word = choice->words; *word != NULL; word++) {
            if (rt_option_is(*value, *word)) {
                *value = *word;
                break;
            }
        }
    }
}

static rt_submission submission_of(const rt_run_options *options) {
    return rt_option_is(options->submission, "closed") ? RT_SUBMISSION_CLOSED : RT_SUBMISSION_PACED;
}

void rt_options_to_workload(const rt_run_options *options, rt_workload_options *out) {
    rt_workload_options_init(out);
    out->seed = options->workload_seed;
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
