/* What is refused: words that are none, numbers out of range, options that do not go with each other. */
#include "rt_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rt_agent_pool.h"
#include "rt_context_experiment.h"
#include "rt_context_store.h"
#include "rt_json.h"
#include "rt_task_body.h"

#define TASKS_MAX (UINT64_C(1) << 40)
#define RATE_MAX UINT64_C(1000000000)
#define HOUR_MS UINT64_C(3600000)
#define HOUR_US UINT64_C(3600000000)
#define DAY_MS UINT64_C(86400000)

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
    RANGE(sampler_interval_ms, 1, HOUR_MS),
    RANGE(workload_seed, 0, RT_JSON_INTEGER_MAX),
    RANGE(priorities, 1, RT_SCHEDULER_LEVELS),
    RANGE(batches, 1, 1000000),
    RANGE(yields, 0, 1000),
    RANGE(max_suspended, 0, 10000000),
    RANGE(wait_us, 0, HOUR_US),
    RANGE(timeout_us, 0, HOUR_US),
    RANGE(fail_permille, 0, 1000),
    RANGE(slow_permille, 0, 1000),
    RANGE(cancel_permille, 0, 1000),
    RANGE(slow_us, 0, HOUR_US),
    RANGE(memory_limit_bytes, 0, RT_JSON_INTEGER_MAX),
    RANGE(kill_after_tasks, 0, TASKS_MAX),
    RANGE(outage_start_ms, 0, DAY_MS),
    RANGE(outage_ms, 0, DAY_MS),
    RANGE(retry_attempts, 0, 100),
    RANGE(retry_delay_us, 0, HOUR_US),
    RANGE(tenants, 1, 64),
    RANGE(steady_ms, 0, DAY_MS),
    RANGE(pause_ms, 0, DAY_MS),
    RANGE(burst_ms, 0, DAY_MS),
    RANGE(burst_factor, 1, 1000),
    RANGE(rollbacks, 0, 1000000),
    RANGE(rewrite_permille, 0, 1000),
    RANGE(overview_bytes, 1, 1048576),
#undef RANGE
};

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
    if (options->variant == NULL || strchr(options->variant, '_') != NULL ||
        !only_of(options->variant, name_letters, 1, RT_OPTIONS_VARIANT_BYTES - 1)) {
        return rt_fail(why, RT_INVALID, "variant is not a name; choose 1 to 32 of a-z, 0-9 and -");
    }
    return RT_OK;
}

/* "uniform, sequential, strided or hot" */
static void list_words(const char *const *words, char *text, size_t text_bytes) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; words[i] != NULL && used < text_bytes; i++) {
        const char *const before = i == 0 ? "" : words[i + 1] == NULL ? " or " : ", ";
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%s", before, words[i]);
    }
}

