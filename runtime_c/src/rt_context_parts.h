/* Private to rt_context_store.c, rt_context_snapshot.c and rt_context_tiers.c. */
#ifndef RT_CONTEXT_PARTS_H
#define RT_CONTEXT_PARTS_H

#include "rt_chunk_pool.h"
#include "rt_context_spill.h"
#include "rt_context_store.h"

#include <pthread.h>
#include <stdatomic.h>

_Static_assert(RT_CHUNK_BYTES == RT_CONTEXT_CHUNK_BYTES, "one size of chunk");

/* Which chunks make up a content. */
typedef struct rt_context_table {
    const uint8_t **bytes; /* by position: what readers need */
    uint32_t *numbers;     /* by position: the chunk's number in the pool */
    uint64_t away;         /* positions whose chunk is not the one at home there */
} rt_context_table;

struct rt_context_store {
    rt_allocator *allocator;
    uint64_t bytes;
    uint64_t chunks;
    uint8_t *home; /* the content while nothing is away; NULL when spilled */
    rt_context_table head;
    pthread_mutex_t lock; /* around the pool: readers drop snapshots while the head changes */
    rt_chunk_pool pool;
    uint64_t snapshots;    /* alive; under the lock */
    uint64_t bytes_copied; /* by copy on write */
    char *overview;        /* NULL: none */
    uint32_t overview_bytes;
    rt_context_spill *spill; /* NULL when HOT */
};

struct rt_context_snapshot {
    rt_context_store *store;
    rt_context_table table;
    _Atomic uint32_t holders;
};

static inline size_t rt_context_chunk_size(const rt_context_store *self, uint64_t chunk) {
    const uint64_t left = self->bytes - chunk * RT_CHUNK_BYTES;
    return left < RT_CHUNK_BYTES ? (size_t)left : RT_CHUNK_BYTES;
}

/* RT_NO_MEMORY: nothing is kept. */
rt_status rt_context_table_create(rt_context_table *self, const rt_context_store *store);
void rt_context_table_destroy(rt_context_table *self, rt_allocator *allocator);

/* The head holds the chunks at home and nothing else; no snapshot lives. */
void rt_context_settle(rt_context_store *self, uint8_t *home);

uint64_t rt_context_table_probe(const rt_context_table *self, const rt_context_store *store,
                                rt_access_pattern pattern, uint64_t task_id, uint32_t probes);
uint64_t rt_context_table_checksum(const rt_context_table *self, const rt_context_store *store);

/* The home chunks, allocated and filled. *out is NULL unless RT_OK. */
rt_status rt_context_fill_home(rt_context_store *self, rt_context_source source, uint8_t **out,
                               rt_message *why);

#endif
