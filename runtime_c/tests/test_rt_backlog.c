/* What is said of a queue: growing or not, Little's law, recovery. All by made-up rows. */
#include "rt_backlog.h"

#include <math.h>

#include "check.h"

#define MS UINT64_C(1000000)

static rt_allocator allocator;
static rt_backlog *backlog;

static void begin(size_t capacity) {
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_OK, rt_backlog_create(&allocator, capacity, &backlog));
}

static void end(void) {
    rt_backlog_destroy(backlog);
    CHECK_UINT(0, allocator.live_objects);
}

/* One second of samples every 10 ms at 1,000 admissions a second; the queue is base + growth * t, each task takes
 * 5 ms. */
static void add_second(double base, double growth_per_s) {
    for (uint64_t i = 0; i <= 100; i++) {
        const uint64_t queue = (uint64_t)(base + growth_per_s * (double)i / 100.0);
        const double in_system_s = 5.0 * (double)i / 100.0;
        const rt_backlog_row row = {i * 10 * MS,     queue,       queue + 5,   i * 10 + queue + 5, i * 10,
                                    i * 10 * 5 * MS, in_system_s, i * 10 * MS};
        rt_backlog_add(backlog, &row);
    }
}

static void a_level_queue_is_stable_and_obeys_littles_law(void) {
    rt_backlog_growth growth;
    rt_backlog_little little;
    const rt_backlog_window window = rt_backlog_window_of(1000 * MS, 0);
    begin(200);
    add_second(0, 0);
    CHECK_UINT(100 * MS, window.from_ns);
    CHECK_UINT(1000 * MS, window.until_ns);
    CHECK(rt_backlog_growth_of(backlog, window, &growth) == NULL);
    CHECK(!growth.growing && growth.queue_first == 0 && growth.queue_last == 0);
    CHECK_UINT(900 * MS, growth.window_ns);
    CHECK(rt_backlog_little_of(backlog, window, &little) == NULL);
    CHECK(fabs(little.arrival_rate_per_s - 1000) < 1e-9); /* 1,000 a second for 5 ms each: 5 in the system */
    CHECK(fabs(little.mean_time_ms - 5) < 1e-9 && fabs(little.mean_in_system - 5) < 1e-9);
    CHECK(fabs(little.product - 5) < 1e-9 && fabs(little.error_percent) < 1e-9);
    end();
}

static void a_growing_queue_is_told_and_has_no_law(void) {
    rt_backlog_growth growth;
    rt_backlog_little little;
    begin(200);
    add_second(10, 200);
    CHECK(rt_backlog_growth_of(backlog, rt_backlog_window_of(1000 * MS, 0), &growth) == NULL);
    CHECK(growth.growing && growth.growth_per_second > 190 && growth.growth_per_second < 210);
    CHECK(strstr(rt_backlog_little_of(backlog, rt_backlog_window_of(1000 * MS, 0), &little), "grew") != NULL);
    end();
}

static void a_little_growth_and_a_long_level_queue_are_no_overload(void) {
    rt_backlog_growth growth;
    begin(200);
    add_second(5000, 20); /* 2 % of the rate, but less than 50 ms of admissions in the window */
    CHECK(rt_backlog_growth_of(backlog, rt_backlog_window_of(1000 * MS, 0), &growth) == NULL);
    CHECK(!growth.growing && growth.queue_first > 4999);
    end();
}

static void too_little_is_no_judgement(void) {
    rt_backlog_growth growth;
    begin(200);
    CHECK(strstr(rt_backlog_growth_of(backlog, rt_backlog_window_of(100 * MS, 0), &growth), "200 ms") != NULL);
    CHECK(strstr(rt_backlog_growth_of(backlog, rt_backlog_window_of(1000 * MS, 0), &growth), "four samples") !=
          NULL);
    end();
}

static void phases_are_judged_over_whole_rounds(void) {
    const rt_backlog_window window = rt_backlog_window_of(1000 * MS, 130 * MS); /* 7 rounds: the last 6 */
    CHECK_UINT(130 * MS, window.from_ns);
    CHECK_UINT(910 * MS, window.until_ns);
    CHECK_UINT(0, rt_backlog_window_of(1000 * MS, 600 * MS).until_ns -
                      rt_backlog_window_of(1000 * MS, 600 * MS).from_ns);
}

static void add_at(uint64_t ms, uint64_t in_system) {
    const rt_backlog_row row = {.t_ns = ms * MS, .in_system = in_system};
    rt_backlog_add(backlog, &row);
}

static void an_outage_is_survived_or_not(void) {
    rt_backlog_outage outage;
    begin(200);
    add_at(0, 500); /* the start is not steady yet */
    for (uint64_t ms = 50; ms < 100; ms += 10) {
        add_at(ms, 100);
    }
    add_at(100, 100);
    add_at(150, 900); /* the outage: 100 .. 200 ms */
    add_at(200, 1500);
    add_at(250, 600);
    add_at(300, 150); /* 1.5 times 100 */
    add_at(400, 20);
    rt_backlog_outage_of(backlog, 100 * MS, 200 * MS, 1000 * MS, &outage);
    CHECK_UINT(100, outage.before);
    CHECK_UINT(1500, outage.peak);
    CHECK(outage.recovered);
    CHECK_UINT(100 * MS, outage.recovery_ns);
    rt_backlog_outage_of(backlog, 100 * MS, 200 * MS, 260 * MS, &outage); /* by draining alone */
    CHECK(!outage.recovered);
    end();
}

static void rows_are_bounded_and_keep_the_whole_course(void) {
    rt_backlog_growth growth;
    begin(32);
    add_second(0, 500);
    CHECK(rt_backlog_growth_of(backlog, rt_backlog_window_of(1000 * MS, 0), &growth) == NULL);
    CHECK(growth.growing && growth.growth_per_second > 450 && growth.growth_per_second < 550);
    CHECK(atomic_load(&allocator.allocated_bytes) < 32 * sizeof(rt_backlog_row) + 128);
    end();
}

int main(void) {
    a_level_queue_is_stable_and_obeys_littles_law();
    a_growing_queue_is_told_and_has_no_law();
    a_little_growth_and_a_long_level_queue_are_no_overload();
    too_little_is_no_judgement();
    phases_are_judged_over_whole_rounds();
    an_outage_is_survived_or_not();
    rows_are_bounded_and_keep_the_whole_course();
    return check_done();
}
