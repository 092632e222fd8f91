/* Counts, timestamps, histograms, history and options. */
#include "scheduler_fixture.h"

static fixture f;

static void every_task_runs_once_and_is_called_back_and_released(void) {
    fixture_init(&f, 3);
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 1000, 0, NULL));
    fixture_await_idle(&f);
    const rt_scheduler_counts counts = fixture_counts(&f);
    static unsigned char seen[1000];
    for (unsigned i = 0; i < 1000; i++) {
        seen[f.order[i]]++;
    }
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_UINT(1, seen[i]);
    }
    CHECK_UINT(1000, counts.submitted);
    CHECK_UINT(1000, counts.admitted);
    CHECK_UINT(1000, counts.completed);
    CHECK(counts.dequeued >= 1000); /* one that was given back counts twice */
    CHECK_UINT(0, counts.failed + counts.rejected + counts.cancelled + counts.queued + counts.active +
                      counts.ended);
    CHECK_UINT(3, counts.idle);
    CHECK_UINT(1000, f.finished);
    CHECK_UINT(1000, f.released);
    fixture_end(&f);
}

static rt_status fail_every_third(rt_task_run *run) { return run->task_id % 3 == 0 ? RT_FAILED : RT_OK; }

static rt_status claim_too_much_output(rt_task_run *run) {
    run->output_bytes = run->task_id == 5 ? run->output_capacity_bytes + 1 : run->output_capacity_bytes;
    memset(run->output, (int)run->task_id, run->output_capacity_bytes);
    return RT_OK;
}

static void a_runner_that_fails_is_counted_as_failed(void) {
    fixture_init(&f, 2);
    f.answer = fail_every_third;
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 99, 0, NULL));
    fixture_await_idle(&f);
    CHECK_UINT(33, fixture_counts(&f).failed);
    CHECK_UINT(66, fixture_counts(&f).completed);
    CHECK_UINT(99, f.finished);
    fixture_end(&f);
}

static void an_output_beyond_its_capacity_is_a_failure(void) {
    fixture_init(&f, 1);
    f.answer = claim_too_much_output;
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 10, 0, NULL));
    fixture_await_idle(&f);
    CHECK_UINT(1, fixture_counts(&f).failed);
    rt_task_record record;
    uint8_t output[64];
    CHECK_UINT(RT_OK, rt_scheduler_history(f.scheduler, 5, &record, output, sizeof output));
    CHECK_UINT(RT_TOO_SMALL, record.status);
    CHECK_UINT(0, record.output_bytes);
    CHECK_UINT(RT_OK, rt_scheduler_history(f.scheduler, 6, &record, output, sizeof output));
    CHECK_UINT(64, record.output_bytes);
    CHECK_UINT(6, output[63]);
    fixture_end(&f);
}

static void timestamps_are_in_the_order_of_the_stages(void) {
    fixture_init(&f, 2);
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 500, 3, NULL));
    fixture_await_idle(&f);
    const rt_scheduler_counts counts = fixture_counts(&f);
    CHECK_UINT(64, counts.retained_tasks);
    CHECK_UINT(64 * sizeof(rt_task_record), counts.retained_bytes);
    for (uint64_t i = 0; i < counts.retained_tasks; i++) {
        rt_task_record r;
        CHECK_UINT(RT_OK, rt_scheduler_history(f.scheduler, i, &r, NULL, 0));
        CHECK(r.submitted_ns > 0 && r.submitted_ns <= r.admitted_ns && r.admitted_ns <= r.dequeued_ns);
        CHECK(r.dequeued_ns <= r.started_ns && r.started_ns <= r.ended_ns && r.ended_ns <= r.finalised_ns);
        CHECK(r.priority == 3 && r.worker < 2 && r.status == RT_OK);
    }
    rt_task_record beyond;
    CHECK_UINT(RT_NOT_FOUND, rt_scheduler_history(f.scheduler, 64, &beyond, NULL, 0));
    fixture_end(&f);
}

static rt_histogram stages[RT_SCHEDULER_STAGES];

