/* The file of a spilled context: it has no name, so nothing is left of it when the process ends in whatever way.
 *
 * A checksum of each chunk stays in memory. The file is a cache, never synchronised to the disk. */
#ifndef RT_CONTEXT_SPILL_H
#define RT_CONTEXT_SPILL_H

#include "rt_allocator.h"
#include "rt_status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rt_context_spill rt_context_spill;

/* Makes the file in `directory` (NULL: $TMPDIR, or /tmp) and reserves room for `bytes` bytes where the file system can.
 * RT_IO: it cannot be made, or there is no room; RT_NO_MEMORY; nothing is kept, *out is NULL. */
rt_status rt_context_spill_create(rt_allocator *allocator, const char *directory, uint64_t bytes,
                                  rt_context_spill **out, rt_message *why);
void rt_context_spill_destroy(rt_context_spill *self); /* NULL is allowed; the file is gone */

/* Writes a chunk and keeps its checksum. RT_IO: `why` says which chunk and what the system said. */
rt_status rt_context_spill_put(rt_context_spill *self, uint64_t chunk, const uint8_t *bytes, size_t count,
                               rt_message *why);

/* Reads a chunk. RT_IO: it cannot be read, the file ends too early, or the bytes are not those that were written. */
rt_status rt_context_spill_get(const rt_context_spill *self, uint64_t chunk, uint8_t *bytes, size_t count,
                               rt_message *why);

int rt_context_spill_descriptor(const rt_context_spill *self);
uint64_t rt_context_spill_table_bytes(const rt_context_spill *self); /* 0 for NULL */

#endif
