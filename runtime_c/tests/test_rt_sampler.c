#include "rt_sampler.h"

#include <sched.h>
#include <stdatomic.h>

#include "check.h"

#define MILLISECOND UINT64_C(1000000)

static _Atomic uint64_t looks;

static void count_looks(void *context, rt_sample *sample) {
    sample->queue = atomic_fetch_add(&looks, 1);
    sample->active = *(const uint64_t *)context;
}

static rt_sampler *sampler_of(rt_allocator *allocator, uint64_t interval_ns, size_t capacity) {
    static uint64_t active = 3;
    rt_sampler *sampler;
    atomic_store(&looks, 0);
    rt_allocator_init(allocator, 0);
    CHECK_UINT(RT_OK,
               rt_sampler_create(allocator, interval_ns, capacity, count_looks, &active, &sampler, NULL));
    return sampler;
}

static void samples_of_a_run_begin_and_end_with_it(void) {
    rt_allocator allocator;
    rt_sampler *sampler = sampler_of(&allocator, MILLISECOND, 1000);
    CHECK_UINT(RT_OK, rt_sampler_start(sampler, NULL));
    while (atomic_load(&looks) < 4) { /* the first sample is taken by start, the others by the thread */
        sched_yield();
    }
    rt_sampler_stop(sampler);
    const uint64_t taken = atomic_load(&looks);
    CHECK_UINT(taken, rt_sampler_count(sampler));
    CHECK_UINT(0, rt_sampler_misses(sampler));
    CHECK_UINT(0, rt_sampler_row(sampler, 0)->t_ns);
    CHECK_UINT(0, rt_sampler_row(sampler, 0)->cpu_ns);
    for (size_t i = 0; i < rt_sampler_count(sampler); i++) {
        const rt_sample *row = rt_sampler_row(sampler, i);
        CHECK_UINT(i, row->queue);
        CHECK_UINT(3, row->active);
        CHECK(row->rss_bytes > 0);
        CHECK(i == 0 || (row->t_ns > row[-1].t_ns && row->cpu_ns >= row[-1].cpu_ns));
    }
    CHECK(rt_sampler_threads_peak(sampler) >= 2);
    CHECK(rt_sampler_cost_ns(sampler) > 0);
    rt_sampler_stop(sampler); /* a second stop takes no sample */
    CHECK_UINT(taken, rt_sampler_count(sampler));
    rt_sampler_destroy(sampler);
    CHECK_UINT(0, allocator.live_objects);
}

/* 8 rows, worked by hand: the 9th sample leaves 0 2 4 6 and adds 8; then 9 10 11; the 13th leaves 0 4 8 10 and
 * adds 12. (The thread would wait twice as long after each halving; here they are taken at the old pace.) */
static void full_rows_halve_the_resolution_and_say_so(void) {
    static const uint64_t kept[] = {0, 4, 8, 10, 12};
    rt_allocator allocator;
    rt_sampler *sampler = sampler_of(&allocator, 10 * MILLISECOND, 8);
    for (int i = 0; i < 8; i++) {
        rt_sampler_take(sampler);
    }
    CHECK_UINT(8, rt_sampler_count(sampler));
    CHECK_UINT(10 * MILLISECOND, rt_sampler_interval_ns(sampler));
    rt_sampler_take(sampler);
    CHECK_UINT(5, rt_sampler_count(sampler));
    CHECK_UINT(20 * MILLISECOND, rt_sampler_interval_ns(sampler));
    for (size_t i = 0; i < 4; i++) {
        rt_sampler_take(sampler);
    }
    CHECK_UINT(40 * MILLISECOND, rt_sampler_interval_ns(sampler));
    CHECK_UINT(5, rt_sampler_count(sampler));
    for (size_t i = 0; i < 5; i++) {
        CHECK_UINT(kept[i], rt_sampler_row(sampler, i)->queue);
    }
    rt_sampler_destroy(sampler);
}

static void a_destroyed_sampler_leaves_no_thread(void) {
    rt_allocator allocator;
    rt_sampler *sampler = sampler_of(&allocator, 3600000 * MILLISECOND, 4);
    CHECK_UINT(RT_OK, rt_sampler_start(sampler, NULL));
    rt_sampler_destroy(sampler); /* it waits an hour, and is woken */
    CHECK_UINT(0, allocator.live_objects);
    CHECK_UINT(2, atomic_load(&looks));
}

static void what_cannot_be_made_leaves_nothing(void) {
    rt_allocator allocator;
    rt_sampler *sampler = NULL;
    rt_message why = {""};
    for (uint64_t at = 1; at <= 2; at++) {
        rt_allocator_init(&allocator, at);
        CHECK_UINT(RT_NO_MEMORY,
                   rt_sampler_create(&allocator, MILLISECOND, 8, count_looks, NULL, &sampler, &why));
        CHECK(sampler == NULL && why.text[0] != '\0');
        CHECK_UINT(0, allocator.live_objects);
    }
    rt_allocator_init(&allocator, 0);
    CHECK_UINT(RT_INVALID, rt_sampler_create(&allocator, 0, 8, count_looks, NULL, &sampler, &why));
    CHECK_UINT(RT_INVALID, rt_sampler_create(&allocator, 1, 3, count_looks, NULL, &sampler, &why));
    rt_sampler_destroy(NULL);
}

int main(void) {
    samples_of_a_run_begin_and_end_with_it();
    full_rows_halve_the_resolution_and_say_so();
    a_destroyed_sampler_leaves_no_thread();
    what_cannot_be_made_leaves_nothing();
    return check_done();
}
