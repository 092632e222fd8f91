/* Injected clocks against sleep and deadline: the wrap at 2^32 ms, steps back, time that stands still. */
#include "scheduler_fixture.h"

static fixture f;
static bool pooled;
static uint64_t base_ns, start_ns;
static _Atomic uint64_t reads;

static void start(const rt_clock *clock) {
    base_ns = rt_clock_monotonic_ns();
    atomic_store(&reads, 0);
    fixture_init(&f, 1);
    f.options.clock = clock;
    f.options.stack_bytes = pooled ? 65536 : 0;
    fixture_start(&f);
}

static uint64_t shifted(void *context) {
    (void)context;
    return rt_clock_monotonic_ns() - base_ns + start_ns;
}
static const rt_clock shifted_clock = {shifted, NULL, NULL};

static rt_status nap(rt_task_run *run) { return rt_task_sleep(run, 2000000); }

/* Bug 20: the moment at which a sleeper is due lies beyond 2^32 ms (and 2^32 s, and 2^32 ns). */
static void bug20_a_sleep_across_the_32_bit_wrap_ends_when_it_is_due(void) {
    const uint64_t wraps_ns[] = {(UINT64_C(1) << 32) * 1000000u, (UINT64_C(1) << 32) * 1000000000u,
                                 UINT64_C(1) << 32};
    for (unsigned i = 0; i < 3; i++) {
        start_ns = wraps_ns[i] - 1000000;
        start(&shifted_clock);
        f.answer = nap;
        fixture_submit(&f, 0, 1, 0, NULL);
        fixture_await_idle(&f);
        CHECK_UINT(1, fixture_counts(&f).completed);
        CHECK(f.tasks[0].started_ns < f.tasks[0].ended_ns);
        CHECK(f.tasks[0].ended_ns - f.tasks[0].started_ns >= 2000000);
        fixture_end(&f);
    }
}

/* Bug 10: a clock that is set back while a task sleeps. It sleeps longer by the step, not for ever. */
static uint64_t stepped(void *context) {
    const uint64_t step_ns = atomic_fetch_add(&reads, 1) > 20 ? 5000000 : 0;
    (void)context;
    return rt_clock_monotonic_ns() - base_ns + 1000000000 - step_ns;
}
static const rt_clock stepped_clock = {stepped, NULL, NULL};

static void bug10_a_sleep_ends_although_the_clock_steps_back(void) {
    start(&stepped_clock);
    f.answer = nap;
    for (uint64_t i = 0; i < 10; i++) {
        fixture_submit(&f, i, 1, 0, NULL);
        fixture_await_idle(&f);
    }
    CHECK_UINT(10, fixture_counts(&f).completed);
    fixture_end(&f);
}

/* Time stands still: every interval is 0, a deadline never comes, one in the past has passed. */
static uint64_t still(void *context) {
    (void)context;
    return 77;
}
static const rt_clock still_clock = {still, NULL, NULL};

static void no_time_at_all_passes(void) {
    static rt_histogram end_to_end;
    start(&still_clock);
    fixture_submit(&f, 0, 100, 0, NULL);
    f.tasks[100] = (rt_task){.id = 100, .submitted_ns = 77, .deadline_ns = 78};
    f.tasks[101] = (rt_task){.id = 101, .submitted_ns = 77, .deadline_ns = 77};
    CHECK_UINT(RT_OK, rt_scheduler_submit(f.scheduler, &f.tasks[100]));
    CHECK_UINT(RT_OK, rt_scheduler_submit(f.scheduler, &f.tasks[101]));
    fixture_await_idle(&f);
    CHECK_UINT(101, fixture_counts(&f).completed);
    CHECK_UINT(1, fixture_counts(&f).timed_out);
    CHECK_UINT(0, fixture_counts(&f).clamped_intervals);
    rt_histogram_init(&end_to_end);
    rt_scheduler_merge(f.scheduler, RT_SCHEDULER_END_TO_END, &end_to_end);
    CHECK_UINT(101, end_to_end.count); /* the one that timed out never started: it is in no latency */
    CHECK_UINT(0, end_to_end.max_ns);
    rt_scheduler_contention_report r;
    rt_scheduler_contention(f.scheduler, &r);
    CHECK_UINT(0, r.window_ns + r.idle_ns);
    fixture_end(&f);
}

int main(void) {
    for (unsigned i = 0; i < 2; i++) {
        pooled = i == 1;
        bug20_a_sleep_across_the_32_bit_wrap_ends_when_it_is_due();
        bug10_a_sleep_ends_although_the_clock_steps_back();
        no_time_at_all_passes();
    }
    return check_done();
}
