/* Held workers, batches, priorities, yields, rollbacks. */
#include "workload_fixture.h"

static void held_workers_leave_every_task_in_the_queue(void) {
    small_options(20000);
    options.submission = RT_SUBMISSION_HELD;
    options.window = 0;
    fixture_run();
    CHECK_UINT(20000, result.tasks_completed);
    CHECK(result.is_held && result.held.has_bytes);
    CHECK_UINT(20000, result.held.queue);
    CHECK_UINT(20000, result.queue_peak);
    CHECK(result.drain_ns > 0 && result.submit_ns + result.drain_ns <= result.elapsed_ns);
    fixture_end();
}

/* A task is one cache line; with its place in the pool and what the pages round up it stays far below 128 bytes. */
static void a_queued_task_takes_no_more_than_its_line(void) {
    small_options(200000);
    options.submission = RT_SUBMISSION_HELD;
    options.window = 0;
    options.probes = 0;
    fixture_run();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(result.held.bytes_per_task >= 60 && result.held.bytes_per_task <= 128);
#endif
    fixture_end();
}

static void held_tasks_beyond_the_queue_limit_are_rejected(void) {
    small_options(1000);
    options.submission = RT_SUBMISSION_HELD;
    options.window = 0;
    options.queue_limit = 300;
    fixture_run();
    CHECK_UINT(300, result.tasks_completed);
    CHECK_UINT(700, result.tasks_rejected);
    CHECK_UINT(300, result.held.queue);
    fixture_end();
}

static void a_stop_while_workers_are_held_ends_the_run(void) {
    small_options(1000);
    options.submission = RT_SUBMISSION_HELD;
    options.window = 0;
    fixture_create();
    rt_workload_request_stop(workload);
    CHECK_UINT(RT_STOPPED, rt_workload_execute(workload, &why));
    fixture_finish();
    CHECK(result.stopped && result.tasks_completed == 0);
    fixture_end();
}

static void each_batch_is_drained_before_the_next(void) {
    small_options(1000);
    options.batches = 20;
    fixture_run();
    CHECK_UINT(1000, result.tasks_completed);
    CHECK_UINT(20, result.batch_count);
    for (uint32_t i = 0; i < result.batch_count; i++) {
        CHECK_UINT(i + 1, result.batches[i].batch);
        CHECK_UINT((i + 1) * 50, result.batches[i].tasks_done);
        CHECK(result.batches[i].rss_anon_bytes > 0);
        CHECK(i == 0 || result.batches[i].t_ns >= result.batches[i - 1].t_ns);
        CHECK_UINT(result.batches[0].allocated_bytes, result.batches[i].allocated_bytes); /* nothing is allocated */
    }
    CHECK(result.queue_peak <= 50);
    fixture_end();
}

static void batches_must_divide_the_tasks(void) {
    small_options(1000);
    options.batches = 3;
    CHECK_UINT(RT_INVALID, rt_workload_create(&options, &workload, &why));
    CHECK_TEXT("batches is 3; choose a number that divides 1000 tasks", why.text);
}

static void priorities_are_mixed_and_conserved(void) {
    small_options(5000);
    options.priorities = 7;
    fixture_run();
    CHECK_UINT(5000, result.tasks_completed);
    fixture_end();
}

static void every_task_yields_as_often_as_asked(void) {
    small_options(2000);
    options.stack_bytes = 65536;
    options.yields = 3;
    fixture_run();
    CHECK_UINT(2000, result.tasks_completed);
    CHECK_UINT(6000, result.yields_done);
    CHECK(result.suspensions <= 6000);
    CHECK(!result.has_slots);
    fixture_end();
}

static void slots_are_the_workers_and_what_may_be_suspended(void) {
    small_options(100);
    fixture_run();
    CHECK(result.has_slots && result.slots == 3);
    fixture_end();
    small_options(100);
    options.stack_bytes = 65536;
    options.max_suspended = 40;
    fixture_run();
    CHECK(result.has_slots && result.slots == 43);
    fixture_end();
}

static void check_rollbacks(rt_snapshot snapshot) {
    rt_rollback_result rollback;
    small_options(3000);
    options.context_bytes = 1u << 20;
    options.snapshot = snapshot;
    options.rollbacks = 8;
    options.rewrite_permille = 200;
    fixture_run();
    CHECK_UINT(3000, result.tasks_completed);
    rt_rollback_result_read(result.rollback, &rollback);
    CHECK_UINT(8, rollback.cycles);
    CHECK_UINT(0, rollback.mismatches);
    CHECK_UINT(rollback.checksum_before, rollback.checksum_after);
    CHECK_UINT(8, rt_rollback_snapshot_times(result.rollback)->count);
    fixture_end();
}

static void the_context_is_rolled_back_at_rest_and_while_tasks_run(void) {
    check_rollbacks(RT_SNAPSHOT_AT_REST);
    check_rollbacks(RT_SNAPSHOT_RUNNING);
}

int main(void) {
    held_workers_leave_every_task_in_the_queue();
    a_queued_task_takes_no_more_than_its_line();
    held_tasks_beyond_the_queue_limit_are_rejected();
    a_stop_while_workers_are_held_ends_the_run();
    each_batch_is_drained_before_the_next();
    batches_must_divide_the_tasks();
    priorities_are_mixed_and_conserved();
    every_task_yields_as_often_as_asked();
    slots_are_the_workers_and_what_may_be_suspended();
    the_context_is_rolled_back_at_rest_and_while_tasks_run();
    return check_done();
}
