"""How long tasks take when nothing holds them up: a seeded pilot run by the simulator.

The pilot runs tasks of the scenario one after another, without limits, degradations and events, and at the
latency that a model has without load. So what it says is what a task needs, not what a queue does to it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tallymark.agentload.compile import Choice, compiled
from tallymark.agentload.demand import Demand, ModelUse
from tallymark.agentload.scenario import Evaluation, Provider, Scenario, Slots
from tallymark.runtime.simulator import Simulation, Span, constant

TASKS: Final = 2000
_NS: Final = 1e9
_DURATION: Final = 4  # place of the duration in a row of the record's evaluation


@dataclass(frozen=True, slots=True)
class Service:
    """Time that a task needs in the mean, in seconds; ``kv_token_s`` is tokens in memory times their seconds.

    ``slot_s`` is the whole task: a worker is pinned from its first call to its last.
    """

    slot_s: float
    model_s: Mapping[str, float]
    tool_s: Mapping[str, float]
    kv_token_s: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Pilot:
    """What the pilot measured; ``demand`` is the mean of its tasks, with the noise of so many."""

    tasks: int
    seed: int
    durations_s: tuple[float, ...]
    failed: int
    service: Service
    demand: Demand


def run(scenario: Scenario, tasks: int = TASKS) -> Pilot:
    """Run ``tasks`` tasks of the scenario one after another. BrokenRuntimeError: no simulator here."""
    quiet = _quiet(scenario, tasks)
    choice = Choice(load="idle", cache="warm", trace_ids=tuple(range(tasks)))
    with Simulation(compiled(quiet, choice)) as simulation:
        simulation.execute()
        record: dict[str, Any] = json.loads(simulation.record())
        spans = simulation.spans()
    durations = tuple(row[_DURATION] / _NS for row in record["evaluation"])
    return Pilot(
        tasks=len(durations),
        seed=scenario.seed,
        durations_s=durations,
        failed=record["tasks"]["failed"],
        service=_service(scenario, spans, durations),
        demand=_demand(scenario, spans, record, len(durations)),
    )


def _quiet(scenario: Scenario, tasks: int) -> Scenario:
    evaluation = Evaluation(tasks, 0.05, 0.95)  # all of them: the record tells each one's duration
    return replace(
        scenario,
        run=replace(scenario.run, tasks=tasks, horizon_s=None, warmup_tasks=0),
        slots=Slots(None, 0, "fifo"),
        providers=tuple(_unlimited(one) for one in scenario.providers),
        models=tuple(replace(one, load_slope=0.0) for one in scenario.models),
        tools=tuple(replace(one, rate_per_min=None, concurrency=None) for one in scenario.tools),
        retry_budget=None,
        breaker=None,
        degradations=(),
        events=(),
        evaluation=evaluation,
    )


def _unlimited(provider: Provider) -> Provider:
    return replace(provider, tokens_per_min=None, requests_per_min=None, concurrency=None, kv_tokens=None)


def _service(scenario: Scenario, spans: tuple[Span, ...], durations: tuple[float, ...]) -> Service:
    model, tool = constant("SPAN_MODEL"), constant("SPAN_TOOL")
    models: defaultdict[str, float] = defaultdict(float)
    tools: defaultdict[str, float] = defaultdict(float)
    memory: defaultdict[str, float] = defaultdict(float)
    count = len(durations)
    for span in spans:
        seconds = (span.ended_ns - span.started_ns) / _NS / count
        if span.kind == model:
            used = scenario.models[span.dependency]
            models[used.name] += seconds
            memory[used.provider] += seconds * (span.input_tokens + span.output_tokens)
        elif span.kind == tool:
            tools[scenario.tools[span.dependency].name] += seconds
    return Service(sum(durations) / count, dict(models), dict(tools), dict(memory))


def _demand(scenario: Scenario, spans: tuple[Span, ...], record: Mapping[str, Any], count: int) -> Demand:
    model, tool = constant("SPAN_MODEL"), constant("SPAN_TOOL")
    tools: defaultdict[str, float] = defaultdict(float)
    found: dict[str, ModelUse] = {}
    for span in spans:
        if span.kind == tool:
            tools[scenario.tools[span.dependency].name] += 1 / count
        elif span.kind == model:
            used = scenario.models[span.dependency]
            cached = 0 if scenario.provider_of(used.name).count_cached else span.cached_tokens
            counted = span.input_tokens + span.output_tokens - cached
            one = ModelUse(1, span.input_tokens, span.cached_tokens, span.output_tokens, counted)
            found[used.name] = found.get(used.name, ModelUse()).plus(one)
    for one in record["models"]:
        if one["name"] in found:
            cost = one["cost_pusd"]
            usd = None if cost is None else int(cost) / 1e12
            found[one["name"]] = replace(found[one["name"]], usd=usd)
    return Demand({name: use.times(1 / count) for name, use in found.items()}, dict(tools))
