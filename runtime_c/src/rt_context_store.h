/* The shared context: canonical content in chunks of 64 KiB, with snapshots, rollback and three tiers.
 *
 * The head is the content that is rewritten; a snapshot keeps what the head held when it was taken. Both are tables
 * of chunks that count their users: a chunk that a snapshot shares is copied when it is rewritten, never before
 * (copy on write), and a chunk that nobody holds any more is the next to be reused. Chunks that were never rewritten
 * lie in one piece in memory, so that probes of such a content go through no table.
 *
 * Tiers: HOT, the content is in memory; WARM, it is spilled to a file and a bounded overview of it is in memory;
 * COLD, it is spilled and nothing of it is in memory.
 *
 * Threads: one thread at a time calls the functions that change the store (edit, rollback, take, overview, spill,
 * restore, load, destroy) or read its head. A snapshot is immutable: any thread reads, holds and drops it at any
 * time, also while the head is rewritten or rolled back. */
#ifndef RT_CONTEXT_STORE_H
#define RT_CONTEXT_STORE_H

#include "rt_access_pattern.h"
#include "rt_allocator.h"
#include "rt_context_formula.h"
#include "rt_status.h"

#include <stddef.h>
#include <stdint.h>

#define RT_CONTEXT_MAX_BYTES (UINT64_C(1) << 40)
#define RT_CONTEXT_CHUNK_BYTES 65536u
#define RT_CONTEXT_OVERVIEW_MAX_BYTES (1u << 20)

typedef struct rt_context_store rt_context_store;
typedef struct rt_context_snapshot rt_context_snapshot;

typedef enum rt_context_tier { RT_CONTEXT_HOT, RT_CONTEXT_WARM, RT_CONTEXT_COLD } rt_context_tier;

/* Where content comes from: writes the `count` bytes at `offset` into `piece`. Called once a chunk, in order. Any
 * status but RT_OK ends the loading and is returned. */
typedef struct rt_context_source {
    rt_status (*read)(void *context, uint64_t offset, uint8_t *piece, size_t count);
    void *context;
} rt_context_source;

/* Where content goes: takes the next `count` bytes. Any status but RT_OK ends the serialisation and is returned. */
typedef struct rt_context_sink {
    rt_status (*write)(void *context, const uint8_t *piece, size_t count);
    void *context;
} rt_context_sink;

/* ---- life ---- */

/* Allocates and fills `bytes` bytes (1 .. RT_CONTEXT_MAX_BYTES; the caller keeps `allocator` alive) by the formula.
 * RT_INVALID: bytes out of range. RT_NO_MEMORY: nothing is kept. *out is NULL unless RT_OK. */
rt_status rt_context_store_create(rt_allocator *allocator, uint64_t bytes, uint64_t seed,
                                  rt_context_store **out, rt_message *why);

/* The same from a source, which writes straight into the chunks: there is no second copy at any time. */
rt_status rt_context_store_create_from(rt_allocator *allocator, uint64_t bytes, rt_context_source source,
                                       rt_context_store **out, rt_message *why);

/* All snapshots have been dropped before. NULL is allowed. */
void rt_context_store_destroy(rt_context_store *self);

uint64_t rt_context_store_bytes(const rt_context_store *self);
uint64_t rt_context_store_chunks(const rt_context_store *self);
rt_context_tier rt_context_store_tier(const rt_context_store *self);

/* ---- the head; only HOT, unless it says otherwise ---- */

/* Reads `probes` bytes at the offsets of rt_access_offset and folds them. Several threads may probe the head while
 * nothing changes it. */
uint64_t rt_context_store_probe(const rt_context_store *self, rt_access_pattern pattern, uint64_t task_id,
                                uint32_t probes);

/* Checksum of what the head holds now, in one pass over it. */
uint64_t rt_context_store_checksum(const rt_context_store *self);

/* Chunk `chunk` (below rt_context_store_chunks) for reading, until the head changes. */
const uint8_t *rt_context_store_chunk(const rt_context_store *self, uint64_t chunk, size_t *count);

