"""The simulator against an independent model of the same scenario in simpy: every call, in the same order.

Both draw the same numbers. What is compared is each attempt of each call of every task, and the end of each
task: outcome, tokens, when it got in line, started and ended. The model is ``benchmarks/simpy_model.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from simpy_draws import SharedDraws
from simpy_model import Model
from tallymark.agentload import overrides, scenario_file
from tallymark.agentload.compile import Choice, Compiled, compiled
from tallymark.runtime.simulator import Simulation, constant

ROOT = Path(__file__).resolve().parents[2]
DESK = ROOT / "examples" / "support-desk.toml"
TASKS = 1500
WAITING: Mapping[str, Any] = {
    "providers.vendor.overflow": "wait",
    "tools.crm.overflow": "wait",
}
CROWDED: Mapping[str, Any] = {
    "arrival.rate_per_min": 120,
    "providers.vendor.tokens_per_min": 60_000,
    "providers.vendor.requests_per_min": 150,
    "tools.crm.concurrency": 3,
    "tools.crm.rate_per_min": 60,
    "tools.crm.error": 0.1,
    "slots.workers": 20,
}


def desk(changes: Mapping[str, Any]) -> Compiled:
    """The shipped scenario with some of its values changed, and every task traced."""
    value, shown = scenario_file.read(DESK, ROOT)
    changed = overrides.changed(value, list({"run.tasks": TASKS, **changes}.items()))
    scenario = scenario_file.from_value(changed, shown, ROOT)
    return compiled(scenario, Choice(trace_ids=tuple(range(TASKS))))


def outcomes(spans: list[tuple[int, ...]]) -> set[int]:
    return {span[4] for span in spans if span[2] != constant("SPAN_TASK")}


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        ({}, {"CALL_OK", "CALL_ERROR", "CALL_TIMEOUT"}),
        (WAITING, {"CALL_OK", "CALL_ERROR"}),
        (CROWDED, {"CALL_OK", "CALL_ERROR", "CALL_429"}),
        ({**CROWDED, **WAITING}, {"CALL_OK", "CALL_ERROR", "CALL_TIMEOUT"}),
        (
            {**CROWDED, "slots.discipline": "fifo", "providers.vendor.reserve": "max_tokens"},
            {"CALL_OK", "CALL_429"},
        ),
    ],
    ids=["shipped", "waiting", "crowded", "crowded-waiting", "reserving"],
)
def test_every_call_of_every_task_is_that_of_the_model(changes: Mapping[str, Any], seen: set[str]) -> None:
    given = desk(changes)
    model = Model(given, SharedDraws(given["seed"]), traced=True)
    model.run()
    with Simulation(given) as simulation:
        simulation.execute()
        spans = [astuple(span) for span in simulation.spans()]
    assert model.spans is not None
    assert {constant(name) for name in seen} <= outcomes(spans), "the scenario exercises what it is for"
    for at, (ours, theirs) in enumerate(zip(spans, model.spans, strict=False)):
        assert ours == theirs, f"span {at}"
    assert len(spans) == len(model.spans)
    assert model.counts.retries > 0
