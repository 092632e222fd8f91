/* How long a cache line takes to another core and back. On a virtual machine the host may place two cores far
 * apart for a while: then everything that two threads share costs several times as much, in every executor.
 */
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define BLOCKS 100u
#define TRIPS 1000u /* a block; the fastest block is the answer: in the others a thread was not running */

static alignas(128) _Atomic int ball;

static void stay_on(int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

static void wait_for(int value) {
    for (unsigned looks = 1; atomic_load_explicit(&ball, memory_order_acquire) != value; looks++) {
        if (looks % 4096 == 0) {
            sched_yield(); /* the other side may not be running */
        }
    }
}

static void *send_back(void *argument) {
    stay_on(1);
    for (unsigned i = 0; i < BLOCKS * TRIPS; i++) {
        wait_for(1);
        atomic_store_explicit(&ball, 0, memory_order_release);
    }
    return argument;
}

static uint64_t time_block(void) {
    const uint64_t before_ns = measure_now_ns();
    for (unsigned i = 0; i < TRIPS; i++) {
        atomic_store_explicit(&ball, 1, memory_order_release);
        wait_for(0);
    }
    return measure_now_ns() - before_ns;
}

int bench_core_distance(const bench_options *options, measure_outcome *outcome) {
    pthread_t other;
    outcome->tasks = options->tasks;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        return 0; /* one core: the distance stays 0 */
    }
    if (pthread_create(&other, NULL, send_back, NULL) != 0) {
        fprintf(stderr, "a thread could not start\n");
        return 1;
    }
    stay_on(0);
    for (unsigned block = 0; block < BLOCKS; block++) {
        const uint64_t block_ns = time_block() / TRIPS;
        outcome->latency_p50_ns =
            block == 0 || block_ns < outcome->latency_p50_ns ? block_ns : outcome->latency_p50_ns;
    }
    pthread_join(other, NULL);
    return 0;
}
