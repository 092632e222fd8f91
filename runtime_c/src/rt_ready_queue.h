/* Tasks that wait for a worker: two first-in-first-out lists a priority, linked through the tasks themselves.
 * Those in the front lane, whose sleep is over, go before all others of their priority.
 *
 * A lane of a level is a list of groups of up to RT_READY_QUEUE_GROUP tasks, and the first task of a group knows its
 * size and the next group. So whoever takes a batch under the lock touches one cache line a group, not one a
 * task: the lines were written by another core, and walking a list of them one by one would be most of the
 * critical section. No allocation, no locking: the scheduler's mutex guards it. */
#ifndef RT_READY_QUEUE_H
#define RT_READY_QUEUE_H

#include "rt_scheduler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RT_READY_QUEUE_WORDS (RT_SCHEDULER_LEVELS / 64u)
#define RT_READY_QUEUE_GROUP 16u

typedef enum rt_ready_lane { RT_READY_LANE, RT_READY_FRONT_LANE, RT_READY_LANES } rt_ready_lane;

/* `count` tasks of one priority, from `first` on along `next`. The last one's `next` may point anywhere. */
typedef struct rt_task_group {
    rt_task *first;
    uint32_t count;
    rt_ready_lane lane; /* where it was taken from, and is given back to */
} rt_task_group;

typedef struct rt_ready_level {
    rt_task
        *head; /* first task of the first group; NULL when the level is empty, and the others are undefined */
    rt_task *tail; /* first task of the last group */
    rt_task *last; /* last task of the last group */
} rt_ready_level;

typedef struct rt_ready_queue {
    uint64_t count;
    /* By lane; bit p % 64 of word p / 64: level p is not empty. */
    uint64_t occupied[RT_READY_LANES][RT_READY_QUEUE_WORDS];
    rt_ready_level levels[RT_READY_LANES][RT_SCHEDULER_LEVELS];
} rt_ready_queue;

/* An all-zero queue is empty. */
static inline void rt_ready_queue_init(rt_ready_queue *self) { *self = (rt_ready_queue){.count = 0}; }

/* Highest level that holds a task; 0 also when the queue is empty. */
static inline uint32_t rt_ready_queue_top(const rt_ready_queue *self) {
    for (uint32_t word = RT_READY_QUEUE_WORDS; word-- > 0;) {
        const uint64_t occupied =
            self->occupied[RT_READY_LANE][word] | self->occupied[RT_READY_FRONT_LANE][word];
        if (occupied != 0) {
            return word * 64u + 63u - (uint32_t)__builtin_clzll(occupied);
        }
    }
    return 0;
}

static inline void rt_ready_queue_occupy(rt_ready_queue *self, rt_ready_lane lane, uint32_t priority) {
    self->occupied[lane][priority / 64u] |= UINT64_C(1) << (priority % 64u);
}

/* Behind all tasks of its priority in this lane. */
static inline void rt_ready_queue_push(rt_ready_queue *self, rt_ready_lane lane, rt_task *task) {
    rt_ready_level *const level = &self->levels[lane][task->priority];
    if (level->head != NULL && level->tail->group_count < RT_READY_QUEUE_GROUP) {
        level->last->next = task;
        level->tail->group_count++;
    } else {
        task->group_count = 1;
        task->next_group = NULL;
        if (level->head == NULL) {
            level->head = task;
            rt_ready_queue_occupy(self, lane, task->priority);
        } else {
            level->tail->next_group = task;
        }
        level->tail = task;
    }
    level->last = task;
    self->count++;
}

/* Behind all tasks of its priority. */
static inline void rt_ready_queue_push_back(rt_ready_queue *self, rt_task *task) {
    rt_ready_queue_push(self, RT_READY_LANE, task);
}

/* Before all tasks of its priority and lane: for tasks that were taken and are given back. */
static inline void rt_ready_queue_push_front(rt_ready_queue *self, rt_task_group group) {
    rt_ready_level *const level = &self->levels[group.lane][group.first->priority];
    group.first->group_count = group.count;
    group.first->next_group = level->head;
    if (level->head == NULL) {
        rt_ready_queue_occupy(self, group.lane, group.first->priority);
        level->tail = group.first;
        level->last = group.first;
        for (uint32_t i = 1; i < group.count; i++) {
            level->last = level->last->next;
        }
    }
    level->head = group.first;
    self->count += group.count;
}

/* Cuts the first group of a level in two; `count` tasks stay in it. */
static inline void rt_ready_queue_split(rt_ready_level *level, uint32_t count) {
    rt_task *const first = level->head;
    rt_task *rest = first;
    for (uint32_t i = 0; i < count; i++) {
        rest = rest->next;
    }
    rest->group_count = first->group_count - count;
    rest->next_group = first->next_group;
    first->group_count = count;
    first->next_group = rest;
    level->tail = level->tail == first ? rest : level->tail;
}

/* Takes the first group of the highest level, or `limit` tasks of it. The queue is not empty. */
static inline rt_task_group rt_ready_queue_take_group(rt_ready_queue *self, uint32_t limit) {
    const uint32_t top = rt_ready_queue_top(self);
    const uint64_t bit = UINT64_C(1) << (top % 64u);
    const bool in_front = (self->occupied[RT_READY_FRONT_LANE][top / 64u] & bit) != 0;
    const rt_ready_lane lane = in_front ? RT_READY_FRONT_LANE : RT_READY_LANE;
    rt_ready_level *const level = &self->levels[lane][top];
    rt_task *const first = level->head;
    if (first->group_count > limit) {
        rt_ready_queue_split(level, limit);
    }
    const uint32_t count = (uint32_t)first->group_count;
    level->head = first->next_group;
    if (level->head == NULL) {
        self->occupied[lane][top / 64u] &= ~bit;
    }
    self->count -= count;
    return (rt_task_group){first, count, lane};
}

/* Takes up to `limit` tasks, highest priority first, each level in order. Fills at most `limit` groups, sets
 * *group_count and returns the number of tasks. */
static inline uint32_t rt_ready_queue_take(rt_ready_queue *self, uint32_t limit, rt_task_group *groups,
                                           uint32_t *group_count) {
    uint32_t taken = 0;
    *group_count = 0;
    while (taken < limit && self->count > 0) {
        groups[*group_count] = rt_ready_queue_take_group(self, limit - taken);
        taken += groups[(*group_count)++].count;
    }
    return taken;
}

#endif
