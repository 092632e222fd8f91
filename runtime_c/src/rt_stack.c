#include "rt_stack.h"

#include "rt_resident.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102 /* Linux 6.13 */
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

#define SLAB_BYTES (1u << 20) /* about as much address space at once; a larger stack has a slab of its own */
/* Guards that are pages: half of the mappings that a process has by default, for malloc and
 * threads need some. */
#define MOST_PAGE_GUARDS 16000u

/* Stacks that were mapped together: guard, stack, guard, stack, … Constant once it is in the list. */
typedef struct slab {
    struct slab *next;
    char *low;
    size_t bytes;
    uint32_t count;
    rt_stack stacks[];
} slab;

/* Idle stacks, the one given back last first. */
typedef struct stack_list {
    rt_stack *first;
    uint64_t count;
} stack_list;

struct rt_stack_pool {
    rt_allocator *allocator;
    size_t page_bytes;
    size_t stack_bytes;
    size_t stride; /* a stack and its guard */
    uint64_t page_guards;
    uint64_t max_idle;
    _Atomic(slab *) slabs; /* only ever grows in front: readable without the lock */
    pthread_mutex_t lock;
    stack_list warm; /* keep their pages */
    stack_list cold; /* were never used, or trimmed */
    enum { GUARDS_UNKNOWN, GUARDS_ARE_MARKERS, GUARDS_ARE_PAGES } guards;
};

static size_t rounded_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

static void push(stack_list *list, rt_stack *stack) {
    stack->next = list->first;
    list->first = stack;
    list->count++;
}

static rt_stack *pop(stack_list *list) {
    rt_stack *const stack = list->first;
    if (stack != NULL) {
        list->first = stack->next;
        list->count--;
    }
    return stack;
}

rt_status rt_stack_pool_create(rt_allocator *allocator, size_t stack_bytes, uint64_t max_idle,
                               rt_stack_pool **out) {
    *out = NULL;
    if (stack_bytes < RT_STACK_MIN_BYTES || stack_bytes > RT_STACK_MAX_BYTES) {
        return RT_INVALID;
    }
    rt_stack_pool *const self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return RT_NO_MEMORY;
    }
    self->allocator = allocator;
    self->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    self->stack_bytes = rounded_up(stack_bytes, self->page_bytes);
    self->stride = self->stack_bytes + rounded_up(RT_STACK_GUARD_BYTES, self->page_bytes);
    self->max_idle = max_idle;
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return RT_OK;
}

void rt_stack_pool_destroy(rt_stack_pool *self) {
    if (self == NULL) {
        return;
    }
    slab *one = atomic_load_explicit(&self->slabs, memory_order_acquire);
    while (one != NULL) {
        slab *const next = one->next;
        munmap(one->low, one->bytes);
        rt_free_lines(self->allocator, one);
        one = next;
    }
    pthread_mutex_destroy(&self->lock);
    rt_free(self->allocator, self);
}

size_t rt_stack_pool_stack_bytes(const rt_stack_pool *self) { return self->stack_bytes; }

/* ---- growing ---- */

static bool install_guard(rt_stack_pool *self, char *low) {
    const size_t bytes = self->stride - self->stack_bytes;
    if (self->guards != GUARDS_ARE_PAGES && madvise(low, bytes, MADV_GUARD_INSTALL) == 0) {
        /* An emulator says yes to any advice. A guard that is one cannot be populated. */
        if (self->guards == GUARDS_UNKNOWN && madvise(low, bytes, MADV_POPULATE_READ) != 0) {
            self->guards = GUARDS_ARE_MARKERS;
        }
        if (self->guards == GUARDS_ARE_MARKERS) {
            return true;
        }
    }
    self->guards = GUARDS_ARE_PAGES; /* an older kernel */
    return self->page_guards++ < MOST_PAGE_GUARDS && mprotect(low, bytes, PROT_NONE) == 0;
}

/* Memory of a slab with its guards, or NULL. */
static char *map_stacks(rt_stack_pool *self, uint32_t count) {
    const size_t bytes = count * self->stride;
    char *const low = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (low == MAP_FAILED) {
        return NULL;
    }
    madvise(low, bytes, MADV_NOHUGEPAGE); /* a stack of one touched page must not take 2 MiB */
    for (uint32_t i = 0; i < count; i++) {
        if (!install_guard(self, low + i * self->stride)) {
            munmap(low, bytes); /* the kernel's number of mappings is used up */
            return NULL;
        }
    }
    return low;
}

/* Adds a slab to the cold ones. Under the lock. */
static bool grow(rt_stack_pool *self) {
    const uint32_t count = self->stride >= SLAB_BYTES ? 1 : (uint32_t)(SLAB_BYTES / self->stride);
    const size_t bytes = sizeof(slab) + count * sizeof(rt_stack);
    slab *const fresh = rt_allocate_owned(self->allocator, RT_OWNER_STACKS, 1, bytes);
    char *const low = fresh == NULL ? NULL : map_stacks(self, count);
    if (low == NULL) {
        rt_free_lines(self->allocator, fresh);
        return false;
    }
    fresh->low = low;
    fresh->bytes = count * self->stride;
    fresh->count = count;
    fresh->next = atomic_load_explicit(&self->slabs, memory_order_relaxed);
    for (uint32_t i = count; i > 0; i--) {
        rt_stack *const stack = &fresh->stacks[i - 1];
        stack->low = low + i * self->stride - self->stack_bytes;
        stack->bytes = self->stack_bytes;
        push(&self->cold, stack);
    }
    atomic_store_explicit(&self->slabs, fresh, memory_order_release);
    return true;
}

