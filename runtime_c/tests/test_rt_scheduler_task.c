/* Yield, sleep, cancel and deadline: what a runner and its caller may ask, on worker stacks and on pooled ones. */
#include "scheduler_fixture.h"

static fixture f;
static bool pooled;

static void start(uint32_t workers) {
    fixture_init(&f, workers);
    f.options.stack_bytes = pooled ? 65536 : 0;
    fixture_start(&f);
}

static void check_counts(uint64_t completed, uint64_t failed, uint64_t cancelled, uint64_t timed_out) {
    fixture_await_idle(&f);
    const rt_scheduler_counts c = fixture_counts(&f);
    CHECK_UINT(completed, c.completed);
    CHECK_UINT(failed, c.failed);
    CHECK_UINT(cancelled, c.cancelled);
    CHECK_UINT(timed_out, c.timed_out);
    CHECK_UINT(c.admitted, completed + failed + cancelled + timed_out);
    CHECK_UINT(0, c.queued + c.active + c.suspended + c.ended);
}

static rt_status cancel_of(uint64_t id) { return rt_scheduler_cancel(f.scheduler, &f.tasks[id], id); }

/* Bug 4: cancelling the only queued request never woke the loop, and the callback was missing. */
static void bug4_a_cancelled_queued_task_ends_once_with_a_callback_and_never_runs(void) {
    start(1);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 1, 0, NULL);
    CHECK_UINT(RT_OK, cancel_of(0));
    CHECK_UINT(RT_OK, cancel_of(0)); /* once more changes nothing */
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    check_counts(0, 0, 1, 0);
    CHECK_UINT(0, f.entered);
    CHECK_UINT(1, f.finished);
    CHECK_UINT(1, f.released);
    CHECK_UINT(RT_CANCELLED, f.tasks[0].status);
    CHECK_UINT(RT_NOT_FOUND, cancel_of(0));
    fixture_end(&f);
}

static void a_cancel_behind_a_running_task_takes_effect_when_its_turn_comes(void) {
    start(1);
    f.blocked_id = 0;
    fixture_submit(&f, 0, 3, 0, NULL);
    fixture_await_entered(&f, 1);
    CHECK_UINT(RT_OK, cancel_of(2));
    CHECK_UINT(RT_NOT_FOUND, rt_scheduler_cancel(f.scheduler, &f.tasks[1], 7)); /* another task was meant */
    CHECK_UINT(RT_NOT_FOUND, cancel_of(100));                                   /* never admitted */
    fixture_block(&f, NOBODY);
    check_counts(2, 0, 1, 0);
    CHECK_UINT(2, f.entered);
    rt_task_record record;
    CHECK_UINT(RT_OK, rt_scheduler_history(f.scheduler, 2, &record, NULL, 0));
    CHECK_UINT(2, record.task_id);
    CHECK_UINT(RT_CANCELLED, record.status);
    CHECK_UINT(UINT16_MAX, record.worker);
    CHECK(record.started_ns == record.ended_ns && record.started_ns >= record.dequeued_ns);
    fixture_end(&f);
}

static rt_status poll(rt_task_run *run) { return rt_task_poll(run); }

static void a_running_task_sees_its_cancel_at_the_next_poll(void) {
    start(1);
    f.answer = poll;
    f.blocked_id = 0;
    fixture_submit(&f, 0, 1, 0, NULL);
    fixture_await_entered(&f, 1);
    CHECK_UINT(RT_OK, cancel_of(0));
    fixture_block(&f, NOBODY);
    check_counts(0, 0, 1, 0);
    fixture_end(&f);
}

static void a_runner_that_does_not_look_completes_although_its_cancel_was_asked_for(void) {
    start(1);
    f.blocked_id = 0;
    fixture_submit(&f, 0, 1, 0, NULL);
    fixture_await_entered(&f, 1);
    CHECK_UINT(RT_OK, cancel_of(0));
    fixture_block(&f, NOBODY);
    check_counts(1, 0, 0, 0);
    fixture_end(&f);
}

static rt_status sleep_an_hour(rt_task_run *run) { return rt_task_sleep(run, UINT64_C(3600000000000)); }

/* Or until all have ended. */
static void await_asleep(uint64_t tasks) {
    rt_scheduler_counts c = fixture_counts(&f);
    while ((f.options.stack_bytes > 0 ? c.suspended : c.active) < tasks &&
           rt_scheduler_wait_in_flight(f.scheduler, 0, 1000000) == RT_TIMED_OUT) {
        c = fixture_counts(&f);
    }
}

