"""One planned run through one child: the options that it gets and how long it may take."""

from __future__ import annotations

from typing import Protocol

from tallymark.suites.child import COMMAND, Child, Command, End
from tallymark.suites.model import Configuration, Json, PlannedRun
from tallymark.suites.stop import Stop

# far above any sane run: the slowest build (sanitizers, a loaded machine) makes more than 1,000 tasks/s
_BASE_S = 120
_TASKS_PER_S = 1000
_CONTEXT_BYTES_PER_S = 10 << 20


def deadline_s(planned: PlannedRun) -> float:
    """Seconds after which a run is ended: the suite's own limit, else what no sound run ever takes."""
    if planned.deadline_ms is not None:
        return planned.deadline_ms / 1000
    chosen = planned.configuration
    copied = chosen.context_bytes * (1 + chosen.rollbacks)
    return (
        _BASE_S
        + chosen.tasks / _TASKS_PER_S
        + _arrivals_s(chosen)
        + _waits_s(chosen)
        + copied / _CONTEXT_BYTES_PER_S
    )


def _arrivals_s(chosen: Configuration) -> float:
    """How long an open loop takes to submit: phases stretch it by the time that they pause."""
    if not chosen.rate_per_s:
        return 0.0
    cycle = chosen.steady_ms + chosen.pause_ms + chosen.burst_ms
    submitting = chosen.steady_ms + chosen.burst_ms * chosen.burst_factor
    return chosen.tasks / chosen.rate_per_s * max(1.0, cycle / submitting if submitting else 1.0)


def _waits_s(chosen: Configuration) -> float:
    """All waits one after the other on each worker, twice: their mean says nothing of their spread."""
    delays = chosen.retry_delay_us * ((1 << min(chosen.retry_attempts, 20)) - 1)
    task_us = chosen.wait_us * (1 + chosen.retry_attempts) + delays
    slow_us = chosen.slow_us * chosen.slow_permille / 1000
    return 2 * chosen.tasks * (task_us + slow_us) / 1e6 / chosen.workers


def options(planned: PlannedRun, run_id: str) -> Json:
    """What the child is told: the whole configuration, the run's place in the plan and its id."""
    return {
        "index": planned.index,
        "repetition": planned.repetition,
        "run_id": run_id,
        **planned.configuration.to_json(),
    }


class Watch(Protocol):
    """Told about one run while it is made."""

    def started(self, pid: int) -> None:
        """The run has its process."""

    def advanced(self, progress: Json) -> None:
        """The counts of this moment."""


class Unwatched:
    """For runs that nobody watches."""

    def started(self, pid: int) -> None:
        """Nothing."""

    def advanced(self, progress: Json) -> None:
        """Nothing."""


def run_once(
    planned: PlannedRun,
    run_id: str,
    stop: Stop,
    watch: Watch | None = None,
    command: Command = COMMAND,
) -> End:
    """Make the run in a process of its own, started by ``command``, and wait for its end."""
    watch = watch or Unwatched()
    with Child(options(planned, run_id), command) as child, stop.watching(child):
        watch.started(child.pid)
        return child.wait(deadline_s(planned), watch.advanced)
