#include "rt_histogram.h"

#include <string.h>

void rt_histogram_init(rt_histogram *self) {
    memset(self, 0, sizeof *self);
    self->min_ns = UINT64_MAX;
}

uint64_t rt_histogram_low_ns(uint32_t index) {
    if (index < 128u) {
        return index;
    }
    return (uint64_t)((index % 128u) | 128u) << (index / 128u - 1u);
}

uint64_t rt_histogram_high_ns(uint32_t index) {
    if (index < 128u) {
        return index;
    }
    return rt_histogram_low_ns(index) + ((UINT64_C(1) << (index / 128u - 1u)) - 1u);
}

void rt_histogram_merge(rt_histogram *self, const rt_histogram *other) {
    for (uint32_t i = 0; i < RT_HISTOGRAM_BUCKETS; i++) {
        self->buckets[i] += other->buckets[i];
    }
    self->count += other->count;
    self->sum_ns += other->sum_ns;
    self->min_ns = other->min_ns < self->min_ns ? other->min_ns : self->min_ns;
    self->max_ns = other->max_ns > self->max_ns ? other->max_ns : self->max_ns;
}

/* max(1, ceil(a * count / b)) without overflow. */
static uint64_t rank_of(uint64_t count, uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * count;
    const uint64_t rank = (uint64_t)((product + b - 1u) / b);
    return rank == 0 ? 1 : rank;
}

uint64_t rt_histogram_percentile_ns(const rt_histogram *self, uint64_t a, uint64_t b) {
    const uint64_t rank = rank_of(self->count, a, b);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < RT_HISTOGRAM_BUCKETS; i++) {
        seen += self->buckets[i];
        if (seen >= rank) {
            const uint64_t high_ns = rt_histogram_high_ns(i);
            return high_ns < self->max_ns ? high_ns : self->max_ns;
        }
    }
    return self->max_ns; /* empty: max_ns is 0 */
}

void rt_histogram_sum_text(const rt_histogram *self, char out[RT_HISTOGRAM_SUM_BYTES]) {
    char reversed[RT_HISTOGRAM_SUM_BYTES];
    size_t digits = 0;
    unsigned __int128 rest = self->sum_ns;
    do {
        reversed[digits++] = (char)('0' + (int)(rest % 10u));
        rest /= 10u;
    } while (rest != 0);
    for (size_t i = 0; i < digits; i++) {
        out[i] = reversed[digits - 1 - i];
    }
    out[digits] = '\0';
}
