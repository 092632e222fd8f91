/* Stacks for coroutines: made once, kept in LIFO order, a guard below each.
 *
 * Address space is taken a slab at a time, so that many stacks are one mapping of the kernel (which allows
 * 65,530 of them by default). A guard is a marker in the page table where the kernel has MADV_GUARD_INSTALL
 * (Linux 6.13); elsewhere it is a page without access, which costs two mappings a stack and ends the growth
 * at 16,000 of them. A stack takes RAM for the pages that were touched, and keeps them when it is given
 * back: only a trim returns them. */
#ifndef RT_STACK_H
#define RT_STACK_H

#include "rt_allocator.h"
#include "rt_status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RT_STACK_MIN_BYTES 16384u
#define RT_STACK_MAX_BYTES 8388608u
/* Below each stack. A larger frame cannot step over it: code built with -fstack-clash-protection touches a
 * frame at least every 4 KiB (on AArch64 every 64 KiB) on its way. Other code can. */
#if defined(__aarch64__)
#define RT_STACK_GUARD_BYTES 65536u
#else
#define RT_STACK_GUARD_BYTES 16384u
#endif
#define RT_STACK_CACHE_SLOTS 16u

typedef struct rt_stack_pool rt_stack_pool;

/* A stack; whoever took it may use [low, low + bytes). */
typedef struct rt_stack {
    char *low; /* lowest usable byte, on a page; the guard ends here */
    size_t bytes;
    struct rt_stack *next; /* private to the pool while idle; the holder's own otherwise */
    _Atomic bool live;     /* private: taken and not given back */
} rt_stack;

/* Makes an empty pool. stack_bytes is rounded up to whole pages. At most max_idle idle stacks keep their
 * pages. RT_INVALID: stack_bytes is outside its range; RT_NO_MEMORY. *out is NULL unless RT_OK. */
rt_status rt_stack_pool_create(rt_allocator *allocator, size_t stack_bytes, uint64_t max_idle,
                               rt_stack_pool **out);

/* Unmaps all stacks, also those that are live. No other call may be in progress. NULL is allowed. */
void rt_stack_pool_destroy(rt_stack_pool *self);

/* The stack that was given back last, or a new one; NULL when there is no memory or the kernel maps no more.
 * The content is undefined. From any thread; under a lock of the pool. */
rt_stack *rt_stack_pool_take(rt_stack_pool *self);

/* Gives a stack back; nothing may run on it any more. With max_idle idle ones already its pages are returned
 * to the kernel. From any thread. */
void rt_stack_pool_give(rt_stack_pool *self, rt_stack *stack);

/* Returns the pages of all idle stacks beyond `keep` to the kernel; their address space stays. */
void rt_stack_pool_trim(rt_stack_pool *self, uint64_t keep);

/* The stack whose guard holds this address, or NULL. Takes no lock: safe in a signal handler. */
rt_stack *rt_stack_pool_guard_at(const rt_stack_pool *self, const void *address);

/* Bytes of a stack, rounded; constant. */
size_t rt_stack_pool_stack_bytes(const rt_stack_pool *self);

typedef struct rt_stack_bytes {
    uint64_t reserved_bytes;  /* address space, guards included */
    uint64_t committed_bytes; /* pages of the stacks that are in RAM now */
    uint64_t record_bytes;    /* the pool's own records, allocated */
    uint64_t live, idle;      /* stacks taken; stacks at rest, those in caches included */
} rt_stack_bytes;

/* Looks through all pages: about 1 ms for each 1,000 stacks. Exact while nobody takes or gives. */
void rt_stack_pool_account(const rt_stack_pool *self, rt_stack_bytes *out);

/* ---- one thread's handful of stacks: no lock on the way ---- */

/* Belongs to one thread at a time. Zeroed is empty. A stack may come from another thread's cache. */
typedef struct rt_stack_cache {
    uint32_t count;
    rt_stack *stacks[RT_STACK_CACHE_SLOTS];
} rt_stack_cache;

/* Private: the slow halves. */
rt_stack *rt_stack_cache_refill(rt_stack_cache *self, rt_stack_pool *pool);
void rt_stack_cache_spill(rt_stack_cache *self, rt_stack_pool *pool);

/* As rt_stack_pool_take, from the cache while it holds any. */
static inline rt_stack *rt_stack_cache_take(rt_stack_cache *self, rt_stack_pool *pool) {
    if (self->count == 0) {
        return rt_stack_cache_refill(self, pool);
    }
    rt_stack *const stack = self->stacks[--self->count];
    atomic_store_explicit(&stack->live, true, memory_order_relaxed);
    return stack;
}

/* As rt_stack_pool_give, into the cache; half of a full one goes to the pool. */
static inline void rt_stack_cache_give(rt_stack_cache *self, rt_stack_pool *pool, rt_stack *stack) {
    if (self->count == RT_STACK_CACHE_SLOTS) {
        rt_stack_cache_spill(self, pool);
    }
    atomic_store_explicit(&stack->live, false, memory_order_relaxed);
    self->stacks[self->count++] = stack;
}

/* Gives all of it to the pool: before the thread ends. */
void rt_stack_cache_empty(rt_stack_cache *self, rt_stack_pool *pool);

#endif
