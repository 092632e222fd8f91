/* The public interface of the simulator; see simulator.h. */
#include "simulator.h"

#include <stdio.h>

#include "rt_build_values.h"
#include "rt_status.h"

const char *rt_sim_digest(void) { return RT_BUILD_SIMULATOR_DIGEST; }

int rt_sim_create(const rt_sim_scenario *scenario, rt_sim **out, char *message, size_t message_bytes) {
    (void)scenario;
    *out = NULL;
    snprintf(message, message_bytes, "this build of the library has no simulator");
    return RT_UNAVAILABLE;
}
int rt_sim_execute(rt_sim *self, char *message, size_t message_bytes) {
    (void)self;
    snprintf(message, message_bytes, "this build of the library has no simulator");
    return RT_UNAVAILABLE;
}
void rt_sim_interrupt(rt_sim *self) { (void)self; }
const char *rt_sim_record(const rt_sim *self) {
    (void)self;
    return NULL;
}
const char *rt_sim_outcome(const rt_sim *self) {
    (void)self;
    return NULL;
}
const rt_sim_task *rt_sim_slowest(const rt_sim *self, size_t *count) {
    (void)self;
    *count = 0;
    return NULL;
}
const rt_sim_task *rt_sim_failures(const rt_sim *self, size_t *count) {
    (void)self;
    *count = 0;
    return NULL;
}
const rt_sim_span *rt_sim_spans(const rt_sim *self, size_t *count) {
    (void)self;
    *count = 0;
    return NULL;
}
void rt_sim_figures_read(const rt_sim *self, rt_sim_figures *out) {
    (void)self;
    *out = (rt_sim_figures){0};
}
void rt_sim_destroy(rt_sim *self) { (void)self; }
