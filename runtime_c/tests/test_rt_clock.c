#include "rt_clock.h"

#include "check.h"

static uint64_t fixed_ns(void *context) { return *(const uint64_t *)context; }

static int64_t fixed_s(void *context) { return (int64_t)*(const uint64_t *)context; }

static void an_injected_clock_is_the_one_that_is_read(void) {
    uint64_t value = 42;
    const rt_clock clock = {fixed_ns, fixed_s, &value};
    CHECK_UINT(42, rt_clock_now_ns(&clock));
    value = 43;
    CHECK_UINT(43, rt_clock_now_ns(&clock));
    CHECK_UINT(43, rt_clock_wall_s(&clock));
}

static void the_machine_clock_never_goes_back(void) {
    uint64_t last_ns = rt_clock_now_ns(&rt_clock_machine);
    for (int i = 0; i < 10000; i++) {
        const uint64_t now_ns = rt_clock_now_ns(&rt_clock_machine);
        CHECK(now_ns >= last_ns);
        last_ns = now_ns;
    }
    CHECK(rt_clock_wall_s(&rt_clock_machine) > 1700000000); /* November 2023 */
}

/* Expected dates: date -u -d @SECONDS +%Y-%m-%dT%H:%M:%SZ */
static void dates_are_utc(void) {
    char date[RT_CLOCK_DATE_BYTES];
    rt_clock_date(0, date);
    CHECK_TEXT("1970-01-01T00:00:00Z", date);
    rt_clock_date(951782399, date);
    CHECK_TEXT("2000-02-28T23:59:59Z", date);
    rt_clock_date(951782400, date);
    CHECK_TEXT("2000-02-29T00:00:00Z", date);
    rt_clock_date(4102444800, date);
    CHECK_TEXT("2100-01-01T00:00:00Z", date);
    rt_clock_date(-62135596800, date);
    CHECK_TEXT("0001-01-01T00:00:00Z", date);
    rt_clock_date(INT64_MAX, date);
    CHECK_TEXT("9999-12-31T23:59:59Z", date);
    rt_clock_date(253402300800, date); /* the first second of the year 10000 */
    CHECK_TEXT("9999-12-31T23:59:59Z", date);
}

/* Bug 15: end - start in unsigned numbers gave latencies near 2^64 ns. */
static void bug15_an_end_before_its_start_is_zero_and_counted(void) {
    uint64_t clamped = 0;
    CHECK_UINT(5, rt_clock_interval_ns(10, 15, &clamped));
    CHECK_UINT(0, rt_clock_interval_ns(10, 10, &clamped));
    CHECK_UINT(0, clamped);
    CHECK_UINT(0, rt_clock_interval_ns(15, 10, &clamped));
    CHECK_UINT(1, clamped);
    CHECK_UINT(UINT64_MAX, rt_clock_interval_ns(0, UINT64_MAX, &clamped));
    CHECK_UINT(1, clamped);
}

/* Bug 20: 32-bit milliseconds wrap after 49.7 days, 32-bit seconds in 2106. */
static void bug20_intervals_cross_the_32_bit_wraps(void) {
    const uint64_t wraps_ns[] = {(UINT64_C(1) << 32) * 1000000u, (UINT64_C(1) << 32) * 1000000000u,
                                 UINT64_C(1) << 32, UINT64_C(1) << 63};
    uint64_t clamped = 0;
    for (unsigned i = 0; i < 4; i++) {
        CHECK_UINT(2000, rt_clock_interval_ns(wraps_ns[i] - 1000, wraps_ns[i] + 1000, &clamped));
    }
    CHECK_UINT(0, clamped);
}

static uint64_t in_ns(struct timespec time) {
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Bug 10, first half: deadlines are counted on the monotonic clock (the second half is in
 * test_rt_scheduler_wait). */
static void bug10_a_deadline_is_on_the_monotonic_clock(void) {
    const uint64_t before_ns = rt_clock_monotonic_ns();
    const uint64_t deadline_ns = in_ns(rt_clock_deadline(5000000000u));
    const uint64_t after_ns = rt_clock_monotonic_ns();
    CHECK(deadline_ns >= before_ns + 5000000000u);
    CHECK(deadline_ns <= after_ns + 5000000000u);
}

static void a_deadline_beyond_the_end_of_time_saturates(void) {
    const struct timespec deadline = rt_clock_deadline(UINT64_MAX);
    CHECK(deadline.tv_sec > 9000000000);
    CHECK(deadline.tv_nsec >= 0 && deadline.tv_nsec < 1000000000);
}

int main(void) {
    an_injected_clock_is_the_one_that_is_read();
    the_machine_clock_never_goes_back();
    dates_are_utc();
    bug15_an_end_before_its_start_is_zero_and_counted();
    bug20_intervals_cross_the_32_bit_wraps();
    bug10_a_deadline_is_on_the_monotonic_clock();
    a_deadline_beyond_the_end_of_time_saturates();
    return check_done();
}
