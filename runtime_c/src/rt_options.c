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
        .access_pattern = "uniform",
        .queue_limit = defaults.queue_limit,
        .max_active = defaults.max_active,
        .history_limit_tasks = defaults.history_limit_tasks,
        .history_limit_bytes = defaults.history_limit_bytes,
        .output_bytes = defaults.output_bytes,
        .submission = rt_submission_name(defaults.submission),
        .window = defaults.window,
        .rate_per_s = defaults.rate_per_s,
        .task_stack = "inline",
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

/* Which of the words an option has; its choice starts with the word of number 0. */
static unsigned number_of(const char *value, const char *const *words) {
    unsigned number = 0;
    while (words[number] != NULL && !rt_option_is(value, words[number])) {
        number++;
    }
    return number;
}

static const char *const *words_of(const char *name) {
    size_t i = 0;
    while (!rt_option_is(rt_option_choices[i].name, name)) {
        i++;
    }
    return rt_option_choices[i].words;
}

#define NUMBER_OF(options, member) number_of((options)->member, words_of(#member))

static void copy_disturbances(const rt_run_options *options, rt_workload_options *out) {
    out->wait_mode = (rt_wait_mode)NUMBER_OF(options, wait_mode);
    out->wait_us = options->wait_us;
    out->wait_exponential = rt_option_is(options->wait_distribution, "exponential");
    out->timeout_us = options->timeout_us;
    out->fail_permille = (uint32_t)options->fail_permille;
    out->slow_permille = (uint32_t)options->slow_permille;
    out->cancel_permille = (uint32_t)options->cancel_permille;
    out->slow_us = options->slow_us;
    out->fault_ramp = rt_option_is(options->fault_ramp, "linear");
    out->kill_after_tasks = options->kill_after_tasks;
    out->outage_start_ms = options->outage_start_ms;
    out->outage_ms = options->outage_ms;
    out->retry_policy = (rt_retry_policy)NUMBER_OF(options, retry_policy);
    out->retry_attempts = (uint32_t)options->retry_attempts;
    out->retry_delay_us = options->retry_delay_us;
    out->tenants = (uint32_t)options->tenants;
}

static void copy_submission(const rt_run_options *options, rt_workload_options *out) {
    out->submission = (rt_submission)NUMBER_OF(options, submission);
    out->window = (uint32_t)options->window;
    out->rate_per_s = options->rate_per_s;
    out->batches = (uint32_t)options->batches;
    out->steady_ms = options->steady_ms;
    out->pause_ms = options->pause_ms;
    out->burst_ms = options->burst_ms;
    out->burst_factor = (uint32_t)options->burst_factor;
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
    out->access_pattern = (rt_access_pattern)NUMBER_OF(options, access_pattern);
    out->queue_limit = options->queue_limit;
    out->max_active = (uint32_t)options->max_active;
    out->history_limit_tasks = options->history_limit_tasks;
    out->history_limit_bytes = options->history_limit_bytes;
    out->output_bytes = (uint32_t)options->output_bytes;
    out->priorities = (uint32_t)options->priorities;
    out->yields = (uint32_t)options->yields;
    out->stack_bytes = (uint32_t)options->stack_bytes;
    out->max_suspended = (uint32_t)options->max_suspended;
    out->snapshot = (rt_snapshot)NUMBER_OF(options, snapshot);
    out->rollbacks = (uint32_t)options->rollbacks;
    out->rewrite_permille = (uint32_t)options->rewrite_permille;
    copy_submission(options, out);
    copy_disturbances(options, out);
}
