#include "rt_allocator.h"

#include <stdbool.h>
#include <stdlib.h>

void rt_allocator_init(rt_allocator *self, uint64_t fail_at) {
    atomic_init(&self->allocations, 0);
    atomic_init(&self->allocated_bytes, 0);
    atomic_init(&self->live_objects, 0);
    atomic_init(&self->attempts, 0);
    self->fail_at = fail_at;
}

static bool may_allocate(rt_allocator *self) {
    const uint64_t attempt = atomic_fetch_add_explicit(&self->attempts, 1, memory_order_relaxed) + 1;
    return self->fail_at == 0 || attempt < self->fail_at;
}

static void count_one(rt_allocator *self, size_t bytes) {
    atomic_fetch_add_explicit(&self->allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->allocated_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->live_objects, 1, memory_order_relaxed);
}

void *rt_allocate(rt_allocator *self, size_t bytes) { return rt_allocate_array(self, 1, bytes); }

void *rt_allocate_array(rt_allocator *self, size_t count, size_t bytes) {
    size_t total;
    if (!may_allocate(self) || __builtin_mul_overflow(count, bytes, &total) || total == 0) {
        return NULL;
    }
    void *const memory = calloc(1, total);
    if (memory != NULL) {
        count_one(self, total);
    }
    return memory;
}

void rt_free(rt_allocator *self, void *memory) {
    if (memory != NULL) {
        atomic_fetch_sub_explicit(&self->live_objects, 1, memory_order_relaxed);
        free(memory);
    }
}

/* calloc leaves fresh pages untouched, which aligned_alloc + memset would not; so the block is aligned by
 * hand and the address to free stands in front of it. */
void *rt_allocate_lines(rt_allocator *self, size_t count, size_t bytes) {
    size_t total;
    if (!may_allocate(self) || __builtin_mul_overflow(count, bytes, &total) || total == 0 ||
        total > SIZE_MAX - RT_LINE_BYTES) {
        return NULL;
    }
    char *const block = calloc(1, total + RT_LINE_BYTES);
    if (block == NULL) {
        return NULL;
    }
    count_one(self, total);
    const size_t ahead = RT_LINE_BYTES - (uintptr_t)block % RT_LINE_BYTES;
    void **const lines = (void **)(void *)(block + ahead);
    lines[-1] = block;
    return lines;
}

void rt_free_lines(rt_allocator *self, void *memory) {
    if (memory != NULL) {
        rt_free(self, ((void **)memory)[-1]);
    }
}
