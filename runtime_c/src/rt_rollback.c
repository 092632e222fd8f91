#include "rt_rollback.h"

#include "rt_context_rewrite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SEED_OF_PLACES UINT64_C(0x726f6c6c6261636b)
#define SEED_OF_BYTES UINT64_C(0x7265777269746521)

typedef enum rollback_state { NOT_RUN, RUNNING, ENDED } rollback_state;

struct rt_rollback {
    rt_rollback_options options;
    uint64_t chunks_a_cycle;
    uint64_t copied_before;
    uint64_t *before;         /* checksums of the chunks of the cycle in hand */
    rt_histogram *histograms; /* snapshot, rollback */
    rt_rollback_result result;
    uint64_t clamped;
    rollback_state state;
    bool has_thread;
    pthread_t thread;
    rt_status ended_with; /* of the mutator; read after it was joined */
    rt_message ended_why;
    _Atomic uint64_t cycles_done;
    _Atomic int stop_requested;
};

/* ---- create and destroy ---- */

static rt_status allocate_parts(rt_rollback *self) {
    rt_allocator *const allocator = self->options.allocator;
    self->before = rt_allocate_lines(allocator, self->chunks_a_cycle + 1u, sizeof *self->before);
    self->histograms = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, 2, sizeof *self->histograms);
    if (self->before == NULL || self->histograms == NULL) {
        return RT_NO_MEMORY;
    }
    rt_histogram_init(&self->histograms[0]);
    rt_histogram_init(&self->histograms[1]);
    return RT_OK;
}

static uint64_t bytes_copied(const rt_rollback *self) {
    rt_context_bytes bytes;
    rt_context_store_account(self->options.context, &bytes);
    return bytes.bytes_copied;
}

rt_status rt_rollback_create(const rt_rollback_options *options, rt_rollback **out, rt_message *why) {
    *out = NULL;
    if (options->cycles == 0 || options->rewrite_permille > 1000) {
        return rt_fail(
            why, RT_INVALID,
            "rollbacks is %u and rewrite_permille %u; choose 1 or more cycles and a share of 0 to 1000",
            options->cycles, options->rewrite_permille);
    }
    rt_rollback *const self = rt_allocate(options->allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the rollback experiment; free some and run again");
    }
    self->options = *options;
    self->chunks_a_cycle =
        rt_context_rewrite_count(rt_context_store_chunks(options->context), options->rewrite_permille);
    if (allocate_parts(self) != RT_OK) {
        rt_rollback_destroy(self);
        return rt_fail(why, RT_NO_MEMORY, "no memory for the rollback experiment; free some and run again");
    }
    self->copied_before = bytes_copied(self);
    self->result.checksum_before = rt_context_store_checksum(options->context);
    self->result.checksum_after = self->result.checksum_before;
    *out = self;
    return RT_OK;
}

void rt_rollback_destroy(rt_rollback *self) {
    if (self == NULL) {
        return;
    }
    rt_rollback_request_stop(self);
    if (self->has_thread) {
        pthread_join(self->thread, NULL);
    }
    rt_free_lines(self->options.allocator, self->before);
    rt_free_lines(self->options.allocator, self->histograms);
    rt_free(self->options.allocator, self);
}

/* ---- a cycle ---- */

static uint64_t chunk_of(const rt_rollback *self, uint64_t cycle, uint64_t i) {
    return rt_context_rewrite_chunk(rt_random_at(self->options.seed ^ SEED_OF_PLACES, cycle), i,
                                    self->chunks_a_cycle, rt_context_store_chunks(self->options.context));
}

static uint64_t checksum_of(const rt_rollback *self, uint64_t chunk) {
    size_t count;
    const uint8_t *const bytes = rt_context_store_chunk(self->options.context, chunk, &count);
    return rt_context_checksum(bytes, count);
}

static rt_status rewrite_share(rt_rollback *self, uint64_t cycle, rt_message *why) {
    const uint64_t seed = rt_random_at(self->options.seed ^ SEED_OF_BYTES, cycle);
    rt_status status = RT_OK;
    for (uint64_t i = 0; i < self->chunks_a_cycle && status == RT_OK; i++) {
        const uint64_t chunk = chunk_of(self, cycle, i);
        self->before[i] = checksum_of(self, chunk);
        status = rt_context_rewrite(self->options.context, chunk, seed, why);
        self->result.mismatches += status == RT_OK && checksum_of(self, chunk) == self->before[i];
    }
    return status;
}

static void prove_restored(rt_rollback *self, uint64_t cycle) {
    for (uint64_t i = 0; i < self->chunks_a_cycle; i++) {
        self->result.mismatches += checksum_of(self, chunk_of(self, cycle, i)) != self->before[i];
    }
}

