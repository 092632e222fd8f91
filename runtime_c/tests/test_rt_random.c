#include "rt_random.h"

#include "check.h"

/* Expected: the reference splitmix64.c of Vigna with seed 1234567, as listed on Rosetta Code. */
static void the_counter_generator_is_splitmix64(void) {
    const uint64_t expected[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                 UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                 UINT64_C(16408922859458223821)};
    for (uint64_t i = 0; i < 5; i++) {
        CHECK_UINT(expected[i], rt_random_at(1234567, i));
    }
}

/* Expected: the reference xoshiro256starstar.c with state 1, 2, 3, 4, as in the tests of the Rust crate
 * rand_xoshiro. */
static void the_sequential_generator_is_xoshiro256starstar(void) {
    rt_random random = {{1, 2, 3, 4}};
    const uint64_t expected[] = {UINT64_C(11520),
                                 UINT64_C(0),
                                 UINT64_C(1509978240),
                                 UINT64_C(1215971899390074240),
                                 UINT64_C(1216172134540287360),
                                 UINT64_C(607988272756665600),
                                 UINT64_C(16172922978634559625),
                                 UINT64_C(8476171486693032832),
                                 UINT64_C(10595114339597558777),
                                 UINT64_C(2904607092377533576)};
    for (unsigned i = 0; i < 10; i++) {
        CHECK_UINT(expected[i], rt_random_next(&random));
    }
}

static void equal_seeds_give_equal_numbers_and_others_do_not(void) {
    rt_random a, b, c;
    rt_random_init(&a, 7);
    rt_random_init(&b, 7);
    rt_random_init(&c, 8);
    unsigned different = 0;
    for (int i = 0; i < 100; i++) {
        const uint64_t value = rt_random_next(&a);
        CHECK_UINT(value, rt_random_next(&b));
        different += value != rt_random_next(&c);
    }
    CHECK_UINT(100, different);
}

static void scaling_covers_the_range_evenly(void) {
    uint64_t counts[7] = {0};
    CHECK_UINT(0, rt_random_scale(0, 7));
    CHECK_UINT(6, rt_random_scale(UINT64_MAX, 7));
    CHECK_UINT(0, rt_random_scale(UINT64_MAX, 1));
    for (uint64_t i = 0; i < 70000; i++) {
        counts[rt_random_scale(rt_random_at(1, i), 7)]++;
    }
    for (unsigned i = 0; i < 7; i++) { /* 10,000 expected, standard deviation 93: five of them */
        CHECK(counts[i] > 9535 && counts[i] < 10465);
    }
}

static void bounded_numbers_stay_below_their_bound(void) {
    rt_random random;
    rt_random_init(&random, 3);
    for (uint64_t bound = 1; bound != 0; bound *= 2) {
        for (int i = 0; i < 50; i++) {
            CHECK(rt_random_below(&random, bound) < bound);
        }
    }
    CHECK_UINT(0, rt_random_below(&random, 1));
}

static void units_lie_in_the_half_open_interval(void) {
    rt_random random;
    rt_random_init(&random, 5);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        const double unit = rt_random_unit(&random);
        CHECK(unit >= 0.0 && unit < 1.0);
        sum += unit;
    }
    CHECK(sum > 4855 && sum < 5145); /* 5000, standard deviation 29: five of them */
}

int main(void) {
    the_counter_generator_is_splitmix64();
    the_sequential_generator_is_xoshiro256starstar();
    equal_seeds_give_equal_numbers_and_others_do_not();
    scaling_covers_the_range_evenly();
    bounded_numbers_stay_below_their_bound();
    units_lie_in_the_half_open_interval();
    return check_done();
}
