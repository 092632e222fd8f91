#include "rt_context_store.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word is copied into the buffer byte for byte");

struct rt_context_store {
    rt_allocator *allocator;
    uint64_t bytes;
    uint8_t *buffer;
};

static void fill(uint8_t *buffer, uint64_t bytes, uint64_t seed) {
    const uint64_t words = bytes / 8u;
    for (uint64_t i = 0; i < words; i++) {
        const uint64_t word = rt_random_at(seed, i);
        memcpy(buffer + i * 8u, &word, 8);
    }
    const uint64_t last = rt_random_at(seed, words);
    memcpy(buffer + words * 8u, &last, bytes % 8u);
}

rt_status rt_context_store_create(rt_allocator *allocator, uint64_t bytes, uint64_t seed,
                                  rt_context_store **out, rt_message *why) {
    *out = NULL;
    if (bytes == 0 || bytes > RT_CONTEXT_MAX_BYTES) {
        return rt_fail(why, RT_INVALID, "context_bytes is %llu; choose 1 to %llu", (unsigned long long)bytes,
                       (unsigned long long)RT_CONTEXT_MAX_BYTES);
    }
    rt_context_store *const self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for the context store; free some and run again");
    }
    self->allocator = allocator;
    self->bytes = bytes;
    self->buffer = rt_allocate_owned(allocator, RT_OWNER_CONTEXT, 1, bytes);
    if (self->buffer == NULL) {
        rt_free(allocator, self);
        return rt_fail(why, RT_NO_MEMORY,
                       "no memory for a context of %llu bytes; choose a smaller context_bytes",
                       (unsigned long long)bytes);
    }
    fill(self->buffer, bytes, seed);
    *out = self;
    return RT_OK;
}

void rt_context_store_destroy(rt_context_store *self) {
    if (self != NULL) {
        rt_free_lines(self->allocator, self->buffer);
        rt_free(self->allocator, self);
    }
}

uint64_t rt_context_store_bytes(const rt_context_store *self) { return self->bytes; }

/* Offsets depend on the task and the probe's number only, so the reads of one task overlap in the
 * memory system; a chain through the read values would measure latency instead. */
static inline uint64_t probe_base(uint64_t task_id) {
    return rt_random_mix(task_id + UINT64_C(0x5851F42D4C957F2D));
}

static inline uint64_t offset_from(uint64_t base, uint32_t probe, uint64_t bytes) {
    uint64_t value = base + (uint64_t)probe * UINT64_C(0x9E3779B97F4A7C15);
    value = (value ^ (value >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    return rt_random_scale(value, bytes);
}

static inline uint64_t fold_byte(uint64_t sum, uint8_t byte) { return sum * 31u + byte; }

uint64_t rt_context_store_probe(const rt_context_store *self, uint64_t task_id, uint32_t probes) {
    const uint64_t base = probe_base(task_id);
    uint64_t sum = 1;
    for (uint32_t i = 0; i < probes; i++) {
        sum = fold_byte(sum, self->buffer[offset_from(base, i, self->bytes)]);
    }
    return sum;
}

static inline uint64_t fold_word(uint64_t sum, uint64_t word) {
    sum ^= word;
    return ((sum << 29) | (sum >> 35)) * UINT64_C(0x9FB21C651E98DF25);
}

static uint64_t last_word_mask(uint64_t bytes) { return (UINT64_C(1) << (bytes % 8u * 8u)) - 1u; }

uint64_t rt_context_checksum(const uint8_t *buffer, uint64_t bytes) {
    const uint64_t words = bytes / 8u;
    uint64_t sum = bytes;
    uint64_t word;
    for (uint64_t i = 0; i < words; i++) {
        memcpy(&word, buffer + i * 8u, 8);
        sum = fold_word(sum, word);
    }
    word = 0;
    memcpy(&word, buffer + words * 8u, bytes % 8u);
    return fold_word(sum, word);
}

uint64_t rt_context_store_checksum(const rt_context_store *self) {
    return rt_context_checksum(self->buffer, self->bytes);
}

uint8_t rt_context_formula_byte(uint64_t seed, uint64_t offset) {
    return (uint8_t)(rt_random_at(seed, offset / 8u) >> (offset % 8u * 8u));
}

uint64_t rt_context_probe_offset(uint64_t task_id, uint32_t probe, uint64_t bytes) {
    return offset_from(probe_base(task_id), probe, bytes);
}

uint64_t rt_context_expected_probe(uint64_t seed, uint64_t bytes, uint64_t task_id, uint32_t probes) {
    uint64_t sum = 1;
    for (uint32_t i = 0; i < probes; i++) {
        sum = fold_byte(sum, rt_context_formula_byte(seed, rt_context_probe_offset(task_id, i, bytes)));
    }
    return sum;
}

uint64_t rt_context_expected_checksum(uint64_t seed, uint64_t bytes) {
    const uint64_t words = bytes / 8u;
    uint64_t sum = bytes;
    for (uint64_t i = 0; i < words; i++) {
        sum = fold_word(sum, rt_random_at(seed, i));
    }
    return fold_word(sum, rt_random_at(seed, words) & last_word_mask(bytes));
}
