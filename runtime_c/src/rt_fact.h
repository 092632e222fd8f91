/* A fact read on the machine: its value, or the reason why it is not known. Nothing is ever guessed. */
#ifndef RT_FACT_H
#define RT_FACT_H

#include <stdint.h>

/* `missing` is NULL when the value is known; else a sentence without a path, host or user name. */
typedef struct rt_fact_text {
    char value[256];
    const char *missing;
} rt_fact_text;

typedef struct rt_fact_uint {
    uint64_t value;
    const char *missing;
} rt_fact_uint;

typedef struct rt_fact_double {
    double value;
    const char *missing;
} rt_fact_double;

#endif
