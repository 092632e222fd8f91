"""The tasks to look at: the slowest hundredth under load, beside those that failed when nothing else ran.

They are kept as a trace corpus (``agent-traces/1.0``), one source a run, and ``tallymark load traces import``
reads them like recorded ones. Of the runs those with cold caches are kept: that is what follows a deployment.
A call is its last attempt; what failed before it is counted as a loss of the source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tallymark.agentload.simulate import Planned, Simulated, simulate
from tallymark.agentload.traces import corpus
from tallymark.evidence import canonical
from tallymark.runtime.simulator import Span, Task, constant

FORMAT: Final = "simulated"
_NAMES: Final = {
    "CALL_429": "429",
    "CALL_ERROR": "error",
    "CALL_TIMEOUT": "timeout",
    "CALL_BREAKER": "breaker",
}
_REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True)
class Traced:
    """The kept tasks of one run, in the order in which they are kept."""

    source: corpus.Source
    tasks: tuple[corpus.Task, ...]


def traced(plan: Sequence[Planned], done: Sequence[Simulated]) -> tuple[Traced, ...]:
    """The kept tasks of every run with cold caches, each run made once more with every call written down."""
    found: list[Traced] = []
    for index, (planned, run) in enumerate(zip(plan, done, strict=False)):
        if planned.choice.cache == "cold" and not run.stopped:
            found.append(_of(index, len(found), run))
    return tuple(found)


def write(path: Path, found: Sequence[Traced]) -> None:
    """Write the corpus. ConflictError: the file is there."""
    corpus.write(path, [one.source for one in found], (task for one in found for task in one.tasks))


def content(found: Sequence[Traced]) -> bytes:
    """The bytes of the corpus: what `write` writes."""
    lines = [corpus.task_line(task) for one in found for task in one.tasks]
    return corpus.header_line([one.source for one in found]) + b"".join(lines)


def _of(index: int, source: int, run: Simulated) -> Traced:
    kept = run.failures if run.choice.load == "idle" else run.slowest
    ids = tuple(sorted({task.task for task in kept}))
    again = simulate(run.scenario, replace(run.choice, trace_ids=ids)) if ids else run
    spans: defaultdict[int, list[Span]] = defaultdict(list)
    for span in again.spans:
        spans[span.task].append(span)
    tasks, losses = [], 0
    for task in kept:
        steps, lost = _steps(spans[task.task], run, task)
        losses += lost
        if steps:
            tasks.append(_task(index, source, task, steps, run))
    return Traced(_source(index, run, len(tasks), losses), tuple(tasks))


def _source(index: int, run: Simulated, tasks: int, losses: int) -> corpus.Source:
    seen = run.record["tasks"]
    read = seen["finished"] + seen["failed"] + seen["shed"]
    reason = "did not fail" if run.choice.load == "idle" else "not among the slowest hundredth"
    loss = (corpus.Loss("attempts", "an attempt that another one followed", losses),) if losses else ()
    return corpus.Source(
        name=f"run {index}: {run.choice.load}, {run.choice.cache}",
        format=FORMAT,
        sha256=canonical.sha256_hex(canonical.compact(run.record).encode("utf-8")),
        tasks=tasks,
        rows=corpus.Rows(read, tasks, {reason: read - tasks} if read > tasks else {}),
        loss=loss,
    )


def _task(index: int, source: int, task: Task, steps: tuple[corpus.Step, ...], run: Simulated) -> corpus.Task:
    classes = run.scenario.tasks
    return corpus.Task(
        id=f"{index}-{task.task}",
        source=source,
        steps=steps,
        kind=classes[task.origin].name if classes else None,
        start_ns=task.arrived_ns,
        duration_ns=task.ended_ns - task.arrived_ns,
        succeeded=bool(task.succeeded),
    )


def _steps(spans: Sequence[Span], run: Simulated, task: Task) -> tuple[tuple[corpus.Step, ...], int]:
    """The steps of a task, and how many attempts another one followed."""
    model, tool = constant("SPAN_MODEL"), constant("SPAN_TOOL")
    by_step: defaultdict[int, tuple[list[Span], list[Span]]] = defaultdict(lambda: ([], []))
    for span in spans:
        if span.kind == model:
            by_step[span.step][0].append(span)
        elif span.kind == tool:
            by_step[span.step][1].append(span)
    steps, lost = [], 0
    for _, (models, tools) in sorted(by_step.items()):
        if not models:
            continue
        calls = list(_last_attempts(tools))
        lost += len(models) - 1 + len(tools) - len(calls)
        steps.append(_step(models[-1], calls, run, task))
    return tuple(steps), lost


def _last_attempts(spans: Sequence[Span]) -> Iterator[Span]:
    """The last attempt of each call: it ended well, or another tool or the end of the step follows."""
    for at, span in enumerate(spans):
        last = at + 1 == len(spans) or spans[at + 1].dependency != span.dependency
        if last or span.outcome == constant("CALL_OK"):
            yield span


def _step(span: Span, calls: Sequence[Span], run: Simulated, task: Task) -> corpus.Step:
    return corpus.Step(
        model=run.scenario.models[span.dependency].name,
        start_ns=span.asked_ns - task.arrived_ns,
        latency_ns=span.ended_ns - span.started_ns,
        input_tokens=span.input_tokens,
        cached_tokens=span.cached_tokens,
        output_tokens=span.output_tokens,
        error=_error(span),
        calls=tuple(
            corpus.Call(
                tool=run.scenario.tools[call.dependency].name,
                start_ns=call.asked_ns - task.arrived_ns,
                latency_ns=call.ended_ns - call.started_ns,
                result_tokens=call.output_tokens,
                error=_error(call),
            )
            for call in calls
        ),
    )


def _error(span: Span) -> str | None:
    if span.outcome == constant("CALL_OK"):
        return None
    names = {constant(name): text for name, text in _NAMES.items()}
    return names.get(span.outcome, _REFUSED)
