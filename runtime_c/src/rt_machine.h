/* Which machine this is: the part of a manifest that decides whether two results may be compared. */
#ifndef RT_MACHINE_H
#define RT_MACHINE_H

#include "rt_fact.h"

typedef struct rt_machine {
    rt_fact_text cpu_model;
    rt_fact_uint cores;          /* CPUs that this process may use (affinity), not those that are built in */
    rt_fact_uint memory_bytes;   /* MemTotal of /proc/meminfo */
    rt_fact_text os_build;       /* distribution and kernel release */
    rt_fact_text virtualisation; /* "none", or the hypervisor and, where readable, the product */
    rt_fact_text platform;       /* "linux-x86_64" */
} rt_machine;

/* Reads every fact below `root` ("" on a real machine); what cannot be read says why. */
void rt_machine_read(const char *root, rt_machine *out);

#endif
