/* The event queue: slots ordered by (at_ns, sequence), each in it at most once.
 *
 * A ladder of three rungs. The bottom is a small heap of the present bucket; a ring of buckets holds the rest of
 * the present epoch, unsorted; later epochs are one list each, and what is beyond them one list more. Lists run
 * through the slots, so that an event costs no memory of its own. The width of a bucket follows the pending
 * events. The order of the pops depends on the keys alone, never on the widths. */
#ifndef RT_SIM_QUEUE_H
#define RT_SIM_QUEUE_H

#include <stddef.h>

#include "rt_allocator.h"
#include "rt_sim_slot.h"
#include "rt_status.h"

#define RT_SIM_QUEUE_EPOCHS 64u

typedef struct rt_sim_queue_entry {
    uint64_t at_ns;
    uint64_t sequence;
    uint32_t slot;
} rt_sim_queue_entry;

/* Private but for `count`, and for `slots` and `entries`, which may be set after rt_sim_queue_init: what the links
 * belong to is then fetched ahead of its events. */
typedef struct rt_sim_queue {
    rt_sim_link *links;
    const rt_sim_slot *slots;
    const rt_sim_entry *entries;
    rt_allocator *allocator;
    uint64_t count;
    uint64_t sequence;          /* of the next push */
    rt_sim_queue_entry *bottom; /* heap */
    size_t bottom_count, bottom_room;
    uint32_t *buckets;    /* heads */
    uint64_t *filled;     /* one bit a bucket */
    unsigned shift, bits; /* width of a bucket and number of buckets, as powers of 2 */
    uint64_t present;     /* number of the bucket in the bottom: at_ns >> shift */
    uint32_t epochs[RT_SIM_QUEUE_EPOCHS];
    uint64_t in_buckets, in_epochs;
    uint32_t beyond;
    uint64_t beyond_ns;                                 /* no event in `beyond` is earlier */
    uint64_t opened, opened_events, far_pushes, pushes; /* since the widths were chosen */
} rt_sim_queue;

/* The array may hold more than the queue does; the pointer must stay. RT_NO_MEMORY leaves nothing behind. */
rt_status rt_sim_queue_init(rt_sim_queue *self, rt_sim_link *links, rt_allocator *allocator);
void rt_sim_queue_reset(rt_sim_queue *self);

/* Plans slot's event at at_ns, which is not before the last pop. RT_NO_MEMORY: it was not planned. */
rt_status rt_sim_queue_push(rt_sim_queue *self, uint32_t slot, uint64_t at_ns);

/* Takes the earliest event out; RT_SIM_NO_SLOT when there is none or *status is RT_NO_MEMORY. */
uint32_t rt_sim_queue_pop(rt_sim_queue *self, rt_status *status);

#endif
