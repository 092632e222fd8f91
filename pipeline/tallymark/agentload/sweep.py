"""Loads side by side with the idle run: latency beside quality, the knee, and how much load to admit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tallymark.agentload import commands, knee, load_plan, overrides, sizing
from tallymark.agentload.arithmetic import shown
from tallymark.agentload.commands import Written
from tallymark.agentload.compile import Choice
from tallymark.agentload.knee import Advice, Certainty, Knee, Point
from tallymark.agentload.load_plan import LoadPlan
from tallymark.agentload.overrides import Setting
from tallymark.agentload.quality import Difference
from tallymark.agentload.scenario import Scenario
from tallymark.agentload.scenario_file import from_value
from tallymark.agentload.simulate import CACHES, Planned
from tallymark.errors import UsageError

_UNITS: Final = {
    "arrival.rate_per_min": "tasks/min",
    "arrival.in_flight": "tasks in flight",
    "arrival.burst_tasks": "tasks a burst",
}
_SLACK: Final = 1.05
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the loads say for one state of the caches. ``overloaded``: the lowest load at which more tasks
    arrived than ended; it is no good load whatever its quality. ``in_flight``: bounds of the admission in
    tasks in flight, by the measured mean at the highest good load.
    """

    cache: str
    knee: Knee
    overloaded: float | None
    advice: Advice
    in_flight: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """The document that was written, its runs with their loads (None: idle), and what follows from them."""

    written: Written
    unit: str
    runs: tuple[tuple[float | None, Json], ...]
    outcomes: tuple[Outcome, ...]
    plan: LoadPlan


def run(
    project: Path, path: Path, settings: Sequence[Setting], label: str, out: Path | None, seed: int | None
) -> Sweep:
    """Run the scenario idle once and at each load, with cold and with warm caches, and write one document.

    UsageError: no setting gives several loads, or there is no fixed subset of a fixed number of tasks.
    ScenarioError, ConflictError: see `commands.simulate`.
    """
    axis = _axis(settings)
    request = commands.requested(project, path, settings, label, seed, "sweep")
    base = request.scenario
    _has_subset(base)
    plan = [Planned(base, Choice("idle", cache), ()) for cache in CACHES]
    for value in axis.values:
        point = ((axis.key, value),)
        here = from_value(overrides.changed(base.declared, point), base.path, base.folder)
        plan += [Planned(here, Choice("loaded", cache), point) for cache in CACHES]
    written, document = commands.carried_out(project, request, plan, out)
    loads = [None if not one.varied else float(one.varied[0][1]) for one in plan]
    runs = tuple(zip(loads, document["runs"], strict=False))
    rates = {
        load: sizing.rate_per_min(one.scenario.arrival, 0.0) for load, one in zip(loads, plan, strict=True)
    }
    outcomes = tuple(_outcomes(runs, rates, _UNITS[axis.key]))
    return Sweep(written, _UNITS[axis.key], runs, outcomes, load_plan.plan(base))


def _axis(settings: Sequence[Setting]) -> Setting:
    several = [one for one in settings if len(one.values) > 1]
    do = "give the loads once, as in --set arrival.rate_per_min=5,10,20"
    if len(several) != 1:
        raise UsageError("--set", f"{len(several)} settings have several values; a sweep has one load", do)
    (axis,) = several
    if axis.key not in _UNITS:
        raise UsageError(f"--set {axis.key}", "it is no load", f"use one of {', '.join(_UNITS)}")
    if any(isinstance(value, (bool, str)) for value in axis.values):
        raise UsageError(f"--set {axis.key}", "a load is a number", do)
    return axis


def _has_subset(base: Scenario) -> None:
    if base.evaluation is None:
        do = "add [evaluation] with tasks and margin"
        raise UsageError(base.where("$.evaluation"), "a sweep compares a fixed subset, and there is none", do)
    if base.run.tasks is None:
        do = "give run.tasks, so that the same tasks run at each load"
        raise UsageError(base.where("$.run.tasks"), "the number of tasks depends on the load", do)


def _outcomes(
    runs: Sequence[tuple[float | None, Json]], rates: Mapping[float | None, float | None], unit: str
) -> Iterator[Outcome]:
    for cache in CACHES:
        idle = next((one for load, one in runs if load is None and one["cache"] == cache), None)
        at = {load: one for load, one in runs if load is not None and one["cache"] == cache}
        points = [
            Point(load, _difference(one), limited_by(one))
            for load, one in at.items()
            if one["quality"] is not None
        ]
        if idle is None or not points:
            continue
        over = min((load for load, one in at.items() if is_overloaded(idle, one, rates[load])), default=None)
        found, advice = _advised(points, over, unit)
        mean = None if found.good is None else at[found.good]["in_flight_mean"]
        bounds = (knee.LOW_PERMILLE, knee.HIGH_PERMILLE)
        in_flight = None if mean is None else (mean * bounds[0] / 1000, mean * bounds[1] / 1000)
        yield Outcome(cache, found, over, advice, in_flight)


