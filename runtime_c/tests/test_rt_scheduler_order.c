/* Priorities, batches that yield, admission and its limits. */
#include "scheduler_fixture.h"

static fixture f;
static _Atomic uint64_t now_ns;
static const rt_clock ticking = {fixture_tick, NULL, &now_ns};

static void start_with_full_batches(uint32_t workers) {
    atomic_store(&now_ns, 1);
    fixture_start_with_full_batches(&f, workers, &ticking);
}

static void check_order(const uint64_t *expected, uint64_t count) {
    CHECK(f.entered >= count);
    for (uint64_t i = 0; i < count; i++) {
        CHECK_UINT(expected[i], f.order[i]);
    }
}

/* The runner was entered by `count` tasks from `id` on in a row, the first of them at place `from`. */
static void check_ascending(uint64_t from, uint64_t id, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        CHECK_UINT(id + i, f.order[from + i]);
    }
}

static void higher_priorities_run_first_then_the_order_of_submission(void) {
    start_with_full_batches(1);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 2, 5, NULL);
    fixture_submit(&f, 2, 2, 255, NULL);
    fixture_submit(&f, 4, 2, 0, NULL);
    fixture_submit(&f, 6, 2, 5, NULL);
    CHECK_UINT(8, fixture_counts(&f).queued);
    CHECK_UINT(0, f.entered);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    fixture_await_idle(&f);
    check_order((const uint64_t[]){2, 3, 0, 1, 6, 7, 4, 5}, 8);
    fixture_end(&f);
}

/* Task 0 blocks its worker, which holds 1 .. 29 in the same batch: two groups of the ready queue. */
static void hold_a_batch_of_thirty(void) {
    start_with_full_batches(1);
    f.blocked_id = 0;
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 30, 1, NULL));
    fixture_await_entered(&f, 1);
    const rt_scheduler_counts counts = fixture_counts(&f);
    CHECK_UINT(130, counts.dequeued); /* all thirty are out of the queue */
    CHECK_UINT(29, counts.queued);    /* and all but one still count as queued */
    CHECK_UINT(1, counts.active);
}

static void a_held_batch_yields_to_a_higher_priority(void) {
    hold_a_batch_of_thirty();
    fixture_submit(&f, 30, 2, 200, NULL);
    fixture_submit(&f, 32, 1, 1, NULL);
    CHECK_UINT(32, fixture_counts(&f).queued);
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    check_order((const uint64_t[]){0, 30, 31}, 3);
    check_ascending(3, 1, 29);
    CHECK_UINT(32, f.order[32]);
    CHECK_UINT(133, fixture_counts(&f).completed);
    fixture_end(&f);
}

static void a_held_batch_does_not_yield_to_its_own_or_a_lower_priority(void) {
    hold_a_batch_of_thirty();
    fixture_submit(&f, 30, 1, 1, NULL);
    fixture_submit(&f, 31, 1, 0, NULL);
    const uint64_t dequeued = fixture_counts(&f).dequeued;
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    check_ascending(0, 0, 32);
    CHECK_UINT(dequeued + 2, fixture_counts(&f).dequeued); /* nothing was given back */
    fixture_end(&f);
}

static rt_status take_a_millisecond(rt_task_run *run) {
    (void)run;
    atomic_fetch_add(&now_ns, 1000000);
    return RT_OK;
}

/* Tasks that take longer than those before must not run one after the other while other workers are free. */
static void a_batch_that_takes_far_longer_than_planned_is_given_back(void) {
    start_with_full_batches(1);
    f.answer = take_a_millisecond;
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_submit(&f, 0, 10, 1, NULL);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    fixture_await_idle(&f);
    check_ascending(0, 0, 10);
    /* Ten at once and nine given back; those are taken before the first batch is settled, and eight given back;
     * from then on one by one. */
    CHECK_UINT(100 + 10 + 9 + 8, fixture_counts(&f).dequeued);
    fixture_end(&f);
}

static void holding_gives_back_what_has_not_started(void) {
    hold_a_batch_of_thirty();
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    fixture_block(&f, NOBODY);
    CHECK_UINT(RT_OK, rt_scheduler_wait_in_flight(f.scheduler, 29, RT_SCHEDULER_FOREVER));
    CHECK_UINT(29, fixture_counts(&f).queued);
    CHECK_UINT(1, f.entered);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    fixture_await_idle(&f);
    check_ascending(0, 0, 30);
    fixture_end(&f);
}

static void the_queue_peak_counts_held_tasks_exactly(void) {
    hold_a_batch_of_thirty();
    const uint64_t peak = fixture_counts(&f).queue_peak; /* 100 at least, from the warm-up */
    fixture_submit(&f, 30, peak - 29, 1, NULL);
    CHECK_UINT(peak, fixture_counts(&f).queued);
    CHECK_UINT(peak, fixture_counts(&f).queue_peak); /* reached, not exceeded */
    fixture_submit(&f, 1000, 1, 1, NULL);
    CHECK_UINT(peak + 1, fixture_counts(&f).queue_peak);
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    CHECK_UINT(peak + 1, fixture_counts(&f).queue_peak);
    fixture_end(&f);
}

