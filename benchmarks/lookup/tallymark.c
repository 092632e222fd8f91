/* The role index of the runtime. */
#include "lookup.h"

#include "rt_agent_pool.h"

#include <stdio.h>
#include <stdlib.h>

static rt_allocator allocator;

static void *create(uint32_t capacity) {
    rt_agent_pool *pool;
    rt_allocator_init(&allocator, 0);
    if (rt_agent_pool_create(&allocator, capacity, &pool, NULL) != RT_OK) {
        exit(1);
    }
    return pool;
}

static void add(void *index, const lookup_name *name) {
    if (rt_agent_pool_add(index, name->text, name->bytes, "", 0) != RT_OK) {
        exit(1);
    }
}

static void take_away(void *index, const lookup_name *name) {
    if (rt_agent_pool_remove(index, name->text, name->bytes) != RT_OK) {
        exit(1);
    }
}

static const char *find(const void *index, const lookup_name *name) {
    const rt_agent_role *const role = rt_agent_pool_find(index, name->text, name->bytes);
    return role == NULL ? NULL : role->name;
}

const lookup_index lookup_tallymark = {create, add, NULL, take_away, find};
