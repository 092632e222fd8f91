/* Snapshots, copy on write and rollback. */
#include "rt_context_parts.h"

#include <string.h>

/* ---- snapshots ---- */

static void copy_table(rt_context_store *self, rt_context_table *table) {
    memcpy((void *)table->bytes, (const void *)self->head.bytes, self->chunks * sizeof *table->bytes);
    memcpy(table->numbers, self->head.numbers, self->chunks * sizeof *table->numbers);
    table->away = self->head.away;
    pthread_mutex_lock(&self->lock);
    for (uint64_t i = 0; i < self->chunks; i++) {
        rt_chunk_pool_hold(&self->pool, table->numbers[i]);
    }
    self->snapshots++;
    pthread_mutex_unlock(&self->lock);
}

rt_status rt_context_snapshot_take(rt_context_store *self, rt_context_snapshot **out, rt_message *why) {
    *out = NULL;
    if (self->spill != NULL) {
        return rt_fail(why, RT_BUSY, "the context is spilled; restore it before taking a snapshot");
    }
    rt_context_snapshot *const snapshot = rt_allocate(self->allocator, sizeof *snapshot);
    if (snapshot == NULL || rt_context_table_create(&snapshot->table, self) != RT_OK) {
        rt_free(self->allocator, snapshot);
        return rt_fail(why, RT_NO_MEMORY, "no memory for the table of a snapshot; free some and run again");
    }
    snapshot->store = self;
    atomic_init(&snapshot->holders, 1);
    copy_table(self, &snapshot->table);
    *out = snapshot;
    return RT_OK;
}

void rt_context_snapshot_hold(rt_context_snapshot *self) {
    atomic_fetch_add_explicit(&self->holders, 1, memory_order_relaxed);
}

/* What the last holder read happens before a chunk is reused: the count orders the holders, the lock the reuse. */
void rt_context_snapshot_drop(rt_context_snapshot *self) {
    if (self == NULL || atomic_fetch_sub_explicit(&self->holders, 1, memory_order_acq_rel) > 1) {
        return;
    }
    rt_context_store *const store = self->store;
    pthread_mutex_lock(&store->lock);
    for (uint64_t i = 0; i < store->chunks; i++) {
        rt_chunk_pool_drop(&store->pool, self->table.numbers[i]);
    }
    store->snapshots--;
    pthread_mutex_unlock(&store->lock);
    rt_context_table_destroy(&self->table, store->allocator);
    rt_free(store->allocator, self);
}

uint64_t rt_context_snapshot_probe(const rt_context_snapshot *self, rt_access_pattern pattern,
                                   uint64_t task_id, uint32_t probes) {
    return rt_context_table_probe(&self->table, self->store, pattern, task_id, probes);
}

uint64_t rt_context_snapshot_checksum(const rt_context_snapshot *self) {
    return rt_context_table_checksum(&self->table, self->store);
}

/* ---- the head ---- */

static void put_in_head(rt_context_store *self, uint64_t position, uint32_t number) {
    self->head.away -= self->head.numbers[position] != position;
    self->head.away += number != position;
    self->head.numbers[position] = number;
    self->head.bytes[position] = self->pool.chunks[number].bytes;
}

/* Under the lock. Gives the head a chunk of its own with the same bytes. */
static rt_status copy_on_write(rt_context_store *self, uint64_t position) {
    const uint32_t shared = self->head.numbers[position];
    uint32_t own;
    if (rt_chunk_pool_take(&self->pool, (uint32_t)position, &own) != RT_OK) {
        return RT_NO_MEMORY;
    }
    const size_t count = rt_context_chunk_size(self, position);
    memcpy(self->pool.chunks[own].bytes, self->pool.chunks[shared].bytes, count);
    self->bytes_copied += count;
    rt_chunk_pool_drop(&self->pool, shared);
    put_in_head(self, position, own);
    return RT_OK;
}

rt_status rt_context_store_edit(rt_context_store *self, uint64_t chunk, uint8_t **bytes, size_t *count,
                                rt_message *why) {
    if (self->spill != NULL) {
        return rt_fail(why, RT_BUSY, "the context is spilled; restore it before rewriting");
    }
    if (chunk >= self->chunks) {
        return rt_fail(why, RT_INVALID, "chunk %llu is none of the %llu of the context",
                       (unsigned long long)chunk, (unsigned long long)self->chunks);
    }
    rt_status status = RT_OK;
    pthread_mutex_lock(&self->lock);
    if (self->pool.chunks[self->head.numbers[chunk]].users > 1) {
        status = copy_on_write(self, chunk);
    }
    *bytes = self->pool.chunks[self->head.numbers[chunk]].bytes;
    pthread_mutex_unlock(&self->lock);
    *count = rt_context_chunk_size(self, chunk);
    return status == RT_OK
               ? RT_OK
               : rt_fail(why, status, "no memory for the copy of a chunk; the context is unchanged");
}

void rt_context_store_rollback(rt_context_store *self, const rt_context_snapshot *snapshot) {
    pthread_mutex_lock(&self->lock);
    for (uint64_t i = 0; i < self->chunks; i++) {
        const uint32_t kept = snapshot->table.numbers[i];
        const uint32_t rewritten = self->head.numbers[i];
        if (kept != rewritten) {
            rt_chunk_pool_hold(&self->pool, kept);
            rt_chunk_pool_drop(&self->pool, rewritten);
            put_in_head(self, i, kept);
        }
    }
    pthread_mutex_unlock(&self->lock);
}

/* ---- account ---- */

void rt_context_store_account(rt_context_store *self, rt_context_bytes *out) {
    pthread_mutex_lock(&self->lock);
    const uint64_t table_bytes = self->chunks * (sizeof *self->head.bytes + sizeof *self->head.numbers);
    *out = (rt_context_bytes){
        .content_bytes = self->home == NULL ? 0 : self->chunks * RT_CHUNK_BYTES,
        .copy_bytes = rt_chunk_pool_copy_bytes(&self->pool),
        .table_bytes = sizeof *self + table_bytes +
                       self->snapshots * (table_bytes + sizeof(rt_context_snapshot)) +
                       rt_chunk_pool_table_bytes(&self->pool) + self->overview_bytes +
                       rt_context_spill_table_bytes(self->spill),
        .spilled_bytes = self->spill == NULL ? 0 : self->bytes,
        .chunks_free = self->pool.free_count,
        .bytes_copied = self->bytes_copied,
        .snapshots = self->snapshots,
    };
    for (uint32_t i = 0; i < self->pool.count; i++) {
        out->chunks_shared += self->pool.chunks[i].users > 1;
    }
    pthread_mutex_unlock(&self->lock);
}
