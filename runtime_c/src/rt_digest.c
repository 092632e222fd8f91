#include "rt_digest.h"

#include "rt_digest_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Asked once; several threads may do so at the same time, and all find the same. */
static rt_digest_compress compression(void) {
    static _Atomic(rt_digest_compress) chosen;
    rt_digest_compress compress = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (compress == NULL) {
        const rt_digest_compress machine = rt_digest_compress_machine();
        compress = machine != NULL ? machine : rt_digest_compress_portable;
        atomic_store_explicit(&chosen, compress, memory_order_relaxed);
    }
    return compress;
}

void rt_digest_init(rt_digest *self) {
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(self->state, initial, sizeof initial);
    self->length_bytes = 0;
    self->block_fill = 0;
}

void rt_digest_update(rt_digest *self, const void *bytes, size_t count) {
    const rt_digest_compress compress = compression();
    const uint8_t *next = bytes;
    self->length_bytes += count;
    while (count > 0) {
        if (self->block_fill == 0 && count >= sizeof self->block) { /* whole blocks need no copy */
            const size_t blocks = count / sizeof self->block;
            compress(self->state, next, blocks);
            next += blocks * sizeof self->block;
            count -= blocks * sizeof self->block;
            continue;
        }
        const size_t room = sizeof self->block - self->block_fill;
        const size_t taken = room < count ? room : count;
        memcpy(self->block + self->block_fill, next, taken);
        self->block_fill += taken;
        next += taken;
        count -= taken;
        if (self->block_fill == sizeof self->block) {
            compress(self->state, self->block, 1);
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
