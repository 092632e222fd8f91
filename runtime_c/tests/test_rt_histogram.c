#include "rt_histogram.h"
#include "rt_random.h"

#include "check.h"

#include <stdlib.h>

static rt_histogram a, b, c;

/* Expected by hand from the layout rule: 128 has s = 0, 256 has s = 1, 2^63 has s = 56. */
static void indices_follow_the_layout_rule(void) {
    const struct {
        uint64_t value_ns;
        uint32_t index;
    } cases[] = {{0, 0},
                 {127, 127},
                 {128, 128},
                 {129, 129},
                 {255, 255},
                 {256, 256},
                 {257, 256},
                 {258, 257},
                 {511, 383},
                 {512, 384},
                 {1000, 506}, /* s = 2, 1000 >> 2 = 250, 3 * 128 + 250 - 128 */
                 {UINT64_C(1) << 63, 57 * 128},
                 {UINT64_MAX, RT_HISTOGRAM_BUCKETS - 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_UINT(cases[i].index, rt_histogram_index(cases[i].value_ns));
    }
}

static void buckets_tile_all_values_without_gap_or_overlap(void) {
    CHECK_UINT(0, rt_histogram_low_ns(0));
    CHECK_UINT(UINT64_MAX, rt_histogram_high_ns(RT_HISTOGRAM_BUCKETS - 1));
    for (uint32_t i = 0; i < RT_HISTOGRAM_BUCKETS; i++) {
        const uint64_t low_ns = rt_histogram_low_ns(i), high_ns = rt_histogram_high_ns(i);
        CHECK_UINT(i, rt_histogram_index(low_ns));
        CHECK_UINT(i, rt_histogram_index(high_ns));
        CHECK(high_ns - low_ns <= low_ns / 128); /* the width: half of it is 0.39 % */
        if (i + 1 < RT_HISTOGRAM_BUCKETS) {
            CHECK_UINT(high_ns + 1, rt_histogram_low_ns(i + 1));
        }
    }
}

static void percentiles_are_nearest_rank(void) {
    rt_histogram_init(&a);
    for (uint64_t value = 1; value <= 10; value++) {
        rt_histogram_record(&a, value);
    }
    CHECK_UINT(1, rt_histogram_percentile_ns(&a, 0, 1)); /* rank max(1, 0) */
    CHECK_UINT(1, rt_histogram_percentile_ns(&a, 1, 10));
    CHECK_UINT(2, rt_histogram_percentile_ns(&a, 11, 100)); /* ceil(1.1) */
    CHECK_UINT(5, rt_histogram_percentile_ns(&a, 1, 2));
    CHECK_UINT(10, rt_histogram_percentile_ns(&a, 99, 100)); /* ceil(9.9) */
    CHECK_UINT(10, rt_histogram_percentile_ns(&a, 1, 1));
}

/* 0.07 * 100 is 7.000000000000001 in doubles: a float rank would be 8. */
static void ranks_are_computed_in_integers(void) {
    rt_histogram_init(&a);
    for (uint64_t value = 1; value <= 100; value++) {
        rt_histogram_record(&a, value);
    }
    CHECK_UINT(7, rt_histogram_percentile_ns(&a, 7, 100));
    a.count = UINT64_MAX; /* a * count must not overflow: the rank is beyond all buckets */
    CHECK_UINT(100, rt_histogram_percentile_ns(&a, 99, 100));
}

static void a_percentile_is_the_top_of_its_bucket_but_no_more_than_the_maximum(void) {
    rt_histogram_init(&a);
    rt_histogram_record(&a, 1000); /* bucket 1000 .. 1003 */
    rt_histogram_record(&a, 5000);
    CHECK_UINT(1003, rt_histogram_percentile_ns(&a, 1, 2));
    CHECK_UINT(5000, rt_histogram_percentile_ns(&a, 1, 1));
}

static int by_value(const void *left, const void *right) {
    const uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;
    return (x > y) - (x < y);
}

static void percentiles_of_random_values_are_within_one_bucket_of_the_sorted_ones(void) {
    enum { COUNT = 5000 };
    static uint64_t values[COUNT];
    rt_histogram_init(&a);
    for (unsigned i = 0; i < COUNT; i++) {
        values[i] = rt_random_at(11, i) >> (rt_random_at(12, i) % 64u);
        rt_histogram_record(&a, values[i]);
    }
    qsort(values, COUNT, sizeof values[0], by_value);
    for (unsigned percent = 1; percent <= 100; percent++) {
        const uint64_t exact = values[(percent * COUNT + 99) / 100 - 1];
        const uint64_t shown = rt_histogram_percentile_ns(&a, percent, 100);
        CHECK(shown >= exact && shown - exact <= exact / 128);
    }
}

static void merging_equals_recording_everything_in_one(void) {
    rt_histogram_init(&a);
    rt_histogram_init(&b);
    rt_histogram_init(&c);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t value = rt_random_at(4, i) >> (i % 60u);
        rt_histogram_record(i % 3 == 0 ? &a : &b, value);
        rt_histogram_record(&c, value);
    }
    rt_histogram_merge(&a, &b);
    CHECK_UINT(0, memcmp(&a, &c, sizeof a));
    rt_histogram_init(&b);
    rt_histogram_merge(&a, &b); /* an empty one changes nothing */
    CHECK_UINT(0, memcmp(&a, &c, sizeof a));
}

