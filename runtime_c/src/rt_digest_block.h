/* Private to rt_digest.c and its test: the compression function of SHA-256 over whole blocks of 64 bytes. */
#ifndef RT_DIGEST_BLOCK_H
#define RT_DIGEST_BLOCK_H

#include <stddef.h>
#include <stdint.h>

typedef void (*rt_digest_compress)(uint32_t state[8], const uint8_t *blocks, size_t count);

void rt_digest_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t count);

/* The one with the processor's own instructions for SHA-256 (about six times as fast), or NULL when it has none. */
rt_digest_compress rt_digest_compress_machine(void);

/* FIPS 180-4 section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
extern const uint32_t rt_digest_round_constants[64];

#endif
