/* Open loops: what latency counts from, phases and periods, how late the submitter is. */
#include "workload_fixture.h"

#include <stdatomic.h>

static void every_task_of_a_poisson_process_is_due_once(void) {
    small_options(3000);
    open_loop(RT_SUBMISSION_POISSON, 100000);
    fixture_run();
    CHECK_UINT(3000, result.tasks_completed);
    CHECK_UINT(3000, result.lateness->count);
    CHECK(result.submit_ns > 0 && result.submit_ns + result.drain_ns <= result.elapsed_ns);
    fixture_end();
}

/* Phases and periods divide the run without a rest: nothing is lost at a boundary and nothing counted twice. */
static void check_that_parts_add_up(void) {
    rt_course_phase all = {.elapsed_ns = 0};
    rt_course_period sum = {.t_ns = 0};
    rt_histogram_init(&all.queue);
    for (int i = 0; i < RT_LOAD_PHASES; i++) {
        const rt_course_phase *const phase = rt_course_phase_of(result.course, (rt_load_phase)i);
        all.elapsed_ns += phase->elapsed_ns;
        all.submitted += phase->submitted;
        all.completed += phase->completed;
        rt_histogram_merge(&all.queue, &phase->queue);
        CHECK(phase->queue_peak <= result.queue_peak);
    }
    CHECK_UINT(result.elapsed_ns, all.elapsed_ns);
    CHECK_UINT(result.tasks_submitted, all.submitted);
    CHECK_UINT(result.tasks_completed, all.completed);
    CHECK_UINT(result.histograms[RT_STAGE_QUEUE]->count, all.queue.count);
    CHECK(result.histograms[RT_STAGE_QUEUE]->sum_ns == all.queue.sum_ns);
    for (uint32_t i = 0; i < rt_course_periods(result.course); i++) {
        sum.submitted += rt_course_period_at(result.course, i)->submitted;
        sum.completed += rt_course_period_at(result.course, i)->completed;
    }
    if (options.steady_ms > 0) {
        CHECK_UINT(result.tasks_submitted, sum.submitted);
        CHECK_UINT(result.tasks_completed, sum.completed);
    }
}

static void phases_of_a_millisecond_are_kept_apart(void) {
    small_options(4000);
    open_loop(RT_SUBMISSION_PACED, 50000);
    options.steady_ms = 2;
    options.pause_ms = 1;
    options.burst_ms = 1;
    options.burst_factor = 10;
    fixture_run();
    check_that_parts_add_up();
    CHECK(rt_course_phase_of(result.course, RT_LOAD_STEADY)->submitted > 0);
    CHECK(rt_course_phase_of(result.course, RT_LOAD_DRAIN)->seen);
    CHECK_UINT(0, rt_course_phase_of(result.course, RT_LOAD_DRAIN)->submitted);
    fixture_end();
}

static void without_phases_there_are_steady_and_drain_and_no_periods(void) {
    small_options(500);
    open_loop(RT_SUBMISSION_PACED, 100000);
    fixture_run();
    check_that_parts_add_up();
    CHECK_UINT(0, rt_course_periods(result.course));
    CHECK(!rt_course_phase_of(result.course, RT_LOAD_BURST)->seen);
    CHECK(result.stability.growth_missing != NULL && result.stability.little_missing != NULL);
    fixture_end();
}

/* At least 20 rows however short the run: the period is a fiftieth of the expected time, from 1 ms on. */
static void a_run_of_phases_has_many_periods(void) {
    small_options(6000);
    open_loop(RT_SUBMISSION_PACED, 20000);
    options.steady_ms = 50;
    options.pause_ms = 10;
    options.burst_ms = 10;
    options.burst_factor = 2;
    fixture_run();
    check_that_parts_add_up();
    CHECK(rt_course_periods(result.course) >= 20);
    fixture_end();
}

/* The machine's clock, which once jumps ahead: as if everything had stood still. */
typedef struct stalling_clock {
    _Atomic uint64_t reads, ahead_ns;
    uint64_t stall_at, stall_ns;
} stalling_clock;

