/* bench-runtime: one run from the command line. Prints {"manifest":M,"run":R} as one line.
 *
 * Exit codes: 0 the run completed; 1 it did not (there is a record all the same, unless stderr says why not);
 * 2 the command line or an option is wrong. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { COMPLETED = 0, NOT_COMPLETED = 1, MISUSE = 2 };

static const struct {
    const char *flag; /* NULL: the title of a group in the help */
    size_t offset;
    bool is_text;
    const char *meaning;
} arguments[] = {
#define NUMBER(flag, member, meaning) {flag, offsetof(rt_run_options, member), false, meaning}
#define TEXT(flag, member, meaning) {flag, offsetof(rt_run_options, member), true, meaning}
#define GROUP(title) {NULL, 0, false, title}
    GROUP("This run"),
    TEXT("--suite", suite, "name written into the record"),
    TEXT("--run-id", run_id, "16 hexadecimal digits (default: drawn at random)"),
    NUMBER("--index", index, "place of this run in the plan of its suite"),
    NUMBER("--repetition", repetition, "which repetition this is, from 1"),
    TEXT("--variant", variant, "side of a comparison of two builds"),
    GROUP("Work"),
    TEXT("--workload", workload, "what the run does: tasks, context or lookup"),
    NUMBER("--workload-seed", workload_seed, "seed of content, ids, arrivals and faults"),
    NUMBER("--agents", agents, "registered roles"),
    NUMBER("--tasks", tasks, "tasks to submit"),
    NUMBER("--workers", workers, "threads that run tasks"),
    NUMBER("--aux-workers", aux_workers, "idle runtime workers beside them"),
    NUMBER("--probes", probes, "reads of the context a task"),
    NUMBER("--context-bytes", context_bytes, "size of the shared context"),
    TEXT("--access-pattern", access_pattern, "how probes spread: uniform, sequential, strided, hot"),
    NUMBER("--overview-bytes", overview_bytes, "bound of the overview of a warm context"),
    NUMBER("--output-bytes", output_bytes, "size of each task's output"),
    NUMBER("--priorities", priorities, "task i has level i mod this"),
    NUMBER("--yields", yields, "pooled: cooperative yields in each task"),
    GROUP("Load"),
    TEXT("--submission", submission, "closed, paced, poisson or held"),
    NUMBER("--window", window, "closed: tasks in flight"),
    NUMBER("--rate-per-s", rate_per_s, "paced, poisson: tasks a second"),
    NUMBER("--batches", batches, "closed: equal batches, each drained before the next"),
    NUMBER("--steady-ms", steady_ms, "open loop: steady phase; 0: no phases"),
    NUMBER("--pause-ms", pause_ms, "then no submission"),
    NUMBER("--burst-ms", burst_ms, "then a burst, and again from the start"),
    NUMBER("--burst-factor", burst_factor, "rate of a burst over rate-per-s"),
    GROUP("Bounds"),
    NUMBER("--queue-limit", queue_limit, "tasks that may wait; more are rejected"),
    NUMBER("--max-active", max_active, "workers that may run tasks at the same time"),
    NUMBER("--history-limit-tasks", history_limit_tasks, "finished tasks kept"),
    NUMBER("--history-limit-bytes", history_limit_bytes, "bytes of finished tasks kept"),
    NUMBER("--memory-limit-bytes", memory_limit_bytes, "address space beyond set-up; 0: no limit"),
    NUMBER("--timeout-us", timeout_us, "limit of each task; 0: none"),
    GROUP("Stacks"),
    TEXT("--task-stack", task_stack, "what a task runs on: inline or pooled"),
    NUMBER("--stack-bytes", stack_bytes, "pooled: size of a stack"),
    NUMBER("--max-suspended", max_suspended, "pooled: suspended tasks at most; 0: no limit"),
    GROUP("Provider"),
    TEXT("--wait-mode", wait_mode, "await a provider: none, blocking or yielding"),
    NUMBER("--wait-us", wait_us, "mean answer time of the provider"),
    TEXT("--wait-distribution", wait_distribution, "constant or exponential"),
    NUMBER("--tenants", tenants, "task i belongs to tenant i mod this"),
    NUMBER("--outage-start-ms", outage_start_ms, "the provider of tenant 0 fails from here"),
    NUMBER("--outage-ms", outage_ms, "for so long"),
    TEXT("--retry-policy", retry_policy, "none, immediate or backoff"),
    NUMBER("--retry-attempts", retry_attempts, "further calls of the provider at most"),
    NUMBER("--retry-delay-us", retry_delay_us, "backoff: this x 2^k with full jitter"),
    GROUP("Faults"),
    NUMBER("--fail-permille", fail_permille, "share of tasks that fail"),
    NUMBER("--slow-permille", slow_permille, "share of tasks that are slow"),
    NUMBER("--slow-us", slow_us, "further wait of a slow task"),
    NUMBER("--cancel-permille", cancel_permille, "share of tasks that are cancelled"),
    TEXT("--fault-ramp", fault_ramp, "how these shares rise: none or linear"),
    NUMBER("--kill-after-tasks", kill_after_tasks, "SIGKILL itself after so many tasks; 0: never"),
    GROUP("Rollback of the shared context"),
    TEXT("--snapshot", snapshot, "roll the context back: none, at_rest or running"),
    NUMBER("--rollbacks", rollbacks, "cycles of snapshot, rewrite and rollback"),
    NUMBER("--rewrite-permille", rewrite_permille, "share of chunks rewritten in each"),
    GROUP("Watching"),
    NUMBER("--sampler-interval-ms", sampler_interval_ms, "time between two samples of the timeline"),
#undef NUMBER
#undef TEXT
#undef GROUP
};

