#include "rt_workload.h"

#include "check.h"

#include <errno.h>
#include <stdatomic.h>

static rt_workload_options options;
static rt_workload_result result;
static rt_message why;

static void small_options(uint64_t tasks) {
    rt_workload_options_init(&options);
    options.tasks = tasks;
    options.agents = 50;
    options.workers = 3;
    options.aux_workers = 2;
    options.context_bytes = 10000;
    options.window = 100;
}

static rt_workload *workload_of_options(void) {
    rt_workload *workload;
    why.text[0] = '\0';
    CHECK_UINT(RT_OK, rt_workload_create(&options, &workload, &why));
    CHECK_TEXT("", why.text);
    return workload;
}

static rt_memory_account account;

/* Runs, accounts, verifies, reads the result and ends. Returns what execute returned. */
static rt_status run_to_the_end(void) {
    rt_workload *const workload = workload_of_options();
    const rt_status status = rt_workload_execute(workload, &why);
    account = (rt_memory_account){.stack_reserved_bytes = 0};
    rt_workload_account(workload, &account);
    why.text[0] = '\0';
    CHECK_UINT(RT_OK, rt_workload_verify(workload, &why));
    CHECK_TEXT("", why.text);
    CHECK_UINT(RT_OK, rt_workload_result_read(workload, &result));
    result.checks.passed &= result.histograms[RT_STAGE_END_TO_END]->sum_ns ==
                            result.histograms[RT_STAGE_QUEUE]->sum_ns +
                                result.histograms[RT_STAGE_EXECUTION]->sum_ns +
                                result.histograms[RT_STAGE_FINALISATION]->sum_ns;
    rt_workload_destroy(workload);
    return status;
}

static void check_complete(uint64_t tasks) {
    CHECK(result.checks.passed);
    CHECK_UINT(tasks, result.tasks_submitted);
    CHECK_UINT(tasks, result.tasks_admitted);
    CHECK_UINT(tasks, result.tasks_completed);
    CHECK_UINT(0,
               result.tasks_failed + result.tasks_cancelled + result.tasks_timed_out + result.tasks_rejected);
    CHECK_UINT(0, result.active_at_end + result.queue_at_end);
    CHECK_UINT(tasks, result.checks.tasks_seen_once);
    CHECK_UINT(0, result.checks.tasks_seen_never + result.checks.tasks_seen_twice);
    CHECK(!result.stopped);
    CHECK_UINT(RT_PHASE_FINISHED, result.phase);
}

static void a_run_does_every_task_once_and_proves_it(void) {
    small_options(5000);
    CHECK_UINT(RT_OK, run_to_the_end());
    check_complete(5000);
    CHECK_UINT(5000, result.role_lookups);
    CHECK_UINT(5000 * 64, result.probes_done);
    CHECK_UINT(5000 * 64, result.output_bytes_written);
    CHECK_UINT(result.checks.prompt_bytes_expected, result.prompt_bytes);
    CHECK_UINT(result.checks.probe_checksum_expected, result.checks.probe_checksum);
    CHECK_UINT(result.checks.context_checksum_expected, result.checks.context_checksum);
    CHECK_UINT(64, result.retained_tasks);
    CHECK_UINT(64 * (64 + 64), result.retained_bytes); /* a record and an output each */
    CHECK_UINT(2, result.aux_workers_alive);
    CHECK(result.queue_peak > 0 && result.queue_peak <= 100);
    CHECK(result.active_peak > 0 && result.active_peak <= 3);
    CHECK(result.mean_batch >= 1.0 && result.dequeues > 0);
    CHECK(result.has_rate && result.tasks_per_second > 0);
}

static void equal_seeds_read_equal_bytes_whatever_the_workers(void) {
    small_options(3000);
    run_to_the_end();
    const uint64_t probe_checksum = result.checks.probe_checksum;
    options.workers = 1;
    run_to_the_end();
    CHECK_UINT(probe_checksum, result.checks.probe_checksum);
    options.seed = 2;
    run_to_the_end();
    CHECK(probe_checksum != result.checks.probe_checksum);
}