static void a_sleeping_task_is_woken_by_its_cancel(void) {
    start(2);
    f.answer = sleep_an_hour;
    fixture_submit(&f, 0, 2, 0, NULL);
    await_asleep(2);
    CHECK_UINT(RT_OK, cancel_of(1));
    CHECK_UINT(RT_OK, rt_scheduler_wait_in_flight(f.scheduler, 1, RT_SCHEDULER_FOREVER));
    CHECK_UINT(RT_OK, cancel_of(0));
    check_counts(0, 0, 2, 0);
    CHECK_UINT(2, f.finished);
    fixture_end(&f);
}

static void abandoning_wakes_sleeping_tasks_which_end_as_cancelled(void) {
    start(2);
    f.answer = sleep_an_hour;
    fixture_submit(&f, 0, 2, 0, NULL);
    await_asleep(2);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    CHECK_UINT(RT_OK, fixture_submit(&f, 2, 5, 0, NULL));
    CHECK_UINT(RT_OK, rt_scheduler_abandon(f.scheduler));
    check_counts(0, 0, 7, 0);
    CHECK_UINT(2, f.finished); /* the five never started: no hook for them */
    CHECK_UINT(RT_STOPPED, cancel_of(0));
    fixture_end(&f);
}

static void ending_the_scheduler_wakes_sleeping_tasks(void) {
    start(2);
    f.answer = sleep_an_hour;
    fixture_submit(&f, 0, 2, 0, NULL);
    await_asleep(2);
    rt_scheduler_destroy(f.scheduler);
    f.scheduler = NULL;
    CHECK_UINT(2, f.finished);
    fixture_end(&f);
}

static void submit_with_deadline(uint64_t id, uint64_t deadline_ns) {
    f.tasks[id] = (rt_task){.id = id, .submitted_ns = rt_clock_monotonic_ns(), .deadline_ns = deadline_ns};
    CHECK_UINT(RT_OK, rt_scheduler_submit(f.scheduler, &f.tasks[id]));
}

static void a_queued_task_whose_deadline_has_passed_never_runs(void) {
    start(1);
    submit_with_deadline(0, 1);
    submit_with_deadline(1, UINT64_MAX);
    check_counts(1, 0, 0, 1);
    CHECK_UINT(1, f.entered);
    CHECK_UINT(1, f.order[0]);
    CHECK_UINT(RT_TIMED_OUT, f.tasks[0].status);
    CHECK_UINT(2, f.finished);
    fixture_end(&f);
}

static void a_sleeping_task_is_woken_at_its_deadline(void) {
    start(1);
    f.answer = sleep_an_hour;
    submit_with_deadline(0, rt_clock_monotonic_ns() + 100000000);
    check_counts(0, 0, 0, 1);
    CHECK_UINT(1, f.entered);
    fixture_end(&f);
}

static rt_status outlast_the_deadline(rt_task_run *run) {
    while (rt_task_poll(run) == RT_OK) {
    }
    return RT_OK;
}

static void a_runner_that_returns_after_its_deadline_has_timed_out(void) {
    start(1);
    f.answer = outlast_the_deadline;
    submit_with_deadline(0, rt_clock_monotonic_ns() + 100000000);
    check_counts(0, 0, 0, 1);
    CHECK_UINT(RT_TIMED_OUT, f.tasks[0].status);
    fixture_end(&f);
}

static rt_status sleep_a_little_twice(rt_task_run *run) {
    const rt_status first = rt_task_sleep(run, 300000);
    const rt_status second = rt_task_sleep(run, 200000 + run->task_id % 7 * 10000);
    run->output[0] = (uint8_t)run->task_id;
    run->output_bytes = 1;
    return first != RT_OK ? first : second;
}

static void many_tasks_sleep_and_each_ends_once(void) {
    start(3);
    f.answer = sleep_a_little_twice;
    fixture_submit(&f, 0, 300, 0, NULL);
    check_counts(300, 0, 0, 0);
    CHECK_UINT(300, f.finished);
    const rt_scheduler_counts c = fixture_counts(&f);
    CHECK_UINT(pooled ? 600 : 0, c.suspensions);
    CHECK_UINT(pooled, c.suspended_peak > 0);
    for (uint64_t i = 0; i < c.retained_tasks; i++) {
        rt_task_record r;
        uint8_t output[64] = {0};
        CHECK_UINT(RT_OK, rt_scheduler_history(f.scheduler, i, &r, output, sizeof output));
        CHECK_UINT(1, r.output_bytes);
        CHECK_UINT((uint8_t)r.task_id, output[0]);
        CHECK(r.admitted_ns >= r.submitted_ns && r.dequeued_ns >= r.admitted_ns);
        CHECK(r.started_ns >= r.dequeued_ns && r.ended_ns - r.started_ns >= 500000);
    }
    fixture_end(&f);
}

static rt_status yield_thrice(rt_task_run *run) {
    rt_status status = RT_OK;
    for (unsigned i = 0; i < 3 && status == RT_OK; i++) {
        status = rt_task_yield(run);
        pthread_mutex_lock(&f.lock);
        f.order[f.entered++] = 1000 * (i + 1) + run->task_id;
        pthread_mutex_unlock(&f.lock);
    }
    return status;
}

