#include "rt_clock.h"

#include <stdio.h>
#include <string.h>

const rt_clock rt_clock_machine = {NULL, NULL, NULL};

int64_t rt_clock_wall_s(const rt_clock *self) {
    if (self->wall_s != NULL) {
        return self->wall_s(self->context);
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec;
}

void rt_clock_date(int64_t wall_s, char out[RT_CLOCK_DATE_BYTES]) {
    const time_t seconds = (time_t)wall_s;
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL || utc.tm_year < -1900 || utc.tm_year > 8099) {
        memcpy(out, "9999-12-31T23:59:59Z", RT_CLOCK_DATE_BYTES);
        return;
    }
    const size_t length = strftime(out, RT_CLOCK_DATE_BYTES, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (length != RT_CLOCK_DATE_BYTES - 1) { /* %Y prints years below 1000 without leading zeros */
        char text[64];
        snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                 utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
        memcpy(out, text, RT_CLOCK_DATE_BYTES - 1);
        out[RT_CLOCK_DATE_BYTES - 1] = '\0';
    }
}

struct timespec rt_clock_deadline(uint64_t timeout_ns) {
    uint64_t deadline_ns;
    if (__builtin_add_overflow(rt_clock_monotonic_ns(), timeout_ns, &deadline_ns)) {
        deadline_ns = INT64_MAX;
    }
    return (struct timespec){.tv_sec = (time_t)(deadline_ns / 1000000000u),
                             .tv_nsec = (long)(deadline_ns % 1000000000u)};
}
