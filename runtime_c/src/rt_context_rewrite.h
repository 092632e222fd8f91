/* Which chunks of a context an experiment rewrites, and with what: by formula. */
#ifndef RT_CONTEXT_REWRITE_H
#define RT_CONTEXT_REWRITE_H

#include "rt_context_store.h"

#include <stdint.h>

/* How many of `chunks` a share in permille is, rounded up: above 0 it is at least one. */
static inline uint64_t rt_context_rewrite_count(uint64_t chunks, uint32_t permille) {
    return (chunks * permille + 999u) / 1000u;
}

/* The i-th of `count` chunks (count <= chunks, i < count): all different, one drawn from each of `count` equal runs. */
static inline uint64_t rt_context_rewrite_chunk(uint64_t seed, uint64_t i, uint64_t count, uint64_t chunks) {
    const uint64_t first = (uint64_t)((unsigned __int128)i * chunks / count);
    const uint64_t end = (uint64_t)((unsigned __int128)(i + 1u) * chunks / count);
    return first + rt_random_scale(rt_random_at(seed, i), end - first);
}

/* Overwrites a whole chunk. The status of rt_context_store_edit. */
static inline rt_status rt_context_rewrite(rt_context_store *context, uint64_t chunk, uint64_t seed,
                                           rt_message *why) {
    uint8_t *bytes;
    size_t count;
    const rt_status status = rt_context_store_edit(context, chunk, &bytes, &count, why);
    if (status == RT_OK) {
        rt_context_formula_fill(seed, chunk * RT_CONTEXT_CHUNK_BYTES, bytes, count);
    }
    return status;
}

#endif
