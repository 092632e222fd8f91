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


def _over(name: str, holds: str, contradiction: Contradiction, samples: tuple[Sample, ...]) -> Assertion:
    runs = [run for run in samples if name in OF_EVERY_RUN or run.configuration.workload == "tasks"]
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
    """An open loop may be too much for a slow machine: that is no matter of correctness."""
    outcome = sample.value("outcome")
    expected = "overloaded" if outcome == "overloaded" and sample.configuration.rate_per_s else sample.outcome
    differs = _differs(sample, {("outcome",): expected, ("recorded_by",): "runtime"})
    if differs is None and (sample.value("cause") is None) != (outcome == "completed"):
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


def _whole(sample: Sample) -> bool:
    """Whether every admitted task came to its good end."""
    return sample.count("tasks_completed") == sample.count("tasks_admitted")


def _seen_once(sample: Sample) -> str | None:
    completed = sample.count("tasks_completed")
    if _whole(sample):
        once, never = completed, sample.count("tasks_rejected")
        expected = {"tasks_seen_once": once, "tasks_seen_never": never, "tasks_seen_twice": 0}
        return _differs(sample, {("checks", name): value for name, value in expected.items()})
    once, never = (sample.value("checks", f"tasks_seen_{how}") for how in ("once", "never"))
    if once < completed or once + never != sample.configuration.tasks:
        return f"{once} tasks seen once and {never} never, of {sample.configuration.tasks}"
    return _differs(sample, {("checks", "tasks_seen_twice"): 0})


def _worked(sample: Sample) -> str | None:
    completed = sample.count("tasks_completed")
    if not _whole(sample):
        done = sample.count("role_lookups")
        return f"{done} role lookups for {completed} completed tasks" if done < completed else None
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
    counted = sample.count("tasks_completed")
    if not _whole(sample):
        most = sample.value("histograms", "end_to_end", "count")
        if most < counted:
            return f"histograms.end_to_end.count = {most}, below {counted} completed tasks"
        counted = most
    return _differs(sample, {("histograms", stage, "count"): counted for stage in STAGES})


def _bounded(sample: Sample) -> str | None:
    tasks, size = sample.count("retained_tasks"), sample.count("retained_bytes")
    limits = sample.configuration
    if tasks < 0 or size < 0 or tasks > limits.history_limit_tasks or size > limits.history_limit_bytes:
        return f"retained {tasks} tasks and {size} bytes"
    if limits.history_limit_tasks and limits.history_limit_bytes and not tasks:
        return "nothing was retained"
    return None


# --- what only some configurations have; None where this one has not ---


def _released(sample: Sample) -> str | None:
    if sample.configuration.submission != "held":
        return None
    return _differs(sample, {("queue_at_release",): sample.count("tasks_admitted")})


def _yielded(sample: Sample) -> str | None:
    if not sample.configuration.yields or not _whole(sample):
        return None
    return _differs(sample, {("yields_done",): sample.configuration.yields * sample.count("tasks_completed")})


def _batched(sample: Sample) -> str | None:
    batches = sample.configuration.batches
    if batches == 1:
        return None
    rows = sample.value("batch_memory", "rows")
    ends = [row[1] for row in rows] if isinstance(rows, list) else []
    size = sample.configuration.tasks // batches
    expected = [size * number for number in range(1, batches + 1)]
    return None if ends == expected else f"batches end at {ends} tasks, expected {expected}"


def _disturbed(sample: Sample) -> str | None:
    """A failing task fails, unless it was cancelled; a cancelled one ends so, or was too late to be."""
    chosen = sample.configuration
    if not chosen.fail_permille and not chosen.cancel_permille:
        return None
    failed, asked = (sample.value("faults", name) for name in ("failed_chosen", "cancels_asked"))
    if not isinstance(failed, int) or not isinstance(asked, int):
        return f"failed_chosen {failed}, cancels_asked {asked}"
    if bool(failed) != bool(chosen.fail_permille) or bool(asked) != bool(chosen.cancel_permille):
        return f"{failed} tasks chosen to fail, {asked} to be cancelled"
    ended = (sample.count("tasks_failed"), sample.count("tasks_cancelled"))
    if not failed - asked <= ended[0] <= failed or not ended[1] <= asked:
        return f"{ended[0]} of {failed} failed, {ended[1]} of {asked} were cancelled"
    return None


def _rolled_back(sample: Sample) -> str | None:
    chosen = sample.configuration
    if chosen.snapshot == "none":
        return None
    before = sample.value("rollback", "checksum_before")
    return (
        "there is no checksum"
        if before is None
        else _differs(
            sample,
            {
                ("rollback", "cycles"): chosen.rollbacks,
                ("rollback", "mismatches"): 0,
                ("rollback", "checksum_after"): before,
            },
        )
    )


def _passed_through(sample: Sample) -> str | None:
    """A large context is the same after a rollback and after it was spilled and restored."""
    if sample.configuration.workload != "context":
        return None
    expected = sample.value("context", "checksum_expected")
    names = ("checksum", "checksum_after_rollback", "checksum_restored")
    if expected is None:
        return "there is no checksum"
    size = sample.configuration.context_bytes
    return _differs(
        sample,
        {("context", "canonical_bytes"): size, **{("context", name): expected for name in names}},
    )


def _looked_up(sample: Sample) -> str | None:
    if sample.configuration.workload != "lookup":
        return None
    tasks = sample.configuration.tasks
    return _differs(
        sample,
        {
            ("lookup", "roles"): sample.configuration.agents,
            ("lookup", "found"): tasks - tasks // 2,
            ("lookup", "not_found"): tasks // 2,
            ("lookup", "wrong"): 0,
        },
    )


# the statements that are also about runs whose tasks do not go through the scheduler
OF_EVERY_RUN = ("ended", "configured", "drained", "conserved", "passed_through", "looked_up")
STATEMENTS: dict[str, tuple[str, Contradiction]] = {
    "ended": ("the outcome is the expected one, and anything but completed has a cause", _ended),
    "configured": ("the record repeats every option", _configured),
    "drained": ("queue_at_end = 0 and active_at_end = 0", _drained),
    "conserved": ("submitted = admitted + rejected, and every admitted task has an end", _conserved),
    "checksums": ("context and probes read what was computed independently", _checksums),
    "seen_once": ("every completed task was seen exactly once", _seen_once),
    "worked": ("lookups, prompt bytes, probes and output bytes are those of the tasks done", _worked),
    "timed": ("every stage has one interval a task", _timed),
    "history": ("the history keeps both of its limits", _bounded),
    "released": ("held tasks are all in the queue when the workers are released", _released),
    "yielded": ("every task yields as often as it is told", _yielded),
    "batched": ("every batch ends where it should", _batched),
    "rolled_back": ("the context is the same after every rollback", _rolled_back),
    "passed_through": ("a large context is the same after rollback, spill and restore", _passed_through),
    "looked_up": ("the index finds every role that is there and no other", _looked_up),
    "disturbed": ("the tasks that fail and that are cancelled are those that were chosen", _disturbed),
}
