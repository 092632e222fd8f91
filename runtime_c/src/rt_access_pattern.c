#include "rt_access_pattern.h"

#include <string.h>

static const char *const names[RT_ACCESS_PATTERNS] = {"uniform", "sequential", "strided", "hot"};

const char *rt_access_pattern_name(rt_access_pattern pattern) { return names[pattern]; }

bool rt_access_pattern_find(const char *name, rt_access_pattern *out) {
    for (unsigned i = 0; i < RT_ACCESS_PATTERNS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (rt_access_pattern)i;
            return true;
        }
    }
    return false;
}

/* Written without the running offset of the loops in the store, so that each proves the other. */
static uint64_t stepped(uint64_t base, uint32_t probe, uint64_t step, uint64_t bytes) {
    return (rt_random_scale(base, bytes) + (uint64_t)((unsigned __int128)probe * step % bytes)) % bytes;
}

uint64_t rt_access_offset(rt_access_pattern pattern, uint64_t task_id, uint32_t probe, uint64_t bytes) {
    const uint64_t base = rt_access_base(task_id);
    switch (pattern) {
    case RT_ACCESS_SEQUENTIAL:
        return stepped(base, probe, RT_ACCESS_LINE_BYTES, bytes);
    case RT_ACCESS_STRIDED:
        return stepped(base, probe, RT_ACCESS_STRIDE_BYTES, bytes);
    case RT_ACCESS_HOT:
        return rt_access_hot(rt_access_draw(base, probe), bytes);
    default:
        return rt_access_uniform(rt_access_draw(base, probe), bytes);
    }
}
