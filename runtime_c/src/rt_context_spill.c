#include "rt_context_spill.h"

#include "rt_chunk_pool.h"
#include "rt_context_formula.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rt_context_spill {
    rt_allocator *allocator;
    uint64_t *checksums; /* by chunk */
    uint64_t chunks;
    int file;
};

static const char *directory_or_default(const char *directory) {
    const char *const set = directory != NULL ? directory : getenv("TMPDIR");
    return set != NULL && set[0] != '\0' ? set : "/tmp";
}

/* Where the file system knows no nameless file, one with a name loses it at once. */
static int open_nameless(const char *directory) {
    char path[4096];
    const int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
        return file;
    }
    if (snprintf(path, sizeof path, "%s/context-XXXXXX", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0) {
        unlink(path);
    }
    return named;
}

/* A full disk should show before the first byte is written. Not every file system can tell. */
static int reserve(int file, uint64_t bytes) {
    int done;
    do {
        done = fallocate(file, 0, 0, (off_t)bytes);
    } while (done != 0 && errno == EINTR);
    return done == 0 || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
}

/* The messages name no folder: they end in records that are published. */
static rt_status open_file(rt_context_spill *self, const char *directory, uint64_t bytes, rt_message *why) {
    self->file = open_nameless(directory);
    if (self->file < 0) {
        return rt_fail(why, RT_IO,
                       "no temporary file can be made (%s); set TMPDIR to a folder that takes one",
                       strerror(errno));
    }
    const int refused = reserve(self->file, bytes);
    if (refused != 0) {
        return rt_fail(
            why, RT_IO,
            "the folder of temporary files has no room for %llu bytes (%s); set TMPDIR to one with more",
            (unsigned long long)bytes, strerror(refused));
    }
    return RT_OK;
}

rt_status rt_context_spill_create(rt_allocator *allocator, const char *directory, uint64_t bytes,
                                  rt_context_spill **out, rt_message *why) {
    *out = NULL;
    rt_context_spill *const self = rt_allocate(allocator, sizeof *self);
    if (self == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory to spill the context; free some and run again");
    }
    self->allocator = allocator;
    self->file = -1;
    self->chunks = (bytes + RT_CHUNK_BYTES - 1u) / RT_CHUNK_BYTES;
    self->checksums = rt_allocate_lines(allocator, self->chunks, sizeof *self->checksums);
    rt_status status = self->checksums != NULL
                           ? open_file(self, directory_or_default(directory), bytes, why)
                           : rt_fail(why, RT_NO_MEMORY, "no memory for the checksums of %llu chunks",
                                     (unsigned long long)self->chunks);
    if (status != RT_OK) {
        rt_context_spill_destroy(self);
        return status;
    }
    *out = self;
    return RT_OK;
}

void rt_context_spill_destroy(rt_context_spill *self) {
    if (self != NULL) {
        if (self->file >= 0) {
            close(self->file);
        }
        rt_free_lines(self->allocator, self->checksums);
        rt_free(self->allocator, self);
    }
}

rt_status rt_context_spill_put(rt_context_spill *self, uint64_t chunk, const uint8_t *bytes, size_t count,
                               rt_message *why) {
    const off_t start = (off_t)(chunk * RT_CHUNK_BYTES);
    for (size_t done = 0; done < count;) {
        const ssize_t written = pwrite(self->file, bytes + done, count - done, start + (off_t)done);
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            return rt_fail(why, RT_IO,
                           "chunk %llu of %llu of the context could not be spilled: %s; free some room",
                           (unsigned long long)chunk + 1u, (unsigned long long)self->chunks,
                           written == 0 ? "nothing was written" : strerror(errno));
        }
    }
    self->checksums[chunk] = rt_context_checksum(bytes, count);
    return RT_OK;
}

static rt_status damaged(const rt_context_spill *self, uint64_t chunk, const char *what, rt_message *why) {
    return rt_fail(why, RT_IO, "chunk %llu of %llu of the spilled context %s; load the context again",
                   (unsigned long long)chunk + 1u, (unsigned long long)self->chunks, what);
}

rt_status rt_context_spill_get(const rt_context_spill *self, uint64_t chunk, uint8_t *bytes, size_t count,
                               rt_message *why) {
    const off_t start = (off_t)(chunk * RT_CHUNK_BYTES);
    for (size_t done = 0; done < count;) {
        const ssize_t got = pread(self->file, bytes + done, count - done, start + (off_t)done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0) {
            return damaged(self, chunk, "is missing: the file ends too early", why);
        } else if (errno != EINTR) {
            return damaged(self, chunk, "cannot be read", why);
        }
    }
    return rt_context_checksum(bytes, count) == self->checksums[chunk]
               ? RT_OK
               : damaged(self, chunk, "is damaged: its checksum differs", why);
}

int rt_context_spill_descriptor(const rt_context_spill *self) { return self->file; }

uint64_t rt_context_spill_table_bytes(const rt_context_spill *self) {
    return self == NULL ? 0 : sizeof *self + self->chunks * sizeof *self->checksums;
}
