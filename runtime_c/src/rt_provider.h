/* The provider that tasks wait for: an answer time, an outage, and what a task does when its call failed.
 *
 * A call takes its answer time whether it fails or not. Calls of tenant 0 fail while its outage lasts, judged
 * when the call is made. Everything random comes from (seed, task, call), so it does not depend on the order
 * of the tasks. */
#ifndef RT_PROVIDER_H
#define RT_PROVIDER_H

#include "rt_allocator.h"
#include "rt_clock.h"
#include "rt_histogram.h"
#include "rt_scheduler.h"
#include "rt_status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum rt_wait_mode {
    RT_WAIT_NONE,     /* tasks call no provider */
    RT_WAIT_BLOCKING, /* the worker waits with the task */
    RT_WAIT_YIELDING  /* the task is suspended, the worker goes on */
} rt_wait_mode;

typedef enum rt_retry_policy {
    RT_RETRY_NONE,
    RT_RETRY_IMMEDIATE,
    RT_RETRY_BACKOFF /* before the k-th retry a pause drawn evenly from 0 .. delay * 2^(k-1) */
} rt_retry_policy;

#define RT_PROVIDER_MAX_TENANTS 64u

typedef struct rt_provider_options {
    rt_allocator *allocator; /* outlives the provider */
    const rt_clock *clock;   /* outlives the provider */
    uint64_t seed;
    uint32_t workers;
    uint32_t tenants;   /* 1 .. RT_PROVIDER_MAX_TENANTS: task i belongs to tenant i mod tenants */
    bool pooled_stacks; /* of the scheduler: then a blocking wait must not become a suspension */
    rt_wait_mode mode;
    uint64_t wait_us; /* mean answer time */
    bool exponential; /* else constant */
    uint64_t outage_start_ms, outage_ms;
    rt_retry_policy retry_policy;
    uint32_t retry_attempts; /* further calls at most */
    uint64_t retry_delay_us;
} rt_provider_options;

typedef struct rt_provider rt_provider;

/* RT_NO_MEMORY: nothing is kept, *out is NULL. */
rt_status rt_provider_create(const rt_provider_options *options, rt_provider **out, rt_message *why);
void rt_provider_destroy(rt_provider *self); /* NULL is allowed */

/* From here on the outage counts. Before the first task. */
void rt_provider_start(rt_provider *self, uint64_t started_ns);

/* For a runner: calls the provider until it answers or the policy gives up. RT_FAILED: it gave up, counted.
 * RT_CANCELLED, RT_TIMED_OUT: the task should end. RT_OK at once in mode RT_WAIT_NONE. After it run->worker and
 * run->output may be others. */
rt_status rt_provider_call(rt_provider *self, rt_task_run *run);

/* For a runner: waits as the mode says (a blocking wait in mode RT_WAIT_NONE). Returns as rt_task_sleep. */
rt_status rt_provider_wait(const rt_provider *self, rt_task_run *run, uint64_t duration_ns);

/* The answer time of one call, drawn from the seed. */
uint64_t rt_provider_answer_ns(const rt_provider *self, uint64_t task_id, uint32_t call);

typedef struct rt_provider_counts {
    uint64_t calls, errors, retries;
    uint64_t callers; /* tasks that made at least one call */
    uint64_t given_up; /* tasks whose last call failed */
    uint64_t clamped_intervals;
    uint64_t tenant_calls[RT_PROVIDER_MAX_TENANTS];
} rt_provider_counts;

/* Sums over the workers. Only while nothing runs. */
void rt_provider_count(const rt_provider *self, rt_provider_counts *out);

/* Adds the time of every call as the tasks saw it. Only while nothing runs. */
void rt_provider_merge(const rt_provider *self, rt_histogram *into);

#endif
