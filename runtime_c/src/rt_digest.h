/* SHA-256 (FIPS 180-4): of bytes in memory and of a file. */
#ifndef RT_DIGEST_H
#define RT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "rt_status.h"

#define RT_DIGEST_BYTES 32
#define RT_DIGEST_HEX_BYTES (2 * RT_DIGEST_BYTES + 1) /* with the closing NUL */

typedef struct rt_digest {
    uint32_t state[8];
    uint64_t length_bytes;
    size_t block_fill;
    uint8_t block[64];
} rt_digest;

/* Begins a new digest in place. */
void rt_digest_init(rt_digest *self);

/* Appends bytes to the message. */
void rt_digest_update(rt_digest *self, const void *bytes, size_t count);

/* Ends the message and writes its digest as 64 lower-case hexadecimal digits. `self` must be initialised
 * again before it is used for another message. */
void rt_digest_finish_hex(rt_digest *self, char hex[RT_DIGEST_HEX_BYTES]);

/* The digest of a whole file, read in blocks of 64 KiB on the stack.
 * RT_IO: the file cannot be opened or read; `hex` holds an empty string. */
rt_status rt_digest_file_hex(const char *path, char hex[RT_DIGEST_HEX_BYTES]);

#endif
