/* Tasks that wait for a moment: a pairing heap through their own records, so that it takes no memory and cannot
 * fail. Adding is O(1), taking the first and removing any are O(log n) on average. Of equal moments the one
 * added first comes first. No locking: the scheduler's mutex guards it. */
#ifndef RT_SLEEPERS_H
#define RT_SLEEPERS_H

#include <stddef.h>
#include <stdint.h>

typedef struct rt_sleeper {
    uint64_t wake_ns;
    uint64_t order; /* set by rt_sleepers_add */
    struct rt_sleeper *child, *next;
    struct rt_sleeper *previous; /* the sibling before, or the parent of a first child */
} rt_sleeper;

/* All zero is empty. */
typedef struct rt_sleepers {
    rt_sleeper *first; /* NULL when empty */
    uint64_t count;
    uint64_t added; /* ever */
} rt_sleepers;

/* When the first one is due; UINT64_MAX when there is none. */
static inline uint64_t rt_sleepers_next_ns(const rt_sleepers *self) {
    return self->first == NULL ? UINT64_MAX : self->first->wake_ns;
}

static inline int rt_sleeper_is_before(const rt_sleeper *a, const rt_sleeper *b) {
    return a->wake_ns != b->wake_ns ? a->wake_ns < b->wake_ns : a->order < b->order;
}

/* Makes one tree of two; either may be NULL. Siblings of the two are left alone. */
static inline rt_sleeper *rt_sleepers_meld(rt_sleeper *a, rt_sleeper *b) {
    if (a == NULL || b == NULL) {
        return a == NULL ? b : a;
    }
    rt_sleeper *const parent = rt_sleeper_is_before(b, a) ? b : a;
    rt_sleeper *const child = parent == a ? b : a;
    child->next = parent->child;
    child->previous = parent;
    if (child->next != NULL) {
        child->next->previous = child;
    }
    parent->child = child;
    parent->next = NULL;
    parent->previous = NULL;
    return parent;
}

/* Makes one tree of a list of siblings: pairs from the left, then all pairs from the right. */
static inline rt_sleeper *rt_sleepers_gather(rt_sleeper *siblings) {
    rt_sleeper *pairs = NULL; /* the last pair first, linked by `next` */
    while (siblings != NULL) {
        rt_sleeper *const a = siblings;
        rt_sleeper *const b = a->next;
        siblings = b == NULL ? NULL : b->next;
        rt_sleeper *const pair = rt_sleepers_meld(a, b);
        pair->next = pairs;
        pairs = pair;
    }
    rt_sleeper *tree = NULL;
    while (pairs != NULL) {
        rt_sleeper *const pair = pairs;
        pairs = pair->next;
        pair->next = NULL;
        pair->previous = NULL;
        tree = rt_sleepers_meld(tree, pair);
    }
    return tree;
}

/* Adds one with its wake_ns set. */
static inline void rt_sleepers_add(rt_sleepers *self, rt_sleeper *sleeper) {
    sleeper->order = self->added++;
    sleeper->child = NULL;
    sleeper->next = NULL;
    sleeper->previous = NULL;
    self->first = rt_sleepers_meld(self->first, sleeper);
    self->count++;
}

/* Removes one that is in it. */
static inline void rt_sleepers_remove(rt_sleepers *self, rt_sleeper *sleeper) {
    rt_sleeper *const orphans = rt_sleepers_gather(sleeper->child);
    self->count--;
    if (sleeper == self->first) {
        self->first = orphans;
        return;
    }
    if (sleeper->previous->child == sleeper) {
        sleeper->previous->child = sleeper->next;
    } else {
        sleeper->previous->next = sleeper->next;
    }
    if (sleeper->next != NULL) {
        sleeper->next->previous = sleeper->previous;
    }
    self->first = rt_sleepers_meld(self->first, orphans);
}

#endif