/* Bug 7: empty intervals printed a minimum of 9.2e18 and NaN. */
static void bug7_an_empty_histogram_has_count_0_and_no_percentile(void) {
    char text[RT_HISTOGRAM_SUM_BYTES];
    rt_histogram_init(&a);
    rt_histogram_sum_text(&a, text);
    CHECK_UINT(0, a.count);
    CHECK_TEXT("0", text);
    CHECK_UINT(0, rt_histogram_percentile_ns(&a, 99, 100));
}

/* Bug 6: values beyond a histogram's range were dropped or recorded elsewhere. */
static void bug6_nothing_is_out_of_range(void) {
    rt_histogram_init(&a);
    rt_histogram_record(&a, 0);
    rt_histogram_record(&a, UINT64_MAX);
    rt_histogram_record(&a, UINT64_MAX - 1);
    CHECK_UINT(3, a.count);
    CHECK_UINT(0, a.min_ns);
    CHECK_UINT(UINT64_MAX, a.max_ns);
    CHECK_UINT(UINT64_MAX, rt_histogram_percentile_ns(&a, 1, 1));
    uint64_t total = 0;
    for (uint32_t i = 0; i < RT_HISTOGRAM_BUCKETS; i++) {
        total += a.buckets[i];
    }
    CHECK_UINT(3, total);
}

/* Bug 17: percentiles folded from thread to thread, by their maximum or their mean. One thread has 1,000
 * values of 10 ms, the other 10 of 2 s. Of all 1,010 the 99th percentile is the 1,000th and still 10 ms; the
 * greater of the two threads' would be 2 s, their mean 1.005 s. 10 ms lies in the bucket 9,961,472 ..
 * 10,027,007 (s = 16). */
static void bug17_percentiles_are_of_all_values_and_not_of_threads(void) {
    rt_histogram_init(&a);
    rt_histogram_init(&b);
    for (unsigned i = 0; i < 1000; i++) {
        rt_histogram_record(&a, 10000000);
    }
    for (unsigned i = 0; i < 10; i++) {
        rt_histogram_record(&b, 2000000000);
    }
    CHECK_UINT(2000000000, rt_histogram_percentile_ns(&b, 99, 100));
    rt_histogram_merge(&a, &b);
    CHECK_UINT(1010, a.count);
    CHECK_UINT(10027007, rt_histogram_percentile_ns(&a, 99, 100));
    CHECK_UINT(2000000000, rt_histogram_percentile_ns(&a, 991, 1000)); /* rank 1,001 */
}

/* Expected: python3 -c 'print(3 * (2**64 - 1) - 1)' */
static void sums_beyond_64_bits_are_exact(void) {
    char text[RT_HISTOGRAM_SUM_BYTES];
    rt_histogram_init(&a);
    rt_histogram_record(&a, UINT64_MAX);
    rt_histogram_record(&a, UINT64_MAX);
    rt_histogram_record(&a, UINT64_MAX - 1);
    rt_histogram_sum_text(&a, text);
    CHECK_TEXT("55340232221128654844", text);
}

int main(void) {
    indices_follow_the_layout_rule();
    buckets_tile_all_values_without_gap_or_overlap();
    percentiles_are_nearest_rank();
    ranks_are_computed_in_integers();
    a_percentile_is_the_top_of_its_bucket_but_no_more_than_the_maximum();
    percentiles_of_random_values_are_within_one_bucket_of_the_sorted_ones();
    merging_equals_recording_everything_in_one();
    bug7_an_empty_histogram_has_count_0_and_no_percentile();
    bug6_nothing_is_out_of_range();
    bug17_percentiles_are_of_all_values_and_not_of_threads();
    sums_beyond_64_bits_are_exact();
    return check_done();
}
