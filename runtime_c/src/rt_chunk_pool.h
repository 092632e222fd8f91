/* Chunks of memory that count their users, and the free ones for the next that needs one.
 *
 * The first `home` chunks lie in one piece, which the owner of the pool brings and takes back; more are made in slabs as
 * copies are needed. Not thread safe: the context store locks around it. */
#ifndef RT_CHUNK_POOL_H
#define RT_CHUNK_POOL_H

#include "rt_allocator.h"
#include "rt_status.h"

#include <stdint.h>

#define RT_CHUNK_BYTES 65536u
#define RT_CHUNK_NONE UINT32_MAX

typedef struct rt_chunk {
    uint8_t *bytes;
    uint32_t users;          /* tables that hold it; 0: free */
    uint32_t next, previous; /* free ones; RT_CHUNK_NONE at the ends */
} rt_chunk;

typedef struct rt_chunk_slab rt_chunk_slab;

/* Fields are read-only outside this module. */
typedef struct rt_chunk_pool {
    rt_allocator *allocator;
    rt_chunk *chunks; /* by number: first those at home, then the copies */
    uint32_t count, capacity, home;
    uint32_t free_first, free_count;
    rt_chunk_slab *slabs;
} rt_chunk_pool;

/* RT_NO_MEMORY: nothing is kept. */
rt_status rt_chunk_pool_init(rt_chunk_pool *self, rt_allocator *allocator, uint32_t home);

/* Puts the home chunks into `piece`, each with one user. Copies are given back: none may be in use. */
void rt_chunk_pool_settle(rt_chunk_pool *self, uint8_t *piece);

/* A free chunk, now with one user; `preferred` when that one is free. RT_NO_MEMORY: nothing changed. */
rt_status rt_chunk_pool_take(rt_chunk_pool *self, uint32_t preferred, uint32_t *out);

static inline void rt_chunk_pool_hold(rt_chunk_pool *self, uint32_t chunk) { self->chunks[chunk].users++; }

/* The last user makes it free. */
void rt_chunk_pool_drop(rt_chunk_pool *self, uint32_t chunk);

uint64_t rt_chunk_pool_copy_bytes(const rt_chunk_pool *self);  /* of the slabs */
uint64_t rt_chunk_pool_table_bytes(const rt_chunk_pool *self); /* of the book-keeping */

void rt_chunk_pool_destroy(rt_chunk_pool *self);

#endif