static rt_status do_cycle(rt_rollback *self, uint64_t cycle, rt_message *why) {
    const rt_clock *const clock = self->options.clock;
    rt_context_snapshot *snapshot;
    const uint64_t start_ns = rt_clock_now_ns(clock);
    rt_status status = rt_context_snapshot_take(self->options.context, &snapshot, why);
    if (status != RT_OK) {
        return status;
    }
    const uint64_t taken_ns = rt_clock_now_ns(clock);
    status = rewrite_share(self, cycle, why);
    const uint64_t rewritten_ns = rt_clock_now_ns(clock);
    rt_context_store_rollback(self->options.context, snapshot);
    const uint64_t done_ns = rt_clock_now_ns(clock);
    if (status == RT_OK) {
        rt_histogram_record(&self->histograms[0], rt_clock_interval_ns(start_ns, taken_ns, &self->clamped));
        rt_histogram_record(&self->histograms[1],
                            rt_clock_interval_ns(rewritten_ns, done_ns, &self->clamped));
        prove_restored(self, cycle);
        self->result.chunks_rewritten += self->chunks_a_cycle;
    }
    rt_context_snapshot_drop(snapshot);
    return status;
}

static rt_status do_cycles(rt_rollback *self, rt_message *why) {
    rt_status status = RT_OK;
    for (uint64_t cycle = 0; cycle < self->options.cycles && status == RT_OK; cycle++) {
        status = atomic_load_explicit(&self->stop_requested, memory_order_relaxed)
                     ? rt_fail(why, RT_STOPPED, "the rollbacks were stopped on request")
                     : do_cycle(self, cycle, why);
        if (status == RT_OK) {
            atomic_fetch_add(&self->cycles_done, 1);
        }
    }
    return status;
}

static void conclude(rt_rollback *self) {
    self->result.cycles = atomic_load(&self->cycles_done);
    self->result.bytes_copied = bytes_copied(self) - self->copied_before;
    self->result.checksum_after = rt_context_store_checksum(self->options.context);
    self->state = ENDED;
}

/* ---- at rest and beside tasks ---- */

static rt_status refuse_again(rt_message *why) {
    return rt_fail(why, RT_BUSY, "these rollbacks were started already; create others");
}

rt_status rt_rollback_run(rt_rollback *self, rt_message *why) {
    if (self->state != NOT_RUN) {
        return refuse_again(why);
    }
    self->state = RUNNING;
    const rt_status status = do_cycles(self, why);
    conclude(self);
    return status;
}

static void *mutate(void *context) {
    rt_rollback *const self = context;
    self->ended_with = do_cycles(self, &self->ended_why);
    return NULL;
}

rt_status rt_rollback_start(rt_rollback *self, rt_message *why) {
    const rt_thread_start start =
        self->options.start_thread != NULL ? self->options.start_thread : pthread_create;
    if (self->state != NOT_RUN) {
        return refuse_again(why);
    }
    if (start(&self->thread, NULL, mutate, self) != 0) {
        return rt_fail(why, RT_NO_THREAD,
                       "the thread of the rollbacks could not start; raise the limit of threads");
    }
    self->has_thread = true;
    self->state = RUNNING;
    return RT_OK;
}

rt_status rt_rollback_join(rt_rollback *self, rt_message *why) {
    if (!self->has_thread) {
        return rt_fail(why, RT_BUSY, "no rollbacks run; start them first");
    }
    self->result.cycles_while_tasks_ran = atomic_load(&self->cycles_done);
    pthread_join(self->thread, NULL);
    self->has_thread = false;
    conclude(self);
    return self->ended_with == RT_OK ? RT_OK : rt_fail(why, self->ended_with, "%s", self->ended_why.text);
}

void rt_rollback_request_stop(rt_rollback *self) { atomic_store(&self->stop_requested, 1); }

/* ---- afterwards ---- */

void rt_rollback_result_read(const rt_rollback *self, rt_rollback_result *out) { *out = self->result; }

const rt_histogram *rt_rollback_snapshot_times(const rt_rollback *self) { return &self->histograms[0]; }

const rt_histogram *rt_rollback_rollback_times(const rt_rollback *self) { return &self->histograms[1]; }

void rt_rollback_write(const rt_rollback *self, rt_json *json, const char *key) {
    const rt_rollback_result *const result = &self->result;
    rt_json_object_begin(json, key);
    rt_json_uint(json, "cycles", result->cycles);
    rt_json_uint(json, "cycles_while_tasks_ran", result->cycles_while_tasks_ran);
    rt_json_uint(json, "chunks_rewritten", result->chunks_rewritten);
    rt_json_uint(json, "bytes_copied", result->bytes_copied);
    rt_json_hex64(json, "checksum_before", result->checksum_before);
    rt_json_hex64(json, "checksum_after", result->checksum_after);
    rt_json_uint(json, "mismatches", result->mismatches);
    rt_json_object_end(json);
}

uint64_t rt_rollback_bytes(const rt_rollback *self) {
    return sizeof *self + (self->chunks_a_cycle + 1u) * sizeof *self->before + 2u * sizeof *self->histograms;
}
