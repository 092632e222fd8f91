#include "rt_history.h"

#include <string.h>

static uint64_t slots_for(uint64_t limit_tasks, uint64_t limit_bytes) {
    const uint64_t by_bytes = limit_bytes / sizeof(rt_task_record);
    return limit_tasks < by_bytes ? limit_tasks : by_bytes;
}

rt_status rt_history_init(rt_history *self, rt_allocator *allocator, uint64_t limit_tasks,
                          uint64_t limit_bytes, uint32_t output_capacity_bytes, uint32_t spares) {
    const uint64_t slots = slots_for(limit_tasks, limit_bytes);
    const uint64_t used_bytes = sizeof(rt_history_entry) + output_capacity_bytes;
    *self = (rt_history){.slots = slots,
                         .limit_bytes = limit_bytes,
                         .entry_bytes = (used_bytes + RT_LINE_BYTES - 1) / RT_LINE_BYTES * RT_LINE_BYTES};
    if (slots > UINT32_MAX - spares) {
        return RT_NO_MEMORY; /* entries are numbered in 32 bits */
    }
    self->entries = rt_allocate_owned(allocator, RT_OWNER_HISTORY, slots + spares, self->entry_bytes);
    self->ring = self->entries == NULL
                     ? NULL
                     : rt_allocate_owned(allocator, RT_OWNER_HISTORY, slots + 1, sizeof *self->ring);
    if (self->ring == NULL) {
        rt_history_reset(self, allocator);
        return RT_NO_MEMORY;
    }
    for (uint64_t i = 0; i < slots; i++) {
        self->ring[i].entry = (uint32_t)i;
    }
    self->allocated_bytes = (slots + spares) * self->entry_bytes + (slots + 1) * sizeof *self->ring;
    return RT_OK;
}

void rt_history_reset(rt_history *self, rt_allocator *allocator) {
    rt_free_lines(allocator, self->entries);
    rt_free_lines(allocator, self->ring);
    memset(self, 0, sizeof *self);
}

uint32_t rt_history_spare(const rt_history *self, uint32_t index) { return (uint32_t)self->slots + index; }

const rt_history_entry *rt_history_at(const rt_history *self, uint64_t index) {
    const uint64_t slot = self->oldest + index;
    return rt_history_entry_of(self, self->ring[slot >= self->slots ? slot - self->slots : slot].entry);
}
