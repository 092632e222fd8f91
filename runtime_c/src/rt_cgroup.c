#include "rt_cgroup.h"

#include <stdio.h>
#include <string.h>

/* Version 1 says "no limit" with the greatest multiple of the page size below 2^63. */
#define NO_LIMIT_VERSION1 (UINT64_C(1) << 62)

/* true when the comma-separated `list` (of `length` bytes) holds `word`. */
static bool list_holds(const char *list, size_t length, const char *word) {
    size_t word_length = strlen(word);
    for (const char *item = list; item < list + length;) {
        size_t item_length = strcspn(item, ",:\n ");
        if (item_length == word_length && memcmp(item, word, word_length) == 0) {
            return true;
        }
        item += item_length + 1;
    }
    return false;
}

static bool copy_word(char *out, size_t capacity, const char *start) {
    size_t length = strcspn(start, " \n");
    if (length == 0 || length >= capacity) {
        return false;
    }
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

/* The group's path in /proc/self/cgroup: lines of "number:controllers:path"; version 2 has no controllers. */
static bool find_group(const char *text, const char *controller, char *path, bool *version2) {
    bool found = false;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *names = strchr(line, ':');
        const char *group = names == NULL ? NULL : strchr(names + 1, ':');
        if (group == NULL) {
            continue;
        }
        bool unified = group == names + 1;
        bool named = list_holds(names + 1, (size_t)(group - names - 1), controller);
        if (named || (unified && !found)) {
            if (!copy_word(path, RT_PROC_PATH_BYTES, group + 1)) {
                continue;
            }
            *version2 = unified;
            found = true;
        }
        if (named) {
            return true;
        }
    }
    return found;
}

/* One line of mountinfo: "id parent device root mount options... - type source super-options". */
static bool match_mount(const char *line, const char *controller, bool version2, char *root, char *mount) {
    const char *separator = strstr(line, " - ");
    const char *end = strchr(line, '\n');
    if (separator == NULL || (end != NULL && separator > end)) {
        return false;
    }
    const char *type = separator + 3;
    const char *options = strchr(type, ' ');
    options = options == NULL ? NULL : strchr(options + 1, ' ');
    if (options == NULL || strncmp(type, version2 ? "cgroup2 " : "cgroup ", version2 ? 8 : 7) != 0) {
        return false;
    }
    if (!version2 && !list_holds(options + 1, strcspn(options + 1, "\n"), controller)) {
        return false;
    }
    const char *field = line;
    for (int skipped = 0; skipped < 3 && field != NULL; skipped++) {
        field = strchr(field, ' ') == NULL ? NULL : strchr(field, ' ') + 1;
    }
    if (field == NULL || !copy_word(root, RT_PROC_PATH_BYTES, field)) {
        return false;
    }
    field += strlen(root) + 1;
    return copy_word(mount, RT_PROC_PATH_BYTES, field);
}

/* A container may see only a part of the hierarchy: the mount's root is then a prefix of the group's path, or the
 * path is outside of what is mounted and the mount itself is the nearest that can be read. */
static bool join_directory(rt_cgroup_place *place, const char *mount_root, const char *group) {
    size_t prefix = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);
    bool inside = strncmp(group, mount_root, prefix) == 0 && strstr(group, "..") == NULL;
    const char *rest = inside ? group + prefix : "";
    if (strcmp(rest, "/") == 0) {
        rest = "";
    }
    return rt_proc_path(place->directory, place->mount, rest);
}

static void find_place(const char *root, const char *controller, rt_cgroup_place *place) {
    char text[65536], group[RT_PROC_PATH_BYTES], mount_root[RT_PROC_PATH_BYTES];
    memset(place, 0, sizeof *place);
    if (!rt_proc_read(root, "/proc/self/cgroup", text, sizeof text) ||
        !find_group(text, controller, group, &place->version2) ||
        !rt_proc_read(root, "/proc/self/mountinfo", text, sizeof text)) {
        return;
    }
    for (const char *line = text; line != NULL && !place->found; line = strchr(line, '\n')) {
        line += *line == '\n';
        place->found = match_mount(line, controller, place->version2, mount_root, place->mount) &&
                       join_directory(place, mount_root, group);
    }
}

