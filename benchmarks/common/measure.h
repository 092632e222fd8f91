/* What the programs of all benchmarks measure with, and the line of JSON that each of their runs prints. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed is "not measured" for everything behind the first three. One task is whatever the benchmark says. */
typedef struct measure_outcome {
    uint64_t tasks;
    uint64_t elapsed_ns;
    uint64_t cpu_ns; /* user and system time of all threads in the measured window */
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;
    uint64_t backlog_bytes; /* growth of RssAnon with all tasks queued */
    uint64_t drained_bytes; /* the same when all of them are done */
    uint64_t memory_bytes;  /* peak memory */
    uint64_t latency_p50_ns;
    uint64_t latency_p99_ns;
    uint64_t checksum; /* equal in all cases that do the same work */
} measure_outcome;

typedef struct measure_usage {
    uint64_t now_ns, cpu_ns, voluntary, involuntary;
} measure_usage;

uint64_t measure_now_ns(void);
measure_usage measure_usage_read(void);
/* Sets elapsed, CPU time and context switches to what was used since `before`. */
void measure_usage_since(const measure_usage *before, measure_outcome *outcome);

uint64_t measure_rss_anon_bytes(void);
/* Highest resident memory of this process, from VmHWM: never the parent's. */
uint64_t measure_peak_bytes(void);

void measure_print(const measure_outcome *outcome);

#ifdef __cplusplus
}
#endif

#endif
