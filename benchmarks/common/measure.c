#include "measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

uint64_t measure_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

measure_usage measure_usage_read(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (measure_usage){.now_ns = measure_now_ns(),
                           .cpu_ns = cpu_ns(),
                           .voluntary = (uint64_t)usage.ru_nvcsw,
                           .involuntary = (uint64_t)usage.ru_nivcsw};
}

void measure_usage_since(const measure_usage *before, measure_outcome *outcome) {
    const measure_usage after = measure_usage_read();
    outcome->elapsed_ns = after.now_ns - before->now_ns;
    outcome->cpu_ns = after.cpu_ns - before->cpu_ns;
    outcome->voluntary_switches = after.voluntary - before->voluntary;
    outcome->involuntary_switches = after.involuntary - before->involuntary;
}

/* Bytes of a line "Key:  n kB" of /proc/self/status; 0 without one. */
static uint64_t status_bytes(const char *key) {
    FILE *const file = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;
    const size_t length = strlen(key);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, length) == 0) {
            sscanf(line + length, "%" SCNu64, &kib);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib * 1024u;
}

uint64_t measure_rss_anon_bytes(void) { return status_bytes("RssAnon:"); }

uint64_t measure_peak_bytes(void) { return status_bytes("VmHWM:"); }

void measure_print(const measure_outcome *outcome) {
    printf("{\"tasks\": %" PRIu64 ", \"elapsed_ns\": %" PRIu64 ", \"cpu_ns\": %" PRIu64
           ", \"voluntary_switches\": %" PRIu64 ", \"involuntary_switches\": %" PRIu64
           ", \"backlog_bytes\": %" PRIu64 ", \"drained_bytes\": %" PRIu64 ", \"memory_bytes\": %" PRIu64
           ", \"latency_p50_ns\": %" PRIu64 ", \"latency_p99_ns\": %" PRIu64 ", \"checksum\": \"%016" PRIx64
           "\"}\n",
           outcome->tasks, outcome->elapsed_ns, outcome->cpu_ns, outcome->voluntary_switches,
           outcome->involuntary_switches, outcome->backlog_bytes, outcome->drained_bytes,
           outcome->memory_bytes, outcome->latency_p50_ns, outcome->latency_p99_ns, outcome->checksum);
}
