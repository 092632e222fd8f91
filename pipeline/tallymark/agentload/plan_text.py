"""The plan of a load test in words: sections of lines, and the table of the ceilings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from tallymark.agentload import load_plan
from tallymark.agentload.arithmetic import shown
from tallymark.agentload.ceilings import Ceiling
from tallymark.agentload.load_plan import LoadPlan
from tallymark.agentload.sizing import Interval

Section: TypeAlias = tuple[str, list[str]]
HEADINGS: Final = ("ceiling", "limit", "a task takes", "tasks/min")


def before_table(made: LoadPlan) -> list[Section]:
    """Size of the test and growth of the tokens."""
    growth = list(load_plan.growth_lines(made))
    found: list[Section] = [("Size of the test (Little's law)", list(_size(made)))]
    return [*found, ("Tokens grow with the square of the steps", growth)] if growth else found


def after_table(made: LoadPlan) -> list[Section]:
    """The arithmetic, which ceiling comes first, what the test needs, findings and assumptions."""
    found: list[Section] = [
        (
            "Arithmetic of the ceilings",
            [f"{one.name}: {line}" for one in made.ceilings for line in one.lines],
        ),
        ("Which comes first", list(_first(made))),
        ("What the test itself needs", list(_needs(made))),
        ("Findings", [f"{note.pointer}: {note.problem}. To do: {note.do}." for note in made.notes]),
        ("Assumptions", [*load_plan.ASSUMPTIONS, *made.scenario.assumptions]),
    ]
    return [(title, lines) for title, lines in found if lines]


def row(ceiling: Ceiling) -> tuple[str, str, str, str]:
    """The texts of a ceiling under HEADINGS; what is not known is no number."""
    limit = "none" if ceiling.limit is None else ceiling.limit
    takes = f"{shown(ceiling.per_task)} {ceiling.unit}" if ceiling.per_task > 0 else "unknown"
    rate = {"known": "", "unknown": "unknown", "none": "not bounded", "unused": "not used"}[ceiling.state]
    if ceiling.state == "unused":
        takes = f"0 {ceiling.unit}"
    return (
        ceiling.name,
        shown(limit) if isinstance(limit, int) else limit,
        takes,
        rate if ceiling.tasks_per_min is None else shown(ceiling.tasks_per_min),
    )


def _size(made: LoadPlan) -> Iterator[str]:
    known, size = made.durations, made.sizing
    failed = f"; {shown(made.pilot.failed)} of them failed" if made.pilot.failed else ""
    yield f"durations from {made.source}{failed}"
    rest = [("p50", known.p50_s), ("p95", known.p95_s), ("p99", known.p99_s)]
    percentiles = ", ".join(
        f"{name} {'too few tasks' if value is None else f'{shown(value)} s'}" for name, value in rest
    )
    yield f"mean duration {_between(known.mean_s)} s; {percentiles}"
    if size is None:
        return
    yield (
        f"{shown(size.rate_per_min)} tasks/min × {shown(known.mean_s.value)} s/task ÷ 60 s/min = "
        f"{_between(size.in_flight)} tasks in flight"
    )
    loaded = made.loaded_in_flight
    if loaded is None:
        yield "at this rate the model server slows down faster than it works: no number of tasks is steady"
    elif loaded > size.in_flight.value * (1 + 1e-9):
        yield f"calls slow down as the load grows: {shown(loaded)} tasks in flight at this rate"
    if known.tail_share is not None and size.tail_in_flight is not None:
        yield (
            f"tasks longer than p99 hold {shown(known.tail_share * 100)} % of all slot time: "
            f"{shown(size.tail_in_flight)} of {shown(size.in_flight.value)} slots at any time"
        )
    yield f"a test with fewer than {shown(size.smoke_below)} tasks in flight is only a smoke test"
    if size.ramp_s is not None and size.ramp_tasks is not None:
        yield (
            f"the load has built up when a task of p99 length has passed: after {shown(size.ramp_s)} s, "
            f"{shown(size.ramp_tasks)} tasks"
        )


def _between(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f"{shown(interval.value)} (too few tasks for an interval)"
    return f"{shown(interval.value)} [{shown(interval.low)}, {shown(interval.high)}] (95 %)"


def _first(made: LoadPlan) -> Iterator[str]:
    unknown = [one.name for one in made.ceilings if one.state == "unknown"]
    if made.first is None or made.first.tasks_per_min is None:
        yield "no known limit bounds the load"
    else:
        rate = f"{shown(made.first.tasks_per_min)} tasks/min"
        yield f"{made.first.name}, at {rate}, is the first of the known ceilings"
    if unknown:
        yield f"unknown, and so perhaps earlier: {', '.join(unknown)}"
    yield from made.overload_lines()


def _needs(made: LoadPlan) -> Iterator[str]:
    needed = load_plan.needs(made)
    for name, provider in needed["providers"].items():
        yield (
            f"{name}: {shown(provider['calls'])} calls, {shown(provider['tokens'])} tokens, of which "
            f"{shown(provider['counted_tokens'])} count against tokens a minute"
        )
    for name, calls in needed["tools"].items():
        yield f"{name}: {shown(calls)} calls"
    usd = needed["usd"]
    yield (
        "money: unknown, a model is unpriced"
        if usd is None
        else f"money: {shown(usd)} USD for {shown(needed['tasks'])} tasks"
    )
    if needed["seconds"] is not None:
        yield f"time on the clock of the system: {shown(needed['seconds'])} s of arrivals"
        transcripts = f"{shown(needed['mean_context_tokens'])} tokens × {load_plan.BYTES_OF_A_TOKEN} bytes"
        yield (
            f"memory: {shown(needed['simulator_bytes'])} bytes of tasks in the simulator; outside it, "
            f"transcripts in flight of {transcripts} each = {shown(needed['transcript_bytes'])} bytes"
        )
