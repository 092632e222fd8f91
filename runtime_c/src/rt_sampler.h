/* A thread that looks at a run at a fixed interval and keeps what it saw: queue, active, memory, threads, CPU.
 *
 * Its thread needs little: its stack is RT_SAMPLER_STACK_BYTES instead of the usual 8 MiB.
 * Its memory is bounded: when the rows are full, every second one is dropped and the interval doubles, so a run of
 * hours keeps its whole course at a lower resolution. One sample is taken at the start and one at the end. */
#ifndef RT_SAMPLER_H
#define RT_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "rt_allocator.h"
#include "rt_memory_account.h"
#include "rt_status.h"

#define RT_SAMPLER_STACK_BYTES (64u * 1024u)

typedef struct rt_sampler rt_sampler;

typedef struct rt_sample {
    uint64_t t_ns; /* since rt_sampler_start, CLOCK_MONOTONIC */
    uint64_t queue;
    uint64_t active;
    uint64_t rss_bytes; /* VmRSS; 0 when it could not be read, see rt_sampler_misses */
    uint64_t threads;
    uint64_t cpu_ns; /* CPU time of the whole process since rt_sampler_start */
} rt_sample;

/* Fills queue and active of a sample. Called by the sampler's thread, so it must only read atomics. */
typedef void rt_sampler_source(void *context, rt_sample *sample);

/* Room for `capacity` rows (at least 4); the caller keeps `allocator` and `context` alive. No thread starts yet.
 * RT_INVALID: interval 0 or capacity below 4. RT_NO_MEMORY. On both *out is NULL. */
rt_status rt_sampler_create(rt_allocator *allocator, uint64_t interval_ns, size_t capacity,
                            rt_sampler_source *source, void *context, rt_sampler **out, rt_message *why);

/* Stops when it still runs. NULL is allowed. */
void rt_sampler_destroy(rt_sampler *self);

/* Takes the first sample and starts the thread. RT_NO_THREAD: the sampler stays as it was before. */
rt_status rt_sampler_start(rt_sampler *self, rt_message *why);

/* Ends the thread and takes the last sample. Does nothing when the sampler does not run. */
void rt_sampler_stop(rt_sampler *self);

/* Takes one sample now, from the caller's thread. Only before start or after stop. */
void rt_sampler_take(rt_sampler *self);

/* All of these only before start or after stop. */
size_t rt_sampler_count(const rt_sampler *self);
const rt_sample *rt_sampler_row(const rt_sampler *self, size_t index);
uint64_t rt_sampler_interval_ns(const rt_sampler *self); /* the present one, after every doubling */
uint64_t rt_sampler_cost_ns(const rt_sampler *self);     /* CPU time that taking the samples took */
uint64_t rt_sampler_threads_peak(const rt_sampler *self);
uint64_t rt_sampler_misses(const rt_sampler *self); /* samples whose memory could not be read */
uint64_t rt_sampler_cpu_ns(const rt_sampler *self); /* CPU time of its thread, waiting and waking included */

/* Adds the stack of its thread; what it allocated is on its allocator's account. */
void rt_sampler_account(const rt_sampler *self, rt_memory_account *account);

#endif
