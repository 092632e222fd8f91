/* Tasks that wait for a worker: one first-in-first-out list a priority, linked through the tasks themselves.
 *
 * No allocation, no locking: the scheduler's mutex guards it. A bitmap of non-empty levels finds the
 * highest one in four word tests. */
#ifndef RT_READY_QUEUE_H
#define RT_READY_QUEUE_H

#include "rt_scheduler.h"

#include <stddef.h>
#include <stdint.h>

#define RT_READY_QUEUE_WORDS (RT_SCHEDULER_LEVELS / 64u)

typedef struct rt_ready_level {
    rt_task *head;
    rt_task *tail; /* undefined while head is NULL */
} rt_ready_level;

typedef struct rt_ready_queue {
    uint64_t count;
    uint64_t occupied[RT_READY_QUEUE_WORDS]; /* bit p % 64 of word p / 64: level p is not empty */
    rt_ready_level levels[RT_SCHEDULER_LEVELS];
} rt_ready_queue;

/* An all-zero queue is empty. */
static inline void rt_ready_queue_init(rt_ready_queue *self) { *self = (rt_ready_queue){.count = 0}; }

/* Highest level that holds a task; 0 also when the queue is empty. */
static inline uint32_t rt_ready_queue_top(const rt_ready_queue *self) {
    for (uint32_t word = RT_READY_QUEUE_WORDS; word-- > 0;) {
        if (self->occupied[word] != 0) {
            return word * 64u + 63u - (uint32_t)__builtin_clzll(self->occupied[word]);
        }
    }
    return 0;
}

/* Behind all tasks of its priority. */
static inline void rt_ready_queue_push_back(rt_ready_queue *self, rt_task *task) {
    rt_ready_level *const level = &self->levels[task->priority];
    task->next = NULL;
    if (level->head == NULL) {
        level->head = task;
        self->occupied[task->priority / 64u] |= UINT64_C(1) << (task->priority % 64u);
    } else {
        level->tail->next = task;
    }
    level->tail = task;
    self->count++;
}

/* Before all tasks of its priority: for tasks that were taken and are given back. */
static inline void rt_ready_queue_push_front(rt_ready_queue *self, rt_task *task) {
    rt_ready_level *const level = &self->levels[task->priority];
    task->next = level->head;
    if (level->head == NULL) {
        level->tail = task;
        self->occupied[task->priority / 64u] |= UINT64_C(1) << (task->priority % 64u);
    }
    level->head = task;
    self->count++;
}

/* Takes up to `limit` tasks, highest priority first, each level in order; returns how many. */
static inline uint32_t rt_ready_queue_take(rt_ready_queue *self, rt_task **tasks, uint32_t limit) {
    uint32_t taken = 0;
    while (taken < limit && self->count > 0) {
        const uint32_t top = rt_ready_queue_top(self);
        rt_ready_level *const level = &self->levels[top];
        rt_task *task = level->head;
        while (taken < limit && task != NULL) {
            tasks[taken++] = task;
            task = task->next;
            self->count--;
        }
        level->head = task;
        if (task == NULL) {
            self->occupied[top / 64u] &= ~(UINT64_C(1) << (top % 64u));
        }
    }
    return taken;
}

#endif
