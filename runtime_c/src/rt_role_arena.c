#include "rt_role_arena.h"

#include <stdbool.h>
#include <string.h>

void rt_role_arena_init(rt_role_arena *self, rt_allocator *allocator) {
    *self = (rt_role_arena){.allocator = allocator};
}

void rt_role_arena_reset(rt_role_arena *self) {
    for (uint32_t i = 0; i < self->slab_count; i++) {
        rt_free_lines(self->allocator, self->slabs[i]);
    }
    rt_free_lines(self->allocator, self->slabs);
    rt_free_lines(self->allocator, self->free);
    rt_role_arena_init(self, self->allocator);
}

static uint32_t units_of(size_t bytes) {
    return (uint32_t)((bytes + RT_ROLE_UNIT_BYTES - 1u) / RT_ROLE_UNIT_BYTES);
}

static bool grow_table(rt_role_arena *self) {
    if (self->slab_count < self->slab_capacity) {
        return true;
    }
    const uint32_t capacity = self->slab_capacity == 0 ? 8u : self->slab_capacity * 2u;
    char **const slabs = rt_allocate_lines(self->allocator, capacity, sizeof *slabs);
    if (slabs == NULL) {
        return false;
    }
    if (self->slab_count > 0) {
        memcpy(slabs, self->slabs, self->slab_count * sizeof *slabs);
    }
    rt_free_lines(self->allocator, self->slabs);
    self->slabs = slabs;
    self->slab_capacity = capacity;
    return true;
}

static bool add_slab(rt_role_arena *self) {
    if (self->slab_count == UINT32_MAX / RT_ROLE_SLAB_UNITS || !grow_table(self)) {
        return false;
    }
    char *const slab = rt_allocate_lines(self->allocator, RT_ROLE_SLAB_UNITS, RT_ROLE_UNIT_BYTES);
    if (slab == NULL) {
        return false;
    }
    self->slabs[self->slab_count++] = slab;
    self->used_units = 0;
    return true;
}

static uint32_t take_free(rt_role_arena *self, uint32_t units) {
    const uint32_t block = self->free == NULL ? 0 : self->free[units];
    if (block != 0) {
        memcpy(&self->free[units], rt_role_arena_at(self, block), sizeof *self->free);
    }
    return block;
}

uint32_t rt_role_arena_take(rt_role_arena *self, size_t bytes) {
    const uint32_t units = units_of(bytes);
    uint32_t block = take_free(self, units);
    if (block == 0) {
        const bool fits = self->slab_count > 0 && self->used_units + units <= RT_ROLE_SLAB_UNITS;
        if (!fits && !add_slab(self)) {
            return 0;
        }
        block = (self->slab_count - 1u) * RT_ROLE_SLAB_UNITS + self->used_units + 1u;
        self->used_units += units;
    }
    self->live_bytes += (uint64_t)units * RT_ROLE_UNIT_BYTES;
    return block;
}

/* Without memory for the lists the block is lost until the reset: giving back never fails. */
void rt_role_arena_give(rt_role_arena *self, uint32_t block, size_t bytes) {
    const uint32_t units = units_of(bytes);
    self->live_bytes -= (uint64_t)units * RT_ROLE_UNIT_BYTES;
    if (self->free == NULL) {
        self->free = rt_allocate_lines(self->allocator, RT_ROLE_SLAB_UNITS + 1u, sizeof *self->free);
    }
    if (self->free != NULL) {
        memcpy(rt_role_arena_at(self, block), &self->free[units], sizeof *self->free);
        self->free[units] = block;
    }
}
