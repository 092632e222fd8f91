#include "rt_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* FIPS 180-4 section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t word, unsigned bits) { return (word >> bits) | (word << (32 - bits)); }

static uint32_t read_big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

static void expand_schedule(uint32_t schedule[64], const uint8_t block[64]) {
    for (size_t t = 0; t < 16; t++) {
        schedule[t] = read_big_endian(block + 4 * t);
    }
    for (size_t t = 16; t < 64; t++) {
        uint32_t far = schedule[t - 15], near = schedule[t - 2];
        uint32_t sigma0 = rotate_right(far, 7) ^ rotate_right(far, 18) ^ (far >> 3);
        uint32_t sigma1 = rotate_right(near, 17) ^ rotate_right(near, 19) ^ (near >> 10);
        schedule[t] = schedule[t - 16] + sigma0 + schedule[t - 7] + sigma1;
    }
}

/* Section 6.2.2; the working variables keep the letters of the standard as indices (a = 0 ... h = 7). */
static void compress(uint32_t state[8], const uint8_t block[64]) {
    uint32_t schedule[64], v[8];
    expand_schedule(schedule, block);
    memcpy(v, state, sizeof v);
    for (size_t t = 0; t < 64; t++) {
        uint32_t sum1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t first = v[7] + sum1 + choice + round_constants[t] + schedule[t];
        uint32_t sum0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + sum0 + majority;
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

void rt_digest_init(rt_digest *self) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(self->state, initial, sizeof initial);
    self->length_bytes = 0;
    self->block_fill = 0;
}

void rt_digest_update(rt_digest *self, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    self->length_bytes += count;
    while (count > 0) {
        size_t taken = sizeof self->block - self->block_fill;
        if (taken > count) {
            taken = count;
        }
        memcpy(self->block + self->block_fill, next, taken);
        self->block_fill += taken;
        next += taken;
        count -= taken;
        if (self->block_fill == sizeof self->block) {
            compress(self->state, self->block);
            self->block_fill = 0;
        }
    }
}

void rt_digest_finish_hex(rt_digest *self, char hex[RT_DIGEST_HEX_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    static const uint8_t padding[64] = {0x80};
    uint64_t length_bits = self->length_bytes * 8;
    uint8_t length[8];
    for (size_t i = 0; i < 8; i++) {
        length[i] = (uint8_t)(length_bits >> (56 - 8 * i));
    }
    rt_digest_update(self, padding, self->block_fill < 56 ? 56 - self->block_fill : 120 - self->block_fill);
    rt_digest_update(self, length, sizeof length);
    for (size_t i = 0; i < RT_DIGEST_BYTES; i++) {
        uint32_t byte = (self->state[i / 4] >> (24 - 8 * (i % 4))) & 0xff;
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    hex[2 * RT_DIGEST_BYTES] = '\0';
}

rt_status rt_digest_file_hex(const char *path, char hex[RT_DIGEST_HEX_BYTES]) {
    uint8_t buffer[65536];
    rt_digest digest;
    ssize_t got;
    hex[0] = '\0';
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return RT_IO;
    }
    rt_digest_init(&digest);
    do {
        got = read(file, buffer, sizeof buffer);
        if (got > 0) {
            rt_digest_update(&digest, buffer, (size_t)got);
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    close(file);
    if (got < 0) {
        return RT_IO;
    }
    rt_digest_finish_hex(&digest, hex);
    return RT_OK;
}
