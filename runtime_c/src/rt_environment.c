#include "rt_environment.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "rt_cgroup.h"
#include "rt_proc.h"

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"

/* Called with the path (below root) of each entry of a directory. true: the search is over. */
typedef bool visit_entry(const char *root, const char *entry, void *state);

/* false: no visit ended the search, or the directory cannot be read. */
static bool each_entry(const char *root, const char *directory, const char *prefix, visit_entry *visit,
                       void *state) {
    char path[RT_PROC_PATH_BYTES];
    bool done = false;
    DIR *entries = rt_proc_path(path, root, directory) ? opendir(path) : NULL;
    if (entries == NULL) {
        return false;
    }
    for (struct dirent *entry; !done && (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, prefix, strlen(prefix)) != 0) {
            continue;
        }
        int length = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (length > 0 && (size_t)length < sizeof path) {
            done = visit(root, path, state);
        }
    }
    closedir(entries);
    return done;
}

static bool read_in(const char *root, const char *directory, const char *file, char *text, size_t capacity) {
    char path[RT_PROC_PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", directory, file);
    return length > 0 && (size_t)length < sizeof path && rt_proc_read(root, path, text, capacity);
}

/* A memory module says "... channel 3 slot 0 ...". Channels above 63 do not exist. */
static bool visit_module(const char *root, const char *entry, void *state) {
    char text[128];
    uint64_t channel;
    const char *found;
    if (read_in(root, entry, "dimm_location", text, sizeof text) &&
        (found = strstr(text, "channel ")) != NULL && rt_proc_number(found + strlen("channel "), &channel) &&
        channel < 64) {
        *(uint64_t *)state |= UINT64_C(1) << channel;
    }
    return false;
}

static bool visit_memory_controller(const char *root, const char *entry, void *state) {
    uint64_t channels = 0;
    each_entry(root, entry, "dimm", visit_module, &channels);
    for (; channels != 0; channels &= channels - 1) {
        ++*(uint64_t *)state;
    }
    return false;
}

static void read_memory_channels(const char *root, rt_fact_uint *out) {
    each_entry(root, "/sys/devices/system/edac/mc", "mc", visit_memory_controller, &out->value);
    if (out->value == 0) {
        out->missing = "no EDAC driver tells the memory channels, and no other source is read";
    }
}

/* The block device below the working directory; a file system may also span devices or have none. */
static void read_storage_type(const char *root, rt_fact_text *out) {
    static const char *const places[] = {"", "/.."}; /* a partition keeps its queue with the whole disk */
    struct stat here;
    char path[RT_PROC_PATH_BYTES], rotational[8];
    out->missing = "the working directory lies on a file system without one block device of its own";
    if (stat(".", &here) != 0 || major(here.st_dev) == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "/sys/dev/block/%u:%u%s/queue/rotational", major(here.st_dev),
                 minor(here.st_dev), places[i]);
        if (rt_proc_read(root, path, rotational, sizeof rotational)) {
            snprintf(out->value, sizeof out->value, "%s",
                     rotational[0] == '1' ? "rotational block device" : "non-rotational block device");
            out->missing = NULL;
            return;
        }
    }
}

static void read_container(const char *root, rt_fact_text *out) {
    char text[16384];
    static const char *const markers[] = {"docker", "kubepods", "lxc", "libpod"};
    if (rt_proc_read(root, "/run/systemd/container", out->value, sizeof out->value)) {
        return;
    }
    if (rt_proc_exists(root, "/run/.containerenv")) {
        snprintf(out->value, sizeof out->value, "podman");
        return;
    }
    if (rt_proc_exists(root, "/.dockerenv")) {
        snprintf(out->value, sizeof out->value, "docker");
        return;
    }
    rt_proc_read(root, "/proc/self/cgroup", text, sizeof text);
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        if (strstr(text, markers[i]) != NULL) {
            snprintf(out->value, sizeof out->value, "%s", markers[i]);
            return;
        }
    }
    out->missing = "no container has left its marker, which does not prove that there is none";
}

static void read_limits(const char *root, rt_environment *out) {
    rt_cgroup group;
    rt_cgroup_find(root, &group);
    if (!rt_cgroup_cpu_limit(&group, &out->cgroup_cpu_limit.value)) {
        out->cgroup_cpu_limit.missing = "no control group that can be read limits the CPU";
    }
    if (!rt_cgroup_memory_limit(&group, &out->cgroup_memory_limit_bytes.value)) {
        out->cgroup_memory_limit_bytes.missing = "no control group that can be read limits the memory";
    }
}

