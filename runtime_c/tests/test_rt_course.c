/* Phases and periods, driven by made-up times and counts. */
#include "rt_course.h"

#include "check.h"

#define MS UINT64_C(1000000)

static rt_allocator allocator;
static rt_course *course;

static void begin(uint64_t period_ns, uint32_t max_periods) {
    const rt_course_options options = {&allocator, 2, period_ns, max_periods, ""};
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_OK, rt_course_create(&options, &course));
    rt_course_begin(course, RT_LOAD_STEADY);
}

static void end(void) {
    rt_course_destroy(course);
    CHECK_UINT(0, allocator.live_objects);
}

static void observe(uint64_t at_ns, rt_load_phase phase, uint64_t submitted, uint64_t completed) {
    const rt_scheduler_counts counts = {
        .submitted = submitted, .completed = completed, .queued = submitted - completed};
    rt_course_observe(course, at_ns, phase, &counts);
}

static void each_phase_gets_its_own_over_all_repetitions(void) {
    begin(0, 2);
    rt_course_record(course, 0, 1000);
    observe(5 * MS, RT_LOAD_STEADY, 50, 10);
    observe(10 * MS, RT_LOAD_BURST, 60, 20); /* the steady phase ended here, with 40 queued */
    rt_course_record(course, 1, 5000);
    observe(12 * MS, RT_LOAD_STEADY, 200, 30);
    rt_course_record(course, 1, 2000);
    observe(22 * MS, RT_LOAD_DRAIN, 300, 250);
    const rt_scheduler_counts counts = {.submitted = 300, .completed = 299, .failed = 1};
    rt_course_end(course, 30 * MS, &counts);
    const rt_course_phase *const steady = rt_course_phase_of(course, RT_LOAD_STEADY);
    CHECK_UINT(20 * MS, steady->elapsed_ns);
    CHECK_UINT(160, steady->submitted);
    CHECK_UINT(240, steady->completed);
    CHECK_UINT(0, steady->queue_at_start);
    CHECK_UINT(50, steady->queue_at_end);
    CHECK_UINT(170, steady->queue_peak); /* what the burst left */
    CHECK_UINT(2, steady->queue.count);
    const rt_course_phase *const burst = rt_course_phase_of(course, RT_LOAD_BURST);
    CHECK_UINT(2 * MS, burst->elapsed_ns);
    CHECK_UINT(140, burst->submitted);
    CHECK_UINT(40, burst->queue_at_start);
    CHECK_UINT(170, burst->queue_at_end);
    CHECK_UINT(1, burst->queue.count);
    CHECK_UINT(5000, burst->queue.max_ns);
    const rt_course_phase *const drain = rt_course_phase_of(course, RT_LOAD_DRAIN);
    CHECK_UINT(0, drain->submitted);
    CHECK_UINT(49, drain->completed);
    CHECK_UINT(1, drain->failed);
    CHECK_UINT(0, drain->queue.count);
    CHECK(!rt_course_phase_of(course, RT_LOAD_PAUSE)->seen);
    CHECK_UINT(0, rt_course_periods(course));
    CHECK_UINT(UINT64_MAX, rt_course_period_end_ns(course));
    end();
}

static void a_period_holds_what_ended_in_it(void) {
    begin(10 * MS, 8);
    rt_course_record(course, 0, 1000);
    observe(4 * MS, RT_LOAD_STEADY, 10, 5);
    CHECK_UINT(0, rt_course_periods(course));
    observe(11 * MS, RT_LOAD_STEADY, 30, 25); /* late by 1 ms */
    CHECK_UINT(20 * MS, rt_course_period_end_ns(course));
    observe(20 * MS, RT_LOAD_STEADY, 40, 40);
    const rt_scheduler_counts counts = {.submitted = 45, .completed = 43, .failed = 1, .timed_out = 1};
    rt_course_end(course, 22 * MS, &counts);
    CHECK_UINT(3, rt_course_periods(course));
    const rt_course_period *const first = rt_course_period_at(course, 0);
    CHECK_UINT(11 * MS, first->t_ns);
    CHECK_UINT(30, first->submitted);
    CHECK_UINT(25, first->completed);
    CHECK_UINT(5, first->queue);
    CHECK_UINT(1, first->latencies);
    CHECK_UINT(1000, first->p99_ns);
    CHECK(first->rss_bytes > 0 && first->threads == 1);
    CHECK_UINT(0, rt_course_period_at(course, 1)->latencies);
    const rt_course_period *const last = rt_course_period_at(course, 2);
    CHECK_UINT(22 * MS, last->t_ns);
    CHECK_UINT(5, last->submitted);
    CHECK_UINT(1, last->failed);
    CHECK_UINT(1, last->timed_out);
    end();
}

static void periods_are_bounded_and_lose_no_count(void) {
    uint64_t submitted = 0;
    begin(MS, 8);
    for (uint64_t ms = 1; ms <= 100; ms++) {
        observe(ms * MS, RT_LOAD_STEADY, ms * 7, ms * 7);
    }
    const rt_scheduler_counts counts = {.submitted = 707, .completed = 707};
    rt_course_end(course, 101 * MS, &counts);
    CHECK(rt_course_periods(course) <= 8 && rt_course_periods(course) >= 4);
    for (uint32_t i = 0; i < rt_course_periods(course); i++) {
        submitted += rt_course_period_at(course, i)->submitted;
        CHECK(i == 0 || rt_course_period_at(course, i)->t_ns > rt_course_period_at(course, i - 1)->t_ns);
    }
    CHECK_UINT(707, submitted);
    end();
}

static void memory_that_cannot_be_had_is_a_status(void) {
    for (uint64_t at = 1; at <= 8; at++) {
        const rt_course_options options = {&allocator, 2, MS, 8, ""};
        rt_allocator_init(&allocator, at);
        CHECK_UINT(RT_NO_MEMORY, rt_course_create(&options, &course));
        CHECK(course == NULL);
        CHECK_UINT(0, allocator.live_objects);
    }
}

int main(void) {
    each_phase_gets_its_own_over_all_repetitions();
    a_period_holds_what_ended_in_it();
    periods_are_bounded_and_lose_no_count();
    memory_that_cannot_be_had_is_a_status();
    return check_done();
}
