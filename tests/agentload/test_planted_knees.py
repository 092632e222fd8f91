"""A knee that is planted lies in the bracket that the sweep finds, in at least 95 of 100 cases."""

from __future__ import annotations

import copy

from support.planted import knee as planted_knee

from tallymark.agentload import knee, quality, scenario_file
from tallymark.agentload.compile import Choice, Load
from tallymark.agentload.knee import Knee, Point
from tallymark.agentload.simulate import simulate

SEEDS = range(100)
BELOW, ABOVE = (0.4, 0.6, 0.8), (1.25, 1.6)


def test_the_planted_knee_is_bracketed() -> None:
    missed = {}
    for seed in SEEDS:
        found, rate = bracket(seed)
        if (found.good, found.bad) != (rate * BELOW[-1], rate * ABOVE[0]):
            missed[seed] = (rate, found)
    assert len(missed) <= 5, missed


def bracket(seed: int) -> tuple[Knee, float]:
    """The knee that the tested loads show, and the rate at which it was planted."""
    case = planted_knee(seed)
    idle = succeeded(case.value, "idle", case.rate_per_min)
    points = []
    for factor in (*BELOW, *ABOVE):
        load = case.rate_per_min * factor
        pairs = quality.paired(idle, succeeded(case.value, "loaded", load))
        points.append(Point(load, quality.difference(pairs, 0.05)))
    return knee.knee(points), case.rate_per_min


def succeeded(value: dict[str, object], load: Load, rate_per_min: float) -> list[bool]:
    """Of the fixed subset, which tasks succeeded."""
    changed = copy.deepcopy(value)
    changed["arrival"] = {"process": "poisson", "rate_per_min": rate_per_min}
    run = simulate(scenario_file.from_value(changed, "planted.toml"), Choice(load))
    return [bool(row[2]) for row in run.record["evaluation"]]
