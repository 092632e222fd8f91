/* What a large context costs in chunks that snapshots share, beside plain buffers. One task is one byte of the
 * canonical content, one snapshot, one rollback, or one probe. */
#include "measure.h"

#include "rt_context_rewrite.h"
#include "rt_context_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 1u
#define REWRITE_PERMILLE 10u
#define CYCLED_BYTES (UINT64_C(1) << 30)
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

/* ---- our store: load, a snapshot, 1 % rewritten, serialised as a stream, rolled back ---- */

static rt_status add_up(void *sum, const uint8_t *piece, size_t count) {
    rt_context_sum_add(sum, piece, count);
    return RT_OK;
}

static void rewrite_share(rt_context_store *store, uint64_t cycle) {
    const uint64_t chunks = rt_context_store_chunks(store);
    const uint64_t count = rt_context_rewrite_count(chunks, REWRITE_PERMILLE);
    for (uint64_t i = 0; i < count; i++) {
        demand(
            rt_context_rewrite(store, rt_context_rewrite_chunk(cycle, i, count, chunks), cycle + 2u, NULL));
    }
}

static void run_chunks(uint64_t bytes, measure_outcome *outcome) {
    rt_context_store *store;
    rt_context_snapshot *snapshot;
    rt_context_sum sum;
    demand(rt_context_store_create(&allocator, bytes, SEED, &store, NULL));
    demand(rt_context_snapshot_take(store, &snapshot, NULL));
    rewrite_share(store, 0);
    rt_context_store_rollback(store, snapshot);
    rt_context_snapshot_drop(snapshot);
    rt_context_sum_init(&sum, bytes);
    demand(rt_context_store_serialise(store, (rt_context_sink){add_up, &sum}, NULL));
    outcome->checksum = rt_context_sum_finish(&sum);
    rt_context_store_destroy(store);
}

/* What passed since `before`, without what lies between. */
static void add_usage(const measure_usage *before, measure_outcome *sum) {
    measure_outcome part = {.tasks = 0};
    measure_usage_since(before, &part);
    sum->elapsed_ns += part.elapsed_ns;
    sum->cpu_ns += part.cpu_ns;
    sum->voluntary_switches += part.voluntary_switches;
    sum->involuntary_switches += part.involuntary_switches;
}

/* One task is one snapshot, or one rollback of the share that was rewritten meanwhile. */
static void run_cycles(uint64_t cycles, bool of_rollback, measure_outcome *outcome) {
    rt_context_store *store;
    demand(rt_context_store_create(&allocator, CYCLED_BYTES, SEED, &store, NULL));
    for (uint64_t cycle = 0; cycle < cycles; cycle++) {
        rt_context_snapshot *snapshot;
        measure_usage before = measure_usage_read();
        demand(rt_context_snapshot_take(store, &snapshot, NULL));
        if (!of_rollback) {
            add_usage(&before, outcome);
        }
        rewrite_share(store, cycle);
        before = measure_usage_read();
        rt_context_store_rollback(store, snapshot);
        if (of_rollback) {
            add_usage(&before, outcome);
        }
        rt_context_snapshot_drop(snapshot);
    }
    outcome->checksum = rt_context_store_checksum(store);
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

/* false: no such case. Cases that measure parts of what they do set the usage themselves. */
static bool run(const char *name, uint64_t amount, measure_outcome *outcome) {
    const uint64_t tasks = amount / PROBES_A_TASK;
    measure_usage before = measure_usage_read();
    if (strcmp(name, "snapshot") == 0 || strcmp(name, "rollback") == 0) {
        run_cycles(amount, name[0] == 'r', outcome);
        return true;
    }
    if (strcmp(name, "chunks") == 0) {
        run_chunks(amount, outcome);
        outcome->memory_bytes = measure_peak_bytes();
    } else if (strcmp(name, "copies") == 0) {
        run_copies(amount, outcome);
        outcome->memory_bytes = measure_peak_bytes();
    } else if (strcmp(name, "one-buffer") == 0) {
        run_one_buffer(amount, outcome);
        outcome->memory_bytes = measure_peak_bytes();
    } else if (strcmp(name, "probe-buffer") == 0) {
        probe_plain(tasks, &before, outcome);
    } else if (strcmp(name, "probe-store") == 0) {
        probe_store(tasks, false, &before, outcome);
    } else if (strcmp(name, "probe-rewritten") == 0) {
        probe_store(tasks, true, &before, outcome);
    } else {
        return false;
    }
    measure_usage_since(&before, outcome);
    return true;
}

int main(int count, char **values) {
    const uint64_t amount = count == 3 ? strtoull(values[2], NULL, 10) : 0;
    measure_outcome outcome = {.tasks = amount};
    rt_allocator_init(&allocator, 0);
    if (amount == 0 || !run(values[1], amount, &outcome)) {
        fail("usage: context-bench chunks|copies|one-buffer BYTES (a multiple of 65536), snapshot|rollback "
             "CYCLES, "
             "probe-buffer|probe-store|probe-rewritten PROBES");
    }
    measure_print(&outcome);
    return 0;
}