static void a_task_that_yields_goes_behind_those_of_its_priority(void) {
    start(1);
    f.answer = yield_thrice;
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 3, 0, NULL);
    fixture_submit(&f, 3, 1, 9, NULL);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    check_counts(4, 0, 0, 0);
    CHECK_UINT(pooled ? 12 : 0, fixture_counts(&f).yields);
    const uint64_t rounds[] = {3,    1003, 2003, 3003, 0,    1,    2,    1000,
                               1001, 1002, 2000, 2001, 2002, 3000, 3001, 3002};
    for (unsigned i = 0; pooled && i < 16; i++) { /* the higher priority first, then round by round */
        CHECK_UINT(rounds[i], f.order[i]);
    }
    fixture_end(&f);
}

static void beyond_max_suspended_the_worker_waits_itself(void) {
    fixture_init(&f, 1);
    f.options.stack_bytes = 65536;
    f.options.max_suspended = 2;
    f.answer = sleep_an_hour;
    fixture_start(&f);
    fixture_submit(&f, 0, 4, 0, NULL);
    fixture_await_entered(&f, 3); /* two are asleep, the third keeps the worker, the fourth waits for it */
    rt_scheduler_counts c = fixture_counts(&f);
    CHECK_UINT(2, c.suspended_peak);
    CHECK_UINT(1, c.queued);
    CHECK_UINT(RT_OK, cancel_of(2));
    fixture_await_entered(&f, 4);
    for (uint64_t id = 0; id < 4; id++) {
        cancel_of(id);
    }
    check_counts(0, 0, 4, 0);
    c = fixture_counts(&f);
    CHECK_UINT(2, c.suspended_peak);
    CHECK_UINT(2, c.suspensions);
    fixture_end(&f);
}

static _Atomic bool has_moved;

static rt_status block_an_hour(rt_task_run *run) {
    const uint32_t worker = run->worker;
    const uint8_t *const output = run->output;
    const rt_status status = rt_task_block(run, UINT64_C(3600000000000));
    has_moved = has_moved || run->worker != worker || run->output != output;
    return status;
}

static void a_blocking_task_keeps_its_worker_and_is_woken_by_its_cancel(void) {
    start(1);
    f.answer = block_an_hour;
    fixture_submit(&f, 0, 2, 0, NULL);
    fixture_await_entered(&f, 1);
    CHECK_UINT(1, fixture_counts(&f).queued);
    CHECK_UINT(RT_OK, cancel_of(0));
    fixture_await_entered(&f, 2);
    CHECK_UINT(RT_OK, cancel_of(1));
    check_counts(0, 0, 2, 0);
    CHECK_UINT(0, fixture_counts(&f).suspensions);
    CHECK(!has_moved);
    fixture_end(&f);
}

static rt_status sleep_by_id(rt_task_run *run) {
    return rt_task_sleep(run, run->task_id == 0 ? UINT64_C(2000000) : UINT64_C(1000000));
}

/* The worker that keeps the time waits for task 0, whose cancel leaves nobody asleep. It must learn of the next
 * sleeper although that one is due later than the moment for which it had waited. */
static void a_sleeper_is_woken_after_a_time_without_any(void) {
    const struct timespec until_the_first_was_due = {0, 4000000};
    fixture_init(&f, 2);
    f.options.stack_bytes = 65536;
    f.answer = sleep_by_id;
    fixture_start(&f);
    for (uint64_t round = 0; round < 5; round++) {
        fixture_submit(&f, 0, 1, 0, NULL);
        await_asleep(1);
        cancel_of(0); /* too late on a slow machine: then the timer ended it */
        fixture_await_idle(&f);
        nanosleep(&until_the_first_was_due, NULL);
        fixture_submit(&f, 1, 1, 0, NULL);
        fixture_await_idle(&f);
        f.entered = 0;
    }
    CHECK_UINT(10, fixture_counts(&f).cancelled + fixture_counts(&f).completed);
    fixture_end(&f);
}

static rt_status sleep_first(rt_task_run *run) {
    const rt_status status = run->task_id == 0 ? rt_task_sleep(run, 1) : RT_OK;
    pthread_mutex_lock(&f.lock);
    f.order[f.entered++] = 1000 + run->task_id;
    pthread_mutex_unlock(&f.lock);
    return status;
}

