/* A limit of address space for the rest of a run, so that running out of memory can be tried on purpose. */
#ifndef RT_MEMORY_LIMIT_H
#define RT_MEMORY_LIMIT_H

#include "rt_status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

typedef struct rt_memory_limit {
    bool set;
    struct rlimit before;
} rt_memory_limit;

/* Lets the process map at most `further_bytes` more than it has now (RLIMIT_AS, the soft limit). 0: does nothing.
 * RT_UNAVAILABLE: the kernel refuses; nothing changed. */
rt_status rt_memory_limit_set(rt_memory_limit *self, uint64_t virtual_bytes, uint64_t further_bytes);

/* Puts the old limit back; does nothing when none was set. */
void rt_memory_limit_lift(rt_memory_limit *self);

#endif
