#include "rt_memory_limit.h"

rt_status rt_memory_limit_set(rt_memory_limit *self, uint64_t virtual_bytes, uint64_t further_bytes) {
    self->set = false;
    if (further_bytes == 0) {
        return RT_OK;
    }
    if (getrlimit(RLIMIT_AS, &self->before) != 0) {
        return RT_UNAVAILABLE;
    }
    struct rlimit limit = self->before;
    limit.rlim_cur = virtual_bytes + further_bytes;
    if (limit.rlim_cur > limit.rlim_max || setrlimit(RLIMIT_AS, &limit) != 0) {
        return RT_UNAVAILABLE;
    }
    self->set = true;
    return RT_OK;
}

void rt_memory_limit_lift(rt_memory_limit *self) {
    if (self->set) {
        setrlimit(RLIMIT_AS, &self->before);
        self->set = false;
    }
}
