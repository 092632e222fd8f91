/* Waiting, waking and polling: nothing is lost, nothing spins. */
#include "scheduler_fixture.h"

static fixture f;

static void a_deadline_passes_while_a_task_runs_and_has_no_effect(void) {
    fixture_init(&f, 1);
    fixture_start(&f);
    f.blocked_id = 0;
    fixture_submit(&f, 0, 2, 0, NULL);
    CHECK_UINT(RT_TIMED_OUT, rt_scheduler_wait_idle(f.scheduler, 1000000));
    CHECK_UINT(RT_TIMED_OUT, rt_scheduler_wait_in_flight(f.scheduler, 1, 0));
    CHECK_UINT(RT_OK, rt_scheduler_wait_in_flight(f.scheduler, 2, 0));
    fixture_block(&f, NOBODY);
    CHECK_UINT(RT_OK, rt_scheduler_wait_in_flight(f.scheduler, 0, RT_SCHEDULER_FOREVER));
    fixture_await_idle(&f);
    CHECK_UINT(RT_OK, rt_scheduler_wait_idle(f.scheduler, 0));
    fixture_end(&f);
}

/* Bug 10, second half: with a condition variable on the wall clock a deadline of the monotonic clock lies in
 * the past, and the wait would end at once. (That the deadline is monotonic is shown in test_rt_clock.) */
static void bug10_a_wait_lasts_until_its_monotonic_deadline(void) {
    fixture_init(&f, 1);
    fixture_start(&f);
    f.blocked_id = 0;
    fixture_submit(&f, 0, 1, 0, NULL);
    const uint64_t before_ns = rt_clock_monotonic_ns();
    CHECK_UINT(RT_TIMED_OUT, rt_scheduler_wait_idle(f.scheduler, 20000000));
    CHECK(rt_clock_monotonic_ns() - before_ns >= 20000000);
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    fixture_end(&f);
}

/* Bug 21: idle workers that spin. Their loops make no pass while there is nothing for them to do. */
static void bug21_idle_workers_stand_still_while_one_task_runs(void) {
    fixture_init(&f, 8);
    fixture_start(&f);
    fixture_await_idle(&f);
    f.blocked_id = 0;
    fixture_submit(&f, 0, 1, 0, NULL);
    fixture_await_entered(&f, 1);
    const uint64_t turns = fixture_counts(&f).turns;
    CHECK_UINT(RT_TIMED_OUT, rt_scheduler_wait_idle(f.scheduler, 50000000));
    CHECK_UINT(turns, fixture_counts(&f).turns);
    CHECK_UINT(7, fixture_counts(&f).idle);
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    fixture_end(&f);
}

/* Bugs 2 and 3: a submission that meets a worker on its way to sleep must not be missed. */
static void bug2_bug3_no_wake_up_is_lost_between_the_last_look_and_sleep(void) {
    fixture_init(&f, 4);
    fixture_start(&f);
    for (uint64_t i = 0; i < FIXTURE_TASKS; i++) {
        f.tasks[i] = (rt_task){.id = i};
        CHECK_UINT(RT_OK, rt_scheduler_submit(f.scheduler, &f.tasks[i]));
        if (i % 3 == 0) {
            CHECK_UINT(RT_OK, rt_scheduler_wait_in_flight(f.scheduler, 0, RT_SCHEDULER_FOREVER));
        }
    }
    fixture_await_idle(&f);
    CHECK_UINT(FIXTURE_TASKS, fixture_counts(&f).completed);
    fixture_end(&f);
}

/* Each task submits the next: the chain runs on worker threads only. */
static rt_status submit_the_next(rt_task_run *run) {
    const uint64_t next = run->task_id + 8;
    if (next >= 8000) {
        return RT_OK;
    }
    f.tasks[next] = (rt_task){.id = next};
    return rt_scheduler_submit(f.scheduler, &f.tasks[next]);
}

/* Bug 5: submitting from a worker raced on the count of active requests. */
static void bug5_workers_may_submit_a_thousand_deep(void) {
    fixture_init(&f, 4);
    f.answer = submit_the_next;
    fixture_start(&f);
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 8, 0, NULL));
    fixture_await_idle(&f);
    CHECK_UINT(8000, fixture_counts(&f).completed);
    fixture_end(&f);
}

static _Atomic int polling;
static _Atomic uint64_t polls, broken;

static void *poll_counts(void *argument) {
    rt_scheduler *const scheduler = argument;
    while (atomic_load(&polling)) {
        rt_scheduler_counts c;
        rt_scheduler_count(scheduler, &c);
        broken += c.submitted != c.admitted + c.rejected;
        broken += c.admitted != c.completed + c.failed + c.cancelled + c.queued + c.active + c.ended;
        broken += c.queued > c.queue_peak;
        broken += c.active > 4;
        polls++;
    }
    return NULL;
}

static void counts_add_up_whenever_they_are_polled(void) {
    pthread_t poller;
    fixture_init(&f, 4);
    f.options.queue_limit = 200;
    fixture_start(&f);
    atomic_store(&polling, 1);
    CHECK_UINT(0, pthread_create(&poller, NULL, poll_counts, f.scheduler));
    while (atomic_load(&polls) == 0) {
        rt_scheduler_wait_idle(f.scheduler, 0);
    }
    for (uint64_t i = 0; i < FIXTURE_TASKS; i += 50) {
        fixture_submit(&f, i, 50, (uint8_t)(i / 50 % 4), NULL);
    }
    fixture_await_idle(&f);
    atomic_store(&polling, 0);
    pthread_join(poller, NULL);
    CHECK_UINT(0, broken);
    CHECK_UINT(FIXTURE_TASKS, fixture_counts(&f).submitted);
    fixture_end(&f);
}

static void *wait_for_half(void *argument) {
    rt_scheduler *const scheduler = argument;
    return (void *)(intptr_t)rt_scheduler_wait_in_flight(scheduler, 500, RT_SCHEDULER_FOREVER);
}

static void several_waiters_with_different_limits_all_wake(void) {
    pthread_t waiters[3];
    fixture_init(&f, 2);
    fixture_start(&f);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 1000, 0, NULL);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_UINT(0, pthread_create(&waiters[i], NULL, wait_for_half, f.scheduler));
    }
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    fixture_await_idle(&f);
    for (unsigned i = 0; i < 3; i++) {
        void *status;
        pthread_join(waiters[i], &status);
        CHECK_UINT(RT_OK, (intptr_t)status);
    }
    fixture_end(&f);
}

int main(void) {
    a_deadline_passes_while_a_task_runs_and_has_no_effect();
    bug10_a_wait_lasts_until_its_monotonic_deadline();
    bug21_idle_workers_stand_still_while_one_task_runs();
    bug2_bug3_no_wake_up_is_lost_between_the_last_look_and_sleep();
    bug5_workers_may_submit_a_thousand_deep();
    counts_add_up_whenever_they_are_polled();
    several_waiters_with_different_limits_all_wake();
    return check_done();
}
