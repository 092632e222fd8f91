"""What a rule is, and what it is given to judge."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from tallymark.check.finding import Severity
from tallymark.errors import child
from tallymark.evidence.documents import Document
from tallymark.histogram import Histogram

RUNTIME = "runtime-execution"
IMPORTED = "imported-execution"
AGENT = "agent-execution"
REPORT = "report"
REPORT_SPEC = "report-spec"
PROFILE = "profile"
EXECUTIONS = (RUNTIME, IMPORTED, AGENT)
PUBLISHED = (*EXECUTIONS, REPORT, REPORT_SPEC, PROFILE)


@dataclass(frozen=True, slots=True)
class Problem:
    """What one rule found at one place of a document whose shape is right."""

    pointer: str
    problem: str
    do: str


RERUN = "Run the suite again; a record is never corrected by hand"


class Run:
    """One run (or warm-up) of a document, with its place; histograms are parsed when first asked for."""

    def __init__(self, pointer: str, value: dict[str, Any]) -> None:
        self.pointer = pointer
        self.value = value

    @property
    def completed(self) -> bool:
        """Whether the run ended as planned; only then does every count have to add up."""
        return bool(self.value["outcome"] == "completed")

    @property
    def whole(self) -> bool:
        """Whether the run accounts for itself: it wrote its own record, and came beyond its set-up."""
        beyond = self.value["phase"] != "setup" and "tasks_submitted" in self.value
        return bool(self.value["recorded_by"] == "runtime" and beyond)

    @property
    def drained(self) -> bool:
        """Whether every task came to its end: completed, or with a queue that grew until the last one."""
        return bool(self.value["outcome"] in ("completed", "overloaded"))

    @property
    def of_tasks(self) -> bool:
        """Whether the run put tasks through the scheduler; before 1.1 there was nothing else."""
        return bool(self.value.get("workload", "tasks") == "tasks")

    @property
    def open_loop(self) -> bool:
        """Whether each task was due by a schedule of its own."""
        return bool(self.value["submission"] in ("paced", "poisson"))

    @functools.cached_property
    def parsed_histograms(self) -> dict[str, Histogram]:
        """Stage → histogram as it was written, sound or not."""
        recorded = self.value.get("histograms", {})
        return {stage: Histogram.as_recorded(record) for stage, record in recorded.items()}

    @functools.cached_property
    def histograms(self) -> dict[str, Histogram]:
        """Stage → histogram, of the sound ones: nothing is concluded from one that contradicts itself."""
        parsed = self.parsed_histograms.items()
        return {stage: histogram for stage, histogram in parsed if not any(histogram.problems())}

    def at(self, *keys: str | int) -> str:
        """The pointer of a member of the run."""
        return functools.reduce(child, keys, self.pointer)

    def found(self, key: str, problem: str, do: str) -> Problem:
        """A problem at one key of the run."""
        return Problem(self.at(key), problem, do)


class Subject:
    """A document whose shape is right, as the rules see it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.value: dict[str, Any] = document.value

    @functools.cached_property
    def runs(self) -> tuple[Run, ...]:
        """The counted runs of an execution, in order; none in other documents."""
        return tuple(Run(f"$.runs[{i}]", run) for i, run in enumerate(self.value.get("runs", [])))

    @functools.cached_property
    def all_runs(self) -> tuple[Run, ...]:
        """Warm-ups, then runs."""
        warmups = self.value.get("warmups", [])
        return (*(Run(f"$.warmups[{i}]", run) for i, run in enumerate(warmups)), *self.runs)


Check: TypeAlias = Callable[[Subject], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the table. ``kinds`` are the documents that it judges; ``why`` is for the rule page."""

    id: str
    title: str
    why: str
    kinds: tuple[str, ...]
    severity: Severity
    check: Check


def document_rule(
    id: str, title: str, *, why: str, kinds: tuple[str, ...], severity: Severity = "error"
) -> Callable[[Check], Rule]:
    """Make a rule of a function that judges a whole document."""

    def made(check: Check) -> Rule:
        return Rule(id, title, why, kinds, severity, check)

    return made


def run_rule(
    id: str, title: str, *, why: str, kinds: tuple[str, ...] = (RUNTIME,), severity: Severity = "error"
) -> Callable[[Callable[[Run], Iterator[Problem]]], Rule]:
    """Make a rule of a function that judges one run; it sees every run and every warm-up."""

    def made(check_run: Callable[[Run], Iterator[Problem]]) -> Rule:
        @functools.wraps(check_run)  # its docstring is the rule in a formula
        def check(subject: Subject) -> Iterator[Problem]:
            for run in subject.all_runs:
                yield from check_run(run)

        return Rule(id, title, why, kinds, severity, check)

    return made
