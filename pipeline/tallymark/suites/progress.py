"""What a person sees while a suite runs: a bar with the time left on a terminal, plain lines elsewhere.

All of it goes to standard error; standard output is kept for the result.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from typing import TYPE_CHECKING, Protocol, TextIO

from tallymark import units
from tallymark.printable import log_line
from tallymark.suites.model import NO_VARIANT, Json, PlannedRun, fixture

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Reporter(Protocol):
    """Told about a suite as it goes on; it only shows, it decides nothing."""

    def say(self, text: str) -> None:
        """One line that is not about a single run."""

    def begin(self, tasks: int) -> None:
        """``tasks`` tasks are to be made in all the runs that follow."""

    def started(self, planned: PlannedRun, name: str, pid: int) -> None:
        """A run has its process; ``name`` says which of how many it is."""

    def advanced(self, progress: Json) -> None:
        """The counts of the run that is in progress."""

    def finished(self, run: Json) -> None:
        """The run has its record."""

    def close(self) -> None:
        """Nothing more will be told."""


def reporter(stream: TextIO | None = None) -> Reporter:
    """The bar when ``stream`` (default: standard error) is a terminal, lines otherwise."""
    chosen = sys.stderr if stream is None else stream
    if chosen is None:  # the caller closed it
        return Lines(io.StringIO())
    return Bar(chosen) if chosen.isatty() else Lines(chosen)


class Lines:
    """One line when a run begins and one when it has ended, each written out at once."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._tasks = 0
        self._done = 0
        self._clock = time.monotonic()
        self._planned = 0
        self._name = ""
        self._meant: dict[str, str] = {}

    def say(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a full log, or a reader that went, must not end a measurement
            print(log_line(text), file=self._stream, flush=True)

    def begin(self, tasks: int) -> None:
        self._tasks, self._done, self._clock = tasks, 0, time.monotonic()

    def started(self, planned: PlannedRun, name: str, pid: int) -> None:
        self._name, self._planned = name, planned.configuration.tasks
        self._meant = meant(planned)
        self.say(f"{name}: started as process {pid}, {describe(planned)}")

    def advanced(self, progress: Json) -> None:
        """Nothing: a line a second would bury what matters in a log."""

    def finished(self, run: Json) -> None:
        self._done += self._planned
        self.say(f"{self._name}: {result(run)}{self._meant.get(str(run['outcome']), '')}{self._left()}")

    def close(self) -> None:
        """Nothing to put away."""

    def _left(self) -> str:
        left = self._tasks - self._done
        if left <= 0:
            return ""
        seconds = (time.monotonic() - self._clock) * left / self._done
        return f"; about {units.fixed(seconds, 0)} s left"


class Bar:
    """A progress bar over the tasks of the whole plan, with the time that is left."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._progress: Progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=Console(file=stream, highlight=False, markup=False),
            refresh_per_second=4,  # drawing takes processor time from the run that is measured
        )
        self._bar: TaskID | None = None
        self._before = 0
        self._planned = 0
        self._name = ""
        self._meant: dict[str, str] = {}

    def say(self, text: str) -> None:
        self._progress.console.print(log_line(text), soft_wrap=True)

    def begin(self, tasks: int) -> None:
        self._bar = self._progress.add_task("", total=tasks)
        self._before = 0
        self._progress.start()

    def started(self, planned: PlannedRun, name: str, pid: int) -> None:
        self._name, self._planned = name, planned.configuration.tasks
        self._meant = meant(planned)
        if self._bar is not None:
            self._progress.update(self._bar, description=f"{name}, {describe(planned)}")

    def advanced(self, progress: Json) -> None:
        done = progress.get("tasks_completed")
        if self._bar is not None and isinstance(done, int):
            self._progress.update(self._bar, completed=self._before + min(done, self._planned))

    def finished(self, run: Json) -> None:
        self._before += self._planned
        if self._bar is not None:
            self._progress.update(self._bar, completed=self._before)
        self.say(f"{self._name}: {result(run)}{self._meant.get(str(run['outcome']), '')}")

    def close(self) -> None:
        self._progress.stop()


# keys that a run is known by where they are not what they usually are
SPECIAL = ("context_bytes", "probes", "access_pattern", "submission", "rate_per_s", "snapshot")
_USUAL = fixture("usual")


def describe(planned: PlannedRun) -> str:
    """``agents=1000 tasks=100000 workers=8, repetition 2``."""
    chosen = planned.configuration
    variant = "" if chosen.variant == NO_VARIANT else f"{chosen.variant}: "
    special = "".join(
        f" {key}={getattr(chosen, key)}" for key in SPECIAL if getattr(chosen, key) != getattr(_USUAL, key)
    )
    return (
        f"{variant}agents={chosen.agents} tasks={chosen.tasks} workers={chosen.workers}{special},"
        f" repetition {planned.repetition}"
    )


def meant(planned: PlannedRun) -> dict[str, str]:
    """Outcome → what is said behind it: a failure on purpose is no bad news, a missing one is."""
    return {outcome: " (expected)" for outcome in planned.expected if outcome != "completed"}


def result(run: Json) -> str:
    """How a run ended, in a clause: its time and rate, or what stopped it."""
    elapsed, rate = run.get("elapsed_ms"), run.get("tasks_per_second")
    if run["outcome"] != "completed":
        return f"{run['outcome']} in phase {run['phase']}: {run['cause']}"
    if not isinstance(elapsed, int | float) or not isinstance(rate, int | float):
        return "completed"
    return f"completed in {units.fixed(elapsed, 0)} ms, {units.fixed(rate, 0)} tasks/s"
