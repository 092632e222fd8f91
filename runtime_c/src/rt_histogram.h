/* Log-linear histogram with 7 mantissa bits over all of uint64: the layout "log-linear/7".
 *
 * index(v) = v for v < 128, else s = floor(log2 v) - 7 and index = (s + 1) * 128 + ((v >> s) & 127).
 * A bucket is at most 1/128 of its value wide, so mid-bucket is within 0.39 %. Nothing is out of range,
 * merging adds counters and is exact. One writer; readers wait until the writer is done. */
#ifndef RT_HISTOGRAM_H
#define RT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define RT_HISTOGRAM_LAYOUT "log-linear/7"
#define RT_HISTOGRAM_BUCKETS 7424u /* 58 rows of 128: the last is index(UINT64_MAX) + 1 */
#define RT_HISTOGRAM_SUM_BYTES 40  /* decimal digits of a 128-bit number, and the zero */

/* All values in nanoseconds. Fields are read-only outside this module. */
typedef struct rt_histogram {
    uint64_t count;
    uint64_t min_ns; /* UINT64_MAX while count is 0 */
    uint64_t max_ns; /* 0 while count is 0 */
    unsigned __int128 sum_ns;
    uint64_t buckets[RT_HISTOGRAM_BUCKETS];
} rt_histogram;

/* Makes it empty. */
void rt_histogram_init(rt_histogram *self);

/* Index of the bucket that holds value_ns. */
static inline uint32_t rt_histogram_index(uint64_t value_ns) {
    if (value_ns < 128u) {
        return (uint32_t)value_ns;
    }
    const uint32_t shift = 56u - (uint32_t)__builtin_clzll(value_ns);
    return (shift + 1u) * 128u + ((uint32_t)(value_ns >> shift) & 127u);
}

/* Lowest and highest value of a bucket; index < RT_HISTOGRAM_BUCKETS. */
uint64_t rt_histogram_low_ns(uint32_t index);
uint64_t rt_histogram_high_ns(uint32_t index);

/* For a writer whose reader counts the buckets itself: everything but `count`. */
static inline void rt_histogram_record_uncounted(rt_histogram *self, uint64_t value_ns) {
    self->buckets[rt_histogram_index(value_ns)]++;
    self->sum_ns += value_ns;
    /* Branches: a new extreme is rare, and a store for each value would wait for the one before. */
    if (__builtin_expect(value_ns < self->min_ns, 0)) {
        self->min_ns = value_ns;
    }
    if (__builtin_expect(value_ns > self->max_ns, 0)) {
        self->max_ns = value_ns;
    }
}

static inline void rt_histogram_record(rt_histogram *self, uint64_t value_ns) {
    rt_histogram_record_uncounted(self, value_ns);
    self->count++;
}

/* Adds everything in `other`; `other` is unchanged. */
void rt_histogram_merge(rt_histogram *self, const rt_histogram *other);

/* Value at rank k = max(1, ceil(a * count / b)): the highest value of that bucket, or the exact
 * maximum when it is lower. 0 when empty. Needs 0 <= a <= b and b > 0; integer arithmetic throughout. */
uint64_t rt_histogram_percentile_ns(const rt_histogram *self, uint64_t a, uint64_t b);

/* Writes the sum in decimal with a terminating zero. */
void rt_histogram_sum_text(const rt_histogram *self, char out[RT_HISTOGRAM_SUM_BYTES]);

#endif
