/* A provider or a tool as what bounds its calls: two buckets, concurrency, KV memory, one line of waiters in the
 * order in which they came, and everything that is counted for it. */
#ifndef RT_SIM_GATE_H
#define RT_SIM_GATE_H

#include "rt_histogram.h"
#include "rt_sim_bucket.h"
#include "rt_sim_slot.h"

typedef enum rt_sim_limit {
    RT_SIM_LIMIT_TOKENS,
    RT_SIM_LIMIT_REQUESTS,
    RT_SIM_LIMIT_CONCURRENCY,
    RT_SIM_LIMIT_KV,
    RT_SIM_LIMITS,
    RT_SIM_LIMIT_NONE = RT_SIM_LIMITS,
    RT_SIM_LIMIT_NEVER /* the call is larger than all there is */
} rt_sim_limit;

/* How often a limit stopped somebody. */
typedef struct rt_sim_ceiling {
    uint64_t hits;
    uint64_t first_ns;
    unsigned __int128 waited_ns;
} rt_sim_ceiling;

static inline void rt_sim_ceiling_hit(rt_sim_ceiling *self, uint64_t now_ns) {
    if (self->hits++ == 0) {
        self->first_ns = now_ns;
    }
}

/* Waiters, by their links. */
typedef struct rt_sim_line {
    uint32_t head, tail;
    uint64_t count, count_max;
    uint64_t age_max_ns;
} rt_sim_line;

static inline void rt_sim_line_init(rt_sim_line *self) {
    *self = (rt_sim_line){.head = RT_SIM_NO_SLOT, .tail = RT_SIM_NO_SLOT};
}

static inline void rt_sim_line_put(rt_sim_line *self, rt_sim_link *links, uint32_t slot) {
    links[slot].next = RT_SIM_NO_SLOT;
    if (self->head == RT_SIM_NO_SLOT) {
        self->head = slot;
    } else {
        links[self->tail].next = slot;
    }
    self->tail = slot;
    self->count++;
    self->count_max = self->count > self->count_max ? self->count : self->count_max;
}

static inline void rt_sim_line_put_first(rt_sim_line *self, rt_sim_link *links, uint32_t slot) {
    links[slot].next = self->head;
    self->tail = self->head == RT_SIM_NO_SLOT ? slot : self->tail;
    self->head = slot;
    self->count++;
    self->count_max = self->count > self->count_max ? self->count : self->count_max;
}

/* The line is not empty. The waiter's at_ns says since when it has waited. */
static inline uint32_t rt_sim_line_take(rt_sim_line *self, const rt_sim_link *links, uint64_t now_ns) {
    const uint32_t slot = self->head;
    const uint64_t age_ns = now_ns - links[slot].at_ns;
    self->age_max_ns = age_ns > self->age_max_ns ? age_ns : self->age_max_ns;
    self->head = links[slot].next;
    self->count--;
    return slot;
}

typedef struct rt_sim_calls {
    uint64_t calls, ok, errors, timeouts, throttled, refused, breaker, preempted;
    uint64_t tokens_input, tokens_cached, tokens_output, tokens_wasted;
    unsigned __int128 cost_pusd;
} rt_sim_calls;

typedef struct rt_sim_gate {
    rt_sim_bucket tokens, requests;
    uint32_t concurrency; /* 0: no limit */
    uint32_t overflow;
    uint64_t in_flight, in_flight_max;
    uint64_t kv_tokens, kv_used, kv_peak; /* kv_tokens 0: no limit */
    uint64_t retry_after_ns;
    rt_sim_line line;
    rt_sim_limit cause; /* why the head of the line waits */
    uint64_t wake_ns;   /* the earliest wake that is planned; UINT64_MAX: none */
    uint64_t down_until_ns;
    uint32_t failures;              /* one after another */
    uint64_t open_until_ns, opened; /* breaker */
    rt_sim_ceiling ceilings[RT_SIM_LIMITS];
    rt_sim_calls counts;
    rt_histogram *latency;
    /* prefix cache, of a provider: a ring of slots, the one used last in front */
    uint64_t cache_tokens, cache_used, evictions;
    uint32_t lru_first, lru_last;
    uint32_t first_prefix; /* slot of prefix 0 */
} rt_sim_gate;

#endif