static void tasks_beyond_the_queue_limit_are_rejected_and_counted(void) {
    size_t admitted = 99;
    fixture_init(&f, 1);
    f.options.queue_limit = 10;
    fixture_start(&f);
    CHECK_UINT(RT_OK, rt_scheduler_hold(f.scheduler));
    CHECK_UINT(RT_FULL, fixture_submit(&f, 0, 15, 0, &admitted));
    CHECK_UINT(10, admitted);
    CHECK_UINT(RT_FULL, rt_scheduler_submit(f.scheduler, &f.tasks[15]));
    CHECK_UINT(16, fixture_counts(&f).submitted);
    CHECK_UINT(6, fixture_counts(&f).rejected);
    CHECK_UINT(RT_OK, rt_scheduler_release(f.scheduler));
    fixture_await_idle(&f);
    CHECK_UINT(10, f.entered);
    CHECK_UINT(10, fixture_counts(&f).completed);
    CHECK_UINT(10, fixture_counts(&f).queue_peak);
    fixture_end(&f);
}

static void a_held_batch_counts_against_the_queue_limit(void) {
    size_t admitted;
    fixture_init(&f, 1);
    f.options.queue_limit = 10;
    fixture_start(&f);
    f.blocked_id = 0;
    CHECK_UINT(RT_OK, fixture_submit(&f, 0, 10, 0, &admitted));
    fixture_await_entered(&f, 1); /* one runs, nine are queued: room for one */
    CHECK_UINT(RT_FULL, fixture_submit(&f, 10, 5, 0, &admitted));
    CHECK_UINT(1, admitted);
    fixture_block(&f, NOBODY);
    fixture_await_idle(&f);
    CHECK_UINT(11, fixture_counts(&f).completed);
    fixture_end(&f);
}

static pthread_barrier_t barrier;

static rt_status meet(rt_task_run *run) {
    (void)run;
    pthread_barrier_wait(&barrier);
    return RT_OK;
}

/* Every read a millisecond later: tasks seem long, so that no worker takes two of them. */
static uint64_t leap(void *context) { return atomic_fetch_add((_Atomic uint64_t *)context, 1000000); }

static void as_many_tasks_run_at_once_as_there_are_workers(void) {
    const rt_clock leaping = {leap, NULL, &now_ns};
    fixture_init(&f, 4);
    f.options.clock = &leaping;
    f.answer = meet; /* returns only when four run at the same time */
    pthread_barrier_init(&barrier, NULL, 4);
    fixture_start(&f);
    for (uint64_t i = 0; i < 40; i += 4) {
        fixture_submit(&f, i, 4, 0, NULL);
        fixture_await_idle(&f);
    }
    CHECK_UINT(40, fixture_counts(&f).completed);
    CHECK_UINT(4, fixture_counts(&f).active_peak);
    pthread_barrier_destroy(&barrier);
    fixture_end(&f);
}

/* One by one, so that workers go to sleep, are woken and come back from settling at the same time. */
static void no_more_tasks_than_max_active_run_at_once(void) {
    for (uint32_t max_active = 1; max_active <= 2; max_active++) {
        fixture_init(&f, 8);
        f.options.max_active = max_active;
        fixture_start(&f);
        for (uint64_t i = 0; i < FIXTURE_TASKS; i++) {
            fixture_submit(&f, i, 1, 0, NULL);
        }
        fixture_await_idle(&f);
        CHECK(f.running_peak <= max_active);
        CHECK(fixture_counts(&f).active_peak <= max_active);
        CHECK_UINT(FIXTURE_TASKS, fixture_counts(&f).completed);
        fixture_end(&f);
    }
}

/* Bug 18: waiting for more completions than were issued when the last batch is not a full one. */
static void bug18_any_number_of_tasks_is_conserved(void) {
    fixture_init(&f, 3);
    fixture_start(&f);
    uint64_t total = 0;
    for (uint64_t count = 1; count <= 3 * RT_SCHEDULER_MAX_BATCH + 1; count++) {
        CHECK_UINT(RT_OK, fixture_submit(&f, total, count, (uint8_t)(count % 3), NULL));
        total += count;
        fixture_await_idle(&f);
        CHECK_UINT(total, fixture_counts(&f).completed);
        CHECK_UINT(total, f.released);
    }
    fixture_end(&f);
}

int main(void) {
    higher_priorities_run_first_then_the_order_of_submission();
    a_held_batch_yields_to_a_higher_priority();
    a_held_batch_does_not_yield_to_its_own_or_a_lower_priority();
    a_batch_that_takes_far_longer_than_planned_is_given_back();
    holding_gives_back_what_has_not_started();
    the_queue_peak_counts_held_tasks_exactly();
    tasks_beyond_the_queue_limit_are_rejected_and_counted();
    a_held_batch_counts_against_the_queue_limit();
    as_many_tasks_run_at_once_as_there_are_workers();
    no_more_tasks_than_max_active_run_at_once();
    bug18_any_number_of_tasks_is_conserved();
    return check_done();
}