#define ARGUMENTS (sizeof arguments / sizeof *arguments)

static rt_run *running; /* for the signal handler alone */

static void interrupt(int number) { rt_run_interrupt(running, number); }

static void print_help(const rt_run_options *defaults) {
    printf("usage: bench-runtime [OPTION VALUE]...\n\nRuns once and prints its manifest and record as "
           "JSON.\n\n");
    for (size_t i = 0; i < ARGUMENTS; i++) {
        const char *place = (const char *)defaults + arguments[i].offset;
        if (arguments[i].flag == NULL) {
            printf("%s%s:\n", i == 0 ? "" : "\n", arguments[i].meaning);
            continue;
        }
        printf("  %-24s %s", arguments[i].flag, arguments[i].meaning);
        if (!arguments[i].is_text) {
            printf(" (default: %" PRIu64 ")\n", *(const uint64_t *)(const void *)place);
        } else if (*(const char *const *)(const void *)place != NULL) {
            printf(" (default: %s)\n", *(const char *const *)(const void *)place);
        } else {
            printf("\n");
        }
    }
    printf("\nExit codes: 0 completed, 1 not completed, 2 misuse.\n");
}

static bool parse_number(const char *text, uint64_t *value) {
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
        return false;
    }
    *value = parsed;
    return true;
}

static bool parse_one(const char *flag, const char *value, rt_run_options *options) {
    for (size_t i = 0; i < ARGUMENTS; i++) {
        void *place = (char *)options + arguments[i].offset;
        if (arguments[i].flag == NULL || strcmp(flag, arguments[i].flag) != 0) {
            continue;
        }
        if (value == NULL) {
            fprintf(stderr, "bench-runtime: %s needs a value\n", flag);
            return false;
        }
        if (arguments[i].is_text) {
            *(const char **)place = value;
            return true;
        }
        if (!parse_number(value, place)) {
            fprintf(stderr, "bench-runtime: %s %s: use a whole number below 2^64\n", flag, value);
            return false;
        }
        return true;
    }
    fprintf(stderr, "bench-runtime: there is no option %s; --help lists them all\n", flag);
    return false;
}

/* Signals wait until there is a run that can be told: the worker threads inherit the blocked mask, so that the
 * handler runs on this thread. */
static void block_signals(sigset_t *signals) {
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
}

static void handle_signals(rt_run *run, const sigset_t *signals) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    running = run;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}

/* A record that nobody got is no success. The first failed write may lie before the last flush: ferror tells. */
static int close_output(int code) {
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return code;
    }
    fprintf(stderr, "bench-runtime: standard output cannot be written; give it a place with room\n");
    return NOT_COMPLETED;
}

static int run_once(const rt_run_options *options) {
    char message[RT_RUN_MESSAGE_BYTES];
    sigset_t signals;
    rt_run *run;
    block_signals(&signals);
    int status = rt_run_create(options, &run, message, sizeof message);
    if (status != 0) {
        fprintf(stderr, "bench-runtime: %s\n", message);
        return strcmp(rt_run_status_name(status), "invalid") == 0 ? MISUSE : NOT_COMPLETED;
    }
    handle_signals(run, &signals);
    status = rt_run_execute(run, message, sizeof message);
    pthread_sigmask(SIG_BLOCK, &signals, NULL); /* `run` is about to go */
    int code = NOT_COMPLETED;
    if (status != 0) {
        fprintf(stderr, "bench-runtime: %s\n", message);
    } else {
        printf("{\"manifest\":%s,\"run\":%s}\n", rt_run_manifest(run), rt_run_record(run));
        code = strcmp(rt_run_outcome(run), "completed") == 0 ? COMPLETED : NOT_COMPLETED;
    }
    rt_run_destroy(run);
    return code;
}

int main(int count, char **values) {
    rt_run_options options;
    rt_run_options_init(&options);
    for (int i = 1; i < count; i += 2) {
        if (strcmp(values[i], "--help") == 0 || strcmp(values[i], "-h") == 0) {
            print_help(&options);
            return close_output(COMPLETED);
        }
        if (!parse_one(values[i], i + 1 < count ? values[i + 1] : NULL, &options)) {
            return MISUSE;
        }
    }
    return close_output(run_once(&options));
}