static void merge_stages(void) {
    for (unsigned stage = 0; stage < RT_SCHEDULER_STAGES; stage++) {
        rt_histogram_init(&stages[stage]);
        rt_scheduler_merge(f.scheduler, (rt_scheduler_stage)stage, &stages[stage]);
    }
}

static void check_sums(uint64_t tasks) {
    merge_stages();
    for (unsigned stage = RT_SCHEDULER_QUEUE; stage <= RT_SCHEDULER_END_TO_END; stage++) {
        CHECK_UINT(tasks, stages[stage].count);
    }
    CHECK(stages[RT_SCHEDULER_END_TO_END].sum_ns == stages[RT_SCHEDULER_QUEUE].sum_ns +
                                                        stages[RT_SCHEDULER_EXECUTION].sum_ns +
                                                        stages[RT_SCHEDULER_FINALISATION].sum_ns);
}

static void end_to_end_is_the_sum_of_its_parts(void) {
    fixture_init(&f, 2);
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 5000, 0, NULL));
    fixture_await_idle(&f);
    check_sums(5000);
    CHECK_UINT(0, fixture_counts(&f).clamped_intervals);
    fixture_end(&f);
}

static void one_task_in_sample_every_has_its_spans_timed(void) {
    fixture_init(&f, 1);
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 64 * 10 + 1, 0, NULL));
    fixture_await_idle(&f);
    merge_stages();
    CHECK_UINT(11, stages[RT_SCHEDULER_CALLBACK].count);
    CHECK_UINT(11, stages[RT_SCHEDULER_HISTORY_PRUNING].count);
    fixture_end(&f);
}

static uint64_t backwards(void *context) { return atomic_fetch_sub((_Atomic uint64_t *)context, 1000); }

/* Bug 15: a clock that goes backwards must not give intervals near 2^64 ns. */
static void bug15_a_clock_that_goes_back_gives_zeros_that_are_counted(void) {
    _Atomic uint64_t now_ns = UINT64_C(1) << 40;
    const rt_clock clock = {backwards, NULL, &now_ns};
    fixture_init(&f, 1);
    f.options.clock = &clock;
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 100, 0, NULL));
    fixture_await_idle(&f);
    check_sums(100);
    CHECK_UINT(0, stages[RT_SCHEDULER_END_TO_END].max_ns);
    /* three intervals a task, and two spans of tasks 0 and 64 */
    CHECK_UINT(300 + 4, fixture_counts(&f).clamped_intervals);
    fixture_end(&f);
}

/* Bug 20: time in 32-bit milliseconds or seconds wraps; here 5 s before 2^32 s and on. */
static void bug20_a_run_across_the_32_bit_wrap_has_small_latencies(void) {
    const uint64_t starts_ns[] = {((UINT64_C(1) << 32) - 5) * 1000000000u,
                                  (UINT64_C(1) << 32) * 1000000u - 50, (UINT64_C(1) << 32) - 50};
    for (unsigned i = 0; i < 3; i++) {
        _Atomic uint64_t now_ns = starts_ns[i];
        const rt_clock clock = {fixture_tick, NULL, &now_ns};
        fixture_init(&f, 1);
        f.options.clock = &clock;
        fixture_start(&f);
        CHECK_UINT(RT_OK, fixture_submit(&f, 0, 200, 0, NULL));
        fixture_await_idle(&f);
        check_sums(200);
        CHECK(stages[RT_SCHEDULER_END_TO_END].max_ns < 5000); /* reads of the clock in all */
        CHECK_UINT(0, fixture_counts(&f).clamped_intervals);
        fixture_end(&f);
    }
}

static rt_status write_output(rt_task_run *run) {
    run->output_bytes = (uint32_t)(run->task_id % 64);
    memset(run->output, (int)run->task_id, run->output_bytes);
    return RT_OK;
}

