/* The runtime's task body for executors that are not the runtime, with the least that an honest measurement
 * needs: a start time, one histogram a thread, the last outputs, a count of the tasks done. */
#include "bench.h"

#include "rt_histogram.h"
#include "rt_task_body.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_OUTPUTS 64u

typedef struct thread_state {
    alignas(64) _Atomic uint64_t done;
    rt_histogram histogram; /* queue times, or execution times in the plain loop */
    uint8_t *outputs;       /* the last KEPT_OUTPUTS */
    char prompt[512];       /* of the body with snprintf */
} thread_state;

struct bench_body {
    bench_options options;
    rt_allocator allocator;
    rt_task_body *body;
    thread_state *threads;
    uint32_t thread_count;
};

bench_body *bench_body_create(const bench_options *options, uint32_t threads) {
    bench_body *const self = calloc(1, sizeof *self);
    rt_message why = {"no memory"};
    if (self == NULL) {
        exit(1);
    }
    self->options = *options;
    self->thread_count = threads;
    rt_allocator_init(&self->allocator, 0);
    const rt_task_body_options body = {.allocator = &self->allocator,
                                       .clock = &rt_clock_machine,
                                       .seed = 1,
                                       .agents = options->agents,
                                       .workers = threads,
                                       .probes = options->probes,
                                       .context_bytes = options->context_bytes,
                                       .output_bytes = options->output_bytes};
    self->threads = rt_allocate_lines(&self->allocator, threads, sizeof *self->threads);
    if (self->threads == NULL || rt_task_body_create(&body, &self->body, &why) != RT_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    for (uint32_t i = 0; i < threads; i++) {
        rt_histogram_init(&self->threads[i].histogram);
        self->threads[i].outputs = rt_allocate_lines(&self->allocator, KEPT_OUTPUTS, options->output_bytes);
    }
    return self;
}

void bench_body_destroy(bench_body *self) {
    for (uint32_t i = 0; i < self->thread_count; i++) {
        rt_free_lines(&self->allocator, self->threads[i].outputs);
    }
    rt_free_lines(&self->allocator, self->threads);
    rt_task_body_destroy(self->body);
    free(self);
}

static void print_prompt(thread_state *state, uint64_t task_id, uint32_t thread) {
    snprintf(state->prompt, sizeof state->prompt,
             "You are agent-%06" PRIu64 " on worker %u. Read what you were given, check it against the "
             "shared context, and answer in one line of at most %u bytes. Task %" PRIu64 " of this run.",
             task_id % 1000u, thread, 64u, task_id);
    __asm__ volatile("" : : "r"(state->prompt) : "memory"); /* it is read */
}

static void run(bench_body *self, uint64_t task_id, uint32_t thread, uint64_t done) {
    thread_state *const state = &self->threads[thread];
    rt_task_run task = {.task_id = task_id,
                        .worker = thread,
                        .output_capacity_bytes = self->options.output_bytes,
                        .output = state->outputs + done % KEPT_OUTPUTS * self->options.output_bytes};
    if (self->options.kind == BENCH_SNPRINTF) {
        print_prompt(state, task_id, thread);
    }
    if (self->options.kind != BENCH_NULL) {
        rt_task_body_run(self->body, &task);
    }
}

void bench_body_work(bench_body *self, uint64_t task_id, uint32_t thread) {
    thread_state *const state = &self->threads[thread];
    const uint64_t done = atomic_load_explicit(&state->done, memory_order_relaxed);
    run(self, task_id, thread, done);
    atomic_store_explicit(&state->done, done + 1, memory_order_release);
}

void bench_body_run(bench_body *self, uint64_t task_id, uint32_t thread, uint64_t submitted_ns) {
    rt_histogram_record(&self->threads[thread].histogram, measure_now_ns() - submitted_ns);
    bench_body_work(self, task_id, thread);
}

void bench_body_run_timed(bench_body *self, uint64_t task_id, uint32_t thread) {
    const uint64_t started_ns = measure_now_ns();
    bench_body_work(self, task_id, thread);
    rt_histogram_record(&self->threads[thread].histogram, measure_now_ns() - started_ns);
}

uint64_t bench_body_done(const bench_body *self) {
    uint64_t done = 0;
    for (uint32_t i = 0; i < self->thread_count; i++) {
        done += atomic_load_explicit(&self->threads[i].done, memory_order_acquire);
    }
    return done;
}

void bench_body_forget_times(bench_body *self) {
    for (uint32_t i = 0; i < self->thread_count; i++) {
        rt_histogram_init(&self->threads[i].histogram);
    }
}

void bench_body_report(const bench_body *self, measure_outcome *outcome) {
    static rt_histogram all;
    rt_task_body_counts counts;
    rt_histogram_init(&all);
    for (uint32_t i = 0; i < self->thread_count; i++) {
        rt_histogram_merge(&all, &self->threads[i].histogram);
    }
    rt_task_body_count(self->body, &counts);
    outcome->checksum = counts.probe_checksum;
    outcome->tasks = bench_body_done(self);
    outcome->latency_p50_ns = rt_histogram_percentile_ns(&all, 1, 2);
    outcome->latency_p99_ns = rt_histogram_percentile_ns(&all, 99, 100);
}
