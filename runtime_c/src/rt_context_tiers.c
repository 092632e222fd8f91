/* HOT, WARM and COLD: the overview, the spilled file, serialisation from either. */
#include "rt_context_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECTION_LINE_BYTES 75u /* of a context of 2^40 bytes: its offsets have 10 digits, its size has 13 */
#define HEAD_LINE_BYTES 70u
#define EXCERPT_BYTES 16u

rt_context_tier rt_context_store_tier(const rt_context_store *self) {
    return self->spill == NULL ? RT_CONTEXT_HOT : self->overview != NULL ? RT_CONTEXT_WARM : RT_CONTEXT_COLD;
}

/* ---- WARM ---- */

static void write_excerpt(char out[2 * EXCERPT_BYTES + 1], const uint8_t *bytes, size_t count) {
    size_t at = 0;
    for (size_t i = 0; i < count && i < EXCERPT_BYTES; i++) {
        at += (size_t)snprintf(out + at, 3, "%02x", bytes[i]);
    }
    out[at] = '\0';
}

/* Chunks `first` to `end`; adds them to the sum of the whole content too. Returns the length of the line. */
static size_t write_section(const rt_context_store *self, uint64_t first, uint64_t end, rt_context_sum *whole,
                            char out[SECTION_LINE_BYTES + 1]) {
    const uint64_t offset = first * RT_CHUNK_BYTES;
    const uint64_t bytes = (end == self->chunks ? self->bytes : end * RT_CHUNK_BYTES) - offset;
    char excerpt[2 * EXCERPT_BYTES + 1];
    rt_context_sum section;
    rt_context_sum_init(&section, bytes);
    for (uint64_t i = first; i < end; i++) {
        const size_t count = rt_context_chunk_size(self, i);
        rt_context_sum_add(&section, self->head.bytes[i], count);
        rt_context_sum_add(whole, self->head.bytes[i], count);
    }
    write_excerpt(excerpt, self->head.bytes[first], rt_context_chunk_size(self, first));
    return (size_t)snprintf(out, SECTION_LINE_BYTES + 1, "%010" PRIx64 " %" PRIu64 " %016" PRIx64 " %s\n",
                            offset, bytes, rt_context_sum_finish(&section), excerpt);
}

static size_t write_head(const rt_context_store *self, uint64_t checksum, char out[HEAD_LINE_BYTES + 1]) {
    return (size_t)snprintf(out, HEAD_LINE_BYTES + 1,
                            "context %013" PRIu64 " bytes %08" PRIu64 " chunks checksum %016" PRIx64 "\n",
                            self->bytes, self->chunks, checksum);
}

/* The head line has one length whatever it says, so that it can be written last: it needs the whole checksum. */
static size_t write_overview(const rt_context_store *self, uint32_t limit_bytes, char *text) {
    char line[SECTION_LINE_BYTES + 1];
    const size_t head_bytes = write_head(self, 0, line);
    if (limit_bytes < head_bytes) {
        return 0;
    }
    const uint64_t room = (limit_bytes - head_bytes) / SECTION_LINE_BYTES;
    const uint64_t sections = room < self->chunks ? room : self->chunks;
    size_t at = head_bytes;
    rt_context_sum whole;
    rt_context_sum_init(&whole, self->bytes);
    for (uint64_t i = 0; i < sections; i++) {
        const size_t bytes =
            write_section(self, i * self->chunks / sections, (i + 1) * self->chunks / sections, &whole, line);
        memcpy(text + at, line, bytes);
        at += bytes;
    }
    write_head(self, sections > 0 ? rt_context_sum_finish(&whole) : rt_context_store_checksum(self), line);
    memcpy(text, line, head_bytes);
    return at;
}

rt_status rt_context_store_overview_make(rt_context_store *self, uint32_t limit_bytes, rt_message *why) {
    if (self->spill != NULL) {
        return rt_fail(why, RT_BUSY, "the context is spilled; restore it before making an overview");
    }
    if (limit_bytes == 0 || limit_bytes > RT_CONTEXT_OVERVIEW_MAX_BYTES) {
        return rt_fail(why, RT_INVALID, "overview_bytes is %u; choose 1 to %u", limit_bytes,
                       RT_CONTEXT_OVERVIEW_MAX_BYTES);
    }
    char *const text = rt_allocate(self->allocator, (size_t)limit_bytes + 1u);
    if (text == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for an overview of %u bytes; choose fewer", limit_bytes);
    }
    rt_context_store_overview_drop(self);
    text[write_overview(self, limit_bytes, text)] = '\0';
    self->overview = text;
    self->overview_bytes = limit_bytes + 1u;
    return RT_OK;
}

