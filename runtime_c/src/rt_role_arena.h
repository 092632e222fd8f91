/* Memory of the roles: blocks that go by a number of 32 bits instead of an address, so that an index of them is half as
 * large and stays in the caches twice as long. Blocks of a size that was given back are used again for that size.
 *
 * No locking: the pool's owner does not change it beside lookups. */
#ifndef RT_ROLE_ARENA_H
#define RT_ROLE_ARENA_H

#include "rt_allocator.h"

#include <stdint.h>

#define RT_ROLE_UNIT_BYTES 16u
#define RT_ROLE_SLAB_UNITS 8192u /* 128 KiB: more than the largest block, and untouched until it is used */

typedef struct rt_role_arena {
    rt_allocator *allocator;
    char **slabs;
    uint32_t slab_count, slab_capacity;
    uint32_t used_units; /* of the last slab */
    uint32_t *free;      /* by units of a block: the first free one, and its first word is the next; NULL: none yet */
    uint64_t live_bytes;
} rt_role_arena;

/* Sets an empty arena; allocates nothing. */
void rt_role_arena_init(rt_role_arena *self, rt_allocator *allocator);
void rt_role_arena_reset(rt_role_arena *self); /* gives everything back */

/* The number of a block of `bytes` bytes, aligned to RT_ROLE_UNIT_BYTES and not cleared; bytes at most a slab.
 * 0: no memory; the arena is unchanged. */
uint32_t rt_role_arena_take(rt_role_arena *self, size_t bytes);
void rt_role_arena_give(rt_role_arena *self, uint32_t block, size_t bytes);

static inline void *rt_role_arena_at(const rt_role_arena *self, uint32_t block) {
    const uint32_t unit = block - 1u;
    return self->slabs[unit / RT_ROLE_SLAB_UNITS] + (size_t)(unit % RT_ROLE_SLAB_UNITS) * RT_ROLE_UNIT_BYTES;
}

/* What the blocks in use take. */
static inline uint64_t rt_role_arena_bytes(const rt_role_arena *self) { return self->live_bytes; }

#endif
