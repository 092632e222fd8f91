"""Scenarios that nobody thought of: each is refused with a place and a remedy, or accounts for itself."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallymark.agentload import measures, scenario_file
from tallymark.agentload.compile import Choice
from tallymark.agentload.scenario_file import ScenarioError
from tallymark.agentload.simulate import simulate
from tallymark.evidence import canonical

SMALL = tomllib.loads((Path(__file__).parent / "small.toml").read_text(encoding="utf-8"))
ODD = st.sampled_from(
    [0, -1, 1, 2, 0.5, 1.5, 1e-9, 1e9, 2**53, "unknown", "x", "", True, [], [1], {}, {"constant": 0}, None]
) | st.integers(-3, 100_000)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value that is no container."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    found = [place for key, member in members for place in places(member, (*path, key))]
    return found or [path]


PLACES = [place for place in places(SMALL) if place[0] not in ("schema",)]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PLACES), ODD), min_size=1, max_size=3))
def test_a_scenario_is_refused_or_runs(changes: list[tuple[tuple[str | int, ...], Any]]) -> None:
    value = copy.deepcopy(SMALL)
    for path, odd in changes:
        holder: Any = value
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = odd
    value["run"]["tasks"] = 30 if value["run"].get("tasks") == 2**53 else value["run"].get("tasks")
    try:
        scenario = scenario_file.from_value(value, "odd.toml")
    except ScenarioError as error:
        assert all(one.pointer.startswith("$") and one.problem and one.do for one in error.problems)
        return
    if scenario.run.tasks is None or scenario.run.tasks > 1000:
        return  # as many as that are for the benchmark
    for choice in (Choice("idle", "warm"), Choice("loaded", "cold")):
        made = simulate(scenario, choice)
        run = measures.run(0, {}, scenario, made.record, None)
        ended = sum(run[f"tasks_{key}"] for key in ("finished", "failed", "shed", "unfinished"))
        assert run["tasks_arrived"] == ended
        assert canonical.encode(run)
