"""Rules about the execution as a whole: plan, completeness, gate, identity of runs, order in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from tallymark.check.rule import AGENT, EXECUTIONS, RUNTIME, Problem, Subject, document_rule
from tallymark.evidence.canonical import compact

_SMOKE: Final = "smoke"
_RERUN: Final = "Run the suite again; a record is never corrected by hand"


@document_rule(
    "plan-sound",
    "The plan repeats each configuration as often as declared",
    why="Repetitions are declared before the first run, so that none can be dropped or added afterwards.",
    kinds=(RUNTIME,),
)
def plan_sound(subject: Subject) -> Iterator[Problem]:
    """Indexes 0, 1, 2 …; each configuration has repetitions 1 … n; one task count; the execution's suite."""
    execution = subject.value["execution"]
    seen: dict[str, list[int]] = {}
    for position, entry in enumerate(execution["plan"]):
        if entry["index"] != position:
            yield Problem(
                f"$.execution.plan[{position}].index", f"{entry['index']} at place {position}", _RERUN
            )
        seen.setdefault(compact(entry["configuration"]), []).append(entry["repetition"])
    expected = list(range(1, execution["repetitions"] + 1))
    for repetitions in seen.values():
        if sorted(repetitions) != expected:
            problem = f"a configuration has repetitions {_listed(repetitions)} instead of 1 to {expected[-1]}"
            yield Problem("$.execution.plan", problem, _RERUN)
    for key in ("tasks", "suite"):
        values = {entry["configuration"][key] for entry in execution["plan"]}
        if len(values) > 1:
            problem = f"the plan holds {len(values)} values of {key}"
            yield Problem("$.execution.plan", problem, f"Make one document for each value of {key}")
    if {entry["configuration"]["suite"] for entry in execution["plan"]} != {execution["suite"]}:
        yield Problem("$.execution.suite", f"{execution['suite']!r} is not the suite of the plan", _RERUN)


@document_rule(
    "plan-match",
    "Every run is the one that was planned",
    why="Two runs swapped between configurations keep all sums and spoil both rows.",
    kinds=(RUNTIME, AGENT),
)
def plan_match(subject: Subject) -> Iterator[Problem]:
    """Index, repetition and every configuration key equal those of the plan's entry with that index."""
    plan = subject.value["execution"]["plan"]
    for run in subject.runs:
        index = run.value["index"]
        if index >= len(plan):
            yield run.found("index", f"the plan ends at index {len(plan) - 1}", _RERUN)
            continue
        if run.value["repetition"] != plan[index]["repetition"]:
            problem = f"{run.value['repetition']}, but repetition {plan[index]['repetition']} was planned"
            yield run.found("repetition", problem, _RERUN)
        for key, planned in plan[index]["configuration"].items():
            if run.value[key] != planned:
                yield run.found(
                    key, f"{run.value[key]!r}, but {planned!r} was planned at index {index}", _RERUN
                )


@document_rule(
    "plan-complete",
    "A complete execution holds every planned run, once and in order",
    why="A half-written document can be valid JSON; a deleted run must not go unnoticed.",
    kinds=(RUNTIME, AGENT),
)
def plan_complete(subject: Subject) -> Iterator[Problem]:
    """Indexes rise; complete: true ⇒ as many runs and warm-ups as planned."""
    execution = subject.value["execution"]
    indexes = [run.value["index"] for run in subject.runs]
    missing = sorted(set(range(len(execution["plan"]))) - set(indexes))
    if any(left >= right for left, right in pairwise(indexes)):
        yield Problem("$.runs", "the runs are not in the order of their indexes, each once", _RERUN)
    elif execution["complete"] and missing:
        yield Problem(
            "$.runs",
            f"the execution says that it is complete, but runs {_listed(missing)} of the plan are missing",
            "Restore the document as it was written",
        )
    warmups = len(subject.value["warmups"])
    if execution["complete"] and warmups != execution["warmup_runs"]:
        problem = f"{warmups} warm-ups instead of {execution['warmup_runs']}"
        yield Problem("$.warmups", problem, "Restore the document as it was written")


@document_rule(
    "gate-passed",
    "Measuring suites ran behind a smoke gate that passed",
    why="A program that leaves work out is fast; correctness is judged before speed.",
    kinds=(RUNTIME,),
)
def gate_passed(subject: Subject) -> Iterator[Problem]:
    """Every suite but smoke has a gate, it passed, and so did each of its assertions."""
    gate: dict[str, Any] | None = subject.value["gate"]
    if gate is None:
        if subject.value["execution"]["suite"] != _SMOKE:
            yield Problem("$.gate", "no smoke gate was run before the suite", "Run the suite with its gate")
        return
    if not gate["passed"]:
        yield Problem("$.gate.passed", "the smoke gate failed", "Find out why before measuring")
    for part in ("assertions", "precheck"):
        for position, assertion in enumerate(gate[part]):
            if not assertion["passed"]:
                yield Problem(
                    f"$.gate.{part}[{position}]",
                    f"assertion {assertion['id']} failed",
                    "Find out why before measuring",
                )
    if not gate["assertions"]:
        yield Problem("$.gate.assertions", "the gate asserted nothing", "Run the suite with its gate")


