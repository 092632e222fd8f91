"""Rules about tasks that give their worker back: yields, suspensions, slots and their occupancy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tallymark.check.rule import RERUN, Problem, Run, run_rule

_RELATIVE: Final = 1e-9


@run_rule(
    "yields-done",
    "Every task yielded as often as configured, and suspended only where it can",
    why="A task that did not yield is cheaper than the one that the row is about.",
)
def yields_done(run: Run) -> Iterator[Problem]:
    """yields_done = yields × tasks if all completed; inline: nothing suspends; peak ≤ max_suspended."""
    value = run.value
    if "yields_done" not in value or not run.whole:
        return
    most = value["yields"] * value["tasks_admitted"]
    exact = value["tasks_completed"] == value["tasks_admitted"]
    if value["yields_done"] > most or (exact and value["yields_done"] != most):
        yield run.found("yields_done", f"{value['yields_done']} instead of {most}", RERUN)
    if value["task_stack"] == "inline":
        for key in ("suspensions", "suspended_peak"):
            if value[key]:
                yield run.found(key, f"{value[key]}, although a task without a stack cannot suspend", RERUN)
    # a task that yielded has its own stack too, and no limit keeps it from its place in the queue
    limit = 0 if value["yields"] else value["max_suspended"]
    if limit and value["suspended_peak"] > limit:
        problem = f"{value['suspended_peak']} is above max_suspended = {limit}"
        yield run.found("suspended_peak", problem, RERUN)
    if value["suspended_peak"] > value["tasks_admitted"]:
        problem = f"{value['suspended_peak']} of {value['tasks_admitted']} tasks"
        yield run.found("suspended_peak", problem, RERUN)


@run_rule(
    "slot-capacity",
    "Slots, occupancy and capacity belong together",
    why="The bound beside the measured rate must follow from the run itself; a bound of another run would "
    "prove anything.",
)
def slot_capacity(run: Run) -> Iterator[Problem]:
    """slots = workers (+ max_suspended); occupancy = mean execution; capacity = slots / occupancy ≥ rate."""
    value = run.value
    if "slots" not in value or not run.whole:
        return
    slots, occupancy, capacity = (
        value["slots"],
        value["slot_occupancy_mean_ms"],
        value["capacity_per_second"],
    )
    allowed = {value["workers"], value["workers"] + value["max_suspended"]}
    if slots is not None and slots not in allowed:
        yield run.found("slots", f"{slots} with {value['workers']} workers", RERUN)
    execution = run.histograms.get("execution")
    if execution is not None and execution.count and execution.sample_every == 1:
        mean = execution.sum_ns / execution.count / 1e6
        if occupancy is None or not math.isclose(occupancy, mean, rel_tol=_RELATIVE, abs_tol=1e-6):
            yield run.found(
                "slot_occupancy_mean_ms", f"{occupancy!r}, but the executions give {mean!r}", RERUN
            )
    if capacity is None or slots is None or not occupancy:
        return
    right = slots / occupancy * 1000
    if not math.isclose(capacity, right, rel_tol=1e-6 / occupancy + _RELATIVE):
        yield run.found("capacity_per_second", f"{capacity!r}, but slots / occupancy is {right!r}", RERUN)
