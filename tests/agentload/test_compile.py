"""Compiled scenarios: integers in the simulator's units, and a record that depends on nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tallymark.agentload import scenario_file
from tallymark.agentload.compile import LONGEST_NS, Choice, arrivals, compiled, evaluation_ids
from tallymark.agentload.scenario import Scenario
from tallymark.runtime import simulator
from tallymark.runtime.simulator import Simulation, SimulationRefusedError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("support-desk", "coding-agent", "research-agent", "retry-storm")


def example(name: str) -> Scenario:
    return scenario_file.load(ROOT / "examples" / f"{name}.toml", ROOT)


def record(scenario: Scenario, choice: Choice) -> dict[str, Any]:
    with Simulation(compiled(scenario, choice)) as simulation:
        simulation.execute()
        found: dict[str, Any] = json.loads(simulation.record())
    return found


def test_units_are_those_of_the_simulator() -> None:
    found = compiled(example("support-desk"), Choice())
    large = found["models"][0]
    assert large["base_ns"] == 600_000_000
    assert large["input_pusd"] == 2_500_000  # 2.5 USD a million tokens, in 10^-12 USD a token
    assert found["models"][1]["cached_pusd"] == 37_500
    crm = found["tools"][1]
    assert crm["error"] == round(0.01 * 2**32)
    assert found["values"][crm["latency_ns"]["first"]] == 310_000_000
    assert found["classes"][1]["steps"]["count"] == 1
    assert found["tool_uses"][1]["per_step_permille"] == 500


def test_idle_is_one_task_after_another_without_events_and_without_a_deadline() -> None:
    idle = compiled(example("support-desk"), Choice(load="idle"))
    assert (idle["arrival"], idle["in_flight"]) == (simulator.constant("CLOSED"), 1)
    assert idle["events"] == []
    assert idle["deadline_ns"] == LONGEST_NS
    assert record(example("support-desk"), Choice(load="idle"))["in_flight"]["max"] == 1


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("load", ["idle", "loaded"])
def test_the_examples_run_and_account_for_every_task(name: str, load: Any) -> None:
    tasks = record(example(name), Choice(load=load))["tasks"]
    ended = tasks["finished"] + tasks["failed"] + tasks["shed"] + tasks["unfinished"]
    assert tasks["arrived"] == ended == arrivals(example(name))


def test_the_same_tasks_want_the_same_idle_and_loaded() -> None:
    scenario = example("research-agent")
    idle, loaded = (record(scenario, Choice(load=load)) for load in ("idle", "loaded"))
    assert [row[3] for row in idle["evaluation"]] == [row[3] for row in loaded["evaluation"]]


def test_a_warm_cache_is_read_more_where_nothing_else_differs() -> None:
    scenario = example("support-desk")
    cold, warm = (record(scenario, Choice("idle", cache)) for cache in ("cold", "warm"))
    assert warm["providers"][0]["tokens_cached"] > cold["providers"][0]["tokens_cached"]


def test_a_system_that_never_catches_up_ends_at_its_deadline() -> None:
    value, shown = scenario_file.read(ROOT / "examples" / "research-agent.toml", ROOT)
    value["arrival"]["rate_per_min"] = 60
    value["run"].update(deadline_s=600)
    found = record(scenario_file.from_value(value, shown), Choice())
    assert found["outcome"] == "overloaded"
    assert found["virtual_ns"] == 600_000_000_000
    assert found["tasks"]["unfinished"] > 0


def test_the_subset_is_spread_over_the_measured_tasks() -> None:
    ids = evaluation_ids(example("support-desk"))
    assert len(ids) == len(set(ids)) == 400
    assert min(ids) == 200
    assert max(ids) < 4000


def test_a_horizon_bounds_the_arrivals() -> None:
    value, shown = scenario_file.read(ROOT / "examples" / "research-agent.toml", ROOT)
    del value["run"]["tasks"]
    del value["evaluation"]
    value["run"]["horizon_s"] = 600
    scenario = scenario_file.from_value(value, shown)
    assert arrivals(scenario) > 20
    assert record(scenario, Choice())["tasks"]["arrived"] == 20  # 2 a minute, ten minutes


def test_spans_of_traced_tasks_are_kept() -> None:
    with Simulation(compiled(example("support-desk"), Choice(trace_ids=(7,)))) as simulation:
        simulation.execute()
        spans = simulation.spans()
        slowest = simulation.slowest()
    assert {span.task for span in spans} == {7}
    assert len(slowest) == 40
    assert slowest[0].ended_ns - slowest[0].arrived_ns >= slowest[-1].ended_ns - slowest[-1].arrived_ns


def test_what_the_simulator_refuses_is_said_in_its_words() -> None:
    value = compiled(example("support-desk"), Choice())
    with pytest.raises(SimulationRefusedError, match="deadline_ns"):
        Simulation({**value, "deadline_ns": 0})