/* ---- taking and giving ---- */

/* Under the lock. */
static rt_stack *take_any(rt_stack_pool *self) {
    rt_stack *stack = pop(&self->warm);
    if (stack == NULL && (self->cold.count > 0 || grow(self))) {
        stack = pop(&self->cold);
    }
    return stack;
}

rt_stack *rt_stack_pool_take(rt_stack_pool *self) {
    pthread_mutex_lock(&self->lock);
    rt_stack *const stack = take_any(self);
    pthread_mutex_unlock(&self->lock);
    if (stack != NULL) {
        atomic_store_explicit(&stack->live, true, memory_order_relaxed);
    }
    return stack;
}

static void return_pages(const rt_stack *stack) { madvise(stack->low, stack->bytes, MADV_DONTNEED); }

void rt_stack_pool_give(rt_stack_pool *self, rt_stack *stack) {
    atomic_store_explicit(&stack->live, false, memory_order_relaxed);
    pthread_mutex_lock(&self->lock);
    const bool keep = self->warm.count < self->max_idle;
    if (keep) {
        push(&self->warm, stack);
    }
    pthread_mutex_unlock(&self->lock);
    if (keep) {
        return;
    }
    return_pages(stack); /* a system call: not under the lock */
    pthread_mutex_lock(&self->lock);
    push(&self->cold, stack);
    pthread_mutex_unlock(&self->lock);
}

/* Cuts the list behind its first `keep` stacks and returns the rest. */
static rt_stack *cut(stack_list *list, uint64_t keep) {
    rt_stack **end = &list->first;
    for (uint64_t i = 0; i < keep && *end != NULL; i++) {
        end = &(*end)->next;
    }
    rt_stack *const rest = *end;
    *end = NULL;
    list->count = keep < list->count ? keep : list->count;
    return rest;
}

void rt_stack_pool_trim(rt_stack_pool *self, uint64_t keep) {
    pthread_mutex_lock(&self->lock);
    rt_stack *rest = cut(&self->warm, keep);
    pthread_mutex_unlock(&self->lock);
    while (rest != NULL) {
        rt_stack *const next = rest->next;
        return_pages(rest);
        pthread_mutex_lock(&self->lock);
        push(&self->cold, rest);
        pthread_mutex_unlock(&self->lock);
        rest = next;
    }
}

/* ---- looking ---- */

rt_stack *rt_stack_pool_guard_at(const rt_stack_pool *self, const void *address) {
    const uintptr_t place = (uintptr_t)address;
    for (slab *one = atomic_load_explicit(&self->slabs, memory_order_acquire); one != NULL; one = one->next) {
        const uintptr_t low = (uintptr_t)one->low;
        if (place >= low && place - low < one->bytes) {
            const size_t offset = (place - low) % self->stride;
            const bool in_guard = offset < self->stride - self->stack_bytes;
            return in_guard ? &one->stacks[(place - low) / self->stride] : NULL;
        }
    }
    return NULL;
}

void rt_stack_pool_account(const rt_stack_pool *self, rt_stack_bytes *out) {
    rt_resident pages;
    rt_resident_open(&pages);
    *out = (rt_stack_bytes){.record_bytes = sizeof *self};
    for (slab *one = atomic_load_explicit(&self->slabs, memory_order_acquire); one != NULL; one = one->next) {
        out->reserved_bytes += one->bytes;
        out->record_bytes += sizeof *one + one->count * sizeof one->stacks[0];
        for (uint32_t i = 0; i < one->count; i++) {
            out->committed_bytes += rt_resident_bytes(&pages, one->stacks[i].low, one->stacks[i].bytes);
            const bool live = atomic_load_explicit(&one->stacks[i].live, memory_order_relaxed);
            out->live += live;
            out->idle += !live;
        }
    }
    rt_resident_close(&pages);
}

/* ---- caches ---- */

rt_stack *rt_stack_cache_refill(rt_stack_cache *self, rt_stack_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    rt_stack *const stack = take_any(pool);
    /* The warmest was taken first; those that the cache gives out first must be warmer than the others. */
    rt_stack *more[RT_STACK_CACHE_SLOTS / 2];
    uint32_t count = 0;
    while (stack != NULL && count < RT_STACK_CACHE_SLOTS / 2 && pool->warm.count > 0) {
        more[count++] = pop(&pool->warm);
    }
    pthread_mutex_unlock(&pool->lock);
    while (count > 0) {
        self->stacks[self->count++] = more[--count];
    }
    if (stack != NULL) {
        atomic_store_explicit(&stack->live, true, memory_order_relaxed);
    }
    return stack;
}

void rt_stack_cache_spill(rt_stack_cache *self, rt_stack_pool *pool) {
    const uint32_t half = self->count / 2;
    for (uint32_t i = 0; i < half; i++) { /* the coldest are at the front */
        rt_stack_pool_give(pool, self->stacks[i]);
    }
    for (uint32_t i = half; i < self->count; i++) {
        self->stacks[i - half] = self->stacks[i];
    }
    self->count -= half;
}

void rt_stack_cache_empty(rt_stack_cache *self, rt_stack_pool *pool) {
    for (uint32_t i = 0; i < self->count; i++) {
        rt_stack_pool_give(pool, self->stacks[i]);
    }
    self->count = 0;
}