/* Bug 18: counts that are not a multiple of a batch or a window. */
static void bug18_any_number_of_tasks_and_any_window_is_conserved(void) {
    const uint64_t tasks[] = {1, 2, 31, 32, 33, 99, 100, 101, 1025};
    const uint32_t windows[] = {1, 2, 3, 33, 5000};
    for (unsigned t = 0; t < sizeof tasks / sizeof tasks[0]; t++) {
        for (unsigned w = 0; w < sizeof windows / sizeof windows[0]; w++) {
            small_options(tasks[t]);
            options.window = windows[w];
            CHECK_UINT(RT_OK, run_to_the_end());
            check_complete(tasks[t]);
            CHECK(result.queue_peak <= windows[w]);
        }
    }
}

static void every_stage_has_its_histogram(void) {
    small_options(6400);
    options.workers = 1;
    run_to_the_end();
    rt_workload *const workload = workload_of_options();
    CHECK_UINT(RT_BUSY, rt_workload_result_read(workload, &result));
    CHECK_UINT(RT_OK, rt_workload_execute(workload, &why));
    CHECK_UINT(RT_OK, rt_workload_result_read(workload, &result));
    for (unsigned stage = 0; stage < RT_STAGES; stage++) {
        CHECK_UINT(6400 / rt_stage_sample_every((rt_stage)stage), result.histograms[stage]->count);
    }
    CHECK_TEXT("end_to_end", rt_stage_name(RT_STAGE_END_TO_END));
    CHECK_TEXT("history_pruning", rt_stage_name(RT_STAGE_HISTORY_PRUNING));
    rt_workload_destroy(workload);
}

static void a_queue_limit_below_the_window_rejects_and_conserves(void) {
    small_options(5000);
    options.window = 400;
    options.queue_limit = 20;
    CHECK_UINT(RT_OK, run_to_the_end());
    CHECK(result.checks.passed);
    CHECK(result.tasks_rejected > 0);
    CHECK_UINT(5000, result.tasks_submitted);
    CHECK_UINT(5000, result.tasks_admitted + result.tasks_rejected);
    CHECK_UINT(result.tasks_admitted, result.tasks_completed);
    CHECK_UINT(result.tasks_rejected, result.checks.tasks_seen_never);
    CHECK_UINT(20, result.queue_peak);
}

static void a_paced_run_counts_latency_from_the_intended_time(void) {
    small_options(2000);
    options.submission = RT_SUBMISSION_PACED;
    options.window = 0;
    options.rate_per_s = 100000;
    CHECK_UINT(RT_OK, run_to_the_end());
    check_complete(2000);
    CHECK(result.elapsed_ns >= 1999u * 10000u); /* the last task is due then */
    CHECK_UINT(0, result.clamped_intervals);
}

static void the_null_runner_does_nothing_and_passes_its_checks(void) {
    small_options(5000);
    options.runner = RT_RUNNER_NULL;
    CHECK_UINT(RT_OK, run_to_the_end());
    check_complete(5000);
    CHECK_UINT(0,
               result.role_lookups + result.probes_done + result.prompt_bytes + result.output_bytes_written);
}

static void a_stop_before_the_start_submits_nothing(void) {
    small_options(1000);
    rt_workload *const workload = workload_of_options();
    rt_workload_request_stop(workload);
    CHECK_UINT(RT_STOPPED, rt_workload_execute(workload, &why));
    CHECK_UINT(RT_OK, rt_workload_verify(workload, &why));
    CHECK_UINT(RT_OK, rt_workload_result_read(workload, &result));
    CHECK(result.stopped && result.checks.passed);
    CHECK_UINT(0, result.tasks_submitted);
    CHECK_UINT(1000, result.checks.tasks_seen_never);
    CHECK_UINT(RT_PHASE_SUBMIT, result.phase);
    rt_workload_destroy(workload);
}

static _Atomic(rt_workload *) to_stop;
static _Atomic uint64_t reads;

/* Asks for a stop once the clock was read often enough to be in the middle of the run. */
static uint64_t clock_that_stops(void *context) {
    const uint64_t read = atomic_fetch_add((_Atomic uint64_t *)context, 1);
    rt_workload *const workload = atomic_load(&to_stop);
    if (workload != NULL && read > 3000) {
        rt_workload_request_stop(workload);
    }
    return read;
}

