#include "rt_arrivals.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define FRACTION_BITS 20u

static const char *const phase_names[RT_LOAD_PHASES] = {"steady", "pause", "burst", "drain"};

const char *rt_load_phase_name(rt_load_phase phase) { return phase_names[phase]; }

uint64_t rt_arrivals_cycle_ns(const rt_arrivals_options *options) {
    return options->steady_ms == 0
               ? 0
               : (options->steady_ms + options->pause_ms + options->burst_ms) * NS_PER_MS;
}

/* Steady time that one round of the phases stands for. */
static uint64_t round_ns(const rt_arrivals_options *options) {
    return (options->steady_ms + options->burst_ms * options->burst_factor) * NS_PER_MS;
}

/* The time at which so much steady time has been worked off. */
static uint64_t stretch(const rt_arrivals_options *options, uint64_t steady_ns) {
    if (options->steady_ms == 0) {
        return steady_ns;
    }
    const uint64_t length_ns = options->steady_ms * NS_PER_MS;
    const uint64_t start_ns = steady_ns / round_ns(options) * rt_arrivals_cycle_ns(options);
    const uint64_t rest_ns = steady_ns % round_ns(options);
    if (rest_ns < length_ns) {
        return start_ns + rest_ns;
    }
    return start_ns + length_ns + options->pause_ms * NS_PER_MS +
           (rest_ns - length_ns) / options->burst_factor;
}

static unsigned __int128 position_of(const rt_arrivals_options *options, uint64_t index) {
    return (unsigned __int128)index * (NS_PER_S << FRACTION_BITS) / options->rate_per_s;
}

static void move_to(rt_arrivals *self, unsigned __int128 position) {
    self->position = position;
    self->due_ns = stretch(&self->options, (uint64_t)(position >> FRACTION_BITS));
}

static unsigned __int128 gap(rt_arrivals *self) {
    return rt_random_exponential(&self->random, (NS_PER_S << FRACTION_BITS) / self->options.rate_per_s);
}

void rt_arrivals_init(rt_arrivals *self, const rt_arrivals_options *options) {
    *self = (rt_arrivals){.options = *options};
    rt_random_init(&self->random, options->seed);
    move_to(self, options->poisson ? gap(self) : 0);
}

void rt_arrivals_advance(rt_arrivals *self) {
    self->index++;
    move_to(self, self->options.poisson ? self->position + gap(self)
                                        : position_of(&self->options, self->index));
}

rt_load_phase rt_arrivals_phase(const rt_arrivals_options *options, uint64_t at_ns, uint64_t *end_ns) {
    const uint64_t cycle_ns = rt_arrivals_cycle_ns(options);
    if (cycle_ns == 0) {
        *end_ns = UINT64_MAX;
        return RT_LOAD_STEADY;
    }
    const uint64_t start_ns = at_ns - at_ns % cycle_ns;
    const uint64_t pause_ns = start_ns + options->steady_ms * NS_PER_MS;
    const uint64_t burst_ns = pause_ns + options->pause_ms * NS_PER_MS;
    if (at_ns < pause_ns) {
        *end_ns = pause_ns;
        return RT_LOAD_STEADY;
    }
    *end_ns = at_ns < burst_ns ? burst_ns : start_ns + cycle_ns;
    return at_ns < burst_ns ? RT_LOAD_PAUSE : RT_LOAD_BURST;
}

uint64_t rt_arrivals_expected_ns(const rt_arrivals_options *options, uint64_t tasks) {
    return stretch(options, (uint64_t)(position_of(options, tasks) >> FRACTION_BITS));
}