const char *rt_context_store_overview(const rt_context_store *self) { return self->overview; }

void rt_context_store_overview_drop(rt_context_store *self) {
    rt_free(self->allocator, self->overview);
    self->overview = NULL;
    self->overview_bytes = 0;
}

/* ---- COLD ---- */

rt_status rt_context_store_spill(rt_context_store *self, const char *directory, rt_message *why) {
    if (self->spill != NULL) {
        return rt_fail(why, RT_BUSY, "the context is spilled already; restore it first");
    }
    pthread_mutex_lock(&self->lock);
    const uint64_t snapshots = self->snapshots;
    pthread_mutex_unlock(&self->lock);
    if (snapshots > 0) {
        return rt_fail(why, RT_BUSY, "%llu snapshots keep the context in memory; drop them first",
                       (unsigned long long)snapshots);
    }
    rt_context_spill *spill;
    rt_status status = rt_context_spill_create(self->allocator, directory, self->bytes, &spill, why);
    for (uint64_t i = 0; i < self->chunks && status == RT_OK; i++) {
        status = rt_context_spill_put(spill, i, self->head.bytes[i], rt_context_chunk_size(self, i), why);
    }
    if (status != RT_OK) {
        rt_context_spill_destroy(spill);
        return status;
    }
    uint8_t *const home = self->home;
    self->spill = spill;
    rt_context_settle(self, NULL);
    rt_free_lines(self->allocator, home);
    return RT_OK;
}

int rt_context_store_spill_descriptor(const rt_context_store *self) {
    return self->spill == NULL ? -1 : rt_context_spill_descriptor(self->spill);
}

static void become_hot(rt_context_store *self, uint8_t *home) {
    rt_context_spill_destroy(self->spill);
    self->spill = NULL;
    rt_context_settle(self, home);
}

rt_status rt_context_store_load(rt_context_store *self, rt_context_source source, rt_message *why) {
    uint8_t *home;
    if (self->spill == NULL) {
        return rt_fail(why, RT_BUSY, "the context is in memory; spill it before loading another");
    }
    const rt_status status = rt_context_fill_home(self, source, &home, why);
    if (status == RT_OK) {
        become_hot(self, home);
    }
    return status;
}

typedef struct spilled_source {
    const rt_context_spill *spill;
    rt_message *why;
} spilled_source;

static rt_status read_spilled(void *context, uint64_t offset, uint8_t *piece, size_t count) {
    const spilled_source *const from = context;
    return rt_context_spill_get(from->spill, offset / RT_CHUNK_BYTES, piece, count, from->why);
}

rt_status rt_context_store_restore(rt_context_store *self, rt_message *why) {
    if (self->spill == NULL) {
        return rt_fail(why, RT_BUSY, "the context is in memory; there is nothing to restore");
    }
    spilled_source from = {self->spill, why};
    return rt_context_store_load(self, (rt_context_source){read_spilled, &from}, why);
}

/* ---- serialisation ---- */

static rt_status serialise_spilled(rt_context_store *self, rt_context_sink sink, rt_message *why) {
    uint8_t *const buffer = rt_allocate_owned(self->allocator, RT_OWNER_CONTEXT, 1, RT_CHUNK_BYTES);
    if (buffer == NULL) {
        return rt_fail(why, RT_NO_MEMORY, "no memory for a buffer of one chunk; free some and run again");
    }
    rt_status status = RT_OK;
    for (uint64_t i = 0; i < self->chunks && status == RT_OK; i++) {
        const size_t count = rt_context_chunk_size(self, i);
        status = rt_context_spill_get(self->spill, i, buffer, count, why);
        if (status == RT_OK) {
            status = sink.write(sink.context, buffer, count);
        }
    }
    rt_free_lines(self->allocator, buffer);
    return status;
}

rt_status rt_context_store_serialise(rt_context_store *self, rt_context_sink sink, rt_message *why) {
    if (self->spill != NULL) {
        return serialise_spilled(self, sink, why);
    }
    rt_status status = RT_OK;
    for (uint64_t i = 0; i < self->chunks && status == RT_OK; i++) {
        status = sink.write(sink.context, self->head.bytes[i], rt_context_chunk_size(self, i));
    }
    return status;
}
