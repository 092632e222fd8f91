/* Rollbacks beside tasks: at rest and while they run, stopped, refused, and without a thread. */
#include "rt_workload.h"

#include "check.h"

#include <errno.h>

static rt_workload_options options_of(rt_snapshot snapshot, uint32_t rollbacks) {
    rt_workload_options options;
    rt_workload_options_init(&options);
    options.tasks = 4000;
    options.workers = 3;
    options.aux_workers = 0;
    options.context_bytes = 700000; /* 11 chunks */
    options.snapshot = snapshot;
    options.rollbacks = rollbacks;
    options.rewrite_permille = 300;
    return options;
}

static rt_workload *workload_of(rt_workload_options options) {
    rt_workload *workload;
    CHECK_UINT(RT_OK, rt_workload_create(&options, &workload, NULL));
    return workload;
}

static rt_workload_result finish(rt_workload *workload) {
    rt_workload_result result;
    CHECK_UINT(RT_OK, rt_workload_verify(workload, NULL));
    CHECK_UINT(RT_OK, rt_workload_result_read(workload, &result));
    CHECK(result.checks.passed);
    CHECK_UINT(result.checks.context_checksum_expected, result.checks.context_checksum);
    CHECK_UINT(result.checks.probe_checksum_expected, result.checks.probe_checksum);
    return result;
}

static rt_rollback_result rollbacks_of(const rt_workload_result *result) {
    rt_rollback_result rollbacks = {.cycles = 0};
    CHECK(result->rollback != NULL);
    if (result->rollback != NULL) {
        rt_rollback_result_read(result->rollback, &rollbacks);
        CHECK_UINT(rollbacks.cycles, rt_rollback_snapshot_times(result->rollback)->count);
        CHECK_UINT(rollbacks.cycles, rt_rollback_rollback_times(result->rollback)->count);
    }
    return rollbacks;
}

static void all_cycles_are_done_and_the_tasks_read_what_they_must(rt_snapshot snapshot) {
    rt_workload *const workload = workload_of(options_of(snapshot, 20));
    CHECK_UINT(RT_OK, rt_workload_execute(workload, NULL));
    const rt_workload_result result = finish(workload);
    const rt_rollback_result rollbacks = rollbacks_of(&result);
    CHECK_UINT(4000, result.tasks_completed);
    CHECK_UINT(20, rollbacks.cycles);
    CHECK_UINT(80, rollbacks.chunks_rewritten); /* 300 of 1000 of 11, rounded up: 4 */
    CHECK_UINT(0, rollbacks.mismatches);
    CHECK_UINT(result.checks.context_checksum_expected, rollbacks.checksum_before);
    CHECK_UINT(result.checks.context_checksum_expected, rollbacks.checksum_after);
    CHECK(snapshot == RT_SNAPSHOT_RUNNING || rollbacks.cycles_while_tasks_ran == 0);
    rt_workload_destroy(workload);
}

static void without_a_snapshot_there_is_nothing_to_tell(void) {
    rt_workload *const workload = workload_of(options_of(RT_SNAPSHOT_NONE, 0));
    CHECK_UINT(RT_OK, rt_workload_execute(workload, NULL));
    CHECK(finish(workload).rollback == NULL);
    rt_workload_destroy(workload);
}

static void a_stop_ends_the_cycles_too(rt_snapshot snapshot) {
    rt_workload *const workload = workload_of(options_of(snapshot, 1000000)); /* many minutes */
    rt_workload_request_stop(workload);
    CHECK_UINT(RT_STOPPED, rt_workload_execute(workload, NULL));
    const rt_workload_result result = finish(workload);
    CHECK(result.stopped);
    CHECK(rollbacks_of(&result).cycles < 1000000);
    rt_workload_destroy(workload);
}

static void a_snapshot_needs_cycles(void) {
    const rt_workload_options options = options_of(RT_SNAPSHOT_AT_REST, 0);
    rt_workload *workload;
    CHECK_UINT(RT_INVALID, rt_workload_create(&options, &workload, NULL));
    CHECK(workload == NULL);
}

static unsigned threads_left;

static int start_some(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *),
                      void *argument) {
    if (threads_left == 0) {
        return EAGAIN;
    }
    threads_left--;
    return pthread_create(thread, attributes, entry, argument);
}

static void a_mutator_that_cannot_start_breaks_the_run_off(void) {
    rt_workload_options options = options_of(RT_SNAPSHOT_RUNNING, 5);
    rt_message why;
    options.start_thread = start_some;
    threads_left = options.workers;
    rt_workload *const workload = workload_of(options);
    CHECK_UINT(RT_NO_THREAD, rt_workload_execute(workload, &why));
    CHECK_TEXT("the run broke off: the thread of the rollbacks could not start; raise the limit of threads",
               why.text);
    rt_workload_destroy(workload);
}

static void a_workload_is_destroyed_without_being_executed(void) {
    rt_workload_destroy(workload_of(options_of(RT_SNAPSHOT_RUNNING, 5)));
}

int main(void) {
    all_cycles_are_done_and_the_tasks_read_what_they_must(RT_SNAPSHOT_AT_REST);
    all_cycles_are_done_and_the_tasks_read_what_they_must(RT_SNAPSHOT_RUNNING);
    without_a_snapshot_there_is_nothing_to_tell();
    a_stop_ends_the_cycles_too(RT_SNAPSHOT_AT_REST);
    a_stop_ends_the_cycles_too(RT_SNAPSHOT_RUNNING);
    a_snapshot_needs_cycles();
    a_mutator_that_cannot_start_breaks_the_run_off();
    a_workload_is_destroyed_without_being_executed();
    return check_done();
}