static void a_stop_in_mid_run_keeps_the_counts_conserved(void) {
    const rt_clock clock = {clock_that_stops, NULL, &reads};
    atomic_store(&to_stop, NULL);
    atomic_store(&reads, 1);
    small_options(1000000);
    options.clock = &clock;
    rt_workload *const workload = workload_of_options();
    atomic_store(&to_stop, workload);
    CHECK_UINT(RT_STOPPED, rt_workload_execute(workload, &why));
    CHECK_TEXT("the run was stopped on request", why.text);
    CHECK_UINT(RT_OK, rt_workload_verify(workload, &why));
    CHECK_UINT(RT_OK, rt_workload_result_read(workload, &result));
    CHECK(result.stopped && result.checks.passed);
    CHECK(result.tasks_submitted < 1000000);
    CHECK_UINT(result.tasks_admitted, result.tasks_completed + result.tasks_cancelled);
    CHECK_UINT(result.tasks_completed, result.checks.tasks_seen_once);
    CHECK_UINT(0, result.queue_at_end + result.active_at_end);
    rt_workload_destroy(workload);
}

static uint64_t standing_still(void *context) {
    (void)context;
    return 5;
}

/* Bug 9: a division by an elapsed time of 0. */
static void bug9_no_elapsed_time_is_no_rate(void) {
    const rt_clock clock = {standing_still, NULL, NULL};
    small_options(100);
    options.clock = &clock;
    CHECK_UINT(RT_OK, run_to_the_end());
    check_complete(100);
    CHECK_UINT(0, result.elapsed_ns);
    CHECK(!result.has_rate);
    CHECK(result.tasks_per_second == 0.0);
}

/* Bug 19: memory that grows with the tasks done although the history is capped. */
static void bug19_ten_times_the_tasks_need_the_same_memory_but_for_the_verification(void) {
    small_options(10000);
    run_to_the_end();
    const rt_memory_account few = account;
    small_options(100000);
    run_to_the_end();
    CHECK_UINT(few.allocations, account.allocations);
    CHECK_UINT(few.live_objects, account.live_objects);
    for (int owner = 0; owner < RT_OWNERS; owner++) {
        const bool grows = owner == RT_OWNER_VERIFICATION, stacks = owner == RT_OWNER_STACKS;
        if (!stacks && owner != RT_OWNER_AUXILIARY) { /* what of a stack is in RAM is up to the kernel */
            CHECK_UINT(few.owners[owner].allocated_bytes + (grows ? 90000 : 0),
                       account.owners[owner].allocated_bytes);
        }
    }
    CHECK_UINT(90000, account.allocated_total_bytes - few.allocated_total_bytes);
}

static void owners_add_up_to_what_was_allocated(void) {
    uint64_t owned = 0;
    small_options(1000);
    run_to_the_end();
    for (int owner = 0; owner < RT_OWNERS; owner++) {
        CHECK((account.owners[owner].allocated_bytes > 0) == (owner != RT_OWNER_SAMPLER));
        owned += account.owners[owner].allocated_bytes;
    }
    CHECK(account.owners[RT_OWNER_STACKS].resident_bytes < account.stack_reserved_bytes);
    CHECK(owned >= account.allocated_total_bytes);
    CHECK(account.live_objects > 0 && account.live_objects <= account.allocations);
}

static void progress_tells_the_phase_and_the_counts(void) {
    rt_workload_progress progress;
    small_options(500);
    rt_workload *const workload = workload_of_options();
    rt_workload_progress_read(workload, &progress);
    CHECK_UINT(RT_PHASE_SETUP, progress.phase);
    CHECK_UINT(500, progress.tasks);
    CHECK_UINT(0, progress.tasks_submitted + progress.elapsed_ns);
    CHECK_UINT(RT_BUSY, rt_workload_verify(workload, &why));
    CHECK_UINT(RT_OK, rt_workload_execute(workload, &why));
    CHECK_UINT(RT_BUSY, rt_workload_execute(workload, &why));
    rt_workload_progress_read(workload, &progress);
    CHECK_UINT(RT_PHASE_FINISHED, progress.phase);
    CHECK_UINT(500, progress.tasks_completed);
    CHECK_UINT(0, progress.queue + progress.active);
    CHECK(progress.elapsed_ns > 0);
    CHECK_TEXT("finished", rt_phase_name(progress.phase));
    rt_workload_destroy(workload);
}