/* Otherwise the tasks that have a stack wait behind all that have none yet, and max_suspended makes workers block. */
static void a_task_whose_sleep_is_over_goes_before_fresh_ones_of_its_priority(void) {
    _Atomic uint64_t now_ns = 1;
    const rt_clock clock = {fixture_tick, NULL, &now_ns};
    fixture_init(&f, 1);
    f.options.clock = &clock;
    f.options.stack_bytes = 65536;
    f.answer = sleep_first;
    fixture_start(&f);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 1000, 7, NULL);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    check_counts(1000, 0, 0, 0);
    uint64_t at = 0;
    while (f.order[at] != 1000) {
        at++;
    }
    CHECK(at <= 2 * (RT_SCHEDULER_MAX_BATCH + 1)); /* after the batch in which it was suspended */
    fixture_end(&f);
}

/* What a worker waits with must not keep the rest of its batch from other workers. */
static void a_worker_that_waits_gives_the_rest_of_its_batch_away(void) {
    _Atomic uint64_t now_ns = 1;
    const rt_clock clock = {fixture_tick, NULL, &now_ns};
    fixture_start_with_full_batches(&f, 1, &clock);
    fixture_end(&f);
    fixture_init(&f, 2);
    f.options.stack_bytes = 0;
    fixture_start(&f);
    fixture_submit(&f, 0, 500, 0, NULL); /* short tasks: batches grow */
    fixture_await_idle(&f);
    f.answer = sleep_an_hour;
    fixture_submit(&f, 500, 1, 0, NULL);
    await_asleep(1);
    f.answer = NULL;
    fixture_submit(&f, 501, 40, 0, NULL);
    CHECK_UINT(RT_OK, rt_scheduler_wait_in_flight(f.scheduler, 1, RT_SCHEDULER_FOREVER));
    CHECK_UINT(RT_OK, cancel_of(500));
    check_counts(540, 0, 1, 0);
    fixture_end(&f);
}

/* R4: a task owns a stack only from its first suspension on. */
static void a_queued_task_owns_no_stack(void) {
    rt_scheduler_bytes before, queued;
    start(2);
    fixture_submit(&f, 0, 100, 0, NULL);
    fixture_await_idle(&f);
    rt_scheduler_account(f.scheduler, &before);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 100, FIXTURE_TASKS - 100, 0, NULL);
    rt_scheduler_account(f.scheduler, &queued); /* workers are held: nothing moves */
    CHECK_UINT(FIXTURE_TASKS - 100, fixture_counts(&f).queued);
    CHECK_UINT(before.stack_reserved_bytes, queued.stack_reserved_bytes);
    CHECK_UINT(before.stack_committed_bytes, queued.stack_committed_bytes);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    check_counts(FIXTURE_TASKS, 0, 0, 0);
    fixture_end(&f);
}

/* Bug 21: an idle worker spun while one task slept. The one that keeps the time waits for it. */
static void bug21_workers_stand_still_while_a_task_sleeps(void) {
    start(8);
    f.answer = sleep_an_hour;
    fixture_submit(&f, 0, 1, 0, NULL);
    await_asleep(1);
    while (fixture_counts(&f).idle < (pooled ? 8 : 7)) {
        rt_scheduler_wait_in_flight(f.scheduler, 0, 1000000);
    }
    const uint64_t turns = fixture_counts(&f).turns;
    CHECK_UINT(RT_TIMED_OUT, rt_scheduler_wait_idle(f.scheduler, 50000000));
    CHECK_UINT(turns, fixture_counts(&f).turns);
    CHECK_UINT(RT_OK, cancel_of(0));
    check_counts(0, 0, 1, 0);
    fixture_end(&f);
}

static void run_all(void) {
    bug4_a_cancelled_queued_task_ends_once_with_a_callback_and_never_runs();
    a_cancel_behind_a_running_task_takes_effect_when_its_turn_comes();
    a_running_task_sees_its_cancel_at_the_next_poll();
    a_runner_that_does_not_look_completes_although_its_cancel_was_asked_for();
    a_sleeping_task_is_woken_by_its_cancel();
    abandoning_wakes_sleeping_tasks_which_end_as_cancelled();
    ending_the_scheduler_wakes_sleeping_tasks();
    a_queued_task_whose_deadline_has_passed_never_runs();
    a_sleeping_task_is_woken_at_its_deadline();
    a_runner_that_returns_after_its_deadline_has_timed_out();
    many_tasks_sleep_and_each_ends_once();
    a_task_that_yields_goes_behind_those_of_its_priority();
    a_blocking_task_keeps_its_worker_and_is_woken_by_its_cancel();
    a_queued_task_owns_no_stack();
    bug21_workers_stand_still_while_a_task_sleeps();
}

int main(void) {
    pooled = false;
    run_all();
    pooled = true;
    run_all();
    pooled = false;
    a_worker_that_waits_gives_the_rest_of_its_batch_away();
    beyond_max_suspended_the_worker_waits_itself();
    a_sleeper_is_woken_after_a_time_without_any();
    a_task_whose_sleep_is_over_goes_before_fresh_ones_of_its_priority();
    return check_done();
}
