"""One planned run through one child: the options that it gets and how long it may take."""

from __future__ import annotations

from typing import Protocol

from tallymark.suites.child import Child, End
from tallymark.suites.model import Configuration, Json, PlannedRun
from tallymark.suites.stop import Stop

# far above any sane run: the slowest build (sanitizers, a loaded machine) makes more than 1,000 tasks/s
_DEADLINE_BASE_S = 120
_DEADLINE_TASKS_PER_S = 1000


def deadline_s(configuration: Configuration) -> float:
    """Seconds after which a run counts as hung."""
    pace = configuration.rate_per_s or _DEADLINE_TASKS_PER_S
    return _DEADLINE_BASE_S + configuration.tasks / min(pace, _DEADLINE_TASKS_PER_S)


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


def run_once(planned: PlannedRun, run_id: str, stop: Stop, watch: Watch | None = None) -> End:
    """Make the run in a process of its own and wait for its end."""
    watch = watch or Unwatched()
    with Child(options(planned, run_id)) as child, stop.watching(child):
        watch.started(child.pid)
        return child.wait(deadline_s(planned.configuration), watch.advanced)
