/* Seeded generators. The same seed gives the same numbers on every machine. */
#ifndef RT_RANDOM_H
#define RT_RANDOM_H

#include <stdint.h>

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection that mixes all 64 bits. */
static inline uint64_t rt_random_mix(uint64_t value) {
    value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
    return value ^ (value >> 31);
}

/* The counter-th number (0-based) of the splitmix64 stream that starts at seed: O(1), no state. */
static inline uint64_t rt_random_at(uint64_t seed, uint64_t counter) {
    return rt_random_mix(seed + (counter + 1u) * UINT64_C(0x9E3779B97F4A7C15));
}

/* Maps a 64-bit number to 0 .. bound-1 by its high bits (bias below bound / 2^64). bound > 0. */
static inline uint64_t rt_random_scale(uint64_t value, uint64_t bound) {
    return (uint64_t)(((unsigned __int128)value * bound) >> 64);
}

/* xoshiro256** (Blackman, Vigna 2018) with its state filled by splitmix64. */
typedef struct rt_random {
    uint64_t state[4];
} rt_random;

void rt_random_init(rt_random *self, uint64_t seed);
uint64_t rt_random_next(rt_random *self);

/* Uniform in 0 .. bound-1 without bias (Lemire 2019). bound > 0. */
uint64_t rt_random_below(rt_random *self, uint64_t bound);

/* Uniform in [0, 1) with 53 bits. */
double rt_random_unit(rt_random *self);

/* Exponentially distributed with this mean, rounded down, by von Neumann's comparison of uniform numbers
 * (1951): integers alone, so every machine draws the same. Takes some 5 numbers. Saturates. */
uint64_t rt_random_exponential(rt_random *self, uint64_t mean);

#endif
