/* Where the runtime's memory comes from: counted, and able to fail on purpose. */
#ifndef RT_ALLOCATOR_H
#define RT_ALLOCATOR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define RT_LINE_BYTES 64u /* a cache line: what two threads should not share by accident */

/* Safe to use from several threads. Bytes are those asked for, not malloc's own rounding. */
typedef struct rt_allocator {
    _Atomic uint64_t allocations;     /* successful calls so far */
    _Atomic uint64_t allocated_bytes; /* bytes of those calls, never reduced */
    _Atomic uint64_t live_objects;    /* allocated and not yet freed */
    _Atomic uint64_t attempts;        /* calls so far, failed ones included */
    uint64_t fail_at;                 /* this attempt (1-based) and all later ones fail; 0: none */
} rt_allocator;

/* Sets all counts to zero. fail_at 0 never fails on purpose. */
void rt_allocator_init(rt_allocator *self, uint64_t fail_at);

/* Returns `bytes` zeroed bytes aligned for any type, or NULL when there is no memory or bytes is 0. */
void *rt_allocate(rt_allocator *self, size_t bytes);

/* The same for count elements of `bytes` bytes; NULL also when count * bytes overflows. */
void *rt_allocate_array(rt_allocator *self, size_t count, size_t bytes);

/* Gives memory of rt_allocate or rt_allocate_array back; NULL is allowed and not counted. */
void rt_free(rt_allocator *self, void *memory);

/* Returns count elements of `bytes` bytes, zeroed and aligned to RT_LINE_BYTES, or NULL (no memory, nothing
 * asked for, or count * bytes overflows). A large block costs RSS only where it is written. */
void *rt_allocate_lines(rt_allocator *self, size_t count, size_t bytes);

/* Gives memory of rt_allocate_lines back; NULL is allowed and not counted. */
void rt_free_lines(rt_allocator *self, void *memory);

#endif
