#include "rt_memory_account.h"

#include "rt_resident.h"

const char *rt_memory_resident_api(void) {
    rt_resident pages;
    rt_resident_open(&pages);
    const char *const api = pages.pagemap >= 0 ? "/proc/self/pagemap; small objects by malloc_usable_size()"
                                               : "mincore(); small objects by malloc_usable_size()";
    rt_resident_close(&pages);
    return api;
}

void rt_memory_account_add(rt_memory_account *self, rt_allocator *allocator) {
    for (int owner = 0; owner < RT_OWNERS; owner++) {
        const rt_account account = rt_allocator_account(allocator, (rt_owner)owner);
        self->owners[owner].allocated_bytes += account.allocated_bytes;
        self->owners[owner].resident_bytes += account.resident_bytes;
    }
    self->allocated_total_bytes += atomic_load(&allocator->allocated_bytes);
    self->allocations += atomic_load(&allocator->allocations);
    self->live_objects += atomic_load(&allocator->live_objects);
}

void rt_memory_account_add_stacks(rt_memory_account *self, rt_owner owner, uint64_t reserved_bytes,
                                  uint64_t resident_bytes) {
    rt_memory_account_add_object(self, owner, resident_bytes);
    self->stack_reserved_bytes += reserved_bytes;
}

void rt_memory_account_add_object(rt_memory_account *self, rt_owner owner, uint64_t bytes) {
    self->owners[owner].allocated_bytes += bytes;
    self->owners[owner].resident_bytes += bytes;
}

uint64_t rt_memory_account_resident(const rt_memory_account *self) {
    uint64_t sum = 0;
    for (int owner = 0; owner < RT_OWNERS; owner++) {
        sum += self->owners[owner].resident_bytes;
    }
    return sum;
}
