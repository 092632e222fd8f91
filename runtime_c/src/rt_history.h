/* The last finished tasks with their outputs, bounded by count and by bytes.
 *
 * Entries are allocated once and only change hands: a worker fills a spare entry while it runs a task, and
 * putting it into the history swaps it for the entry that falls out. No locking: the scheduler's mutex
 * guards it. */
#ifndef RT_HISTORY_H
#define RT_HISTORY_H

#include "rt_allocator.h"
#include "rt_scheduler.h"
#include "rt_status.h"

#include <stdint.h>

typedef struct rt_history_entry {
    rt_task_record record;
    uint8_t output[]; /* output_capacity_bytes of room; record.output_bytes are used */
} rt_history_entry;

/* Entries go by number and their cost stands beside it: eight slots a cache line, and dropping an entry need
 * not fetch what another core wrote. */
typedef struct rt_history_slot {
    uint32_t entry;
    uint32_t cost_bytes;
} rt_history_slot;

typedef struct rt_history {
    rt_history_slot *ring; /* `slots` of them; the `count` retained entries start at `oldest` */
    uint64_t slots;        /* what both limits allow at most */
    uint64_t oldest;
    uint64_t count;
    uint64_t bytes; /* of the retained tasks */
    uint64_t limit_bytes;
    uint64_t oversized; /* tasks that were not kept because they alone exceed the byte limit */
    uint64_t entry_bytes;
    uint8_t *entries; /* those of the slots at the start, then the spares */
    uint64_t allocated_bytes;
} rt_history;

/* Allocates all entries: as many as the limits allow to retain, and `spares` more that
 * rt_history_spare hands out. RT_NO_MEMORY: nothing is kept. */
rt_status rt_history_init(rt_history *self, rt_allocator *allocator, uint64_t limit_tasks,
                          uint64_t limit_bytes, uint32_t output_capacity_bytes, uint32_t spares);
void rt_history_reset(rt_history *self, rt_allocator *allocator);

/* Number of the index-th spare entry, index < spares; asked for once each. */
uint32_t rt_history_spare(const rt_history *self, uint32_t index);

static inline rt_history_entry *rt_history_entry_of(const rt_history *self, uint32_t entry) {
    return (rt_history_entry *)(void *)(self->entries + entry * self->entry_bytes);
}

/* The index-th retained entry, 0 the oldest; index < count. */
const rt_history_entry *rt_history_at(const rt_history *self, uint64_t index);

static inline uint32_t rt_history_cost_bytes(const rt_history_entry *entry) {
    return (uint32_t)sizeof(rt_task_record) + entry->record.output_bytes;
}

/* Drops the oldest entry; its memory stays in its slot as a spare. */
static inline void rt_history_drop_oldest(rt_history *self) {
    self->bytes -= self->ring[self->oldest].cost_bytes;
    self->oldest = self->oldest + 1 == self->slots ? 0 : self->oldest + 1;
    self->count--;
}

/* Retains *entry, drops the oldest ones until both limits hold, and sets *entry to a free one instead. An
 * entry that exceeds the byte limit alone is not retained, and does not push others out. */
static inline void rt_history_put(rt_history *self, uint32_t *entry) {
    const uint32_t cost_bytes = rt_history_cost_bytes(rt_history_entry_of(self, *entry));
    if (cost_bytes > self->limit_bytes || self->slots == 0) {
        self->oversized += cost_bytes > self->limit_bytes;
        return;
    }
    while (self->count == self->slots || self->bytes + cost_bytes > self->limit_bytes) {
        rt_history_drop_oldest(self);
    }
    uint64_t slot = self->oldest + self->count;
    slot = slot >= self->slots ? slot - self->slots : slot;
    const uint32_t spare = self->ring[slot].entry;
    self->ring[slot] = (rt_history_slot){*entry, cost_bytes};
    *entry = spare;
    self->count++;
    self->bytes += cost_bytes;
}

#endif
