#include "rt_faults.h"

uint64_t rt_faults_count(const rt_faults *self, rt_fault fault) {
    uint64_t chosen = 0;
    for (uint64_t id = 0; self->permille[fault] > 0 && id < self->tasks; id++) {
        chosen += rt_faults_choose(self, fault, id);
    }
    return chosen;
}