void rt_cgroup_find(const char *root, rt_cgroup *out) {
    out->root = root;
    find_place(root, "memory", &out->memory);
    find_place(root, "cpu", &out->cpu);
}

static bool read_at(const rt_cgroup *self, const char *directory, const char *file, char *text,
                    size_t capacity) {
    char path[RT_PROC_PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", directory, file);
    return length > 0 && (size_t)length < sizeof path && rt_proc_read(self->root, path, text, capacity);
}

static bool read_memory(const rt_cgroup *self, const char *version2, const char *version1, uint64_t *bytes) {
    char text[64];
    return self->memory.found &&
           read_at(self, self->memory.directory, self->memory.version2 ? version2 : version1, text,
                   sizeof text) &&
           rt_proc_number(text, bytes);
}

bool rt_cgroup_memory_current(const rt_cgroup *self, uint64_t *bytes) {
    return read_memory(self, "memory.current", "memory.usage_in_bytes", bytes);
}

bool rt_cgroup_memory_peak(const rt_cgroup *self, uint64_t *bytes) {
    return read_memory(self, "memory.peak", "memory.max_usage_in_bytes", bytes);
}

/* Shortens `directory` to its parent. false: it was the mount already. */
static bool climb(const char *mount, char *directory) {
    char *slash = strrchr(directory, '/');
    if (slash == NULL || strlen(directory) <= strlen(mount)) {
        return false;
    }
    *slash = '\0';
    return true;
}

bool rt_cgroup_memory_limit(const rt_cgroup *self, uint64_t *bytes) {
    char directory[RT_PROC_PATH_BYTES], text[64];
    const char *file = self->memory.version2 ? "memory.max" : "memory.limit_in_bytes";
    bool limited = false;
    if (!self->memory.found) {
        return false;
    }
    memcpy(directory, self->memory.directory, sizeof directory);
    do {
        uint64_t here;
        if (read_at(self, directory, file, text, sizeof text) && rt_proc_number(text, &here) &&
            here < NO_LIMIT_VERSION1 && (!limited || here < *bytes)) {
            *bytes = here;
            limited = true;
        }
    } while (climb(self->memory.mount, directory));
    return limited;
}

/* Quota and period in microseconds. false: no quota is set here. */
static bool read_quota(const rt_cgroup *self, const char *directory, uint64_t *quota, uint64_t *period) {
    char text[64], second[64];
    if (self->cpu.version2) {
        if (!read_at(self, directory, "cpu.max", text, sizeof text) || strchr(text, ' ') == NULL) {
            return false;
        }
        return rt_proc_number(text, quota) && rt_proc_number(strchr(text, ' ') + 1, period) && *period > 0;
    }
    return read_at(self, directory, "cpu.cfs_quota_us", text, sizeof text) && rt_proc_number(text, quota) &&
           read_at(self, directory, "cpu.cfs_period_us", second, sizeof second) &&
           rt_proc_number(second, period) && *period > 0;
}

bool rt_cgroup_cpu_limit(const rt_cgroup *self, double *cores) {
    char directory[RT_PROC_PATH_BYTES];
    bool limited = false;
    if (!self->cpu.found) {
        return false;
    }
    memcpy(directory, self->cpu.directory, sizeof directory);
    do {
        uint64_t quota, period;
        if (!read_quota(self, directory, &quota, &period)) {
            continue;
        }
        double here = (double)quota / (double)period;
        if (!limited || here < *cores) {
            *cores = here;
            limited = true;
        }
    } while (climb(self->cpu.mount, directory));
    return limited;
}
