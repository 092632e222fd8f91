"""What every small run must show: each statement names the first record that contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from tallymark.suites.assertion import Assertion
from tallymark.suites.model import Configuration, Json

ENDS = ("tasks_completed", "tasks_failed", "tasks_cancelled", "tasks_timed_out")
STAGES = ("queue", "execution", "finalisation", "end_to_end")


@dataclass(frozen=True, slots=True)
class Sample:
    """A run that has its record, the configuration that it was asked to run, and how it was to end."""

    name: str
    configuration: Configuration
    run: Json
    outcome: str = "completed"

    def value(self, *path: str) -> Any:
        """The value at a path of keys; None when a key on the way is missing."""
        found: Any = self.run
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def count(self, name: str) -> int:
        """A count of the record; -1, which no statement accepts, when it is missing or not a whole number."""
        found = self.value(name)
        return found if isinstance(found, int) and not isinstance(found, bool) else -1


# What contradicts the statement in this run ("queue_at_end = 3"), or None when it holds.
Contradiction: TypeAlias = Callable[[Sample], str | None]


def judge(samples: Iterable[Sample]) -> tuple[Assertion, ...]:
    """One assertion for each statement, over all runs."""
    runs = tuple(samples)
    return tuple(_over(name, holds, found, runs) for name, (holds, found) in STATEMENTS.items())


def rejected(sample: Sample) -> Assertion:
    """A queue smaller than the window must refuse some tasks, and say how many."""
    count = sample.count("tasks_rejected")
    passed = 0 < count < sample.configuration.tasks
    return Assertion("smoke.rejects", passed, f"{sample.name}: tasks_rejected = {count}")


def repeated(first: Sample, second: Sample) -> Assertion:
    """Two runs of one configuration must read and write the same."""
    names = ("context_checksum", "probe_checksum", "prompt_bytes_expected")
    one, two = ([sample.value("checks", name) for name in names] for sample in (first, second))
    passed = one == two and None not in one
    return Assertion("smoke.repeats", passed, f"checksums {one[0]} and {one[1]}, again {two[0]} and {two[1]}")


def _over(name: str, holds: str, contradiction: Contradiction, runs: tuple[Sample, ...]) -> Assertion:
    found = [f"{run.name}: {text}" for run in runs if (text := contradiction(run)) is not None]
    return Assertion(
        f"smoke.{name}", bool(runs) and not found, "; ".join(found) or f"{holds} in {len(runs)} runs"
    )


def _differs(sample: Sample, expected: dict[tuple[str, ...], Any]) -> str | None:
    """The first value that is not the expected one, as ``name = value, expected …``."""
    for path, value in expected.items():
        found = sample.value(*path)
        if found != value or isinstance(found, bool):
            return f"{'.'.join(path)} = {found}, expected {value}"
    return None


def _ended(sample: Sample) -> str | None:
    differs = _differs(sample, {("outcome",): sample.outcome, ("recorded_by",): "runtime"})
    if differs is None and (sample.value("cause") is None) != (sample.outcome == "completed"):
        return f"outcome = {sample.outcome}, cause = {sample.value('cause')}"
    return differs


def _configured(sample: Sample) -> str | None:
    return _differs(sample, {(key,): value for key, value in sample.configuration.to_json().items()})


def _drained(sample: Sample) -> str | None:
    return _differs(sample, {("queue_at_end",): 0, ("active_at_end",): 0})


def _conserved(sample: Sample) -> str | None:
    submitted, admitted, refused = (
        sample.count(f"tasks_{name}") for name in ("submitted", "admitted", "rejected")
    )
    ends = [sample.count(name) for name in ENDS]
    if submitted != sample.configuration.tasks:
        return f"tasks_submitted = {submitted} of {sample.configuration.tasks}"
    if submitted != admitted + refused:
        return f"submitted {submitted}, admitted {admitted}, rejected {refused}"
    return None if admitted == sum(ends) else f"admitted {admitted}, ended {ends}"


def _checksums(sample: Sample) -> str | None:
    names = ("context_checksum", "probe_checksum")
    expected: dict[tuple[str, ...], Any] = {
        ("checks", name): sample.value("checks", f"{name}_expected") for name in names
    }
    if None in expected.values():
        return "a checksum is missing"
    return _differs(sample, expected)


def _seen_once(sample: Sample) -> str | None:
    return _differs(
        sample,
        {
            ("checks", "tasks_seen_once"): sample.count("tasks_completed"),
            ("checks", "tasks_seen_never"): sample.count("tasks_rejected"),
            ("checks", "tasks_seen_twice"): 0,
        },
    )


def _worked(sample: Sample) -> str | None:
    completed = sample.count("tasks_completed")
    return _differs(
        sample,
        {
            ("role_lookups",): completed,
            ("checks", "lookups_failed"): 0,
            ("prompt_bytes",): sample.value("checks", "prompt_bytes_expected"),
            ("probes_done",): completed * sample.configuration.probes,
            ("output_bytes_written",): completed * sample.configuration.output_bytes,
        },
    )


def _timed(sample: Sample) -> str | None:
    completed = sample.count("tasks_completed")
    return _differs(sample, {("histograms", stage, "count"): completed for stage in STAGES})


def _bounded(sample: Sample) -> str | None:
    tasks, size = sample.count("retained_tasks"), sample.count("retained_bytes")
    limits = sample.configuration
    if tasks < 0 or size < 0 or tasks > limits.history_limit_tasks or size > limits.history_limit_bytes:
        return f"retained {tasks} tasks and {size} bytes"
    if limits.history_limit_tasks and limits.history_limit_bytes and not tasks:
        return "nothing was retained"
    return None


STATEMENTS: dict[str, tuple[str, Contradiction]] = {
    "ended": ("the outcome is the expected one, and anything but completed has a cause", _ended),
    "configured": ("the record repeats every option", _configured),
    "drained": ("queue_at_end = 0 and active_at_end = 0", _drained),
    "conserved": ("submitted = admitted + rejected, and every admitted task has an end", _conserved),
    "checksums": ("context and probes read what was computed independently", _checksums),
    "seen_once": ("every completed task was seen exactly once", _seen_once),
    "worked": ("lookups, prompt bytes, probes and output bytes are those of the tasks done", _worked),
    "timed": ("every stage has one interval a completed task", _timed),
    "history": ("the history keeps both of its limits", _bounded),
}
