/* Where a task's probes read: formulas from (pattern, task, probe, size) to an offset. No buffer is read. */
#ifndef RT_ACCESS_PATTERN_H
#define RT_ACCESS_PATTERN_H

#include "rt_random.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum rt_access_pattern {
    RT_ACCESS_UNIFORM,    /* every byte of the context alike */
    RT_ACCESS_SEQUENTIAL, /* a random start of the task, then one byte of each next cache line */
    RT_ACCESS_STRIDED,    /* the same with steps of RT_ACCESS_STRIDE_BYTES: another page each time */
    RT_ACCESS_HOT,        /* 90 % of the probes in the first 10 % of the context, the others in the rest */
    RT_ACCESS_PATTERNS
} rt_access_pattern;

#define RT_ACCESS_LINE_BYTES 64u
#define RT_ACCESS_STRIDE_BYTES                                                                               \
    (65u * RT_ACCESS_LINE_BYTES) /* a page and a line: no two in one set of a cache */
#define RT_ACCESS_HOT_TENTHS 9u  /* of the probes */

const char *rt_access_pattern_name(rt_access_pattern pattern); /* "uniform", "sequential", "strided", "hot" */

/* false: no pattern of that name; *out is unchanged. */
bool rt_access_pattern_find(const char *name, rt_access_pattern *out);

/* The offset that probe `probe` of a task reads in a context of `bytes` bytes (1 or more). */
uint64_t rt_access_offset(rt_access_pattern pattern, uint64_t task_id, uint32_t probe, uint64_t bytes);

/* ---- the parts of the formulas, for loops that must be fast ---- */

/* Offsets depend on the task and the probe's number only, so the reads of one task overlap in the
 * memory system; a chain through the read values would measure latency instead. */
static inline uint64_t rt_access_base(uint64_t task_id) {
    return rt_random_mix(task_id + UINT64_C(0x5851F42D4C957F2D));
}

static inline uint64_t rt_access_draw(uint64_t base, uint32_t probe) {
    const uint64_t value = base + (uint64_t)probe * UINT64_C(0x9E3779B97F4A7C15);
    return (value ^ (value >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
}

static inline uint64_t rt_access_uniform(uint64_t draw, uint64_t bytes) {
    return rt_random_scale(draw, bytes);
}

/* The high bits choose the place, the low 32 whether it lies in the hot part. */
static inline uint64_t rt_access_hot(uint64_t draw, uint64_t bytes) {
    const uint64_t hot_bytes = bytes / 10u;
    const bool hot = (((draw & UINT32_MAX) * 10u) >> 32) < RT_ACCESS_HOT_TENTHS;
    return hot_bytes == 0 ? rt_random_scale(draw, bytes)
           : hot          ? rt_random_scale(draw, hot_bytes)
                          : hot_bytes + rt_random_scale(draw, bytes - hot_bytes);
}

#endif
