/* The public face: what is refused, and how it is said. */
#include "runtime.h"

#include <stddef.h>

#include "rt_options.h"

#include "check.h"

static rt_run_options small(void) {
    rt_run_options options;
    rt_run_options_init(&options);
    options.tasks = 1000;
    options.context_bytes = 65536;
    return options;
}

static void check_refused(const rt_run_options *options, const char *expected) {
    char message[RT_RUN_MESSAGE_BYTES] = "";
    rt_run *run;
    CHECK_TEXT("invalid", rt_run_status_name(rt_run_create(options, &run, message, sizeof message)));
    CHECK(run == NULL);
    CHECK_TEXT(expected, message);
}

static void options_out_of_range_are_named_with_their_range(void) {
    static const struct {
        size_t offset;
        uint64_t value;
        const char *expected;
    } wrong[] = {
        {offsetof(rt_run_options, tasks), 0, "tasks is 0; choose 1 to 1099511627776"},
        {offsetof(rt_run_options, agents), 0, "agents is 0; choose 1 to 1000000"},
        {offsetof(rt_run_options, agents), 1000001, "agents is 1000001; choose 1 to 1000000"},
        {offsetof(rt_run_options, workers), 0, "workers is 0; choose 1 to 1024"},
        {offsetof(rt_run_options, workers), 1025, "workers is 1025; choose 1 to 1024"},
        {offsetof(rt_run_options, workers), (UINT64_C(1) << 32) + 8,
         "workers is 4294967304; choose 1 to 1024"},
        {offsetof(rt_run_options, context_bytes), 0, "context_bytes is 0; choose 1 to 1099511627776"},
        {offsetof(rt_run_options, window), 0, "window (of closed submission) is 0; choose 1 to 4294967295"},
        {offsetof(rt_run_options, rate_per_s), 5, "rate_per_s (of closed submission) is 5; choose 0"},
        {offsetof(rt_run_options, sampler_interval_ms), 0, "sampler_interval_ms is 0; choose 1 to 3600000"},
        {offsetof(rt_run_options, repetition), 0, "repetition is 0; choose 1 to 9007199254740991"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rt_run_options options = small();
        memcpy((char *)&options + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        check_refused(&options, wrong[i].expected);
    }
}

static void words_that_mean_nothing_are_refused(void) {
    rt_run_options options = small();
    options.submission = "flood";
    check_refused(&options, "submission is flood; choose closed, paced, poisson or held");
    options = small();
    options.submission = "paced";
    check_refused(&options, "window (of paced submission) is 1024; choose 0");
    options.window = 0;
    check_refused(&options, "rate_per_s (of paced submission) is 0; choose 1 to 1000000000");
    options = small();
    options.access_pattern = NULL;
    check_refused(&options, "access_pattern is missing; choose uniform, sequential, strided or hot");
    options = small();
    options.task_stack = "heap";
    check_refused(&options, "task_stack is heap; choose inline or pooled");
    options = small();
    options.benchmark_version = "2";
    check_refused(&options, "benchmark_version is 2; choose 1");
    options = small();
    options.suite = "a b";
    check_refused(&options, "suite is not a name; choose 1 to 64 of a-z, 0-9, _ and -");
    options = small();
    options.run_id = "0123";
    check_refused(&options, "run_id is not 16 lower-case hexadecimal digits; leave it out to have one drawn");
    options = small();
    options.variant = "Seite_a";
    check_refused(&options, "variant is not a name; choose 1 to 32 of a-z, 0-9 and -");
}

/* One member with a value that does not go with the defaults of the others. */
static void options_that_mean_nothing_without_another_are_refused(void) {
    static const struct {
        size_t offset;
        uint64_t value;
        const char *expected;
    } wrong[] = {
        {offsetof(rt_run_options, steady_ms), 5, "steady_ms (of closed submission) is 5; choose 0"},
        {offsetof(rt_run_options, pause_ms), 5, "pause_ms (without steady_ms) is 5; choose 0"},
        {offsetof(rt_run_options, burst_ms), 5, "burst_ms (without steady_ms) is 5; choose 0"},
        {offsetof(rt_run_options, burst_factor), 2, "burst_factor (without burst_ms) is 2; choose 1"},
        {offsetof(rt_run_options, batches), 3, "tasks is 1000 and batches 3; choose a multiple of batches"},
        {offsetof(rt_run_options, stack_bytes), 65536, "stack_bytes (of inline stacks) is 65536; choose 0"},
        {offsetof(rt_run_options, max_suspended), 1, "max_suspended (of inline stacks) is 1; choose 0"},
        {offsetof(rt_run_options, yields), 1, "yields (of inline stacks) is 1; choose 0"},
        {offsetof(rt_run_options, wait_us), 1, "wait_us (without wait_mode) is 1; choose 0"},
        {offsetof(rt_run_options, outage_ms), 1, "outage_ms (without wait_mode) is 1; choose 0"},
        {offsetof(rt_run_options, outage_start_ms), 1, "outage_start_ms (without outage_ms) is 1; choose 0"},
        {offsetof(rt_run_options, retry_attempts), 1, "retry_attempts (without retry_policy) is 1; choose 0"},
        {offsetof(rt_run_options, retry_delay_us), 1,
         "retry_delay_us (without the policy backoff) is 1; choose 0"},
        {offsetof(rt_run_options, slow_us), 1, "slow_us (without slow_permille) is 1; choose 0"},
        {offsetof(rt_run_options, rollbacks), 1, "rollbacks (without snapshot) is 1; choose 0"},
        {offsetof(rt_run_options, rewrite_permille), 1, "rewrite_permille (without snapshot) is 1; choose 0"},
        {offsetof(rt_run_options, fail_permille), 1001, "fail_permille is 1001; choose 0 to 1000"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rt_run_options options = small();
        memcpy((char *)&options + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        check_refused(&options, wrong[i].expected);
    }
}

static void words_that_mean_nothing_without_another_are_refused(void) {
    rt_run_options options = small();
    options.wait_mode = "yielding";
    check_refused(&options, "wait_mode is yielding on inline stacks; choose task_stack pooled");
    options = small();
    options.wait_mode = "blocking";
    check_refused(&options, "wait_us (with a wait_mode) is 0; choose 1 to 3600000000");
    options = small();
    options.wait_distribution = "exponential";
    check_refused(&options,
                  "wait_distribution is exponential without wait_mode; choose constant, or a wait_mode");
    options = small();
    options.retry_policy = "immediate";
    check_refused(&options, "retry_policy is immediate without wait_mode; choose none, or a wait_mode");
    options = small();
    options.fault_ramp = "linear";
    check_refused(&options, "fault_ramp is linear but no task fails, is slow or is cancelled; choose none");
    options = small();
    options.task_stack = "pooled";
    check_refused(&options, "stack_bytes (of pooled stacks) is 0; choose 16384 to 8388608");
    options = small();
    options.workload = "lookup";
    options.snapshot = "at_rest";
    check_refused(&options, "snapshot is at_rest in workload lookup; choose none, or the workload tasks");
}

int main(void) {
    options_out_of_range_are_named_with_their_range();
    words_that_mean_nothing_are_refused();
    options_that_mean_nothing_without_another_are_refused();
    words_that_mean_nothing_without_another_are_refused();
    return check_done();
}
