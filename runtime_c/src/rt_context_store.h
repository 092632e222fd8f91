/* The shared context buffer: written once from a formula, then only read.
 *
 * The byte at any offset follows from (seed, offset) alone, so what the probes must read and what the
 * buffer must hold are known without looking at the buffer. */
#ifndef RT_CONTEXT_STORE_H
#define RT_CONTEXT_STORE_H

#include "rt_allocator.h"
#include "rt_random.h"
#include "rt_status.h"

#include <stddef.h>
#include <stdint.h>

#define RT_CONTEXT_MAX_BYTES (UINT64_C(1) << 40)

typedef struct rt_context_store rt_context_store;

/* Allocates and fills `bytes` bytes (1 .. RT_CONTEXT_MAX_BYTES; the caller keeps `allocator` alive).
 * RT_INVALID: bytes out of range. RT_NO_MEMORY: nothing is kept. *out is NULL unless RT_OK. */
rt_status rt_context_store_create(rt_allocator *allocator, uint64_t bytes, uint64_t seed,
                                  rt_context_store **out, rt_message *why);
void rt_context_store_destroy(rt_context_store *self); /* NULL is allowed */

uint64_t rt_context_store_bytes(const rt_context_store *self);

/* Reads `probes` bytes at the offsets of rt_context_probe_offset and folds them; thread safe. */
uint64_t rt_context_store_probe(const rt_context_store *self, uint64_t task_id, uint32_t probes);

/* Checksum of what the buffer holds now, in one pass over it. */
uint64_t rt_context_store_checksum(const rt_context_store *self);

/* The same checksum of any bytes. */
uint64_t rt_context_checksum(const uint8_t *buffer, uint64_t bytes);

/* The formulas, none of which touches a buffer. */
uint8_t rt_context_formula_byte(uint64_t seed, uint64_t offset);
uint64_t rt_context_probe_offset(uint64_t task_id, uint32_t probe, uint64_t bytes);
uint64_t rt_context_expected_probe(uint64_t seed, uint64_t bytes, uint64_t task_id, uint32_t probes);
uint64_t rt_context_expected_checksum(uint64_t seed, uint64_t bytes);

#endif
