#include "rt_task_pool.h"

#include <pthread.h>
#include <string.h>

/* A stack of pointers, not a list through the tasks: a taker needs no task's cache line before it writes
 * there. */
struct rt_task_pool {
    pthread_mutex_t lock;
    rt_allocator *allocator;
    rt_task *tasks;
    rt_task **returned;
    uint64_t returned_count;
    uint64_t fresh; /* tasks[fresh ..] were never taken */
    uint64_t count;
};

rt_status rt_task_pool_create(rt_allocator *allocator, uint64_t count, rt_task_pool **out) {
    *out = NULL;
    rt_task_pool *const self = rt_allocate(allocator, sizeof *self);
    rt_task *const tasks = rt_allocate_owned(allocator, RT_OWNER_TASKS, count, sizeof *tasks);
    rt_task **const returned = rt_allocate_owned(allocator, RT_OWNER_TASKS, count, sizeof *returned);
    if (self == NULL || tasks == NULL || returned == NULL) {
        rt_free_lines(allocator, returned);
        rt_free_lines(allocator, tasks);
        rt_free(allocator, self);
        return RT_NO_MEMORY;
    }
    pthread_mutex_init(&self->lock, NULL);
    self->allocator = allocator;
    self->tasks = tasks;
    self->returned = returned;
    self->count = count;
    *out = self;
    return RT_OK;
}

void rt_task_pool_destroy(rt_task_pool *self) {
    if (self != NULL) {
        pthread_mutex_destroy(&self->lock);
        rt_free_lines(self->allocator, self->returned);
        rt_free_lines(self->allocator, self->tasks);
        rt_free(self->allocator, self);
    }
}

size_t rt_task_pool_take(rt_task_pool *self, rt_task **tasks, size_t count) {
    size_t taken = 0;
    pthread_mutex_lock(&self->lock);
    while (taken < count && self->returned_count > 0) {
        tasks[taken++] = self->returned[--self->returned_count];
    }
    while (taken < count && self->fresh < self->count) {
        tasks[taken++] = &self->tasks[self->fresh++];
    }
    pthread_mutex_unlock(&self->lock);
    return taken;
}

void rt_task_pool_give(rt_task_pool *self, rt_task *const *tasks, size_t count) {
    pthread_mutex_lock(&self->lock);
    memcpy(self->returned + self->returned_count, tasks, count * sizeof *tasks);
    self->returned_count += count;
    pthread_mutex_unlock(&self->lock);
}

uint64_t rt_task_pool_bytes(const rt_task_pool *self) {
    return self->count * (sizeof *self->tasks + sizeof *self->returned);
}