/* Makes a chunk the head's own, by a copy when a snapshot shares it, and gives its bytes for writing until the next
 * snapshot, rollback or spill. RT_NO_MEMORY: the head is unchanged. RT_BUSY: the content is spilled. RT_INVALID: no
 * such chunk. */
rt_status rt_context_store_edit(rt_context_store *self, uint64_t chunk, uint8_t **bytes, size_t *count,
                                rt_message *why);

/* Gives the content to the sink, a chunk at a time, in order; from any tier (then through one buffer of a chunk).
 * RT_IO: the spilled file is damaged, `why` says at which chunk; the sink got all chunks before it. */
rt_status rt_context_store_serialise(rt_context_store *self, rt_context_sink sink, rt_message *why);

/* ---- snapshots ---- */

/* Keeps what the head holds now: a copy of the table of chunks, not of chunks. RT_BUSY: spilled. RT_NO_MEMORY. */
rt_status rt_context_snapshot_take(rt_context_store *self, rt_context_snapshot **out, rt_message *why);

void rt_context_snapshot_hold(rt_context_snapshot *self); /* one more rt_context_snapshot_drop is needed */
void rt_context_snapshot_drop(rt_context_snapshot *self); /* the last one ends it; NULL is allowed */

uint64_t rt_context_snapshot_probe(const rt_context_snapshot *self, rt_access_pattern pattern,
                                   uint64_t task_id, uint32_t probes);
uint64_t rt_context_snapshot_checksum(const rt_context_snapshot *self);

/* Makes the head hold what the snapshot holds, which stays; copies no content. The snapshot is of this store. */
void rt_context_store_rollback(rt_context_store *self, const rt_context_snapshot *snapshot);

/* ---- tiers ---- */

/* Makes the overview that WARM keeps, of what the head holds now, in at most limit_bytes: a line for the whole
 * content, then one for each of as many sections (runs of whole chunks) as find room: where it begins, its size,
 * checksum and first 16 bytes. The same content gives the same text. RT_INVALID, RT_NO_MEMORY, RT_BUSY (spilled):
 * the overview before stays. */
rt_status rt_context_store_overview_make(rt_context_store *self, uint32_t limit_bytes, rt_message *why);
const char *rt_context_store_overview(const rt_context_store *self); /* NULL: none */
void rt_context_store_overview_drop(rt_context_store *self);

/* Writes the content to a file in `directory` (NULL: $TMPDIR, or /tmp) that has no name, then gives its memory back.
 * RT_BUSY: a snapshot lives, or it is spilled already. RT_IO: no such directory, no room; `why` says which. RT_NO_MEMORY.
 * On any of them the store is HOT as before. */
rt_status rt_context_store_spill(rt_context_store *self, const char *directory, rt_message *why);

/* Reads the content back, a chunk at a time, and compares the checksum of each. RT_IO: the file is damaged, `why` says at
 * which chunk; RT_NO_MEMORY. The store is then spilled as before: it can be restored again, loaded or destroyed. */
rt_status rt_context_store_restore(rt_context_store *self, rt_message *why);

/* Fills a spilled store from a source instead and gives the file up. RT_BUSY: not spilled. RT_NO_MEMORY, or what the
 * source returned: spilled as before. */
rt_status rt_context_store_load(rt_context_store *self, rt_context_source source, rt_message *why);

/* The descriptor of the spilled file, for tests that damage it; -1 when HOT. */
int rt_context_store_spill_descriptor(const rt_context_store *self);

/* ---- account ---- */

typedef struct rt_context_bytes {
    uint64_t content_bytes; /* the canonical content in whole chunks, when HOT */
    uint64_t copy_bytes;    /* chunks made by copy on write, in use or free */
    uint64_t table_bytes;   /* head, snapshots, overview, checksums of the file, the store itself */
    uint64_t spilled_bytes; /* on disk */
    uint64_t chunks_shared; /* held by more than one table */
    uint64_t chunks_free;   /* ready for reuse */
    uint64_t bytes_copied;  /* by copy on write, since create */
    uint64_t snapshots;     /* alive */
} rt_context_bytes;
void rt_context_store_account(rt_context_store *self, rt_context_bytes *out);

#endif
