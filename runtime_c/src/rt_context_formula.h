/* What the canonical content is, by formula, and the checksum of any content.
 *
 * The byte at any offset follows from (seed, offset) alone, so what the probes must read and what a context must
 * hold are known without looking at a buffer. */
#ifndef RT_CONTEXT_FORMULA_H
#define RT_CONTEXT_FORMULA_H

#include "rt_access_pattern.h"

#include <stddef.h>
#include <stdint.h>

uint8_t rt_context_formula_byte(uint64_t seed, uint64_t offset);

/* Writes `count` bytes of the content from `offset` on, which is a multiple of 8. */
void rt_context_formula_fill(uint64_t seed, uint64_t offset, uint8_t *buffer, size_t count);

/* What the probes of a task fold to. */
uint64_t rt_context_expected_probe(uint64_t seed, uint64_t bytes, rt_access_pattern pattern, uint64_t task_id,
                                   uint32_t probes);
uint64_t rt_context_expected_checksum(uint64_t seed, uint64_t bytes);

static inline uint64_t rt_context_fold_byte(uint64_t sum, uint8_t byte) { return sum * 31u + byte; }

/* The checksum of a content that comes in pieces. It notices any changed bit and any missing byte; it is no
 * defence against somebody who wants to deceive. */
typedef struct rt_context_sum {
    uint64_t sum;
    uint64_t last; /* the bytes after the last whole word */
} rt_context_sum;

void rt_context_sum_init(rt_context_sum *self, uint64_t bytes); /* of the whole content */
void rt_context_sum_add(rt_context_sum *self, const uint8_t *piece,
                        uint64_t bytes); /* a multiple of 8, but in the last piece */
uint64_t rt_context_sum_finish(const rt_context_sum *self);

/* The same of a content in one piece. */
uint64_t rt_context_checksum(const uint8_t *buffer, uint64_t bytes);

#endif
