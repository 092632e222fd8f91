"""Two hundred random scenarios whose first ceiling is known by construction: plan and simulation name it."""

from __future__ import annotations

import json

from support.planted import KINDS, NAMES, planted

from tallymark.agentload import load_plan, scenario_file
from tallymark.agentload.compile import Choice, compiled
from tallymark.runtime.simulator import Simulation

SEEDS = range(200)


def test_the_seeds_plant_every_ceiling() -> None:
    assert {planted(seed).name for seed in SEEDS} == {NAMES[kind] for kind in KINDS}


def test_the_plan_names_the_planted_ceiling_and_its_rate() -> None:
    wrong = {}
    for seed in SEEDS:
        case = planted(seed)
        made = load_plan.plan(scenario_file.from_value(case.value, "planted.toml"), tasks=5)
        assert made.first is not None and made.first.tasks_per_min is not None
        off = abs(made.first.tasks_per_min / case.rate_per_min - 1)
        if made.first.name != case.name or off > 1e-6 or not made.overloaded:
            wrong[seed] = (case.name, case.rate_per_min, made.first.name, made.first.tasks_per_min)
    assert wrong == {}


def test_the_simulation_hits_the_planted_ceiling_first() -> None:
    wrong = {}
    for seed in SEEDS:
        case = planted(seed)
        scenario = scenario_file.from_value(case.value, "planted.toml")
        with Simulation(compiled(scenario, Choice())) as simulation:
            simulation.execute()
            first = json.loads(simulation.record())["first_ceiling"]
        if first != case.name:
            wrong[seed] = (case.name, first)
    assert wrong == {}
