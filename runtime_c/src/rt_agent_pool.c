#include "rt_agent_pool.h"

#include "rt_random.h"
#include "rt_role_arena.h"

#include <stdbool.h>
#include <string.h>

/* Open addressing with linear probing; a free place has no role. Removal shifts the cluster back, so there
 * are no tombstones and lookups stay short. With 8 bytes a place, a line of the cache holds 8 of them. */
typedef struct index_entry {
    uint32_t hash; /* the low half: it tells the home, and keeps other roles from being read */
    uint32_t role; /* block of the arena; 0: free */
} index_entry;

struct rt_agent_pool {
    rt_allocator *allocator;
    index_entry *index;
    uint64_t mask; /* places - 1; places is a power of two, at least twice the capacity */
    rt_role_arena roles;
    uint32_t capacity;
    uint32_t count;
};

static uint32_t hash_of(const char *name, size_t bytes) {
    uint64_t hash = bytes;
    uint64_t word = 0;
    if (bytes < 8) {
        memcpy(&word, name, bytes);
        return (uint32_t)rt_random_mix(hash ^ word);
    }
    for (size_t at = 0; at + 8 < bytes; at += 8) {
        memcpy(&word, name + at, 8);
        hash = (hash ^ word) * UINT64_C(0x9FB21C651E98DF25);
        hash ^= hash >> 32;
    }
    memcpy(&word, name + bytes - 8, 8); /* overlaps the one before, so that no part of a word is left */
    return (uint32_t)rt_random_mix(hash ^ word);
}

rt_status rt_agent_pool_create(rt_allocator *allocator, uint32_t capacity, rt_agent_pool **out,
                               rt_message *why) {
    *out = NULL;
    if (capacity == 0 || capacity > RT_AGENT_POOL_MAX_ROLES) {
        return rt_fail(why, RT_INVALID, "agents is %u; choose 1 to %u registered roles", capacity,
                       RT_AGENT_POOL_MAX_ROLES);
    }
    uint64_t places = 4;
    while (places < (uint64_t)capacity * 2u) {
        places *= 2u;
    }
    rt_agent_pool *const self = rt_allocate(allocator, sizeof *self);
    index_entry *const index = rt_allocate_lines(allocator, places, sizeof *index);
    if (self == NULL || index == NULL) {
        rt_free_lines(allocator, index);
        rt_free(allocator, self);
        return rt_fail(why, RT_NO_MEMORY, "no memory for the index of %u roles; choose fewer agents",
                       capacity);
    }
    *self =
        (rt_agent_pool){.allocator = allocator, .index = index, .mask = places - 1u, .capacity = capacity};
    rt_role_arena_init(&self->roles, allocator);
    *out = self;
    return RT_OK;
}

void rt_agent_pool_destroy(rt_agent_pool *self) {
    if (self == NULL) {
        return;
    }
    rt_role_arena_reset(&self->roles);
    rt_free_lines(self->allocator, self->index);
    rt_free(self->allocator, self);
}

static rt_agent_role *role_at(const rt_agent_pool *self, const index_entry *entry) {
    return rt_role_arena_at(&self->roles, entry->role);
}

static bool is_named(const rt_agent_pool *self, const index_entry *entry, const char *name,
                     size_t name_bytes) {
    const rt_agent_role *const role = role_at(self, entry);
    return role->name_bytes == name_bytes && memcmp(role + 1, name, name_bytes) == 0;
}

/* The place of the name, or the free place where it would go. */
static index_entry *place_of(const rt_agent_pool *self, uint32_t hash, const char *name, size_t name_bytes) {
    uint64_t at = hash & self->mask;
    for (;; at = (at + 1u) & self->mask) {
        index_entry *const entry = &self->index[at];
        if (entry->role == 0 || (entry->hash == hash && is_named(self, entry, name, name_bytes))) {
            return entry;
        }
    }
}

static size_t block_bytes(size_t name_bytes, size_t text_bytes) {
    return sizeof(rt_agent_role) + name_bytes + text_bytes;
}

/* One block holds the role, its name and its text. */
static void fill_role(rt_agent_role *role, const char *name, size_t name_bytes, const char *text,
                      size_t text_bytes) {
    char *const copy = (char *)(role + 1);
    memcpy(copy, name, name_bytes);
    if (text_bytes > 0) {
        memcpy(copy + name_bytes, text, text_bytes);
    }
    *role = (rt_agent_role){.name = copy,
                            .text = copy + name_bytes,
                            .name_bytes = (uint32_t)name_bytes,
                            .text_bytes = (uint32_t)text_bytes};
}

