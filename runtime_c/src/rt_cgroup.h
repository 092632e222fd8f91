/* The control groups of this process: what they limit and what they use. Version 1 and 2, and both mounted beside
 * each other. A limit counts wherever in the chain up to the mount it is set. */
#ifndef RT_CGROUP_H
#define RT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "rt_proc.h"

/* Where one controller keeps the files of this process. */
typedef struct rt_cgroup_place {
    bool found;
    bool version2;
    char mount[RT_PROC_PATH_BYTES];     /* where the hierarchy is mounted */
    char directory[RT_PROC_PATH_BYTES]; /* the group of this process, at or below the mount */
} rt_cgroup_place;

typedef struct rt_cgroup {
    const char *root;
    rt_cgroup_place memory;
    rt_cgroup_place cpu;
} rt_cgroup;

/* Finds the groups from /proc/self/cgroup and /proc/self/mountinfo. `root` must outlive `out`. */
void rt_cgroup_find(const char *root, rt_cgroup *out);

/* Each is false, with *out unchanged, when the value cannot be read or no limit is set. The peak needs Linux 5.19
 * under version 2. A limit of the CPU is in cores (1.5 = one and a half). */
bool rt_cgroup_memory_current(const rt_cgroup *self, uint64_t *bytes);
bool rt_cgroup_memory_peak(const rt_cgroup *self, uint64_t *bytes);
bool rt_cgroup_memory_limit(const rt_cgroup *self, uint64_t *bytes);
bool rt_cgroup_cpu_limit(const rt_cgroup *self, double *cores);

#endif
