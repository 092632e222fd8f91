/* How the tasks of each tenant ended, and how long they took. */
#ifndef RT_TENANTS_H
#define RT_TENANTS_H

#include "rt_allocator.h"
#include "rt_histogram.h"
#include "rt_scheduler.h"
#include "rt_status.h"

#include <stdint.h>

typedef struct rt_tenants rt_tenants;

/* RT_NO_MEMORY: nothing is kept, *out is NULL. */
rt_status rt_tenants_create(rt_allocator *allocator, uint32_t tenants, uint32_t workers, rt_tenants **out);
void rt_tenants_destroy(rt_tenants *self); /* NULL is allowed */

/* In the completion callback of the scheduler, with its arguments. */
void rt_tenants_finished(rt_tenants *self, const rt_task *task, uint64_t finalised_ns, uint32_t worker);

typedef struct rt_tenant_counts {
    uint64_t completed, failed, cancelled, timed_out;
} rt_tenant_counts;

/* Only while nothing runs. */
uint32_t rt_tenants_number(const rt_tenants *self);
void rt_tenants_count(const rt_tenants *self, uint32_t tenant, rt_tenant_counts *out);
/* Adds the end-to-end times of the tenant's tasks. */
void rt_tenants_merge(const rt_tenants *self, uint32_t tenant, rt_histogram *into);

#endif
