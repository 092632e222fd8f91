#include "rt_resident.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES_AT_ONCE 512u
#define PRESENT (UINT64_C(1) << 63)
#define EXCLUSIVE (UINT64_C(1) << 56)

void rt_resident_open(rt_resident *self) {
    self->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    self->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
}

void rt_resident_close(rt_resident *self) {
    if (self->pagemap >= 0) {
        close(self->pagemap);
    }
    self->pagemap = -1;
}

/* Fills in_ram for `count` pages from page number `first`; false: the range is not mapped. */
static bool read_pages(const rt_resident *self, uintptr_t first, size_t count, bool in_ram[PAGES_AT_ONCE]) {
    uint64_t entries[PAGES_AT_ONCE];
    const ssize_t wanted = (ssize_t)(count * sizeof *entries);
    if (self->pagemap >= 0 &&
        pread(self->pagemap, entries, (size_t)wanted, (off_t)(first * sizeof *entries)) == wanted) {
        for (size_t i = 0; i < count; i++) {
            in_ram[i] = (entries[i] & PRESENT) != 0 && (entries[i] & EXCLUSIVE) != 0;
        }
        return true;
    }
    unsigned char states[PAGES_AT_ONCE];
    if (mincore((void *)(first * self->page_bytes), count * self->page_bytes, states) != 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        in_ram[i] = (states[i] & 1u) != 0;
    }
    return true;
}

/* What [from, to) has of page number `page`. */
static uint64_t covered_bytes(const rt_resident *self, uintptr_t page, uintptr_t from, uintptr_t to) {
    const uintptr_t low = page * self->page_bytes, high = low + self->page_bytes;
    return (to < high ? to : high) - (from > low ? from : low);
}

uint64_t rt_resident_bytes(const rt_resident *self, const void *start, size_t bytes) {
    const uintptr_t from = (uintptr_t)start, to = from + bytes;
    const uintptr_t end = (to + self->page_bytes - 1u) / self->page_bytes;
    uint64_t resident = 0;
    for (uintptr_t page = from / self->page_bytes; bytes > 0 && page < end; page += PAGES_AT_ONCE) {
        bool in_ram[PAGES_AT_ONCE];
        const size_t count = end - page < PAGES_AT_ONCE ? end - page : PAGES_AT_ONCE;
        if (!read_pages(self, page, count, in_ram)) {
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            resident += in_ram[i] ? covered_bytes(self, page + i, from, to) : 0;
        }
    }
    return resident;
}
