/* What a record into a histogram costs. One task is one value. */
#include "measure.h"

#include "rt_random.h"
#include "rt_recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VALUES (1u << 20) /* 8 MiB, read again and again: latencies around 100 us with a long tail */

static uint64_t *values;
static rt_histogram all;
static rt_allocator allocator;

static void make_values(void) {
    values = malloc(VALUES * sizeof *values);
    for (uint32_t i = 0; i < VALUES; i++) {
        const uint64_t bits = rt_random_at(1, i);
        values[i] = 200 + (bits & 0xffff) + ((bits >> 16 & 0xffff) >> (bits >> 32 & 15)) * 64;
    }
}

/* The limit: the values are read and added up. */
static void run_loop(uint64_t tasks) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < tasks; i++) {
        sum += values[i % VALUES];
        __asm__ volatile("" : "+r"(sum)); /* one by one, as a record is */
    }
    all.count = tasks;
}

static void run_histogram(uint64_t tasks) {
    for (uint64_t i = 0; i < tasks; i++) {
        rt_histogram_record(&all, values[i % VALUES]);
    }
}

/* Readers of today: each counter an atomic that may be read at any time. */
static void run_atomic(uint64_t tasks) {
    static _Atomic uint64_t buckets[RT_HISTOGRAM_BUCKETS];
    for (uint64_t i = 0; i < tasks; i++) {
        _Atomic uint64_t *const bucket = &buckets[rt_histogram_index(values[i % VALUES])];
        atomic_fetch_add_explicit(bucket, 1, memory_order_relaxed);
    }
    all.count = tasks;
}

typedef struct live {
    rt_recorder *recorder;
    _Atomic bool done;
    uint64_t takes;
    uint64_t p99_ns; /* of everything so far: what a live display shows */
} live;

/* A thousand times a second, as the runtime's sampler does at most. */
static void *read_along(void *argument) {
    live *const self = argument;
    while (!atomic_load_explicit(&self->done, memory_order_relaxed)) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        rt_recorder_take(self->recorder, &all);
        self->p99_ns = rt_histogram_percentile_ns(&all, 99, 100);
        self->takes++;
    }
    return NULL;
}

static void run_recorder(uint64_t tasks) {
    live self = {.takes = 0};
    pthread_t reader;
    if (rt_recorder_create(&allocator, &self.recorder) != RT_OK ||
        pthread_create(&reader, NULL, read_along, &self) != 0) {
        exit(1);
    }
    for (uint64_t i = 0; i < tasks; i++) {
        rt_recorder_record(self.recorder, values[i % VALUES]);
    }
    atomic_store(&self.done, true);
    pthread_join(reader, NULL);
    rt_recorder_take(self.recorder, &all);
    rt_recorder_destroy(self.recorder);
}

static const struct {
    const char *name;
    void (*run)(uint64_t tasks);
} cases[] = {
    {"loop", run_loop}, {"histogram", run_histogram}, {"atomic", run_atomic}, {"recorder", run_recorder}};

int main(int count, char **arguments) {
    const uint64_t tasks = count == 3 ? strtoull(arguments[2], NULL, 10) : 0;
    rt_allocator_init(&allocator, 0);
    make_values();
    rt_histogram_init(&all);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && tasks > 0; i++) {
        if (strcmp(cases[i].name, arguments[1]) == 0) {
            const measure_usage before = measure_usage_read();
            cases[i].run(tasks);
            measure_outcome outcome = {.tasks = all.count};
            measure_usage_since(&before, &outcome);
            measure_print(&outcome);
            return 0;
        }
    }
    fprintf(stderr, "usage: histogram-bench loop|histogram|atomic|recorder TASKS\n");
    return 2;
}