static void check_refusal(const char *text) {
    rt_workload *workload;
    why.text[0] = '\0';
    CHECK_UINT(RT_INVALID, rt_workload_create(&options, &workload, &why));
    CHECK_TEXT(text, why.text);
    CHECK(workload == NULL);
    small_options(10);
}

static void options_out_of_range_are_refused_with_a_sentence(void) {
    small_options(0);
    check_refusal("tasks is 0; choose 1 to 1099511627776");
    options.agents = 0;
    check_refusal("agents is 0; choose 1 to 1000000 registered roles");
    options.workers = 0;
    check_refusal("workers is 0; choose 1 to 1024");
    options.workers = 1025;
    check_refusal("workers is 1025; choose 1 to 1024");
    options.aux_workers = 1025;
    check_refusal("aux_workers is 1025; choose 0 to 1024");
    options.queue_limit = 0;
    check_refusal("queue_limit is 0, so every task would be rejected; choose 1 or more");
    options.max_active = 0;
    check_refusal("max_active is 0, so no task could ever run; choose 1 or more");
    options.window = 0;
    check_refusal("a closed loop needs a window of 1 or more and no rate; window is 0, rate_per_s 0");
    options.submission = RT_SUBMISSION_PACED;
    check_refusal(
        "a paced run needs a rate of 1 to 1000000000 a second and no window; rate_per_s is 0, window 100");
}

static void memory_that_cannot_be_had_is_a_status_at_every_attempt(void) {
    rt_status status = RT_NO_MEMORY;
    uint64_t fail_at = 0;
    small_options(10);
    options.agents = 3;
    while (status == RT_NO_MEMORY) {
        rt_workload *workload;
        why.text[0] = '\0';
        options.fail_allocation_at = ++fail_at;
        status = rt_workload_create(&options, &workload, &why);
        CHECK(status == RT_OK || (workload == NULL && why.text[0] != '\0'));
        if (status == RT_OK) { /* the next allocation is the one for the merged histograms */
            CHECK_UINT(RT_OK, rt_workload_execute(workload, &why));
            CHECK_UINT(RT_NO_MEMORY, rt_workload_result_read(workload, &result));
        }
        rt_workload_destroy(workload);
    }
    CHECK_UINT(RT_OK, status);
    CHECK(fail_at > 20);
}

static unsigned threads_allowed;

static int start_some(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *),
                      void *argument) {
    if (threads_allowed == 0) {
        return EAGAIN;
    }
    threads_allowed--;
    return pthread_create(thread, attributes, entry, argument);
}

static void a_worker_that_cannot_start_is_a_status(void) {
    for (unsigned allowed = 0; allowed < 5; allowed++) { /* three workers, two auxiliary ones */
        rt_workload *workload;
        small_options(10);
        options.start_thread = start_some;
        threads_allowed = allowed;
        why.text[0] = '\0';
        CHECK_UINT(RT_NO_THREAD, rt_workload_create(&options, &workload, &why));
        CHECK(workload == NULL && strstr(why.text, "could not start") != NULL);
    }
}

int main(void) {
    a_run_does_every_task_once_and_proves_it();
    equal_seeds_read_equal_bytes_whatever_the_workers();
    bug18_any_number_of_tasks_and_any_window_is_conserved();
    every_stage_has_its_histogram();
    a_queue_limit_below_the_window_rejects_and_conserves();
    a_paced_run_counts_latency_from_the_intended_time();
    the_null_runner_does_nothing_and_passes_its_checks();
    a_stop_before_the_start_submits_nothing();
    a_stop_in_mid_run_keeps_the_counts_conserved();
    bug9_no_elapsed_time_is_no_rate();
    bug19_ten_times_the_tasks_need_the_same_memory_but_for_the_verification();
    owners_add_up_to_what_was_allocated();
    progress_tells_the_phase_and_the_counts();
    options_out_of_range_are_refused_with_a_sentence();
    memory_that_cannot_be_had_is_a_status_at_every_attempt();
    a_worker_that_cannot_start_is_a_status();
    rt_workload_destroy(NULL);
    return check_done();
}