@document_rule(
    "run-id-unique",
    "No run appears twice",
    why="The same run counted twice narrows every spread.",
    kinds=(RUNTIME,),
)
def run_id_unique(subject: Subject) -> Iterator[Problem]:
    """run_id differs between all runs and warm-ups."""
    seen: dict[str, str] = {}
    for run in subject.all_runs:
        first = seen.setdefault(run.value["run_id"], run.pointer)
        if first != run.pointer:
            yield run.found("run_id", f"the run has the id of {first}", "Keep the run once")


@document_rule(
    "null-reason",
    "Every null has its reason, and every reason its null",
    why="A value that could not be read is said to be unknown and why; it is never guessed and never silent.",
    kinds=EXECUTIONS,
)
def null_reason(subject: Subject) -> Iterator[Problem]:
    """For each object that has, or must have, an ``unavailable`` beside its values."""
    whose = "$.execution.host.manifest" if subject.document.kind == AGENT else "$.manifest"
    host = subject.value["execution"].get("host", subject.value)
    manifest = host["manifest"]
    compound = {key: value for part in ("build", "machine") for key, value in manifest.get(part, {}).items()}
    yield from _null_reasons(whose, {**manifest, **compound}, manifest["unavailable"])
    for run in subject.all_runs if subject.document.kind in (RUNTIME, AGENT) else ():
        # cause is null exactly in completed runs; the schema holds that
        scalars = {key: value for key, value in run.value.items() if key not in ("cause", "unavailable")}
        yield from _null_reasons(run.pointer, scalars, run.value.get("unavailable", {}))
        for part in ("memory", "lookup", "context", "contention"):
            inner = run.value.get(part, {})
            if "unavailable" in inner:
                yield from _null_reasons(run.at(part), inner, inner["unavailable"])


def _null_reasons(pointer: str, values: dict[str, Any], reasons: dict[str, str]) -> Iterator[Problem]:
    for key, value in values.items():
        if value is None and key not in reasons:
            yield Problem(
                f"{pointer}.{key}", "null without a reason", f"State the reason under {pointer}.unavailable"
            )
    for key in reasons:
        if values.get(key, 0) is not None:
            problem = f"a reason is given for {key}, which is not null"
            yield Problem(f"{pointer}.unavailable.{key}", problem, "Remove the reason or the value")


@document_rule(
    "time-order",
    "Times are in order",
    why="A start after the end, or a run outside its execution, means that the clock was set meanwhile.",
    kinds=EXECUTIONS,
    severity="warning",
)
def time_order(subject: Subject) -> Iterator[Problem]:
    """Gate, start, each run in its order, end, import; as far as they are recorded."""
    execution, gate = subject.value["execution"], subject.value.get("gate") or {}
    marks: list[tuple[str, str | None]] = [
        ("$.gate.started_at", gate.get("started_at")),
        ("$.execution.started_at", execution.get("started_at")),
        *((run.at("started_at"), run.value.get("started_at")) for run in subject.runs),
        ("$.execution.finished_at", execution.get("finished_at")),
        ("$.execution.imported_at", execution.get("imported_at")),
    ]
    recorded = [(pointer, time) for pointer, time in marks if time is not None]
    for (_, before), (pointer, after) in pairwise(recorded):
        if after < before:
            problem = f"{after} is before {before}, which should come first"
            yield Problem(pointer, problem, "Check the machine's clock; durations are not affected")


@document_rule(
    "clean-source",
    "The measured build came from a clean tree",
    why="A build from changed sources cannot be made again from its revision.",
    kinds=(RUNTIME,),
    severity="warning",
)
def clean_source(subject: Subject) -> Iterator[Problem]:
    """manifest.dirty is not true."""
    if subject.value["manifest"]["dirty"]:
        yield Problem(
            "$.manifest.dirty",
            "the sources differed from the revision that is named",
            "Commit, build and run again before publishing",
        )


def _listed(numbers: list[int]) -> str:
    """Up to ten numbers, each once with how often where it matters."""
    counted = [f"{n}" if times == 1 else f"{n} ({times}×)" for n, times in sorted(Counter(numbers).items())]
    return ", ".join(counted[:10]) + (", …" if len(counted) > 10 else "")
