/* What a large context costs in chunks that snapshots share, beside plain buffers. One task is one byte of the
 * canonical content, or one probe. */
#include "measure.h"

#include "rt_context_rewrite.h"
#include "rt_context_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 1u
#define REWRITE_PERMILLE 10u
#define CYCLES 11u
#define PIECE_BYTES 65536u
#define PROBES_A_TASK 64u
#define PROBED_BYTES (UINT64_C(8) << 20)

static rt_allocator allocator;

static void fail(const char *what) {
    fprintf(stderr, "context-bench: %s\n", what);
    exit(1);
}

static void demand(rt_status status) {
    if (status != RT_OK) {
        fail(rt_status_text(status));
    }
}

static int compare(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void keep_latencies(uint64_t *times_ns, size_t count, measure_outcome *outcome) {
    qsort(times_ns, count, sizeof *times_ns, compare);
    outcome->latency_p50_ns = times_ns[count / 2];
    outcome->latency_p99_ns = times_ns[count - 1];
}

/* ---- our store: load, a snapshot, 1 % rewritten, serialised as a stream, rolled back ---- */

static rt_status add_up(void *sum, const uint8_t *piece, size_t count) {
    rt_context_sum_add(sum, piece, count);
    return RT_OK;
}

static void rewrite_share(rt_context_store *store, uint64_t cycle) {
    const uint64_t chunks = rt_context_store_chunks(store);
    const uint64_t count = rt_context_rewrite_count(chunks, REWRITE_PERMILLE);
    for (uint64_t i = 0; i < count; i++) {
        demand(rt_context_rewrite(store, rt_context_rewrite_chunk(cycle, i, count, chunks), cycle + 2u, NULL));
    }
}

static void run_chunks(uint64_t bytes, bool of_rollback, measure_outcome *outcome) {
    uint64_t snapshot_ns[CYCLES], rollback_ns[CYCLES];
    rt_context_store *store;
    rt_context_sum sum;
    demand(rt_context_store_create(&allocator, bytes, SEED, &store, NULL));
    for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
        rt_context_snapshot *snapshot;
        const uint64_t start_ns = measure_now_ns();
        demand(rt_context_snapshot_take(store, &snapshot, NULL));
        snapshot_ns[cycle] = measure_now_ns() - start_ns;
        rewrite_share(store, cycle);
        const uint64_t rewritten_ns = measure_now_ns();
        rt_context_store_rollback(store, snapshot);
        rollback_ns[cycle] = measure_now_ns() - rewritten_ns;
        rt_context_snapshot_drop(snapshot);
    }
    rt_context_sum_init(&sum, bytes);
    demand(rt_context_store_serialise(store, (rt_context_sink){add_up, &sum}, NULL));
    outcome->checksum = rt_context_sum_finish(&sum);
    keep_latencies(of_rollback ? rollback_ns : snapshot_ns, CYCLES, outcome);
    rt_context_store_destroy(store);
}

/* ---- peers ---- */

static uint8_t *allocate(uint64_t bytes) {
    uint8_t *const buffer = malloc(bytes);
    if (buffer == NULL) {
        fail("no memory for a copy of the context");
    }
    return buffer;
}

/* What many programs do: the input as it came, the canonical form, the serialised text with its frame. */
static void run_copies(uint64_t bytes, measure_outcome *outcome) {
    const uint64_t frame = bytes / 8u;
    uint8_t *const input = allocate(bytes);
    rt_context_formula_fill(SEED, 0, input, bytes);
    uint8_t *const canonical = allocate(bytes);
    memcpy(canonical, input, bytes);
    uint8_t *const serialised = allocate(bytes + frame);
    memcpy(serialised, canonical, bytes);
    memset(serialised + bytes, ' ', frame);
    outcome->checksum = rt_context_checksum(serialised, bytes);
    free(serialised);
    free(canonical);
    free(input);
}

