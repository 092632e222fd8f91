/* The simulator's event queue against the definition: the least (time, sequence) first. */
#include "rt_sim_queue.h"

#include <stdbool.h>

#include "rt_random.h"

#include "check.h"

static rt_allocator allocator;

enum { SLOTS = 5000 };
static rt_sim_link links[SLOTS];

static uint32_t pop(rt_sim_queue *queue) {
    rt_status status = RT_OK;
    const uint32_t slot = rt_sim_queue_pop(queue, &status);
    CHECK_UINT(RT_OK, status);
    return slot;
}

static void events_of_one_time_come_in_the_order_of_their_planning(void) {
    rt_sim_queue queue;
    CHECK_UINT(RT_OK, rt_sim_queue_init(&queue, links, &allocator));
    for (uint32_t i = 0; i < SLOTS; i++) {
        CHECK_UINT(RT_OK, rt_sim_queue_push(&queue, (i * 7919u) % SLOTS, 42));
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        CHECK_UINT((i * 7919u) % SLOTS, pop(&queue));
    }
    CHECK_UINT(RT_SIM_NO_SLOT, pop(&queue));
    rt_sim_queue_reset(&queue);
}

/* Distances of very different size, so that every rung is used and widths change: each pop must be the least of all
 * that are in the queue, found by looking at every one. */
static void pops_are_the_least_of_what_is_there(uint64_t seed, unsigned widest_bits, uint32_t population) {
    static bool in[SLOTS];
    rt_sim_queue queue;
    uint64_t now = 0;
    uint32_t count = 0;
    rt_random random;
    rt_random_init(&random, seed);
    memset(in, 0, sizeof in);
    CHECK_UINT(RT_OK, rt_sim_queue_init(&queue, links, &allocator));
    for (unsigned step = 0; step < 12000; step++) {
        const bool grows = count < population && (count == 0 || rt_random_below(&random, 5) < 3);
        if (grows) {
            uint32_t slot = (uint32_t)rt_random_below(&random, population);
            for (; in[slot]; slot = (slot + 1) % population) {
            }
            const unsigned bits = (unsigned)rt_random_below(&random, widest_bits + 1);
            in[slot] = true;
            count++;
            CHECK_UINT(RT_OK,
                       rt_sim_queue_push(&queue, slot, now + (rt_random_next(&random) >> (63 - bits) >> 1)));
            continue;
        }
        uint32_t least = RT_SIM_NO_SLOT;
        for (uint32_t i = 0; i < population; i++) {
            const bool better =
                in[i] &&
                (least == RT_SIM_NO_SLOT || links[i].at_ns < links[least].at_ns ||
                 (links[i].at_ns == links[least].at_ns && links[i].sequence < links[least].sequence));
            least = better ? i : least;
        }
        CHECK_UINT(least, pop(&queue));
        CHECK(links[least].at_ns >= now);
        now = links[least].at_ns;
        in[least] = false;
        count--;
    }
    CHECK_UINT(count, queue.count);
    rt_sim_queue_reset(&queue);
}

static void no_memory_is_told(void) {
    for (uint64_t fail_at = 1; fail_at <= 3; fail_at++) {
        rt_allocator failing;
        rt_sim_queue queue;
        rt_allocator_init(&failing, fail_at);
        CHECK_UINT(RT_NO_MEMORY, rt_sim_queue_init(&queue, links, &failing));
        CHECK_UINT(0, failing.live_objects);
    }
}

int main(void) {
    rt_allocator_init(&allocator, 0);
    events_of_one_time_come_in_the_order_of_their_planning();
    for (uint64_t seed = 1; seed <= 6; seed++) {
        pops_are_the_least_of_what_is_there(seed, 12, 40);
        pops_are_the_least_of_what_is_there(seed, 36, 700);
        pops_are_the_least_of_what_is_there(seed, 58, 300);
    }
    no_memory_is_told();
    CHECK_UINT(0, allocator.live_objects);
    return check_done();
}
