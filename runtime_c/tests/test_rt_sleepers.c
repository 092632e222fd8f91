/* The heap of sleepers against a plain search, over seeded sequences of add, take first and remove any. */
#include "rt_random.h"
#include "rt_sleepers.h"

#include "check.h"

#include <stdbool.h>

#define SLEEPERS 200u

static rt_sleeper all[SLEEPERS];
static bool inside[SLEEPERS];

static unsigned find_first(void) {
    unsigned first = SLEEPERS;
    for (unsigned i = 0; i < SLEEPERS; i++) {
        if (inside[i] && (first == SLEEPERS || rt_sleeper_is_before(&all[i], &all[first]))) {
            first = i;
        }
    }
    return first;
}

static void check_first(const rt_sleepers *heap) {
    const unsigned first = find_first();
    CHECK(heap->first == (first == SLEEPERS ? NULL : &all[first]));
    CHECK_UINT(first == SLEEPERS ? UINT64_MAX : all[first].wake_ns, rt_sleepers_next_ns(heap));
}

static void any_sequence_gives_the_first_in_order(void) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rt_sleepers heap = {NULL, 0, 0};
        uint64_t count = 0;
        rt_random random;
        rt_random_init(&random, seed);
        memset(inside, 0, sizeof inside);
        for (unsigned step = 0; step < 2000; step++) {
            const unsigned i = (unsigned)(rt_random_below(&random, SLEEPERS));
            if (inside[i]) {
                rt_sleepers_remove(&heap, &all[i]);
                inside[i] = false;
                count--;
            } else if (step % 7 == 0 && heap.first != NULL) {
                inside[heap.first - all] = false;
                rt_sleepers_remove(&heap, heap.first);
                count--;
            } else {
                all[i].wake_ns = rt_random_below(&random, 50); /* many equal ones */
                rt_sleepers_add(&heap, &all[i]);
                inside[i] = true;
                count++;
            }
            CHECK_UINT(count, heap.count);
            check_first(&heap);
        }
    }
}

static void equal_moments_leave_in_the_order_they_came(void) {
    rt_sleepers heap = {NULL, 0, 0};
    for (unsigned i = 0; i < SLEEPERS; i++) {
        all[i].wake_ns = 7;
        rt_sleepers_add(&heap, &all[i]);
    }
    for (unsigned i = 0; i < SLEEPERS; i++) {
        CHECK(heap.first == &all[i]);
        rt_sleepers_remove(&heap, heap.first);
    }
    CHECK_UINT(UINT64_MAX, rt_sleepers_next_ns(&heap));
}

int main(void) {
    any_sequence_gives_the_first_in_order();
    equal_moments_leave_in_the_order_they_came();
    return check_done();
}
