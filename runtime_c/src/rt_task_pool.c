#include "rt_task_pool.h"

#include <pthread.h>
#include <stdbool.h>

/* Tasks and places of one slab; a pool that needs no more has a single one of its exact size. */
#define SLAB_TASKS 32768u

/* Free tasks stand in a stack of pointers, not in a list through the tasks: a taker needs no task's cache line
 * before it writes there. The stack is cut like the tasks, since it holds as many at most. */
struct rt_task_pool {
    pthread_mutex_t lock;
    rt_allocator *allocator;
    rt_task **tasks;     /* slabs */
    rt_task ***returned; /* slabs of the stack of free tasks */
    uint64_t returned_count;
    uint64_t fresh;     /* of the allocated ones, from here on none was ever taken */
    uint64_t allocated; /* in whole slabs, up to `count` */
    uint64_t count;
};

static uint64_t slabs_for(uint64_t count) { return (count + SLAB_TASKS - 1) / SLAB_TASKS; }

/* Allocates the next slab. false: no memory, and nothing changed. */
static bool grow(rt_task_pool *self) {
    const uint64_t slab = self->allocated / SLAB_TASKS;
    const uint64_t left = self->count - self->allocated;
    const uint64_t tasks = left < SLAB_TASKS ? left : SLAB_TASKS;
    self->tasks[slab] = rt_allocate_owned(self->allocator, RT_OWNER_TASKS, tasks, sizeof(rt_task));
    self->returned[slab] = rt_allocate_owned(self->allocator, RT_OWNER_TASKS, tasks, sizeof(rt_task *));
    if (self->tasks[slab] == NULL || self->returned[slab] == NULL) {
        rt_free_lines(self->allocator, self->tasks[slab]);
        rt_free_lines(self->allocator, self->returned[slab]);
        self->tasks[slab] = NULL;
        self->returned[slab] = NULL;
        return false;
    }
    self->allocated += tasks;
    return true;
}

static bool allocate(rt_task_pool *self) {
    const uint64_t slabs = slabs_for(self->count);
    self->tasks = rt_allocate_owned(self->allocator, RT_OWNER_TASKS, slabs, sizeof *self->tasks);
    self->returned = rt_allocate_owned(self->allocator, RT_OWNER_TASKS, slabs, sizeof *self->returned);
    return self->tasks != NULL && self->returned != NULL && grow(self);
}

rt_status rt_task_pool_create(rt_allocator *allocator, uint64_t count, rt_task_pool **out) {
    *out = NULL;
    rt_task_pool *const self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return RT_NO_MEMORY;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->allocator = allocator;
    self->count = count;
    if (!allocate(self)) {
        rt_task_pool_destroy(self);
        return RT_NO_MEMORY;
    }
    *out = self;
    return RT_OK;
}

void rt_task_pool_destroy(rt_task_pool *self) {
    if (self == NULL) {
        return;
    }
    for (uint64_t slab = 0; slab < slabs_for(self->allocated); slab++) {
        rt_free_lines(self->allocator, self->returned[slab]);
        rt_free_lines(self->allocator, self->tasks[slab]);
    }
    rt_free_lines(self->allocator, self->returned);
    rt_free_lines(self->allocator, self->tasks);
    pthread_mutex_destroy(&self->lock);
    rt_free(self->allocator, self);
}

static rt_task **place(const rt_task_pool *self, uint64_t index) {
    return &self->returned[index / SLAB_TASKS][index % SLAB_TASKS];
}

size_t rt_task_pool_take(rt_task_pool *self, rt_task **tasks, size_t count) {
    size_t taken = 0;
    pthread_mutex_lock(&self->lock);
    while (taken < count && self->returned_count > 0) {
        tasks[taken++] = *place(self, --self->returned_count);
    }
    while (taken < count && (self->fresh < self->allocated || (self->fresh < self->count && grow(self)))) {
        tasks[taken++] = &self->tasks[self->fresh / SLAB_TASKS][self->fresh % SLAB_TASKS];
        self->fresh++;
    }
    pthread_mutex_unlock(&self->lock);
    return taken;
}

void rt_task_pool_give(rt_task_pool *self, rt_task *const *tasks, size_t count) {
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < count; i++) {
        *place(self, self->returned_count++) = tasks[i];
    }
    pthread_mutex_unlock(&self->lock);
}

uint64_t rt_task_pool_bytes(const rt_task_pool *self) {
    return self->allocated * (sizeof(rt_task) + sizeof(rt_task *)) +
           slabs_for(self->count) * (sizeof *self->tasks + sizeof *self->returned);
}