rt_status rt_agent_pool_add(rt_agent_pool *self, const char *name, size_t name_bytes, const char *text,
                            size_t text_bytes) {
    if (name_bytes == 0 || name_bytes > RT_AGENT_NAME_MAX_BYTES || text_bytes > RT_AGENT_TEXT_MAX_BYTES) {
        return RT_INVALID;
    }
    const uint32_t hash = hash_of(name, name_bytes);
    index_entry *const entry = place_of(self, hash, name, name_bytes);
    if (entry->role != 0) {
        return RT_EXISTS;
    }
    if (self->count == self->capacity) {
        return RT_FULL;
    }
    const uint32_t role = rt_role_arena_take(&self->roles, block_bytes(name_bytes, text_bytes));
    if (role == 0) {
        return RT_NO_MEMORY;
    }
    *entry = (index_entry){.hash = hash, .role = role};
    fill_role(role_at(self, entry), name, name_bytes, text, text_bytes);
    self->count++;
    return RT_OK;
}

/* Moves later entries of the cluster into the hole while that brings them nearer to their home. */
static void close_hole(rt_agent_pool *self, uint64_t hole) {
    for (uint64_t at = (hole + 1u) & self->mask; self->index[at].role != 0; at = (at + 1u) & self->mask) {
        const uint64_t home = self->index[at].hash & self->mask;
        if (((at - home) & self->mask) >= ((at - hole) & self->mask)) {
            self->index[hole] = self->index[at];
            hole = at;
        }
    }
    self->index[hole] = (index_entry){0, 0};
}

rt_status rt_agent_pool_remove(rt_agent_pool *self, const char *name, size_t name_bytes) {
    index_entry *const entry = place_of(self, hash_of(name, name_bytes), name, name_bytes);
    if (entry->role == 0) {
        return RT_NOT_FOUND;
    }
    const rt_agent_role *const role = role_at(self, entry);
    self->count--;
    rt_role_arena_give(&self->roles, entry->role, block_bytes(role->name_bytes, role->text_bytes));
    close_hole(self, (uint64_t)(entry - self->index));
    return RT_OK;
}

const rt_agent_role *rt_agent_pool_find(const rt_agent_pool *self, const char *name, size_t name_bytes) {
    const index_entry *const entry = place_of(self, hash_of(name, name_bytes), name, name_bytes);
    return entry->role == 0 ? NULL : role_at(self, entry);
}

uint32_t rt_agent_pool_count(const rt_agent_pool *self) { return self->count; }

uint64_t rt_agent_pool_bytes(const rt_agent_pool *self) {
    return sizeof *self + (self->mask + 1u) * sizeof *self->index + rt_role_arena_bytes(&self->roles);
}

void rt_agent_pool_measure(const rt_agent_pool *self, rt_agent_pool_shape *out) {
    *out = (rt_agent_pool_shape){.places = self->mask + 1u,
                                 .index_bytes = (self->mask + 1u) * sizeof *self->index,
                                 .registry_bytes = rt_agent_pool_bytes(self),
                                 .roles = self->count};
    for (uint64_t at = 0; at <= self->mask; at++) {
        if (self->index[at].role != 0) {
            const uint32_t probe = (uint32_t)((at - self->index[at].hash) & self->mask) + 1u;
            out->probes += probe;
            out->collisions += probe > 1u;
            out->longest_probe = probe > out->longest_probe ? probe : out->longest_probe;
        }
    }
}

static char *append(char *at, const char *bytes, size_t count) {
    memcpy(at, bytes, count);
    return at + count;
}

rt_status rt_agent_pool_prompt(const rt_agent_role *role, const char *task_text, size_t task_text_bytes,
                               char *out, size_t capacity_bytes, size_t *length_bytes) {
    *length_bytes = RT_AGENT_PROMPT_FRAME_BYTES + role->name_bytes + role->text_bytes + task_text_bytes;
    if (*length_bytes > capacity_bytes) {
        return RT_TOO_SMALL;
    }
    *out++ = '[';
    out = append(out, role->name, role->name_bytes);
    out = append(out, "] ", 2);
    out = append(out, role->text, role->text_bytes);
    *out++ = '\n';
    append(out, task_text, task_text_bytes);
    return RT_OK;
}
