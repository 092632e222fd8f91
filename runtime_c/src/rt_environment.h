/* In which state the machine was: limits, clocks and power. Evidence beside a result, no part of its configuration. */
#ifndef RT_ENVIRONMENT_H
#define RT_ENVIRONMENT_H

#include "rt_fact.h"

typedef struct rt_environment {
    rt_fact_uint memory_channels;
    rt_fact_text storage_type; /* of the working directory */
    rt_fact_text container;
    rt_fact_double cgroup_cpu_limit; /* in cores */
    rt_fact_uint cgroup_memory_limit_bytes;
    rt_fact_text governor;        /* of the first CPU, as the next */
    rt_fact_uint frequency_khz;   /* now */
    rt_fact_text power_source;    /* "mains" or "battery" */
    rt_fact_double temperature_c; /* of the processor, now */
    rt_fact_text clock_source;
    rt_fact_double load_average; /* over the last minute, now */
} rt_environment;

/* Reads every fact below `root` ("" on a real machine); what cannot be read says why. */
void rt_environment_read(const char *root, rt_environment *out);

#endif
