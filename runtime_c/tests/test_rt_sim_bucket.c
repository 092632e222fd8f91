/* The token bucket against its closed form. */
#include "rt_sim_bucket.h"

#include "rt_random.h"

#include "check.h"

/* min(size, level + rate x time), step by step in one multiplication: 7 a minute for 11 ns is 77 of 60e9 parts. */
static void refill_is_exact_and_stops_at_the_size(void) {
    rt_sim_bucket bucket;
    rt_sim_bucket_init(&bucket, 7);
    CHECK(rt_sim_bucket_has(&bucket, 7, 0));
    rt_sim_bucket_take(&bucket, 7);
    rt_sim_bucket_refill(&bucket, 11);
    CHECK_UINT(77, (uint64_t)bucket.level);
    rt_sim_bucket_refill(&bucket, RT_SIM_MINUTE_NS);
    CHECK(bucket.level == rt_sim_bucket_size(&bucket));
    rt_sim_bucket_refill(&bucket, 10 * RT_SIM_MINUTE_NS);
    CHECK(bucket.level == rt_sim_bucket_size(&bucket));
    CHECK_UINT(0, (uint64_t)bucket.least);
}

/* However often it is looked at in between, the level at a time is the same. */
static void looking_changes_nothing(void) {
    rt_sim_bucket often, once;
    rt_sim_bucket_init(&often, 1234567);
    rt_sim_bucket_init(&once, 1234567);
    rt_sim_bucket_take(&often, 1234567);
    rt_sim_bucket_take(&once, 1234567);
    for (uint64_t t = 0; t < 40000000; t += 977) {
        rt_sim_bucket_refill(&often, t);
    }
    rt_sim_bucket_refill(&often, 40000000);
    rt_sim_bucket_refill(&once, 40000000);
    CHECK(often.level == once.level);
    CHECK(once.level == (unsigned __int128)1234567 * 40000000);
}

/* The announced instant is the first at which the units are there. */
static void when_is_the_first_instant(void) {
    rt_random random;
    rt_random_init(&random, 5);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t rate = 1 + rt_random_below(&random, i % 2 == 0 ? 100 : 1000000007);
        const uint64_t units = 1 + rt_random_below(&random, rate);
        rt_sim_bucket bucket;
        rt_sim_bucket_init(&bucket, rate);
        rt_sim_bucket_take(&bucket, rate);
        rt_sim_bucket_refill(&bucket, rt_random_below(&random, 1000000));
        if (rt_sim_bucket_has(&bucket, units, bucket.at_ns)) {
            continue;
        }
        const uint64_t when = rt_sim_bucket_when(&bucket, units);
        rt_sim_bucket before = bucket;
        CHECK(!rt_sim_bucket_has(&before, units, when - 1));
        CHECK(rt_sim_bucket_has(&bucket, units, when));
    }
}

/* Closed form of greedy calls of n units from a full bucket of B a minute: call k is served at (k n - B) / B
 * minutes, or at once while k n <= B. */
static void a_greedy_user_gets_size_plus_rate_times_time(void) {
    const uint64_t rate = 6000, units = 70;
    rt_sim_bucket bucket;
    rt_sim_bucket_init(&bucket, rate);
    uint64_t now = 0;
    for (uint64_t k = 1; k <= 1000; k++) {
        if (!rt_sim_bucket_has(&bucket, units, now)) {
            now = rt_sim_bucket_when(&bucket, units);
            CHECK(rt_sim_bucket_has(&bucket, units, now));
        }
        rt_sim_bucket_take(&bucket, units);
        const uint64_t beyond = k * units > rate ? (k * units - rate) * (RT_SIM_MINUTE_NS / rate) : 0;
        CHECK_UINT(beyond, now);
    }
}

static void what_is_given_back_is_there_at_once(void) {
    rt_sim_bucket bucket;
    rt_sim_bucket_init(&bucket, 100);
    rt_sim_bucket_take(&bucket, 100);
    rt_sim_bucket_give(&bucket, 30, 0);
    CHECK(rt_sim_bucket_has(&bucket, 30, 0));
    CHECK(!rt_sim_bucket_has(&bucket, 31, 0));
    rt_sim_bucket_give(&bucket, 100, 0);
    CHECK(bucket.level == rt_sim_bucket_size(&bucket));
    CHECK_UINT(1000, rt_sim_bucket_permille(&bucket, bucket.level));
}

static void no_limit_never_stops(void) {
    rt_sim_bucket bucket;
    rt_sim_bucket_init(&bucket, 0);
    CHECK(rt_sim_bucket_has(&bucket, UINT64_MAX, 0));
    rt_sim_bucket_take(&bucket, UINT64_MAX);
    CHECK(rt_sim_bucket_has(&bucket, UINT64_MAX, 1));
}

int main(void) {
    refill_is_exact_and_stops_at_the_size();
    looking_changes_nothing();
    when_is_the_first_instant();
    a_greedy_user_gets_size_plus_rate_times_time();
    what_is_given_back_is_there_at_once();
    no_limit_never_stops();
    return check_done();
}
