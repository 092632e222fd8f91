/* The registry of named roles: add, remove, look up by name, assemble a task's prompt.
 *
 * A registered role is a name and an instruction text; it is not a thread and costs none.
 * Lookups may run in parallel with each other, not with add or remove. */
#ifndef RT_AGENT_POOL_H
#define RT_AGENT_POOL_H

#include "rt_allocator.h"
#include "rt_status.h"

#include <stddef.h>
#include <stdint.h>

#define RT_AGENT_POOL_MAX_ROLES 1000000u
#define RT_AGENT_NAME_MAX_BYTES 255u /* without a terminating zero */
#define RT_AGENT_TEXT_MAX_BYTES 65535u
#define RT_AGENT_PROMPT_FRAME_BYTES 4u /* what a prompt holds beside name, text and task text */

typedef struct rt_agent_pool rt_agent_pool;

/* A role as the pool keeps it; valid until the role is removed or the pool destroyed. */
typedef struct rt_agent_role {
    const char *name; /* not zero-terminated */
    const char *text;
    uint32_t name_bytes;
    uint32_t text_bytes;
} rt_agent_role;

/* Makes an empty pool for up to `capacity` roles (1 .. RT_AGENT_POOL_MAX_ROLES).
 * RT_INVALID: capacity out of range. RT_NO_MEMORY: nothing is kept. *out is NULL unless RT_OK. */
rt_status rt_agent_pool_create(rt_allocator *allocator, uint32_t capacity, rt_agent_pool **out,
                               rt_message *why);
void rt_agent_pool_destroy(rt_agent_pool *self); /* NULL is allowed */

/* Copies name and text into the pool. RT_INVALID: an empty or too long name, a too long text.
 * RT_EXISTS, RT_FULL, RT_NO_MEMORY: the pool is unchanged. */
rt_status rt_agent_pool_add(rt_agent_pool *self, const char *name, size_t name_bytes, const char *text,
                            size_t text_bytes);

/* RT_NOT_FOUND: the pool is unchanged. */
rt_status rt_agent_pool_remove(rt_agent_pool *self, const char *name, size_t name_bytes);

/* Returns the role of that name, or NULL. Expected O(1). */
const rt_agent_role *rt_agent_pool_find(const rt_agent_pool *self, const char *name, size_t name_bytes);

uint32_t rt_agent_pool_count(const rt_agent_pool *self);

/* Bytes that the pool occupies now: registry, index, names and texts. */
uint64_t rt_agent_pool_bytes(const rt_agent_pool *self);

/* How the index stands: what a lookup pays, and what the index takes. A probe is a place that is looked at. */
typedef struct rt_agent_pool_shape {
    uint64_t places;
    uint64_t index_bytes;    /* of the places */
    uint64_t registry_bytes; /* rt_agent_pool_bytes */
    uint32_t roles;
    uint32_t collisions;    /* roles that do not stand at the place of their hash */
    uint32_t longest_probe; /* places looked at until the worst role is found; 0 without roles */
    uint64_t probes;        /* the sum over all roles */
} rt_agent_pool_shape;

/* Walks the whole index. Not beside add and remove. */
void rt_agent_pool_measure(const rt_agent_pool *self, rt_agent_pool_shape *out);

/* Writes "[name] text\n" and the task text into out, and its length into *length_bytes; no zero is added.
 * RT_TOO_SMALL: out is unchanged and *length_bytes is the room needed. */
rt_status rt_agent_pool_prompt(const rt_agent_role *role, const char *task_text, size_t task_text_bytes,
                               char *out, size_t capacity_bytes, size_t *length_bytes);

#endif