static rt_status check_choice(const rt_option_choice *choice, const rt_run_options *options,
                              rt_message *why) {
    const char *value;
    char words[96];
    memcpy(&value, (const char *)options + choice->offset, sizeof value);
    for (const char *const *word = choice->words; value != NULL && *word != NULL; word++) {
        if (rt_option_is(value, *word)) {
            return RT_OK;
        }
    }
    list_words(choice->words, words, sizeof words);
    return rt_fail(why, RT_INVALID, "%s is %.40s; choose %s", choice->name, value == NULL ? "missing" : value,
                   words);
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

/* "window (of closed submission)": the option, and why its range is what it is. */
static rt_status check_under(const char *name, const char *under, uint64_t value, uint64_t low, uint64_t high,
                             rt_message *why) {
    char full[96];
    snprintf(full, sizeof full, "%s (%s)", name, under);
    return check_range(full, value, low, high, why);
}

/* An option that means nothing must be 0 (or its neutral value), so that equal work has one configuration and not
 * many: `used` says whether `value` means something here. */
typedef struct dependence {
    const char *name;
    uint64_t value;
    bool used;
    uint64_t low, high; /* when used */
    uint64_t unused;    /* the only value when not */
    const char *when_used, *when_unused;
} dependence;

static rt_status check_dependences(const dependence *rules, size_t count, rt_message *why) {
    rt_status status = RT_OK;
    for (size_t i = 0; status == RT_OK && i < count; i++) {
        const dependence *const rule = &rules[i];
        status = rule->used
                     ? check_under(rule->name, rule->when_used, rule->value, rule->low, rule->high, why)
                     : check_under(rule->name, rule->when_unused, rule->value, rule->unused, rule->unused,
                                   why);
    }
    return status;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static rt_status check_submission(const rt_run_options *options, rt_message *why) {
    const bool closed = rt_option_is(options->submission, "closed");
    const bool open = rt_option_is(options->submission, "paced") || rt_option_is(options->submission, "poisson");
    char of[32];
    snprintf(of, sizeof of, "of %s submission", options->submission);
    const dependence rules[] = {
        {"window", options->window, closed, 1, UINT32_MAX, 0, of, of},
        {"rate_per_s", options->rate_per_s, open, 1, RATE_MAX, 0, of, of},
        {"steady_ms", options->steady_ms, open, 0, DAY_MS, 0, of, of},
        {"pause_ms", options->pause_ms, options->steady_ms > 0, 0, DAY_MS, 0, "with steady_ms",
         "without steady_ms"},
        {"burst_ms", options->burst_ms, options->steady_ms > 0, 0, DAY_MS, 0, "with steady_ms",
         "without steady_ms"},
        {"burst_factor", options->burst_factor, options->burst_ms > 0, 1, 1000, 1, "with burst_ms",
         "without burst_ms"},
        {"batches", options->batches, closed, 1, 1000000, 1, of, of},
    };
    rt_status status = check_dependences(rules, COUNT(rules), why);
    if (status == RT_OK && options->tasks % options->batches != 0) {
        return rt_fail(why, RT_INVALID,
                       "tasks is %" PRIu64 " and batches %" PRIu64 "; choose a multiple of batches",
                       options->tasks, options->batches);
    }
    if (status == RT_OK && options->burst_ms > 0 && options->rate_per_s * options->burst_factor > RATE_MAX) {
        return rt_fail(why, RT_INVALID,
                       "rate_per_s is %" PRIu64 " and burst_factor %" PRIu64
                       "; choose a product of at most %" PRIu64,
                       options->rate_per_s, options->burst_factor, RATE_MAX);
    }
    return status;
}

static rt_status check_stacks(const rt_run_options *options, rt_message *why) {
    const bool pooled = rt_option_is(options->task_stack, "pooled");
    const dependence rules[] = {
        {"stack_bytes", options->stack_bytes, pooled, 16384, 8388608, 0, "of pooled stacks",
         "of inline stacks"},
        {"max_suspended", options->max_suspended, pooled, 0, 10000000, 0, "of pooled stacks",
         "of inline stacks"},
        {"yields", options->yields, pooled, 0, 1000, 0, "of pooled stacks", "of inline stacks"},
    };
    return check_dependences(rules, COUNT(rules), why);
}

static rt_status check_waits(const rt_run_options *options, rt_message *why) {
    const bool waits = !rt_option_is(options->wait_mode, "none");
    const bool retries = !rt_option_is(options->retry_policy, "none");
    const dependence rules[] = {
        {"wait_us", options->wait_us, waits, 1, HOUR_US, 0, "with a wait_mode", "without wait_mode"},
        {"outage_ms", options->outage_ms, waits, 0, DAY_MS, 0, "with a wait_mode", "without wait_mode"},
        {"outage_start_ms", options->outage_start_ms, options->outage_ms > 0, 0, DAY_MS, 0, "with outage_ms",
         "without outage_ms"},
        {"retry_attempts", options->retry_attempts, retries, 1, 100, 0, "with a retry_policy",
         "without retry_policy"},
        {"retry_delay_us", options->retry_delay_us, rt_option_is(options->retry_policy, "backoff"), 1, HOUR_US,
         0, "of the policy backoff", "without the policy backoff"},
    };
    if (rt_option_is(options->wait_mode, "yielding") && !rt_option_is(options->task_stack, "pooled")) {
        return rt_fail(why, RT_INVALID, "wait_mode is yielding on inline stacks; choose task_stack pooled");
    }
    if (!waits && !rt_option_is(options->wait_distribution, "constant")) {
        return rt_fail(why, RT_INVALID,
                       "wait_distribution is exponential without wait_mode; choose constant, or a wait_mode");
    }
    if (!waits && retries) {
        return rt_fail(why, RT_INVALID, "retry_policy is %s without wait_mode; choose none, or a wait_mode",
                       options->retry_policy);
    }
    return check_dependences(rules, COUNT(rules), why);
}

static rt_status check_faults(const rt_run_options *options, rt_message *why) {
    const bool any = options->fail_permille > 0 || options->slow_permille > 0 || options->cancel_permille > 0;
    const dependence rules[] = {
        {"slow_us", options->slow_us, options->slow_permille > 0, 1, HOUR_US, 0, "with slow_permille",
         "without slow_permille"},
    };
    if (!any && !rt_option_is(options->fault_ramp, "none")) {
        return rt_fail(why, RT_INVALID,
                       "fault_ramp is linear but no task fails, is slow or is cancelled; choose none");
    }
    return check_dependences(rules, COUNT(rules), why);
}

static rt_status check_workload(const rt_run_options *options, rt_message *why) {
    const bool rolls_back = !rt_option_is(options->snapshot, "none");
    const bool rewrites = rolls_back || rt_option_is(options->workload, "context");
    const dependence rules[] = {
        {"rollbacks", options->rollbacks, rolls_back, 1, 1000000, 0, "with a snapshot", "without snapshot"},
        {"rewrite_permille", options->rewrite_permille, rewrites, 0, 1000, 0, "with a snapshot",
         "without snapshot"},
    };
    if (rt_option_is(options->workload, "context") && options->tasks != RT_CONTEXT_EXPERIMENT_TASKS) {
        return rt_fail(why, RT_INVALID, "tasks is %" PRIu64 " in workload context, one pass; choose %u",
                       options->tasks, RT_CONTEXT_EXPERIMENT_TASKS);
    }
    if (rolls_back && !rt_option_is(options->workload, "tasks")) {
        return rt_fail(why, RT_INVALID,
                       "snapshot is %s in workload %s; choose none, or the workload tasks",
                       options->snapshot, options->workload);
    }
    return check_dependences(rules, COUNT(rules), why);
}

rt_status rt_options_check(const rt_run_options *options, rt_message *why) {
    static rt_status (*const checks[])(const rt_run_options *, rt_message *) = {
        check_submission, check_stacks, check_waits, check_faults, check_workload};
    rt_status status = check_names(options, why);
    for (size_t i = 0; status == RT_OK && i < COUNT(ranges); i++) {
        uint64_t value;
        memcpy(&value, (const char *)options + ranges[i].offset, sizeof value);
        status = check_range(ranges[i].name, value, ranges[i].low, ranges[i].high, why);
    }
    for (size_t i = 0; status == RT_OK && i < rt_option_choice_count; i++) {
        status = check_choice(&rt_option_choices[i], options, why);
    }
    for (size_t i = 0; status == RT_OK && i < COUNT(checks); i++) {
        status = checks[i](options, why);
    }
    return status;
}
