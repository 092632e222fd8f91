#include "rt_digest_block.h"

const uint32_t rt_digest_round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* ---- portable ---- */

static inline uint32_t rotate_right(uint32_t word, unsigned bits) {
    return (word >> bits) | (word << (32 - bits));
}

static inline uint32_t read_big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

static void expand_schedule(uint32_t schedule[64], const uint8_t block[64]) {
    for (size_t t = 0; t < 16; t++) {
        schedule[t] = read_big_endian(block + 4 * t);
    }
    for (size_t t = 16; t < 64; t++) {
        const uint32_t far = schedule[t - 15], near = schedule[t - 2];
        const uint32_t sigma0 = rotate_right(far, 7) ^ rotate_right(far, 18) ^ (far >> 3);
        const uint32_t sigma1 = rotate_right(near, 17) ^ rotate_right(near, 19) ^ (near >> 10);
        schedule[t] = schedule[t - 16] + sigma0 + schedule[t - 7] + sigma1;
    }
}

/* Section 6.2.2. `v` holds the working variables a ... h of the standard; after a round each is called by the next
 * letter, so in round t variable k is v[(k - t) mod 8] and none is moved. */
static inline void do_round(uint32_t v[8], unsigned t, uint32_t word) {
    uint32_t *const d = &v[(3u - t) & 7u], *const h = &v[(7u - t) & 7u];
    const uint32_t a = v[(0u - t) & 7u], b = v[(1u - t) & 7u], c = v[(2u - t) & 7u];
    const uint32_t e = v[(4u - t) & 7u], f = v[(5u - t) & 7u], g = v[(6u - t) & 7u];
    const uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const uint32_t first = *h + sum1 + ((e & f) ^ (~e & g)) + word;
    const uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    *d += first;
    *h = first + sum0 + ((a & b) ^ (a & c) ^ (b & c));
}

void rt_digest_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t count) {
    uint32_t schedule[64], v[8];
    for (; count > 0; count--, blocks += 64) {
        expand_schedule(schedule, blocks);
        for (size_t i = 0; i < 8; i++) {
            v[i] = state[i];
        }
        for (unsigned t = 0; t < 64; t += 8) {
#pragma GCC unroll 8
            for (unsigned i = 0; i < 8; i++) {
                do_round(v, i, rt_digest_round_constants[t + i] + schedule[t + i]);
            }
        }
        for (size_t i = 0; i < 8; i++) {
            state[i] += v[i];
        }
    }
}

/* ---- x86-64 with the SHA extensions ---- */

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdbool.h>

#define SHA_NI __attribute__((target("sha,sse4.1,ssse3")))

/* The instructions want the state as two vectors, (a b e f) and (c d g h) from the high word down. */
SHA_NI static void compress_sha_ni(uint32_t state[8], const uint8_t *blocks, size_t count) {
    const __m128i to_big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)&state[0]), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)&state[4]), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count > 0; count--, blocks += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4]; /* the last 16 words of the schedule */
#pragma GCC unroll 16
        for (unsigned i = 0; i < 16; i++) {
            __m128i *const next = &w[i & 3u], *const last = &w[(i + 3u) & 3u];
            if (i < 4) {
                const __m128i raw = _mm_loadu_si128((const __m128i *)(const void *)(blocks + 16 * i));
                *next = _mm_shuffle_epi8(raw, to_big_endian);
            } else {
                const __m128i older = _mm_sha256msg1_epu32(*next, w[(i + 1u) & 3u]);
                const __m128i seven_back = _mm_alignr_epi8(*last, w[(i + 2u) & 3u], 4);
                *next = _mm_sha256msg2_epu32(_mm_add_epi32(older, seven_back), *last);
            }
            const void *const constants = &rt_digest_round_constants[4 * i];
            const __m128i words = _mm_add_epi32(*next, _mm_loadu_si128((const __m128i *)constants));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)&state[0], _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)&state[4], _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_sha_ni(void) {
    unsigned eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & bit_SSSE3) == 0 || (ecx & bit_SSE4_1) == 0) {
        return false;
    }
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & bit_SHA) != 0;
}

rt_digest_compress rt_digest_compress_machine(void) { return has_sha_ni() ? compress_sha_ni : NULL; }

#else

rt_digest_compress rt_digest_compress_machine(void) { return NULL; }

#endif
