/* What the memory of this process is, as the kernel accounts it.
 *
 * The resident size and its peak come from VmRSS and VmHWM of /proc/self/status and never from ru_maxrss: on Linux
 * a child inherits ru_maxrss from its parent across exec, so a small run would show the peak of a large parent. */
#ifndef RT_MEMORY_H
#define RT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "rt_status.h"

/* The text that names the source of rss and peak in a record. */
#define RT_MEMORY_RSS_API "VmHWM/VmRSS of /proc/self/status"

typedef struct rt_memory_usage {
    uint64_t rss_bytes;      /* VmRSS */
    uint64_t peak_rss_bytes; /* VmHWM: the highest VmRSS since the process began */
    uint64_t rss_anon_bytes; /* RssAnon: what only the swap could take back */
    uint64_t rss_file_bytes; /* RssFile: clean file pages can be dropped at any time */
    uint64_t virtual_bytes;  /* VmSize: reserved addresses, not memory */
    uint64_t threads;        /* Threads, now */
} rt_memory_usage;

/* Reads /proc/self/status once, without allocation; about 20 microseconds.
 * RT_IO: the file or one of its lines cannot be read; *out is undefined. */
rt_status rt_memory_read(const char *root, rt_memory_usage *out);

/* The proportional set size of smaps_rollup: shared pages divided by the number of their users. It walks all page
 * tables (milliseconds), so it is read once, at the end. false: not readable (before Linux 4.14). */
bool rt_memory_pss(const char *root, uint64_t *bytes);

#endif
