/* A token bucket with continuous refill, exact: its level is counted in 60e9ths of a unit, which is what a rate of
 * one unit a minute adds in one nanosecond. It holds one minute and starts full. */
#ifndef RT_SIM_BUCKET_H
#define RT_SIM_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#define RT_SIM_MINUTE_NS UINT64_C(60000000000)

typedef struct rt_sim_bucket {
    unsigned __int128 level;
    unsigned __int128 least; /* lowest level after a take */
    uint64_t per_min;        /* 0: no limit; then nothing else is used */
    uint64_t at_ns;          /* of level */
} rt_sim_bucket;

static inline unsigned __int128 rt_sim_bucket_size(const rt_sim_bucket *self) {
    return (unsigned __int128)self->per_min * RT_SIM_MINUTE_NS;
}

static inline void rt_sim_bucket_init(rt_sim_bucket *self, uint64_t per_min) {
    self->per_min = per_min;
    self->at_ns = 0;
    self->level = self->least = rt_sim_bucket_size(self);
}

static inline void rt_sim_bucket_refill(rt_sim_bucket *self, uint64_t now_ns) {
    const unsigned __int128 size = rt_sim_bucket_size(self);
    const unsigned __int128 level = self->level + (unsigned __int128)self->per_min * (now_ns - self->at_ns);
    self->level = level < size ? level : size;
    self->at_ns = now_ns;
}

/* Whether `units` are there now. */
static inline bool rt_sim_bucket_has(rt_sim_bucket *self, uint64_t units, uint64_t now_ns) {
    if (self->per_min == 0) {
        return true;
    }
    rt_sim_bucket_refill(self, now_ns);
    return self->level >= (unsigned __int128)units * RT_SIM_MINUTE_NS;
}

/* Takes units that rt_sim_bucket_has found at the same time. */
static inline void rt_sim_bucket_take(rt_sim_bucket *self, uint64_t units) {
    if (self->per_min != 0) {
        self->level -= (unsigned __int128)units * RT_SIM_MINUTE_NS;
        self->least = self->level < self->least ? self->level : self->least;
    }
}

/* Gives back units that were reserved and not used; what overflows is lost. */
static inline void rt_sim_bucket_give(rt_sim_bucket *self, uint64_t units, uint64_t now_ns) {
    if (self->per_min != 0) {
        rt_sim_bucket_refill(self, now_ns);
        const unsigned __int128 size = rt_sim_bucket_size(self);
        const unsigned __int128 level = self->level + (unsigned __int128)units * RT_SIM_MINUTE_NS;
        self->level = level < size ? level : size;
    }
}

/* The first instant at which `units` (at most per_min) are there, after rt_sim_bucket_has said no: rounded up. */
static inline uint64_t rt_sim_bucket_when(const rt_sim_bucket *self, uint64_t units) {
    const unsigned __int128 missing = (unsigned __int128)units * RT_SIM_MINUTE_NS - self->level;
    return self->at_ns + (uint64_t)((missing + self->per_min - 1u) / self->per_min);
}

/* Level in thousandths of the size, rounded down; 1000 without a limit. */
static inline uint64_t rt_sim_bucket_permille(const rt_sim_bucket *self, unsigned __int128 level) {
    return self->per_min == 0 ? 1000u : (uint64_t)(level * 1000u / rt_sim_bucket_size(self));
}

#endif
