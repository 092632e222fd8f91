/* Task objects that go round: taken by the submitter, given back by the workers a batch at a time. */
#ifndef RT_TASK_POOL_H
#define RT_TASK_POOL_H

#include "rt_allocator.h"
#include "rt_scheduler.h"
#include "rt_status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rt_task_pool rt_task_pool;

/* Room for `count` (>= 1) tasks, allocated some ten thousand at a time when they are first taken; their pages are
 * touched only then. RT_NO_MEMORY: nothing is kept. */
rt_status rt_task_pool_create(rt_allocator *allocator, uint64_t count, rt_task_pool **out);
void rt_task_pool_destroy(rt_task_pool *self); /* NULL is allowed; no task may be in use elsewhere */

/* Takes up to `count` tasks, the last given back first since they are still in a cache; returns how many: fewer
 * when the room is used up, or when there is no memory for more. */
size_t rt_task_pool_take(rt_task_pool *self, rt_task **tasks, size_t count);
void rt_task_pool_give(rt_task_pool *self, rt_task *const *tasks, size_t count);

/* Bytes allocated for tasks and the list of free ones so far. Only while nobody takes. */
uint64_t rt_task_pool_bytes(const rt_task_pool *self);

#endif
