/* Which tasks are chosen: the share that was asked for, ramped or not, and each fault for itself. */
#include "rt_faults.h"

#include "check.h"

#define TASKS 100000u

static rt_faults faults_of(uint32_t fail, uint32_t slow, uint32_t cancel, bool ramp) {
    return (rt_faults){.seed = 1, .tasks = TASKS, .permille = {fail, slow, cancel}, .ramp = ramp};
}

/* Four standard deviations of a binomial of 100,000 at 5 % are 276. */
static void a_share_is_what_was_asked_for(void) {
    const rt_faults faults = faults_of(50, 1000, 0, false);
    const uint64_t failing = rt_faults_count(&faults, RT_FAULT_FAIL);
    CHECK(failing > 5000 - 276 && failing < 5000 + 276);
    CHECK_UINT(TASKS, rt_faults_count(&faults, RT_FAULT_SLOW));
    CHECK_UINT(0, rt_faults_count(&faults, RT_FAULT_CANCEL));
    CHECK(rt_faults_any(&faults));
    const rt_faults none = faults_of(0, 0, 0, false);
    CHECK(!rt_faults_any(&none));
}

/* The mean share of a ramp from 0 to 1 is one half; its first tenth holds a hundredth of the chosen. */
static void a_ramp_rises_from_nothing_to_the_share(void) {
    const rt_faults faults = faults_of(1000, 0, 0, true);
    uint64_t early = 0;
    for (uint64_t id = 0; id < TASKS / 10; id++) {
        early += rt_faults_choose(&faults, RT_FAULT_FAIL, id);
    }
    const uint64_t all = rt_faults_count(&faults, RT_FAULT_FAIL);
    CHECK(all > 49400 && all < 50600);
    CHECK(early > 400 && early < 600);
    CHECK(!rt_faults_choose(&faults, RT_FAULT_FAIL, 0));
    CHECK(rt_faults_choose(&faults, RT_FAULT_FAIL, TASKS - 1));
}

static void faults_are_chosen_independently(void) {
    const rt_faults faults = faults_of(500, 500, 500, false);
    uint64_t both = 0;
    for (uint64_t id = 0; id < TASKS; id++) {
        both += rt_faults_choose(&faults, RT_FAULT_FAIL, id) && rt_faults_choose(&faults, RT_FAULT_SLOW, id);
    }
    CHECK(both > 24400 && both < 25600); /* a quarter, within four standard deviations */
}

static void one_task_alone_is_no_ramp(void) {
    const rt_faults faults = {.seed = 1, .tasks = 1, .permille = {1000, 0, 0}, .ramp = true};
    CHECK_UINT(1, rt_faults_count(&faults, RT_FAULT_FAIL));
}

int main(void) {
    a_share_is_what_was_asked_for();
    a_ramp_rises_from_nothing_to_the_share();
    faults_are_chosen_independently();
    one_task_alone_is_no_ramp();
    return check_done();
}
