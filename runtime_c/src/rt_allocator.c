#include "rt_allocator.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "rt_resident.h"

/* Stands in the cache line in front of what rt_allocate_lines returns. */
typedef struct rt_allocator_block {
    void *start; /* what malloc gave */
    size_t bytes;
    rt_owner owner;
    bool listed;
    struct rt_allocator_block *previous, *next;
} rt_allocator_block;

_Static_assert(sizeof(rt_allocator_block) <= RT_LINE_BYTES, "the block's head must fit in front of it");

static const char *const owner_names[RT_OWNERS] = {
    [RT_OWNER_RUNTIME] = "runtime",       [RT_OWNER_CONTEXT] = "context",
    [RT_OWNER_TASKS] = "task",            [RT_OWNER_STACKS] = "stack",
    [RT_OWNER_HISTORY] = "history",       [RT_OWNER_VERIFICATION] = "verification",
    [RT_OWNER_AUXILIARY] = "auxiliary",   [RT_OWNER_HISTOGRAMS] = "histogram",
    [RT_OWNER_SAMPLER] = "sampler",
};

const char *rt_owner_name(rt_owner owner) { return owner_names[owner]; }

void rt_allocator_init(rt_allocator *self, uint64_t fail_at) {
    rt_allocator_init_part(self, NULL, RT_OWNER_RUNTIME);
    self->fail_at = fail_at;
}

void rt_allocator_init_part(rt_allocator *self, rt_allocator *parent, rt_owner owner) {
    atomic_init(&self->allocations, 0);
    atomic_init(&self->allocated_bytes, 0);
    atomic_init(&self->live_objects, 0);
    atomic_init(&self->attempts, 0);
    for (unsigned i = 0; i < RT_OWNERS; i++) {
        atomic_init(&self->small_bytes[i], 0);
    }
    self->fail_at = 0;
    self->parent = parent;
    self->owner = owner;
    self->pid = getpid();
    self->blocks = NULL;
    pthread_mutex_init(&self->lock, NULL);
}

static rt_allocator *root_of(rt_allocator *self) { return self->parent != NULL ? self->parent : self; }

static bool may_allocate(rt_allocator *self) {
    const uint64_t attempt = atomic_fetch_add_explicit(&self->attempts, 1, memory_order_relaxed) + 1;
    return self->fail_at == 0 || attempt < self->fail_at;
}

static void count_one(rt_allocator *self, size_t bytes) {
    atomic_fetch_add_explicit(&self->allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->allocated_bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&self->live_objects, 1, memory_order_relaxed);
}

static void uncount_one(rt_allocator *self) {
    atomic_fetch_sub_explicit(&self->live_objects, 1, memory_order_relaxed);
}

/* ---- small objects ---- */

/* What malloc takes for it: its own word in front, and the rounding. */
static uint64_t taken_bytes(void *memory) { return malloc_usable_size(memory) + sizeof(size_t); }

void *rt_allocate(rt_allocator *self, size_t bytes) { return rt_allocate_array(self, 1, bytes); }

void *rt_allocate_array(rt_allocator *self, size_t count, size_t bytes) {
    rt_allocator *const root = root_of(self);
    size_t total;
    if (!may_allocate(root) || __builtin_mul_overflow(count, bytes, &total) || total == 0) {
        return NULL;
    }
    void *const memory = calloc(1, total);
    if (memory != NULL) {
        count_one(root, total);
        atomic_fetch_add_explicit(&root->small_bytes[self->owner], taken_bytes(memory), memory_order_relaxed);
    }
    return memory;
}

void rt_free(rt_allocator *self, void *memory) {
    rt_allocator *const root = root_of(self);
    if (memory != NULL) {
        uncount_one(root);
        atomic_fetch_sub_explicit(&root->small_bytes[self->owner], taken_bytes(memory), memory_order_relaxed);
        free(memory);
    }
}

/* ---- blocks ---- */

static bool may_list(const rt_allocator *self) { return self->pid == getpid(); }

static void list(rt_allocator *self, rt_allocator_block *block) {
    if (!may_list(self)) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    block->listed = true;
    block->next = self->blocks;
    if (block->next != NULL) {
        block->next->previous = block;
    }
    self->blocks = block;
    pthread_mutex_unlock(&self->lock);
}

static void unlist(rt_allocator *self, rt_allocator_block *block) {
    if (!block->listed || !may_list(self)) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        self->blocks = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    pthread_mutex_unlock(&self->lock);
}

/* calloc leaves fresh pages untouched, which aligned_alloc + memset would not; so the block is aligned by
 * hand and its head stands in the line in front of it. */
void *rt_allocate_owned(rt_allocator *self, rt_owner owner, size_t count, size_t bytes) {
    rt_allocator *const root = root_of(self);
    size_t total;
    if (!may_allocate(root) || __builtin_mul_overflow(count, bytes, &total) || total == 0 ||
        total > SIZE_MAX - 2u * RT_LINE_BYTES) {
        return NULL;
    }
    char *const start = calloc(1, total + 2u * RT_LINE_BYTES);
    if (start == NULL) {
        return NULL;
    }
    count_one(root, total);
    char *const lines = start + 2u * RT_LINE_BYTES - (uintptr_t)start % RT_LINE_BYTES;
    rt_allocator_block *const block = (rt_allocator_block *)(void *)(lines - RT_LINE_BYTES);
    *block = (rt_allocator_block){
        .start = start, .bytes = total, .owner = self->parent != NULL ? self->owner : owner};
    list(root, block);
    return lines;
}

void *rt_allocate_lines(rt_allocator *self, size_t count, size_t bytes) {
    return rt_allocate_owned(self, self->owner, count, bytes);
}

void rt_free_lines(rt_allocator *self, void *memory) {
    if (memory != NULL) {
        rt_allocator_block *const block = (rt_allocator_block *)(void *)((char *)memory - RT_LINE_BYTES);
        unlist(root_of(self), block);
        uncount_one(root_of(self));
        free(block->start);
    }
}

/* ---- the account ---- */

rt_account rt_allocator_account(rt_allocator *self, rt_owner owner) {
    rt_allocator *const root = root_of(self);
    const uint64_t small_bytes = atomic_load_explicit(&root->small_bytes[owner], memory_order_relaxed);
    rt_account account = {small_bytes, small_bytes};
    if (!may_list(root)) {
        return account;
    }
    rt_resident pages;
    rt_resident_open(&pages);
    pthread_mutex_lock(&root->lock);
    for (const rt_allocator_block *block = root->blocks; block != NULL; block = block->next) {
        if (block->owner == owner) {
            account.allocated_bytes += block->bytes;
            account.resident_bytes +=
                rt_resident_bytes(&pages, block, block->bytes + RT_LINE_BYTES);
        }
    }
    pthread_mutex_unlock(&root->lock);
    rt_resident_close(&pages);
    return account;
}
