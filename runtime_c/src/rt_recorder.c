#include "rt_recorder.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOKS_BEFORE_SLEEP 4u
#define PAUSE_NS 100000

static bool barrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

rt_status rt_recorder_create(rt_allocator *allocator, rt_recorder **out) {
    rt_recorder *const self = rt_allocate_owned(allocator, RT_OWNER_HISTOGRAMS, 1, sizeof *self);
    *out = self;
    if (self == NULL) {
        return RT_NO_MEMORY;
    }
    self->allocator = allocator;
    self->fenced = !barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    /* Not rt_histogram_init: what the allocator zeroed takes no memory until it is written. */
    self->buffers[0].min_ns = UINT64_MAX;
    self->buffers[1].min_ns = UINT64_MAX;
    atomic_init(&self->active, &self->buffers[0]);
    return RT_OK;
}

void rt_recorder_destroy(rt_recorder *self) {
    if (self != NULL) {
        rt_free_lines(self->allocator, self);
    }
}

/* Returns when no record that began before goes on. */
static void wait_for_writer(rt_recorder *self) {
    if (!self->fenced) {
        barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    }
    const uint64_t turn = atomic_load_explicit(&self->turn, memory_order_seq_cst);
    if (turn % 2 == 0) {
        return;
    }
    /* The writer may have lost its core in the middle, and comes back when its turn is. */
    for (unsigned looks = 0; atomic_load_explicit(&self->turn, memory_order_acquire) == turn; looks++) {
        if (looks < LOOKS_BEFORE_SLEEP) {
            sched_yield();
        } else {
            nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        }
    }
}

void rt_recorder_take(rt_recorder *self, rt_histogram *into) {
    rt_histogram *const old = atomic_load_explicit(&self->active, memory_order_relaxed);
    rt_histogram *const fresh = old == &self->buffers[0] ? &self->buffers[1] : &self->buffers[0];
    atomic_store_explicit(&self->active, fresh, memory_order_seq_cst);
    wait_for_writer(self);
    if (old->min_ns <= old->max_ns) { /* there is a value */
        for (uint32_t i = 0; i < RT_HISTOGRAM_BUCKETS; i++) {
            old->count += old->buckets[i];
        }
        rt_histogram_merge(into, old);
        rt_histogram_init(old);
    }
}
