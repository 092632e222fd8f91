"""Loads side by side with the idle run: latency beside quality, the knee, and how much load to admit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tallymark.agentload import commands, knee, load_plan, overrides
from tallymark.agentload.arithmetic import shown
from tallymark.agentload.commands import Written
from tallymark.agentload.compile import Choice
from tallymark.agentload.knee import Advice, Knee, Point
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
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the loads say for one state of the caches. ``in_flight``: bounds of the admission in tasks in
    flight, by the measured mean at the highest good load.
    """

    cache: str
    knee: Knee
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
    outcomes = tuple(_outcomes(runs, _UNITS[axis.key]))
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


def _outcomes(runs: Sequence[tuple[float | None, Json]], unit: str) -> Iterator[Outcome]:
    for cache in CACHES:
        at = {load: one for load, one in runs if load is not None and one["cache"] == cache}
        points = [
            Point(load, _difference(one), limited_by(one))
            for load, one in at.items()
            if one["quality"] is not None
        ]
        if not points:
            continue
        found = knee.knee(points)
        mean = None if found.good is None else at[found.good]["in_flight_mean"]
        bounds = (knee.LOW_PERMILLE, knee.HIGH_PERMILLE)
        in_flight = None if mean is None else (mean * bounds[0] / 1000, mean * bounds[1] / 1000)
        yield Outcome(cache, found, knee.advice(found, unit), in_flight)


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
    if not other:
        return "Success is within the margin of idle at every load: durations may be compared."
    loads = ", ".join(shown(load) for load in other)
    return (
        f"No ranking by duration: success is worse than idle or undecided at {loads} {sweep.unit}; an answer "
        "that is wrong or refused costs no time."
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