static void the_history_keeps_the_last_tasks_with_their_outputs(void) {
    _Atomic uint64_t now_ns = 1;
    const rt_clock clock = {fixture_tick, NULL, &now_ns};
    fixture_init(&f, 1);
    f.answer = write_output;
    f.options.clock = &clock;
    f.options.history_limit_tasks = 10; /* fewer than a batch */
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 333, 0, NULL));
    fixture_await_idle(&f);
    CHECK_UINT(10, fixture_counts(&f).retained_tasks);
    for (uint64_t i = 0; i < 10; i++) {
        rt_task_record record;
        uint8_t output[64] = {0};
        CHECK_UINT(RT_OK, rt_scheduler_history(f.scheduler, i, &record, output, sizeof output));
        CHECK_UINT(323 + i, record.task_id);
        CHECK_UINT((323 + i) % 64, record.output_bytes);
        CHECK(record.output_bytes == 0 || output[record.output_bytes - 1] == (uint8_t)record.task_id);
    }
    fixture_end(&f);
}

/* Bug 19: the task table grew although the history was capped. */
static void bug19_tasks_leave_no_allocation_behind(void) {
    fixture_init(&f, 4);
    fixture_start(&f);
    fixture_await_idle(&f);
    const uint64_t allocations = f.allocator.allocations;
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, FIXTURE_TASKS, 0, NULL));
    fixture_await_idle(&f);
    CHECK_UINT(allocations, f.allocator.allocations);
    CHECK_UINT(64, fixture_counts(&f).retained_tasks);
    fixture_end(&f);
}

static void memory_is_accounted_by_what_it_is_for(void) {
    rt_scheduler_bytes bytes;
    fixture_init(&f, 4);
    fixture_start(&f);
    fixture_await_idle(&f);
    rt_scheduler_account(f.scheduler, &bytes);
    CHECK_UINT(4u * RT_SCHEDULER_STAGES * sizeof(rt_histogram), bytes.histogram_bytes);
    /* a record and 64 B of output for 64 retained tasks and a batch of spares a worker; 65 slots of 8 B */
    CHECK_UINT((64u + 4u * RT_SCHEDULER_MAX_BATCH) * (64u + 64u) + 65u * 8u, bytes.history_bytes);
    CHECK(bytes.stack_reserved_bytes >= 4u * 200000u);
    CHECK(bytes.stack_committed_bytes >= 4u * 4096u);
    CHECK(bytes.stack_committed_bytes <= bytes.stack_reserved_bytes);
    CHECK(bytes.runtime_bytes > 0);
    CHECK(bytes.runtime_bytes + bytes.history_bytes + bytes.histogram_bytes <= f.allocator.allocated_bytes);
    fixture_end(&f);
}

static void check_refusal(rt_status expected, const char *text) {
    rt_message why = {""};
    CHECK_UINT(expected, rt_scheduler_create(&f.options, &f.scheduler, &why));
    CHECK_TEXT(text, why.text);
    CHECK(f.scheduler == NULL);
}

static void options_out_of_range_are_refused_with_a_sentence(void) {
    fixture_init(&f, 0);
    check_refusal(RT_INVALID, "workers is 0; choose 1 to 1024");
    f.options.workers = 1025;
    check_refusal(RT_INVALID, "workers is 1025; choose 1 to 1024");
    f.options.workers = 1;
    f.options.queue_limit = 0;
    check_refusal(RT_INVALID, "queue_limit is 0, so every task would be rejected; choose 1 or more");
    f.options.queue_limit = 1;
    f.options.max_active = 0;
    check_refusal(RT_INVALID, "max_active is 0, so no task could ever run; choose 1 or more");
    f.options.max_active = 1;
    f.options.hooks.run = NULL;
    check_refusal(RT_INVALID, "there is no runner; set hooks.run");
    fixture_end(&f);
}

int main(void) {
    every_task_runs_once_and_is_called_back_and_released();
    a_runner_that_fails_is_counted_as_failed();
    an_output_beyond_its_capacity_is_a_failure();
    timestamps_are_in_the_order_of_the_stages();
    end_to_end_is_the_sum_of_its_parts();
    one_task_in_sample_every_has_its_spans_timed();
    bug15_a_clock_that_goes_back_gives_zeros_that_are_counted();
    bug20_a_run_across_the_32_bit_wrap_has_small_latencies();
    the_history_keeps_the_last_tasks_with_their_outputs();
    bug19_tasks_leave_no_allocation_behind();
    memory_is_accounted_by_what_it_is_for();
    options_out_of_range_are_refused_with_a_sentence();
    return check_done();
}