static void read_frequency(const char *root, rt_fact_uint *out) {
    char text[16384], megahertz[32];
    if (rt_proc_read(root, CPUFREQ "scaling_cur_freq", text, sizeof text) &&
        rt_proc_number(text, &out->value)) {
        return;
    }
    if (rt_proc_read(root, "/proc/cpuinfo", text, sizeof text) &&
        rt_proc_line(text, "cpu MHz", megahertz, sizeof megahertz)) {
        out->value = (uint64_t)(strtod(megahertz, NULL) * 1000.0 + 0.5);
        if (out->value > 0) {
            return;
        }
    }
    out->missing = "the kernel tells no frequency of the first CPU";
}

static void read_governor(const char *root, rt_fact_text *out) {
    if (!rt_proc_read(root, CPUFREQ "scaling_governor", out->value, sizeof out->value)) {
        out->missing = "the kernel does not scale the frequency here";
    }
}

typedef struct power_state {
    bool mains_online, battery_discharging, battery_seen;
} power_state;

static bool visit_power_supply(const char *root, const char *entry, void *state) {
    power_state *power = state;
    char type[32], value[32];
    if (!read_in(root, entry, "type", type, sizeof type)) {
        return false;
    }
    if (read_in(root, entry, "scope", value, sizeof value) && strcmp(value, "Device") == 0) {
        return false; /* the battery of a mouse */
    }
    if (strcmp(type, "Mains") == 0 && read_in(root, entry, "online", value, sizeof value)) {
        power->mains_online |= value[0] == '1';
    }
    if (strcmp(type, "Battery") == 0 && read_in(root, entry, "status", value, sizeof value)) {
        power->battery_seen = true;
        power->battery_discharging |= strcmp(value, "Discharging") == 0;
    }
    return false;
}

static void read_power_source(const char *root, rt_fact_text *out) {
    power_state power = {false, false, false};
    each_entry(root, "/sys/class/power_supply", "", visit_power_supply, &power);
    if (power.mains_online || (power.battery_seen && !power.battery_discharging)) {
        snprintf(out->value, sizeof out->value, "mains");
    } else if (power.battery_discharging) {
        snprintf(out->value, sizeof out->value, "battery");
    } else {
        out->missing = "the kernel knows no power supply";
    }
}

static bool read_millidegrees(const char *root, const char *directory, const char *file, double *celsius) {
    char text[32];
    uint64_t millidegrees;
    if (!read_in(root, directory, file, text, sizeof text) || !rt_proc_number(text, &millidegrees)) {
        return false;
    }
    *celsius = (double)millidegrees / 1000.0;
    return true;
}

static bool visit_thermal_zone(const char *root, const char *entry, void *state) {
    char type[64];
    return read_in(root, entry, "type", type, sizeof type) &&
           (strcmp(type, "x86_pkg_temp") == 0 || strstr(type, "cpu") != NULL) &&
           read_millidegrees(root, entry, "temp", state);
}

static bool visit_sensor(const char *root, const char *entry, void *state) {
    char name[64];
    return read_in(root, entry, "name", name, sizeof name) &&
           (strcmp(name, "coretemp") == 0 || strcmp(name, "k10temp") == 0 ||
            strcmp(name, "cpu_thermal") == 0) &&
           read_millidegrees(root, entry, "temp1_input", state);
}

static void read_temperature(const char *root, rt_fact_double *out) {
    if (!each_entry(root, "/sys/class/thermal", "thermal_zone", visit_thermal_zone, &out->value) &&
        !each_entry(root, "/sys/class/hwmon", "hwmon", visit_sensor, &out->value)) {
        out->missing = "no sensor of the processor can be read";
    }
}

static void read_clock_source(const char *root, rt_fact_text *out) {
    if (!rt_proc_read(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", out->value,
                      sizeof out->value)) {
        out->missing = "the kernel does not tell its clock source";
    }
}

static void read_load_average(const char *root, rt_fact_double *out) {
    char text[128];
    if (rt_proc_read(root, "/proc/loadavg", text, sizeof text)) {
        out->value = strtod(text, NULL);
    } else {
        out->missing = "the load average of the kernel cannot be read";
    }
}

void rt_environment_read(const char *root, rt_environment *out) {
    memset(out, 0, sizeof *out);
    read_memory_channels(root, &out->memory_channels);
    read_storage_type(root, &out->storage_type);
    read_container(root, &out->container);
    read_limits(root, out);
    read_governor(root, &out->governor);
    read_frequency(root, &out->frequency_khz);
    read_power_source(root, &out->power_source);
    read_temperature(root, &out->temperature_c);
    read_clock_source(root, &out->clock_source);
    read_load_average(root, &out->load_average);
}
