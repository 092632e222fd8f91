/* Whose memory is what: the blocks of one or more allocators and the stacks of threads, by owner.
 *
 * Allocated is what was asked for, resident what is in RAM. Taken right after a run, resident adds up to what
 * RssAnon has grown by; the difference is what malloc keeps beside its blocks and what other code of the
 * process took. */
#ifndef RT_MEMORY_ACCOUNT_H
#define RT_MEMORY_ACCOUNT_H

#include "rt_allocator.h"

#include <stdint.h>

/* The text that names the source of the resident bytes in a record: which of the two this kernel offers. */
const char *rt_memory_resident_api(void);

typedef struct rt_memory_account {
    rt_account owners[RT_OWNERS]; /* of stacks, allocated is what is in RAM: the rest is address space only */
    uint64_t stack_reserved_bytes;
    uint64_t allocated_total_bytes, allocations, live_objects; /* of the allocators */
} rt_memory_account;

/* All of these add; begin with an account of zeros. */
void rt_memory_account_add(rt_memory_account *self, rt_allocator *allocator);
void rt_memory_account_add_stacks(rt_memory_account *self, rt_owner owner, uint64_t reserved_bytes,
                                  uint64_t resident_bytes);
void rt_memory_account_add_object(rt_memory_account *self, rt_owner owner, uint64_t bytes);

/* The sum over all owners. */
uint64_t rt_memory_account_resident(const rt_memory_account *self);

#endif
