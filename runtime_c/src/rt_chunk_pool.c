#include "rt_chunk_pool.h"

#include <string.h>

#define SLAB_CHUNKS 16u

struct rt_chunk_slab {
    rt_chunk_slab *next;
    uint8_t *piece;
};

static void list_free(rt_chunk_pool *self, uint32_t chunk) {
    self->chunks[chunk].next = self->free_first;
    self->chunks[chunk].previous = RT_CHUNK_NONE;
    if (self->free_first != RT_CHUNK_NONE) {
        self->chunks[self->free_first].previous = chunk;
    }
    self->free_first = chunk;
    self->free_count++;
}

static void unlist_free(rt_chunk_pool *self, uint32_t chunk) {
    const rt_chunk *const entry = &self->chunks[chunk];
    if (entry->previous == RT_CHUNK_NONE) {
        self->free_first = entry->next;
    } else {
        self->chunks[entry->previous].next = entry->next;
    }
    if (entry->next != RT_CHUNK_NONE) {
        self->chunks[entry->next].previous = entry->previous;
    }
    self->free_count--;
}

rt_status rt_chunk_pool_init(rt_chunk_pool *self, rt_allocator *allocator, uint32_t home) {
    *self = (rt_chunk_pool){.allocator = allocator, .free_first = RT_CHUNK_NONE, .home = home};
    self->chunks = rt_allocate_lines(allocator, home, sizeof *self->chunks);
    if (self->chunks == NULL) {
        return RT_NO_MEMORY;
    }
    self->capacity = home;
    self->count = home;
    return RT_OK;
}

static void give_slabs_back(rt_chunk_pool *self) {
    while (self->slabs != NULL) {
        rt_chunk_slab *const slab = self->slabs;
        self->slabs = slab->next;
        rt_free_lines(self->allocator, slab->piece);
        rt_free(self->allocator, slab);
    }
    self->count = self->home;
}

void rt_chunk_pool_settle(rt_chunk_pool *self, uint8_t *piece) {
    give_slabs_back(self);
    self->free_first = RT_CHUNK_NONE;
    self->free_count = 0;
    for (uint32_t i = 0; i < self->home; i++) {
        uint8_t *const bytes = piece == NULL ? NULL : piece + (size_t)i * RT_CHUNK_BYTES;
        self->chunks[i] = (rt_chunk){bytes, 1, RT_CHUNK_NONE, RT_CHUNK_NONE};
    }
}

static rt_status reserve(rt_chunk_pool *self, uint32_t capacity) {
    if (capacity <= self->capacity) {
        return RT_OK;
    }
    const uint32_t grown =
        capacity > self->capacity + self->capacity / 4u ? capacity : self->capacity + self->capacity / 4u;
    rt_chunk *const chunks = rt_allocate_lines(self->allocator, grown, sizeof *chunks);
    if (chunks == NULL) {
        return RT_NO_MEMORY;
    }
    memcpy(chunks, self->chunks, self->count * sizeof *chunks);
    rt_free_lines(self->allocator, self->chunks);
    self->chunks = chunks;
    self->capacity = grown;
    return RT_OK;
}

static rt_status add_slab(rt_chunk_pool *self) {
    if (reserve(self, self->count + SLAB_CHUNKS) != RT_OK) {
        return RT_NO_MEMORY;
    }
    rt_chunk_slab *const slab = rt_allocate(self->allocator, sizeof *slab);
    uint8_t *const piece = rt_allocate_owned(self->allocator, RT_OWNER_CONTEXT, SLAB_CHUNKS, RT_CHUNK_BYTES);
    if (slab == NULL || piece == NULL) {
        rt_free(self->allocator, slab);
        rt_free_lines(self->allocator, piece);
        return RT_NO_MEMORY;
    }
    *slab = (rt_chunk_slab){self->slabs, piece};
    self->slabs = slab;
    const uint32_t first = self->count;
    self->count += SLAB_CHUNKS;
    for (uint32_t i = SLAB_CHUNKS; i-- > 0;) { /* so that the first of the slab is the next to be taken */
        self->chunks[first + i] = (rt_chunk){.bytes = piece + (size_t)i * RT_CHUNK_BYTES};
        list_free(self, first + i);
    }
    return RT_OK;
}

rt_status rt_chunk_pool_take(rt_chunk_pool *self, uint32_t preferred, uint32_t *out) {
    if (self->free_first == RT_CHUNK_NONE && add_slab(self) != RT_OK) {
        return RT_NO_MEMORY;
    }
    const uint32_t chunk = self->chunks[preferred].users == 0 ? preferred : self->free_first;
    unlist_free(self, chunk);
    self->chunks[chunk].users = 1;
    *out = chunk;
    return RT_OK;
}

void rt_chunk_pool_drop(rt_chunk_pool *self, uint32_t chunk) {
    if (--self->chunks[chunk].users == 0) {
        list_free(self, chunk);
    }
}

uint64_t rt_chunk_pool_copy_bytes(const rt_chunk_pool *self) {
    return (uint64_t)(self->count - self->home) * RT_CHUNK_BYTES;
}

uint64_t rt_chunk_pool_table_bytes(const rt_chunk_pool *self) {
    const uint64_t slabs = (self->count - self->home) / SLAB_CHUNKS;
    return self->capacity * sizeof *self->chunks + slabs * sizeof *self->slabs;
}

void rt_chunk_pool_destroy(rt_chunk_pool *self) {
    give_slabs_back(self);
    rt_free_lines(self->allocator, self->chunks);
    self->chunks = NULL;
}
