/* Life of the store, and reading what a table of chunks holds. */
#include "rt_context_parts.h"

#include <string.h>

/* ---- create and destroy ---- */

rt_status rt_context_table_create(rt_context_table *self, const rt_context_store *store) {
    self->away = 0;
    self->bytes = rt_allocate_lines(store->allocator, store->chunks, sizeof *self->bytes);
    self->numbers = rt_allocate_lines(store->allocator, store->chunks, sizeof *self->numbers);
    if (self->bytes != NULL && self->numbers != NULL) {
        return RT_OK;
    }
    rt_context_table_destroy(self, store->allocator);
    return RT_NO_MEMORY;
}

void rt_context_table_destroy(rt_context_table *self, rt_allocator *allocator) {
    rt_free_lines(allocator, (void *)self->bytes);
    rt_free_lines(allocator, self->numbers);
    self->bytes = NULL;
    self->numbers = NULL;
}

void rt_context_settle(rt_context_store *self, uint8_t *home) {
    self->home = home;
    rt_chunk_pool_settle(&self->pool, home);
    self->head.away = 0;
    for (uint32_t i = 0; i < self->chunks; i++) {
        self->head.bytes[i] = self->pool.chunks[i].bytes;
        self->head.numbers[i] = i;
    }
}

rt_status rt_context_fill_home(rt_context_store *self, rt_context_source source, uint8_t **out,
                               rt_message *why) {
    *out = NULL;
    /* whole chunks: once free, the last one may hold any other */
    uint8_t *const home = rt_allocate_owned(self->allocator, RT_OWNER_CONTEXT, self->chunks, RT_CHUNK_BYTES);
    if (home == NULL) {
        return rt_fail(why, RT_NO_MEMORY,
                       "no memory for a context of %llu bytes; choose a smaller context_bytes",
                       (unsigned long long)self->bytes);
    }
    rt_status status = RT_OK;
    for (uint64_t i = 0; i < self->chunks && status == RT_OK; i++) {
        const uint64_t offset = i * RT_CHUNK_BYTES;
        status = source.read(source.context, offset, home + offset, rt_context_chunk_size(self, i));
    }
    if (status != RT_OK) {
        rt_free_lines(self->allocator, home);
        return status;
    }
    *out = home;
    return RT_OK;
}

static rt_status create_tables(rt_context_store *self, rt_message *why) {
    if (rt_context_table_create(&self->head, self) != RT_OK ||
        rt_chunk_pool_init(&self->pool, self->allocator, (uint32_t)self->chunks) != RT_OK) {
        return rt_fail(why, RT_NO_MEMORY,
                       "no memory for the table of %llu chunks; choose a smaller context_bytes",
                       (unsigned long long)self->chunks);
    }
    return RT_OK;
}

rt_status rt_context_store_create_from(rt_allocator *allocator, uint64_t bytes, rt_context_source source,
                                       rt_context_store **out, rt_message *why) {
    *out = NULL;
    if (bytes == 0 || bytes > RT_CONTEXT_MAX_BYTES) {
        return rt_fail(why, RT_INVALID, "context_bytes is %llu; choose 1 to %llu", (unsigned long long)bytes,
                       (unsigned long long)RT_CONTEXT_MAX_BYTES);
    }
    rt_context_store *const self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the context store; free some and run again");
    }
    self->allocator = allocator;
    self->bytes = bytes;
    self->chunks = (bytes + RT_CHUNK_BYTES - 1u) / RT_CHUNK_BYTES;
    self->pool.allocator = allocator;
    pthread_mutex_init(&self->lock, NULL);
    uint8_t *home = NULL;
    rt_status status = create_tables(self, why);
    if (status == RT_OK) {
        status = rt_context_fill_home(self, source, &home, why);
    }
    if (status != RT_OK) {
        rt_context_store_destroy(self);
        return status;
    }
    rt_context_settle(self, home);
    *out = self;
    return RT_OK;
}

static rt_status read_formula(void *seed, uint64_t offset, uint8_t *piece, size_t count) {
    rt_context_formula_fill(*(const uint64_t *)seed, offset, piece, count);
    return RT_OK;
}

rt_status rt_context_store_create(rt_allocator *allocator, uint64_t bytes, uint64_t seed,
                                  rt_context_store **out, rt_message *why) {
    return rt_context_store_create_from(allocator, bytes, (rt_context_source){read_formula, &seed}, out, why);
}

void rt_context_store_destroy(rt_context_store *self) {
    if (self == NULL) {
        return;
    }
    rt_context_store_overview_drop(self);
    rt_context_spill_destroy(self->spill);
    rt_chunk_pool_destroy(&self->pool);
    rt_context_table_destroy(&self->head, self->allocator);
    rt_free_lines(self->allocator, self->home);
    pthread_mutex_destroy(&self->lock);
    rt_free(self->allocator, self);
}

