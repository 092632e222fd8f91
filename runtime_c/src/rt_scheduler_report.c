/* What the scheduler tells about itself: counts, histograms, history, memory. */
#include "rt_scheduler_parts.h"

#include <string.h>
#include <sys/mman.h>

static void copy_counts(const rt_scheduler *self, rt_scheduler_counts *out) {
    *out = (rt_scheduler_counts){.submitted = self->admitted + self->rejected,
                                 .admitted = self->admitted,
                                 .rejected = self->rejected,
                                 .completed = self->completed,
                                 .failed = self->failed,
                                 .cancelled = self->cancelled + self->taken_back,
                                 .timed_out = self->timed_out,
                                 .suspended = self->sleepers.count,
                                 .suspended_peak =
                                     atomic_load_explicit(&self->suspended_peak, memory_order_relaxed),
                                 .suspensions = self->parked,
                                 .yields = self->yields,
                                 .queue_peak = self->queue_peak,
                                 .active_peak = self->holding_peak,
                                 .idle = self->idle,
                                 .dequeues = self->dequeues,
                                 .dequeued = self->dequeued,
                                 .wakeups = self->wakeups,
                                 .turns = self->turns,
                                 .retained_tasks = self->history.count,
                                 .retained_bytes = self->history.bytes,
                                 .in_flight_s = (double)self->in_flight_ns / 1e9,
                                 .in_flight_at_ns = self->changed_ns,
                                 .history_oversized = self->history.oversized};
}

/* Each worker's counter is read once, so that queued, active and ended agree with each other. */
static void add_workers(const rt_scheduler *self, rt_scheduler_counts *out) {
    uint64_t started = 0;
    for (uint32_t i = 0; i < self->worker_count; i++) {
        const uint64_t steps = atomic_load_explicit(&self->workers[i].steps, memory_order_relaxed);
        started += (steps + 1) / 2;
        out->active += (uint32_t)(steps % 2);
    }
    out->queued = self->admitted + self->requeued - self->taken_back - started;
    out->ended = started - out->active - rt_scheduler_finalised(self) - self->parked;
    if (rt_scheduler_is_idle(self)) { /* otherwise these belong to running threads */
        for (uint32_t i = 0; i < self->worker_count; i++) {
            out->clamped_intervals += self->workers[i].clamped_intervals;
        }
    }
}

void rt_scheduler_count(rt_scheduler *self, rt_scheduler_counts *out) {
    const bool forked =
        rt_scheduler_is_forked(self); /* this copy changes no more: read it without the lock */
    if (forked) {
        copy_counts(self, out);
        add_workers(self, out);
        return;
    }
    rt_lock_hold hold = rt_scheduler_lock(self, RT_SCHEDULER_CONTROL);
    copy_counts(self, out);
    add_workers(self, out);
    rt_scheduler_unlock(self, &hold);
}

void rt_scheduler_merge(const rt_scheduler *self, rt_scheduler_stage stage, rt_histogram *into) {
    for (uint32_t i = 0; i < self->worker_count; i++) {
        rt_histogram_merge(into, &self->workers[i].histograms[stage]);
    }
}

static void copy_entry(const rt_history_entry *entry, rt_task_record *record, uint8_t *output,
                       size_t capacity_bytes) {
    *record = entry->record;
    if (output != NULL) {
        const size_t used = entry->record.output_bytes;
        memcpy(output, entry->output, used < capacity_bytes ? used : capacity_bytes);
    }
}

rt_status rt_scheduler_history(rt_scheduler *self, uint64_t index, rt_task_record *record, uint8_t *output,
                               size_t capacity_bytes) {
    if (rt_scheduler_is_forked(self)) {
        return RT_FORKED;
    }
    rt_lock_hold hold = rt_scheduler_lock(self, RT_SCHEDULER_CONTROL);
    const bool found = index < self->history.count;
    if (found) {
        copy_entry(rt_history_at(&self->history, index), record, output, capacity_bytes);
    }
    rt_scheduler_unlock(self, &hold);
    return found ? RT_OK : RT_NOT_FOUND;
}

/* Bytes of a stack that are in RAM now. */
static uint64_t resident_bytes(void *start, size_t bytes) {
    unsigned char pages[1024];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const from = (char *)start + (page - (uintptr_t)start % page) % page;
    const size_t count = (bytes - (size_t)(from - (char *)start)) / page;
    if (start == NULL || count > sizeof pages || mincore(from, count * page, pages) != 0) {
        return 0;
    }
    uint64_t resident = 0;
    for (size_t i = 0; i < count; i++) {
        resident += pages[i] & 1u;
    }
    return resident * page;
}

void rt_scheduler_account(const rt_scheduler *self, rt_scheduler_bytes *out) {
    *out = (rt_scheduler_bytes){
        .runtime_bytes =
            sizeof *self + self->worker_count * (sizeof *self->workers + sizeof *self->idle_stack),
        .history_bytes = self->history.allocated_bytes,
        .histogram_bytes = ((uint64_t)self->worker_count * RT_SCHEDULER_STAGES +
                            (self->lock_histograms != NULL ? 2u * RT_SCHEDULER_SITES : 0u)) *
                           sizeof(rt_histogram)};
    for (uint32_t i = 0; i < self->worker_count; i++) {
        out->stack_reserved_bytes += self->workers[i].stack_bytes;
        out->stack_committed_bytes += resident_bytes(self->workers[i].stack, self->workers[i].stack_bytes);
    }
    if (self->stacks != NULL) {
        rt_stack_bytes pooled;
        rt_stack_pool_account(self->stacks, &pooled);
        out->runtime_bytes += pooled.record_bytes;
        out->stack_reserved_bytes += pooled.reserved_bytes;
        out->stack_committed_bytes += pooled.committed_bytes;
    }
}
