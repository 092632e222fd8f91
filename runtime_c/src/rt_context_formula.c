#include "rt_context_formula.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word is copied into the buffer byte for byte");

uint8_t rt_context_formula_byte(uint64_t seed, uint64_t offset) {
    return (uint8_t)(rt_random_at(seed, offset / 8u) >> (offset % 8u * 8u));
}

void rt_context_formula_fill(uint64_t seed, uint64_t offset, uint8_t *buffer, size_t count) {
    const uint64_t first = offset / 8u;
    const size_t words = count / 8u;
    for (size_t i = 0; i < words; i++) {
        const uint64_t word = rt_random_at(seed, first + i);
        memcpy(buffer + i * 8u, &word, 8);
    }
    const uint64_t last = rt_random_at(seed, first + words);
    memcpy(buffer + words * 8u, &last, count % 8u);
}

uint64_t rt_context_expected_probe(uint64_t seed, uint64_t bytes, rt_access_pattern pattern, uint64_t task_id,
                                   uint32_t probes) {
    uint64_t sum = 1;
    for (uint32_t i = 0; i < probes; i++) {
        const uint64_t offset = rt_access_offset(pattern, task_id, i, bytes);
        sum = rt_context_fold_byte(sum, rt_context_formula_byte(seed, offset));
    }
    return sum;
}

static inline uint64_t fold_word(uint64_t sum, uint64_t word) {
    sum ^= word;
    return ((sum << 29) | (sum >> 35)) * UINT64_C(0x9FB21C651E98DF25);
}

uint64_t rt_context_expected_checksum(uint64_t seed, uint64_t bytes) {
    const uint64_t words = bytes / 8u;
    const uint64_t last_mask = (UINT64_C(1) << (bytes % 8u * 8u)) - 1u;
    uint64_t sum = bytes;
    for (uint64_t i = 0; i < words; i++) {
        sum = fold_word(sum, rt_random_at(seed, i));
    }
    return fold_word(sum, rt_random_at(seed, words) & last_mask);
}

void rt_context_sum_init(rt_context_sum *self, uint64_t bytes) { *self = (rt_context_sum){bytes, 0}; }

void rt_context_sum_add(rt_context_sum *self, const uint8_t *piece, uint64_t bytes) {
    const uint64_t words = bytes / 8u;
    uint64_t sum = self->sum;
    for (uint64_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, piece + i * 8u, 8);
        sum = fold_word(sum, word);
    }
    self->sum = sum;
    memcpy(&self->last, piece + words * 8u, bytes % 8u);
}

uint64_t rt_context_sum_finish(const rt_context_sum *self) { return fold_word(self->sum, self->last); }

uint64_t rt_context_checksum(const uint8_t *buffer, uint64_t bytes) {
    rt_context_sum sum;
    rt_context_sum_init(&sum, bytes);
    rt_context_sum_add(&sum, buffer, bytes);
    return rt_context_sum_finish(&sum);
}
