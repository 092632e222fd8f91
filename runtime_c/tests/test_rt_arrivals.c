/* Due times of open loops: exact for a constant rate, distributed as they should be for a Poisson process. */
#include "rt_arrivals.h"

#include "check.h"

static const rt_arrivals_options constant = {.seed = 1, .rate_per_s = 3, .burst_factor = 1};

static void a_constant_rate_accumulates_no_error(void) {
    rt_arrivals arrivals;
    rt_arrivals_init(&arrivals, &constant);
    CHECK_UINT(0, rt_arrivals_due_ns(&arrivals));
    rt_arrivals_advance(&arrivals);
    CHECK_UINT(333333333, rt_arrivals_due_ns(&arrivals));
    for (unsigned i = 1; i < 3000000; i++) {
        rt_arrivals_advance(&arrivals);
    }
    CHECK_UINT(UINT64_C(1000000000000000), rt_arrivals_due_ns(&arrivals)); /* task 3,000,000: exactly 10^6 s */
}

/* The gaps of a Poisson process of rate 1,000/s are exponential with mean 1 ms. Over 200,000 of them the mean lies
 * within 1 %, four and a half standard errors (1 / sqrt(200,000) = 0.22 %), and P(gap > 1 ms) = 1/e = 0.3679. */
static void poisson_gaps_are_exponential(void) {
    enum { GAPS = 200000 };
    const rt_arrivals_options options = {.seed = 7, .poisson = true, .rate_per_s = 1000, .burst_factor = 1};
    rt_arrivals arrivals;
    uint64_t last_ns = 0, longer = 0, falls = 0;
    double squares = 0;
    rt_arrivals_init(&arrivals, &options);
    for (unsigned i = 0; i < GAPS; i++) {
        const uint64_t gap_ns = rt_arrivals_due_ns(&arrivals) - last_ns;
        falls += rt_arrivals_due_ns(&arrivals) < last_ns;
        longer += gap_ns > 1000000;
        squares += (double)gap_ns * (double)gap_ns;
        last_ns = rt_arrivals_due_ns(&arrivals);
        rt_arrivals_advance(&arrivals);
    }
    CHECK_UINT(0, falls);
    CHECK(last_ns > GAPS * UINT64_C(990000) && last_ns < GAPS * UINT64_C(1010000));
    CHECK(longer > 0.3679 * 0.985 * GAPS && longer < 0.3679 * 1.015 * GAPS);
    const double mean_square = squares / GAPS / 1e12; /* 2 for an exponential distribution of mean 1 */
    CHECK(mean_square > 1.95 && mean_square < 2.05);
}

static void equal_seeds_give_equal_times(void) {
    const rt_arrivals_options first = {.seed = 9, .poisson = true, .rate_per_s = 5, .burst_factor = 1};
    rt_arrivals_options other = first;
    rt_arrivals a, b;
    rt_arrivals_init(&a, &first);
    rt_arrivals_init(&b, &other);
    CHECK_UINT(rt_arrivals_due_ns(&a), rt_arrivals_due_ns(&b));
    other.seed = 10;
    rt_arrivals_init(&b, &other);
    CHECK(rt_arrivals_due_ns(&a) != rt_arrivals_due_ns(&b));
}

/* 10 ms at 1,000/s, 5 ms without, 2 ms at 4,000/s: 18 tasks a round of 17 ms. */
static const rt_arrivals_options phased = {
    .seed = 1, .rate_per_s = 1000, .steady_ms = 10, .pause_ms = 5, .burst_ms = 2, .burst_factor = 4};

static void phases_pause_and_burst(void) {
    rt_arrivals arrivals;
    rt_arrivals_init(&arrivals, &phased);
    uint64_t due_ns[37];
    for (unsigned i = 0; i < 37; i++) {
        due_ns[i] = rt_arrivals_due_ns(&arrivals);
        rt_arrivals_advance(&arrivals);
    }
    CHECK_UINT(9000000, due_ns[9]);   /* the last of the steady phase */
    CHECK_UINT(15000000, due_ns[10]); /* the first of the burst: at the end of the pause */
    CHECK_UINT(15250000, due_ns[11]);
    CHECK_UINT(16750000, due_ns[17]);
    CHECK_UINT(17000000, due_ns[18]); /* the next round */
    CHECK_UINT(34000000, due_ns[36]);
    CHECK_UINT(17000000, rt_arrivals_cycle_ns(&phased));
    CHECK_UINT(34000000, rt_arrivals_expected_ns(&phased, 36));
    CHECK_UINT(1000000000, rt_arrivals_expected_ns(&constant, 3));
}

static void a_phase_knows_its_end(void) {
    static const struct {
        uint64_t at_ns;
        rt_load_phase phase;
        uint64_t end_ns;
    } expected[] = {{0, RT_LOAD_STEADY, 10000000},        {9999999, RT_LOAD_STEADY, 10000000},
                    {10000000, RT_LOAD_PAUSE, 15000000},  {15000000, RT_LOAD_BURST, 17000000},
                    {17000000, RT_LOAD_STEADY, 27000000}, {33999999, RT_LOAD_BURST, 34000000}};
    uint64_t end_ns;
    for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK_UINT(expected[i].phase, rt_arrivals_phase(&phased, expected[i].at_ns, &end_ns));
        CHECK_UINT(expected[i].end_ns, end_ns);
    }
    CHECK_UINT(RT_LOAD_STEADY, rt_arrivals_phase(&constant, 5, &end_ns));
    CHECK_UINT(UINT64_MAX, end_ns);
    CHECK_TEXT("drain", rt_load_phase_name(RT_LOAD_DRAIN));
}

/* A Poisson process stretched onto phases keeps the rate of each: over 2,000 rounds 20,000 tasks are expected in
 * steady phases and 16,000 in bursts; 3 % are more than three standard deviations. */
static void a_phased_poisson_process_has_the_rate_of_each_phase(void) {
    rt_arrivals_options options = phased;
    rt_arrivals arrivals;
    uint64_t count[RT_LOAD_PHASES] = {0}, end_ns;
    options.poisson = true;
    rt_arrivals_init(&arrivals, &options);
    while (rt_arrivals_due_ns(&arrivals) < UINT64_C(34000000000)) {
        count[rt_arrivals_phase(&options, rt_arrivals_due_ns(&arrivals), &end_ns)]++;
        rt_arrivals_advance(&arrivals);
    }
    CHECK(count[RT_LOAD_STEADY] > 19400 && count[RT_LOAD_STEADY] < 20600);
    CHECK(count[RT_LOAD_BURST] > 15520 && count[RT_LOAD_BURST] < 16480);
    CHECK_UINT(0, count[RT_LOAD_PAUSE]);
}

int main(void) {
    a_constant_rate_accumulates_no_error();
    poisson_gaps_are_exponential();
    equal_seeds_give_equal_times();
    phases_pause_and_burst();
    a_phase_knows_its_end();
    a_phased_poisson_process_has_the_rate_of_each_phase();
    return check_done();
}
