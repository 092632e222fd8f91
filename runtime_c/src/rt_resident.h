/* How much of a range of this process's own memory is in RAM and its own.
 *
 * Read page by page from /proc/self/pagemap, where a page counts when it is present and mapped by this process
 * alone: a page that was read and never written is the kernel's page of zeros, which RssAnon does not count
 * either. Without pagemap mincore() answers, which counts that page of zeros. */
#ifndef RT_RESIDENT_H
#define RT_RESIDENT_H

#include <stddef.h>
#include <stdint.h>

typedef struct rt_resident {
    int pagemap; /* file descriptor; -1: none, mincore() is asked */
    size_t page_bytes;
} rt_resident;

void rt_resident_open(rt_resident *self);
void rt_resident_close(rt_resident *self);

/* Bytes of the range that lie in pages in RAM; of the first and the last page only what the range covers, so that
 * ranges that share a page add up. 0 for a range that is not mapped. */
uint64_t rt_resident_bytes(const rt_resident *self, const void *start, size_t bytes);

#endif
