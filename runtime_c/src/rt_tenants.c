#include "rt_tenants.h"

#include "rt_clock.h"

#include <pthread.h>
#include <stdalign.h>

enum { COMPLETED, FAILED, CANCELLED, TIMED_OUT, ENDS };

/* Of one worker and one tenant. */
typedef struct tenant_cell {
    alignas(RT_LINE_BYTES) uint64_t ends[ENDS];
    rt_histogram end_to_end;
} tenant_cell;

struct rt_tenants {
    rt_allocator *allocator;
    uint32_t tenants, workers;
    tenant_cell *cells; /* a row of tenants for each worker, and one under `others` */
    pthread_mutex_t others;
};

rt_status rt_tenants_create(rt_allocator *allocator, uint32_t tenants, uint32_t workers, rt_tenants **out) {
    *out = NULL;
    rt_tenants *const self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return RT_NO_MEMORY;
    }
    const size_t count = (size_t)tenants * (workers + 1u);
    self->allocator = allocator;
    self->tenants = tenants;
    self->workers = workers;
    pthread_mutex_init(&self->others, NULL);
    self->cells = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, count, sizeof *self->cells);
    if (self->cells == NULL) {
        rt_tenants_destroy(self);
        return RT_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        self->cells[i].end_to_end.min_ns = UINT64_MAX; /* the rest is zero: fresh pages stay untouched */
    }
    *out = self;
    return RT_OK;
}

void rt_tenants_destroy(rt_tenants *self) {
    if (self != NULL) {
        rt_free_lines(self->allocator, self->cells);
        pthread_mutex_destroy(&self->others);
        rt_free(self->allocator, self);
    }
}

static unsigned end_of(uint8_t status) {
    switch (status) {
    case RT_OK:
        return COMPLETED;
    case RT_CANCELLED:
        return CANCELLED;
    case RT_TIMED_OUT:
        return TIMED_OUT;
    default:
        return FAILED;
    }
}

void rt_tenants_finished(rt_tenants *self, const rt_task *task, uint64_t finalised_ns, uint32_t worker) {
    const uint64_t tenant = task->id % self->tenants;
    if (worker < self->workers) {
        tenant_cell *const cell = &self->cells[(size_t)worker * self->tenants + tenant];
        uint64_t clamped = 0; /* the scheduler counts the same intervals */
        cell->ends[end_of(task->status)]++;
        rt_histogram_record(&cell->end_to_end,
                            rt_clock_interval_ns(task->submitted_ns, finalised_ns, &clamped));
        return;
    }
    pthread_mutex_lock(&self->others); /* any worker may come to a task that never ran; it has no latency */
    self->cells[(size_t)self->workers * self->tenants + tenant].ends[end_of(task->status)]++;
    pthread_mutex_unlock(&self->others);
}

uint32_t rt_tenants_number(const rt_tenants *self) { return self->tenants; }

void rt_tenants_count(const rt_tenants *self, uint32_t tenant, rt_tenant_counts *out) {
    uint64_t ends[ENDS] = {0};
    for (size_t row = 0; row <= self->workers; row++) {
        const tenant_cell *const cell = &self->cells[row * self->tenants + tenant];
        for (unsigned end = 0; end < ENDS; end++) {
            ends[end] += cell->ends[end];
        }
    }
    *out = (rt_tenant_counts){ends[COMPLETED], ends[FAILED], ends[CANCELLED], ends[TIMED_OUT]};
}

void rt_tenants_merge(const rt_tenants *self, uint32_t tenant, rt_histogram *into) {
    for (size_t row = 0; row <= self->workers; row++) {
        rt_histogram_merge(into, &self->cells[row * self->tenants + tenant].end_to_end);
    }
}
