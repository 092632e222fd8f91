#include "rt_random.h"

static uint64_t rotate_left(uint64_t value, unsigned bits) {
    return (value << bits) | (value >> (64u - bits));
}

void rt_random_init(rt_random *self, uint64_t seed) {
    for (unsigned i = 0; i < 4; i++) {
        self->state[i] = rt_random_at(seed, i);
    }
}

uint64_t rt_random_next(rt_random *self) {
    uint64_t *const s = self->state;
    const uint64_t result = rotate_left(s[1] * 5u, 7) * 9u;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rt_random_below(rt_random *self, uint64_t bound) {
    unsigned __int128 product = (unsigned __int128)rt_random_next(self) * bound;
    if ((uint64_t)product < bound) {
        const uint64_t threshold = (0u - bound) % bound; /* 2^64 mod bound: the part that would be biased */
        while ((uint64_t)product < threshold) {
            product = (unsigned __int128)rt_random_next(self) * bound;
        }
    }
    return (uint64_t)(product >> 64);
}

double rt_random_unit(rt_random *self) { return (double)(rt_random_next(self) >> 11) * 0x1p-53; }

/* A run of falling numbers that starts with x has an odd length with probability exp(-x): then x is the fraction.
 * Each even run adds a whole mean. */
uint64_t rt_random_exponential(rt_random *self, uint64_t mean) {
    for (uint64_t whole = 0;; whole++) {
        const uint64_t first = rt_random_next(self);
        uint64_t last = first;
        uint64_t length = 1;
        for (uint64_t next = rt_random_next(self); next < last; next = rt_random_next(self)) {
            last = next;
            length++;
        }
        if (length % 2 == 1) {
            const unsigned __int128 value =
                (unsigned __int128)whole * mean + (((unsigned __int128)first * mean) >> 64);
            return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
        }
    }
}
