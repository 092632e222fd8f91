/* What a task draws: a pure function of (seed, task, purpose, place), in integers. */
#ifndef RT_SIM_DRAW_H
#define RT_SIM_DRAW_H

#include "rt_random.h"
#include "simulator.h"

typedef enum rt_sim_purpose {
    RT_SIM_DRAW_ORIGIN = 1,
    RT_SIM_DRAW_TENANT,
    RT_SIM_DRAW_PREFIX,
    RT_SIM_DRAW_STEPS,
    RT_SIM_DRAW_SYSTEM,
    RT_SIM_DRAW_TOOLS,
    RT_SIM_DRAW_DOCUMENT,
    RT_SIM_DRAW_USER,
    RT_SIM_DRAW_OUTPUT,
    RT_SIM_DRAW_USES,
    RT_SIM_DRAW_TOOL_LATENCY,
    RT_SIM_DRAW_TOOL_RESULT,
    RT_SIM_DRAW_FAULT,
    RT_SIM_DRAW_JITTER,
    RT_SIM_DRAW_SUCCESS,
    RT_SIM_DRAW_GAP, /* to the next arrival; the place is the number of the arrival, the task 2^32 */
    RT_SIM_DRAW_THINK
} rt_sim_purpose;

/* Where in a task: everything 0 for what is drawn once. */
typedef struct rt_sim_place {
    uint32_t step;
    uint32_t use;      /* below 2^20: which operation of the step */
    uint32_t repeat;   /* below 2^20 */
    uint32_t attempts; /* of the layers of retries, one in each byte */
} rt_sim_place;

static inline uint64_t rt_sim_draw(uint64_t seed, uint64_t task, rt_sim_purpose purpose, rt_sim_place place) {
    const uint64_t counter =
        (uint64_t)purpose << 56 | (uint64_t)place.step << 40 | (uint64_t)place.use << 20 | place.repeat;
    const uint64_t first = rt_random_at(rt_random_at(seed, task), counter);
    return place.attempts == 0 ? first : rt_random_at(first, place.attempts);
}

/* Von Neumann's comparison, as in rt_random_exponential, on the numbers that follow from `key`. */
static inline uint64_t rt_sim_exponential(uint64_t key, uint64_t mean) {
    uint64_t counter = 0;
    for (uint64_t whole = 0;; whole++) {
        const uint64_t first = rt_random_at(key, counter++);
        uint64_t last = first;
        uint64_t length = 1;
        for (uint64_t next = rt_random_at(key, counter++); next < last; next = rt_random_at(key, counter++)) {
            last = next;
            length++;
        }
        if (length % 2 == 1) {
            return whole * mean + (uint64_t)(((unsigned __int128)first * mean) >> 64);
        }
    }
}

static inline uint64_t rt_sim_weighted(const uint64_t *values, uint32_t count, uint64_t key) {
    const uint64_t *const cumulated = values + count;
    const uint64_t threshold = key >> 32;
    uint32_t low = 0;
    for (uint32_t high = count - 1; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (cumulated[middle] > threshold) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return values[low];
}

/* One value of a distribution that rt_sim_check has passed. */
static inline uint64_t rt_sim_sample(const uint64_t *pool, const rt_sim_distribution *of, uint64_t key) {
    const uint64_t *const values = pool + of->first;
    if (of->kind == RT_SIM_SAMPLES) {
        return of->count == 1 ? values[0] : values[rt_random_scale(key, of->count)];
    }
    if (of->kind == RT_SIM_QUANTILES) {
        const unsigned __int128 at = (unsigned __int128)key * (of->count - 1u);
        const uint64_t *const pair = values + (uint64_t)(at >> 64);
        return pair[0] + (uint64_t)(((unsigned __int128)(uint64_t)at * (pair[1] - pair[0])) >> 64);
    }
    return of->kind == RT_SIM_EXPONENTIAL ? rt_sim_exponential(key, values[0])
                                          : rt_sim_weighted(values, of->count, key);
}

#endif
