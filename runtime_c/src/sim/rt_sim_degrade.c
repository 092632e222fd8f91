/* Degradations: named states that the system falls into, each counted with its onset. */
#include "rt_sim_state.h"

static bool headroom_is_below(rt_sim *self, const rt_sim_slot *task, uint64_t permille) {
    rt_sim_bucket *const bucket = &rt_sim_provider_of(self, task->model)->tokens;
    if (bucket->per_min == 0) {
        return false;
    }
    rt_sim_bucket_refill(bucket, self->now_ns);
    return bucket->level * 1000u < rt_sim_bucket_size(bucket) * permille;
}

static bool holds(rt_sim *self, const rt_sim_slot *task, const rt_sim_degradation *of) {
    switch (of->condition) {
    case RT_SIM_QUEUE_AGE:
        return self->waiting > 0 && rt_sim_queue_age(self) >= of->threshold;
    case RT_SIM_QUEUE_DEPTH:
        return self->waiting >= of->threshold;
    case RT_SIM_HEADROOM_BELOW:
        return headroom_is_below(self, task, of->threshold);
    default:
        return task->prompt_tokens > of->threshold;
    }
}

const rt_sim_degradation *rt_sim_degrade(rt_sim *self, rt_sim_slot *task, uint32_t state) {
    for (uint32_t i = 0; i < self->scenario.degradations_count; i++) {
        const rt_sim_degradation *const of = &self->scenario.degradations[i];
        if (of->state != state || !holds(self, task, of)) {
            continue;
        }
        rt_sim_degraded *const count = &self->degraded[i];
        if (count->times++ == 0) {
            count->onset_ns = self->now_ns;
        }
        count->tasks += (((uint32_t)task->degraded >> i) & 1u) == 0;
        task->degraded |= (uint16_t)(1u << i);
        return of;
    }
    return NULL;
}
