/* The limit: the same task body in a loop, without a queue, on one thread or on one a core. What stays is
 * what no measurement can do without: two reads of the clock and one histogram a task. */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_THREADS 64u

typedef struct share {
    bench_body *body;
    uint64_t from, to;
    uint32_t thread;
} share;

static void *run_share(void *argument) {
    const share *const part = argument;
    for (uint64_t id = part->from; id < part->to; id++) {
        bench_body_run_timed(part->body, id, part->thread);
    }
    return NULL;
}

static int run_on(uint32_t threads, const bench_options *options, measure_outcome *outcome) {
    bench_body *const body = bench_body_create(options, threads);
    pthread_t running[MAX_THREADS];
    share shares[MAX_THREADS];
    const measure_usage before = measure_usage_read();
    for (uint32_t i = 0; i < threads; i++) {
        shares[i] = (share){body, options->tasks * i / threads, options->tasks * (i + 1) / threads, i};
        if (pthread_create(&running[i], NULL, run_share, &shares[i]) != 0) {
            fprintf(stderr, "a thread could not start\n");
            return 1;
        }
    }
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(running[i], NULL);
    }
    measure_usage_since(&before, outcome);
    bench_body_report(body, outcome);
    outcome->latency_p50_ns = 0; /* the histogram held execution times */
    outcome->latency_p99_ns = 0;
    bench_body_destroy(body);
    return 0;
}

int bench_plain_one(const bench_options *options, measure_outcome *outcome) {
    return run_on(1, options, outcome);
}

int bench_plain_all(const bench_options *options, measure_outcome *outcome) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t threads = cores<1 ? 1 : cores>(long) MAX_THREADS ? MAX_THREADS : (uint32_t)cores;
    return run_on(threads, options, outcome);
}
