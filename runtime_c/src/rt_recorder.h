/* A histogram that one thread fills while another takes out what it holds so far.
 *
 * There are two buffers. The writer records into the active one; the reader makes the other active, waits
 * until the writer is outside of the old one, and has it to itself. The writer never waits, calls nothing and
 * repeats nothing; the reader waits for one record at most.
 *
 * The order that this rests on. Writer: `turn` odd, read `active`, record, `turn` even (release). Reader:
 * write `active` (release), then read `turn` (acquire). The one thing that must not happen is that each misses
 * the other's write. A full fence between the two steps on both sides forbids it, and costs the writer three
 * times the record; so only the reader pays: membarrier(2) puts the fence into every running thread of the
 * process for it. Where the kernel has none, `fenced` is set and the writer pays. */
#ifndef RT_RECORDER_H
#define RT_RECORDER_H

#include "rt_allocator.h"
#include "rt_histogram.h"
#include "rt_status.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Fields are private. */
typedef struct rt_recorder {
    alignas(RT_LINE_BYTES) _Atomic uint64_t turn; /* odd while the writer is inside; twice the records */
    alignas(RT_LINE_BYTES) _Atomic(rt_histogram *) active; /* written by the reader, rarely */
    bool fenced;
    rt_allocator *allocator;
    rt_histogram buffers[2]; /* without their counts: those are the sums of their buckets */
} rt_recorder;

/* Makes an empty recorder. RT_NO_MEMORY: *out is NULL. */
rt_status rt_recorder_create(rt_allocator *allocator, rt_recorder **out);

/* No other call may be in progress. NULL is allowed. */
void rt_recorder_destroy(rt_recorder *self);

/* By one thread at a time; threads that take turns order their turns themselves. */
static inline void rt_recorder_record(rt_recorder *self, uint64_t value_ns) {
    const uint64_t turn = atomic_load_explicit(&self->turn, memory_order_relaxed);
    if (self->fenced) {
        atomic_store_explicit(&self->turn, turn + 1, memory_order_seq_cst);
    } else {
        atomic_store_explicit(&self->turn, turn + 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the compiler must keep the order too */
    }
    rt_histogram_record_uncounted(atomic_load_explicit(&self->active, memory_order_seq_cst), value_ns);
    atomic_store_explicit(&self->turn, turn + 2, memory_order_release);
}

/* Adds everything recorded since the last take to `into`, exactly once, and empties it here. By one thread at
 * a time, at any time. Some 10 microseconds. */
void rt_recorder_take(rt_recorder *self, rt_histogram *into);

#endif
