#include "rt_provider.h"

#include "rt_random.h"

#include <stdalign.h>
#include <time.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define DOUBLINGS_MAX 32u
#define OF_ANSWERS UINT64_C(0x616E7377657200) /* keep the two streams of a task apart */
#define OF_PAUSES UINT64_C(0x70617573657300)

/* Of one worker; nobody else writes it. */
typedef struct provider_worker {
    alignas(RT_LINE_BYTES) rt_provider_counts counts;
} provider_worker;

struct rt_provider {
    rt_provider_options options;
    provider_worker *workers;
    rt_histogram *waits; /* one a worker */
    uint64_t outage_from_ns, outage_until_ns;
};

rt_status rt_provider_create(const rt_provider_options *options, rt_provider **out, rt_message *why) {
    *out = NULL;
    rt_provider *const self = rt_allocate(options->allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the provider; free some and run again");
    }
    self->options = *options;
    self->workers = rt_allocate_lines(options->allocator, options->workers, sizeof *self->workers);
    self->waits =
        rt_allocate_owned(options->allocator, RT_OWNER_HISTOGRAMS, options->workers, sizeof *self->waits);
    if (self->workers == NULL || self->waits == NULL) {
        rt_provider_destroy(self);
        return rt_fail(why, RT_NO_MEMORY, "no memory for the provider of %u workers; choose fewer",
                       options->workers);
    }
    for (uint32_t i = 0; i < options->workers; i++) {
        self->waits[i].min_ns = UINT64_MAX; /* the rest is zero: fresh pages stay untouched */
    }
    *out = self;
    return RT_OK;
}

void rt_provider_destroy(rt_provider *self) {
    if (self != NULL) {
        rt_allocator *const allocator = self->options.allocator;
        rt_free_lines(allocator, self->waits);
        rt_free_lines(allocator, self->workers);
        rt_free(allocator, self);
    }
}

void rt_provider_start(rt_provider *self, uint64_t started_ns) {
    self->outage_from_ns = started_ns + self->options.outage_start_ms * NS_PER_MS;
    self->outage_until_ns = self->outage_from_ns + self->options.outage_ms * NS_PER_MS;
}

/* ---- waiting ---- */

rt_status rt_provider_wait(const rt_provider *self, rt_task_run *run, uint64_t duration_ns) {
    return self->options.mode == RT_WAIT_YIELDING ? rt_task_sleep(run, duration_ns)
                                                  : rt_task_block(run, duration_ns);
}

static void init_stream(const rt_provider *self, uint64_t of, uint64_t task_id, uint32_t call,
                        rt_random *out) {
    rt_random_init(out, rt_random_at(rt_random_mix(self->options.seed ^ of) + call, task_id));
}

uint64_t rt_provider_answer_ns(const rt_provider *self, uint64_t task_id, uint32_t call) {
    const uint64_t mean_ns = self->options.wait_us * NS_PER_US;
    rt_random random;
    if (!self->options.exponential) {
        return mean_ns;
    }
    init_stream(self, OF_ANSWERS, task_id, call, &random);
    return rt_random_exponential(&random, mean_ns);
}

/* Full jitter: evenly from 0 to the doubled delay. */
static uint64_t pause_ns(const rt_provider *self, uint64_t task_id, uint32_t retry) {
    const uint32_t doublings = retry - 1 < DOUBLINGS_MAX ? retry - 1 : DOUBLINGS_MAX;
    const unsigned __int128 longest_ns = (unsigned __int128)(self->options.retry_delay_us * NS_PER_US)
                                         << doublings;
    rt_random random;
    init_stream(self, OF_PAUSES, task_id, retry, &random);
    return rt_random_below(&random, longest_ns < INT64_MAX ? (uint64_t)longest_ns + 1 : INT64_MAX);
}

/* ---- calling ---- */

static bool is_out(const rt_provider *self, uint64_t task_id, uint64_t now_ns) {
    return task_id % self->options.tenants == 0 && now_ns >= self->outage_from_ns &&
           now_ns < self->outage_until_ns;
}

static void count_call(rt_provider *self, const rt_task_run *run, uint32_t call) {
    rt_provider_counts *const counts = &self->workers[run->worker].counts;
    counts->calls++;
    counts->callers += call == 0;
    counts->retries += call > 0;
    counts->tenant_calls[run->task_id % self->options.tenants]++;
}

/* One call; RT_FAILED is the provider's error. */
static rt_status call_once(rt_provider *self, rt_task_run *run, uint32_t call) {
    const rt_clock *const clock = self->options.clock;
    const uint64_t called_ns = rt_clock_now_ns(clock);
    const bool fails = is_out(self, run->task_id, called_ns);
    count_call(self, run, call);
    const rt_status status = rt_provider_wait(self, run, rt_provider_answer_ns(self, run->task_id, call));
    const uint64_t answered_ns = rt_clock_now_ns(clock);
    provider_worker *const worker = &self->workers[run->worker]; /* perhaps another than before */
    rt_histogram_record(&self->waits[run->worker],
                        rt_clock_interval_ns(called_ns, answered_ns, &worker->counts.clamped_intervals));
    if (status != RT_OK) {
        return status;
    }
    worker->counts.errors += fails;
    return fails ? RT_FAILED : RT_OK;
}

rt_status rt_provider_call(rt_provider *self, rt_task_run *run) {
    const rt_provider_options *const options = &self->options;
    if (options->mode == RT_WAIT_NONE) {
        return RT_OK;
    }
    rt_status status = call_once(self, run, 0);
    for (uint32_t retry = 1; status == RT_FAILED && retry <= options->retry_attempts; retry++) {
        if (options->retry_policy == RT_RETRY_BACKOFF) {
            status = rt_provider_wait(self, run, pause_ns(self, run->task_id, retry));
            if (status != RT_OK) {
                return status;
            }
        }
        status = call_once(self, run, retry);
    }
    self->workers[run->worker].counts.given_up += status == RT_FAILED;
    return status;
}

/* ---- afterwards ---- */

void rt_provider_count(const rt_provider *self, rt_provider_counts *out) {
    *out = (rt_provider_counts){.calls = 0};
    for (uint32_t i = 0; i < self->options.workers; i++) {
        const rt_provider_counts *const counts = &self->workers[i].counts;
        out->calls += counts->calls;
        out->errors += counts->errors;
        out->retries += counts->retries;
        out->callers += counts->callers;
        out->given_up += counts->given_up;
        out->clamped_intervals += counts->clamped_intervals;
        for (uint32_t tenant = 0; tenant < self->options.tenants; tenant++) {
            out->tenant_calls[tenant] += counts->tenant_calls[tenant];
        }
    }
}

void rt_provider_merge(const rt_provider *self, rt_histogram *into) {
    for (uint32_t i = 0; i < self->options.workers; i++) {
        rt_histogram_merge(into, &self->waits[i]);
    }
}