def _advised(points: Sequence[Point], over: float | None, unit: str) -> tuple[Knee, Advice]:
    """Knee and advice; from the load ``over`` on only a loss of quality counts, for no load is good there."""
    kept = [one for one in points if over is None or one.load < over or one.difference.verdict == "worse"]
    first = next((one for one in points if one.load == over), None)
    if not kept:
        assert first is not None
        found = Knee(None, None, (), first.limited_by, tuple(one.load for one in points))
        problem = f"Already at the lowest tested load, {shown(first.load)} {unit}, more tasks arrive than end"
        sentence = f"{problem}{_because(first)}. Test lower loads."
        return found, Advice(None, None, first.limited_by, "no good load", sentence)
    found = knee.knee(kept)
    advice = knee.advice(found, unit)
    if first is None or found.good is None or (found.bad is not None and found.bad <= first.load):
        return found, advice
    admit = f"{shown(advice.low or 0.0)} to {shown(advice.high or 0.0)} {unit}"
    sentence = (
        f"Quality fell at no tested load up to {shown(found.good)} {unit}; from {shown(first.load)} on more "
        f"tasks arrive than end{_because(first)}. Admit {admit} (70-80 % of {shown(found.good)})."
    )
    certainty: Certainty = "bracketed" if first.load <= 2 * found.good else "wide bracket"
    return found, Advice(advice.low, advice.high, first.limited_by, certainty, sentence)


def _because(point: Point) -> str:
    return "" if point.limited_by is None else f", limited by {point.limited_by}"


def is_overloaded(idle: Mapping[str, Any], one: Mapping[str, Any], rate_per_min: float | None) -> bool:
    """Whether more tasks arrived than ended: the run took longer than its arrivals and, after them, the p99
    duration of idle, by more than a twentieth. A closed loop is never overloaded.
    """
    if one["outcome"] == "overloaded":
        return True
    last = idle["duration_p99_ms"]
    if one["arrival_process"] == "closed" or rate_per_min is None or last is None:
        return False
    ended = one["tasks_finished"] + one["tasks_failed"] + one["tasks_shed"]
    return bool(one["virtual_ms"] > (ended * 60_000 / rate_per_min + last) * _SLACK)


def _difference(one: Mapping[str, Any]) -> Difference:
    quality, share = one["quality"], one["evaluated_success_share"]
    return Difference(
        idle=share - quality["difference"],
        loaded=share,
        difference=quality["difference"],
        low=quality["difference_low"],
        high=quality["difference_high"],
        confidence=quality["confidence"],
        margin=quality["margin"],
        verdict=quality["verdict"],
    )


def limited_by(one: Mapping[str, Any]) -> str | None:
    """The ceiling that bit first; without one, the degradation that set in first."""
    if one["first_ceiling"] is not None:
        return str(one["first_ceiling"])
    seen = [(value["onset_ms"], name) for name, value in one["degradations"].items() if value["tasks"]]
    return f"degradation {min(seen)[1]}" if seen else None


def ranking(sweep: Sweep) -> str:
    """Whether latencies may be compared at all: only where success does not differ from idle."""
    other = sorted(
        {load for load, one in sweep.runs if load is not None and not _no_worse(one)},
    )
    over = sorted({one.overloaded for one in sweep.outcomes if one.overloaded is not None})
    grow = f" From {shown(over[0])} {sweep.unit} on they grow with the length of the test." if over else ""
    if not other:
        return f"Success is within the margin of idle at every load: durations may be compared.{grow}"
    loads = ", ".join(shown(load) for load in other)
    return (
        f"No ranking by duration: success is worse than idle or undecided at {loads} {sweep.unit}; an answer "
        f"that is wrong or refused costs no time.{grow}"
    )


def _no_worse(one: Mapping[str, Any]) -> bool:
    return one["quality"] is not None and one["quality"]["verdict"] == "no worse"


def documented(sweep: Sweep) -> str:
    """The ceiling that follows from the declared limits, to stand beside what was found."""
    first = sweep.plan.first
    if first is None or first.tasks_per_min is None:
        return "By the declared limits nothing known bounds the load."
    rate = shown(first.tasks_per_min)
    return (
        f"By the declared limits {first.name} comes first, at {rate} tasks/min without any loss of quality."
    )


def to_json(sweep: Sweep) -> Json:
    """Everything for a program."""
    keys = (
        "load",
        "cache",
        "outcome",
        "tasks_per_min",
        "duration_p50_ms",
        "duration_p99_ms",
        "steps_mean",
        "in_flight_mean",
        "queue_age_max_ms",
        "retry_amplification",
        "usd_per_task",
        "evaluated_success_share",
        "quality",
        "first_ceiling",
    )
    first = sweep.plan.first
    return {
        "runs": [{"value": load, **{key: one[key] for key in keys}} for load, one in sweep.runs],
        "unit": sweep.unit,
        "ranking": ranking(sweep),
        "outcomes": [asdict(one) for one in sweep.outcomes],
        "documented_ceiling": None if first is None else first.name,
        "documented_tasks_per_min": None if first is None else first.tasks_per_min,
    }
