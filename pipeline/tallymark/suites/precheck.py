"""The pre-check: 1,000 tasks of the very suite that follows, for units, signs and output paths.

A unit that is off by a thousand is found here, in a second, and not in the document of a million tasks.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tallymark.check import check_document
from tallymark.errors import BrokenRuntimeError, UsageError
from tallymark.evidence import canonical, documents
from tallymark.suites import compose, execute
from tallymark.suites.assertion import Assertion
from tallymark.suites.child import COMMAND, Command, Finished, Refused, describe
from tallymark.suites.launch import run_once
from tallymark.suites.model import Configuration, Json, Plan, PlannedRun
from tallymark.suites.stamp import new_id, utc_now
from tallymark.suites.stop import Stop
from tallymark.suites.written import errors_of

TASKS = 1000
CONTEXT_BYTES = 16 << 20
WAIT_US = 1000
ROLLBACKS = 2
NEEDED = ("elapsed_ms", "tasks_per_second", "tasks_completed", "peak_rss_bytes")


@dataclass(frozen=True, slots=True)
class Trial:
    """The run of the pre-check: what was planned, what the child wrote, and how long its process took."""

    planned: PlannedRun
    end: Finished
    wall_ms: float


def trial(plan: Plan, stop: Stop, command: Command = COMMAND) -> Trial:
    """One run of the plan's first configuration with at most 1,000 tasks, and of each other with a few.

    Whatever the runtime refuses of a plan is thus known before anything is measured.
    UsageError: the runtime refuses a configuration. BrokenRuntimeError: a run gave no record.
    StoppedError: the user stopped it.
    """
    first, *others = dict.fromkeys(planned.configuration for planned in plan.runs)
    made = _tried(reduced(first, TASKS), stop, command)
    for other in others:
        _tried(reduced(other, 1), stop, command)
    return made


def reduced(configuration: Configuration, tasks: int) -> Configuration:
    """The configuration with few tasks, short waits, a small context, and without what ends its process."""
    batches = min(configuration.batches, tasks)
    return replace(
        configuration,
        tasks=max(1, min(tasks, configuration.tasks) // batches) * batches,
        batches=batches,
        context_bytes=min(configuration.context_bytes, CONTEXT_BYTES),
        wait_us=min(configuration.wait_us, WAIT_US),
        slow_us=min(configuration.slow_us, WAIT_US),
        rollbacks=min(configuration.rollbacks, ROLLBACKS),
        memory_limit_bytes=0,
        kill_after_tasks=0,
    )


def _tried(configuration: Configuration, stop: Stop, command: Command) -> Trial:
    planned = PlannedRun(0, 1, configuration)
    begun = time.monotonic_ns()
    end = run_once(planned, new_id(), stop, command=command)
    wall_ms = (time.monotonic_ns() - begun) / 1e6
    stop.check("pre-check")
    if isinstance(end, Refused):
        raise execute.refused(end)
    if not isinstance(end, Finished):
        raise BrokenRuntimeError(
            "pre-check", describe(end), "run `tallymark run smoke` and report what it says"
        )
    return Trial(planned, end, wall_ms)


def judge(made: Trial, plan: Plan, gate: Json, directory: Path) -> tuple[Assertion, ...]:
    """What the trial run proves, as a document behind ``gate`` in ``directory`` would show it."""
    return (
        *record_holds(made.end.run, made.wall_ms),
        _schema(made, plan, gate),
        _output(directory),
    )


def record_holds(run: Json, wall_ms: float) -> Iterator[Assertion]:
    """Units and signs of one record, told by how its numbers must relate; ``wall_ms`` is the parent's."""
    values: dict[str, Any] = run
    missing = [name for name in NEEDED if not isinstance(values.get(name), int | float)]
    scheduled = values.get("workload") == "tasks"
    if scheduled:
        missing += [name for name in ("histograms", "end_to_end_max_ms") if name not in values]
    if missing:
        yield Assertion("precheck.record", False, f"no number: {', '.join(missing)}")
        return
    elapsed, rate, completed = values["elapsed_ms"], values["tasks_per_second"], values["tasks_completed"]
    yield Assertion(
        "precheck.elapsed_ms",
        0 < elapsed <= wall_ms,
        f"0 < elapsed_ms = {elapsed} <= {wall_ms} ms on the clock of the parent",
    )
    if scheduled:
        yield from _latencies_hold(values, elapsed)
    computed = completed / (elapsed / 1000) if elapsed > 0 else 0.0
    yield Assertion(
        "precheck.tasks_per_second",
        abs(computed - rate) <= 1e-6 * computed,
        f"tasks_completed / seconds = {computed}, tasks_per_second = {rate}",
    )
    negative = [name for name, value in values.items() if isinstance(value, int | float) and value < 0]
    yield Assertion(
        "precheck.signs", not negative, f"below zero: {', '.join(negative) or 'no value of the record'}"
    )
    at_peak = values["peak_rss_bytes"]
    yield Assertion(
        "precheck.bytes",
        1 << 20 <= at_peak <= 1 << 40,
        f"peak_rss_bytes = {at_peak}, between a MiB and a TiB",
    )


def _latencies_hold(values: dict[str, Any], elapsed: float) -> Iterator[Assertion]:
    """A task is in execution on a worker or suspended, and no task takes longer than the run."""
    busy_ms = int(values["histograms"]["execution"]["sum_ns"]) / 1e6
    slots = values["workers"] + values.get("suspended_peak", 0)
    most_ms = elapsed * slots
    yield Assertion(
        "precheck.execution_ns",
        0 < busy_ms <= most_ms,
        f"0 < {busy_ms} ms of execution <= elapsed_ms x {slots} tasks at once = {most_ms}",
    )
    longest = values["end_to_end_max_ms"]
    yield Assertion(
        "precheck.latency_ms",
        0 < longest <= elapsed,
        f"0 < end_to_end_max_ms = {longest} <= elapsed_ms = {elapsed}",
    )


def _schema(made: Trial, plan: Plan, gate: Json) -> Assertion:
    """The record, alone in a document, must pass the schema and the rules."""
    value = compose.around(plan, made.planned, made.end.manifest, gate, made.end.run)
    findings = errors_of(check_document(documents.from_bytes(canonical.encode(value), "pre-check")))
    first = findings[0].line() if findings else "the record passes the schema and the rules"
    return Assertion("precheck.schema", not findings, first)


def _output(directory: Path) -> Assertion:
    """A document can be written where it will be written: said now, not after an hour of runs."""
    probe = directory / f".precheck-{secrets.token_hex(6)}"
    try:
        canonical.write_new(probe, utc_now().encode("ascii"))
    except UsageError as error:
        return Assertion("precheck.output", False, error.problem)
    finally:
        with suppress(OSError):
            probe.unlink()
    return Assertion("precheck.output", True, "a document can be written and named in its folder")