/* The least: one buffer, streamed in and out; no snapshot. */
static void run_one_buffer(uint64_t bytes, measure_outcome *outcome) {
    uint8_t *const buffer = allocate(bytes);
    rt_context_sum sum;
    rt_context_sum_init(&sum, bytes);
    for (uint64_t at = 0; at < bytes; at += PIECE_BYTES) {
        rt_context_formula_fill(SEED, at, buffer + at, PIECE_BYTES);
    }
    for (uint64_t at = 0; at < bytes; at += PIECE_BYTES) {
        rt_context_sum_add(&sum, buffer + at, PIECE_BYTES);
    }
    outcome->checksum = rt_context_sum_finish(&sum);
    free(buffer);
}

/* ---- probes ---- */

/* The loop of a plain buffer, written apart from the store's. */
static uint64_t probe_buffer(const uint8_t *buffer, uint64_t task) {
    const uint64_t base = rt_access_base(task);
    uint64_t sum = 1;
    for (uint32_t i = 0; i < PROBES_A_TASK; i++) {
        sum = rt_context_fold_byte(sum, buffer[rt_access_uniform(rt_access_draw(base, i), PROBED_BYTES)]);
    }
    return sum;
}

static void probe_plain(uint64_t tasks, measure_usage *before, measure_outcome *outcome) {
    uint8_t *const buffer = allocate(PROBED_BYTES);
    rt_context_formula_fill(SEED, 0, buffer, PROBED_BYTES);
    *before = measure_usage_read();
    for (uint64_t task = 0; task < tasks; task++) {
        outcome->checksum += probe_buffer(buffer, task);
    }
    free(buffer);
}

/* With one chunk away from home every probe goes through the table. */
static void probe_store(uint64_t tasks, bool rewritten, measure_usage *before, measure_outcome *outcome) {
    rt_context_store *store;
    rt_context_snapshot *snapshot = NULL;
    demand(rt_context_store_create(&allocator, PROBED_BYTES, SEED, &store, NULL));
    if (rewritten) {
        demand(rt_context_snapshot_take(store, &snapshot, NULL));
        demand(rt_context_rewrite(store, 3, SEED, NULL));
    }
    *before = measure_usage_read();
    for (uint64_t task = 0; task < tasks; task++) {
        outcome->checksum += rt_context_store_probe(store, RT_ACCESS_UNIFORM, task, PROBES_A_TASK);
    }
    rt_context_snapshot_drop(snapshot);
    rt_context_store_destroy(store);
}

static int run(const char *name, uint64_t amount, measure_usage *before, measure_outcome *outcome) {
    const uint64_t tasks = amount / PROBES_A_TASK;
    if (strcmp(name, "chunks") == 0) {
        run_chunks(amount, false, outcome);
    } else if (strcmp(name, "rollback") == 0) {
        run_chunks(amount, true, outcome);
    } else if (strcmp(name, "copies") == 0) {
        run_copies(amount, outcome);
    } else if (strcmp(name, "one-buffer") == 0) {
        run_one_buffer(amount, outcome);
    } else if (strcmp(name, "probe-buffer") == 0) {
        probe_plain(tasks, before, outcome);
    } else if (strcmp(name, "probe-store") == 0) {
        probe_store(tasks, false, before, outcome);
    } else if (strcmp(name, "probe-rewritten") == 0) {
        probe_store(tasks, true, before, outcome);
    } else {
        return 2;
    }
    return 0;
}

int main(int count, char **values) {
    const uint64_t amount = count == 3 ? strtoull(values[2], NULL, 10) : 0;
    measure_outcome outcome = {.tasks = amount};
    rt_allocator_init(&allocator, 0);
    if (amount == 0 || amount % PIECE_BYTES != 0) {
        fail("usage: context-bench chunks|rollback|copies|one-buffer|probe-buffer|probe-store|probe-rewritten "
             "AMOUNT, a multiple of 65536");
    }
    measure_usage before = measure_usage_read();
    const int status = run(values[1], amount, &before, &outcome);
    measure_usage_since(&before, &outcome);
    outcome.memory_bytes = measure_peak_bytes();
    if (status == 0) {
        measure_print(&outcome);
    }
    return status;
}
