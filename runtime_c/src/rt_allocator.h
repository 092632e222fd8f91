/* Where the runtime's memory comes from: counted, by owner, and able to fail on purpose.
 *
 * Two kinds of blocks. rt_allocate is for small objects: it costs no more than malloc, and the whole block counts as
 * in RAM. rt_allocate_lines is for everything of a page or more: what of it is in RAM is measured, page by page. */
#ifndef RT_ALLOCATOR_H
#define RT_ALLOCATOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RT_LINE_BYTES 64u /* a cache line: what two threads should not share by accident */

/* Whose account a block is on. */
typedef enum rt_owner {
    RT_OWNER_RUNTIME, /* unless said otherwise */
    RT_OWNER_CONTEXT,
    RT_OWNER_TASKS,
    RT_OWNER_STACKS,
    RT_OWNER_HISTORY,
    RT_OWNER_VERIFICATION, /* what only the harness keeps, to prove the run */
    RT_OWNER_AUXILIARY,
    RT_OWNER_HISTOGRAMS,
    RT_OWNER_SAMPLER,
    RT_OWNERS
} rt_owner;
const char *rt_owner_name(rt_owner owner); /* "runtime", "context", … as in the run record */

struct rt_allocator_block;

/* Safe to use from several threads. Bytes are those asked for, not malloc's own rounding. */
typedef struct rt_allocator {
    _Atomic uint64_t allocations;     /* successful calls so far */
    _Atomic uint64_t allocated_bytes; /* bytes of those calls, never reduced */
    _Atomic uint64_t live_objects;    /* allocated and not yet freed */
    _Atomic uint64_t attempts;        /* calls so far, failed ones included */
    uint64_t fail_at;                 /* this attempt (1-based) and all later ones fail; 0: none */
    /* Private. */
    struct rt_allocator *parent; /* a part: everything goes there, on the account of `owner` */
    rt_owner owner;
    pid_t pid; /* a child after fork leaves the list of blocks alone: its lock may be held for ever */
    _Atomic uint64_t small_bytes[RT_OWNERS]; /* of live small objects, with malloc's rounding */
    pthread_mutex_t lock;                    /* guards blocks */
    struct rt_allocator_block *blocks;       /* of rt_allocate_lines */
} rt_allocator;

/* Sets all counts to zero. fail_at 0 never fails on purpose. */
void rt_allocator_init(rt_allocator *self, uint64_t fail_at);

/* Makes a part of `parent`: all that is allocated through it counts there and stands on the account of `owner`, also
 * what asks for another one. The parent must outlive it. A part has no counts of its own. */
void rt_allocator_init_part(rt_allocator *self, rt_allocator *parent, rt_owner owner);

/* Returns `bytes` zeroed bytes aligned for any type, or NULL when there is no memory or bytes is 0. */
void *rt_allocate(rt_allocator *self, size_t bytes);

/* The same for count elements of `bytes` bytes; NULL also when count * bytes overflows. */
void *rt_allocate_array(rt_allocator *self, size_t count, size_t bytes);

/* Gives memory of rt_allocate or rt_allocate_array back, to the same allocator; NULL is allowed and not counted. */
void rt_free(rt_allocator *self, void *memory);

/* Returns count elements of `bytes` bytes, zeroed and aligned to RT_LINE_BYTES, or NULL (no memory, nothing
 * asked for, or count * bytes overflows). A large block costs RSS only where it is written. */
void *rt_allocate_lines(rt_allocator *self, size_t count, size_t bytes);

/* The same on the account of `owner`. */
void *rt_allocate_owned(rt_allocator *self, rt_owner owner, size_t count, size_t bytes);

/* Gives memory of rt_allocate_lines or rt_allocate_owned back; NULL is allowed and not counted. */
void rt_free_lines(rt_allocator *self, void *memory);

/* What one owner has now. */
typedef struct rt_account {
    uint64_t allocated_bytes; /* as asked for; of small objects with malloc's rounding */
    uint64_t resident_bytes;  /* of that, what is in RAM */
} rt_account;

/* Measures the account of one owner; takes about a microsecond for each MiB and for each block. */
rt_account rt_allocator_account(rt_allocator *self, rt_owner owner);

#endif
