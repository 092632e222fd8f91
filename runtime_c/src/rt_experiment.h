/* What the experiments that are no scheduling of tasks (context, lookup) have in common.
 *
 * Order of calls, the same for each: create -> execute -> verify -> result and write -> destroy, with progress
 * and request_stop from other threads. Only `execute` belongs to the measured window. */
#ifndef RT_EXPERIMENT_H
#define RT_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Any thread, any time between create and destroy. A task is the experiment's own unit, named in its header;
 * submitted = admitted = done + still running, and nothing is ever rejected. */
typedef struct rt_experiment_progress {
    const char *step;     /* what it does now, a constant: "setup", a step of its own, "finished" */
    bool executing;       /* between the start and the end of execute */
    bool finished;        /* execute has returned, whatever its status */
    uint64_t tasks;       /* planned */
    uint64_t tasks_begun; /* tasks_submitted and tasks_admitted of the record */
    uint64_t tasks_done;  /* tasks_completed */
    uint64_t elapsed_ns;  /* since the start of execute; 0 before, final once finished */
} rt_experiment_progress;

#endif