static uint64_t read_stalling(void *context) {
    stalling_clock *const self = context;
    if (atomic_fetch_add(&self->reads, 1) == self->stall_at) {
        atomic_store(&self->ahead_ns, self->stall_ns);
    }
    return rt_clock_monotonic_ns() + atomic_load(&self->ahead_ns);
}

/* Bug 16: a stall delays the submission, and a latency that counts from there would hide it in a single task.
 * At 5,000 tasks a second 2,000 are due in the first 0.4 s of a stall of 0.5 s: each waits for at least 0.1 s. */
static void bug16_a_stall_is_in_the_latency_of_every_task_that_was_due_in_it(void) {
    static stalling_clock stalling = {.stall_at = 60, .stall_ns = UINT64_C(500000000)};
    const rt_clock clock = {read_stalling, NULL, &stalling};
    small_options(4000);
    open_loop(RT_SUBMISSION_PACED, 5000);
    options.clock = &clock;
    fixture_run();
    uint64_t late = 0;
    for (uint32_t i = 0; i < RT_HISTOGRAM_BUCKETS; i++) {
        late += rt_histogram_high_ns(i) >= UINT64_C(100000000)
                    ? result.histograms[RT_STAGE_QUEUE]->buckets[i]
                    : 0;
    }
    CHECK(late >= 1990); /* some were due in the moment before the stall */
    CHECK(result.lateness->max_ns >= UINT64_C(490000000));
    fixture_end();
}

/* Bug 22: a rate by CPU time is a rate of nothing when several threads work or wait. */
static void bug22_the_rate_is_by_elapsed_time_whatever_the_threads_used(void) {
    small_options(1200);
    options.workers = 12;
    options.wait_mode = RT_WAIT_BLOCKING; /* time passes without CPU time */
    options.wait_us = 50;
    fixture_run();
    CHECK_UINT(result.finished_ns - result.started_ns, result.elapsed_ns);
    const double tasks = result.tasks_per_second * ((double)result.elapsed_ns / 1e9);
    CHECK(tasks > 1199.999 && tasks < 1200.001);
    CHECK(result.elapsed_ns >= 1200u / 12u * 50000u);
    fixture_end();
}

/* The sampler's thread observes; here the test does, at times of a clock of its own. */
static void what_is_observed_becomes_the_backlog(void) {
    rt_workload_progress progress;
    small_options(100);
    open_loop(RT_SUBMISSION_PACED, 100000);
    fixture_create();
    rt_workload_observe(workload, &progress); /* before the start: no row */
    CHECK_UINT(RT_OK, rt_workload_execute(workload, &why));
    rt_workload_observe(workload, &progress); /* after the end: no row either */
    CHECK_UINT(100, progress.tasks_completed);
    fixture_finish();
    CHECK(strstr(result.stability.growth_missing, "200 ms") != NULL);
    fixture_end();
}

static void a_stop_ends_an_open_loop_that_waits_for_its_next_task(void) {
    small_options(1000);
    open_loop(RT_SUBMISSION_PACED, 1); /* a task a second */
    fixture_create();
    rt_workload_request_stop(workload);
    CHECK_UINT(RT_STOPPED, rt_workload_execute(workload, &why));
    fixture_finish();
    CHECK(result.stopped && result.tasks_submitted == 0);
    fixture_end();
}

int main(void) {
    every_task_of_a_poisson_process_is_due_once();
    phases_of_a_millisecond_are_kept_apart();
    without_phases_there_are_steady_and_drain_and_no_periods();
    a_run_of_phases_has_many_periods();
    bug16_a_stall_is_in_the_latency_of_every_task_that_was_due_in_it();
    bug22_the_rate_is_by_elapsed_time_whatever_the_threads_used();
    what_is_observed_becomes_the_backlog();
    a_stop_ends_an_open_loop_that_waits_for_its_next_task();
    return check_done();
}