uint64_t rt_context_store_bytes(const rt_context_store *self) { return self->bytes; }

uint64_t rt_context_store_chunks(const rt_context_store *self) { return self->chunks; }

/* ---- probes ---- */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* `flat` is a constant at each call, so the compiler makes a loop with the table and one without. */
ALWAYS_INLINE uint8_t byte_at(const uint8_t *home, const uint8_t *const *table, bool flat, uint64_t offset) {
    return flat ? home[offset] : table[offset / RT_CHUNK_BYTES][offset % RT_CHUNK_BYTES];
}

ALWAYS_INLINE uint64_t probe_drawn(const uint8_t *home, const uint8_t *const *table, bool flat, bool hot,
                                   uint64_t bytes, uint64_t task_id, uint32_t probes) {
    const uint64_t base = rt_access_base(task_id);
    uint64_t sum = 1;
    for (uint32_t i = 0; i < probes; i++) {
        const uint64_t draw = rt_access_draw(base, i);
        const uint64_t offset = hot ? rt_access_hot(draw, bytes) : rt_access_uniform(draw, bytes);
        sum = rt_context_fold_byte(sum, byte_at(home, table, flat, offset));
    }
    return sum;
}

ALWAYS_INLINE uint64_t probe_stepped(const uint8_t *home, const uint8_t *const *table, bool flat,
                                     uint64_t step, uint64_t bytes, uint64_t task_id, uint32_t probes) {
    uint64_t at = rt_random_scale(rt_access_base(task_id), bytes);
    uint64_t sum = 1;
    step = step < bytes ? step : step % bytes;
    for (uint32_t i = 0; i < probes; i++) {
        sum = rt_context_fold_byte(sum, byte_at(home, table, flat, at));
        at += step;
        at = at < bytes ? at : at - bytes;
    }
    return sum;
}

ALWAYS_INLINE uint64_t probe(const uint8_t *home, const uint8_t *const *table, bool flat,
                             rt_access_pattern pattern, uint64_t bytes, uint64_t task_id, uint32_t probes) {
    switch (pattern) {
    case RT_ACCESS_SEQUENTIAL:
        return probe_stepped(home, table, flat, RT_ACCESS_LINE_BYTES, bytes, task_id, probes);
    case RT_ACCESS_STRIDED:
        return probe_stepped(home, table, flat, RT_ACCESS_STRIDE_BYTES, bytes, task_id, probes);
    case RT_ACCESS_HOT:
        return probe_drawn(home, table, flat, true, bytes, task_id, probes);
    default:
        return probe_drawn(home, table, flat, false, bytes, task_id, probes);
    }
}

/* Apart, so that the usual probes of a task save no registers for these loops. */
static __attribute__((noinline)) uint64_t probe_otherwise(const rt_context_table *table,
                                                          const rt_context_store *store,
                                                          rt_access_pattern pattern, uint64_t task_id,
                                                          uint32_t probes) {
    return table->away == 0 ? probe(store->home, NULL, true, pattern, store->bytes, task_id, probes)
                            : probe(NULL, table->bytes, false, pattern, store->bytes, task_id, probes);
}

/* The table is for what was rewritten: with everything at home an offset is an address. */
ALWAYS_INLINE uint64_t probe_table(const rt_context_table *table, const rt_context_store *store,
                                   rt_access_pattern pattern, uint64_t task_id, uint32_t probes) {
    return table->away == 0 && pattern == RT_ACCESS_UNIFORM
               ? probe_drawn(store->home, NULL, true, false, store->bytes, task_id, probes)
               : probe_otherwise(table, store, pattern, task_id, probes);
}

uint64_t rt_context_table_probe(const rt_context_table *self, const rt_context_store *store,
                                rt_access_pattern pattern, uint64_t task_id, uint32_t probes) {
    return probe_table(self, store, pattern, task_id, probes);
}

uint64_t rt_context_store_probe(const rt_context_store *self, rt_access_pattern pattern, uint64_t task_id,
                                uint32_t probes) {
    return probe_table(&self->head, self, pattern, task_id, probes);
}

/* ---- whole content ---- */

uint64_t rt_context_table_checksum(const rt_context_table *self, const rt_context_store *store) {
    rt_context_sum sum;
    rt_context_sum_init(&sum, store->bytes);
    for (uint64_t i = 0; i < store->chunks; i++) {
        rt_context_sum_add(&sum, self->bytes[i], rt_context_chunk_size(store, i));
    }
    return rt_context_sum_finish(&sum);
}

uint64_t rt_context_store_checksum(const rt_context_store *self) {
    return rt_context_table_checksum(&self->head, self);
}

const uint8_t *rt_context_store_chunk(const rt_context_store *self, uint64_t chunk, size_t *count) {
    *count = rt_context_chunk_size(self, chunk);
    return self->head.bytes[chunk];
}
