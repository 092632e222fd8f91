"""The inventory of limits: how many tasks a minute each one allows, and the arithmetic that says so.

A limit that is declared as unknown has no figure: it is neither 0 nor infinite, and it may be the one that
comes first. A limit that is not declared bounds nothing in the scenario and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tallymark.agentload.arithmetic import shown
from tallymark.agentload.demand import Demand
from tallymark.agentload.pilot import Service
from tallymark.agentload.scenario import UNKNOWN, Limit, Model, Provider, Scenario, Tool

State: TypeAlias = Literal["known", "unknown", "none", "unused"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One limit under its name in the run records; ``tasks_per_min`` only where ``state`` is known.

    ``per_task`` is what a task takes of it, in ``unit``; ``lines`` show how the figure comes about.
    """

    name: str
    pointer: str
    limit: Limit
    unit: str
    per_task: float
    state: State
    tasks_per_min: float | None
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Processor:
    """Our own CPU, which no scenario knows: milliseconds of it that a task takes, and the cores there are."""

    ms_per_task: float
    cores: int


def inventory(
    scenario: Scenario, demand: Demand, service: Service, processor: Processor | None = None
) -> tuple[Ceiling, ...]:
    """Every limit there is, in the order of the scenario: slots, providers, tools, our own CPU."""
    found = [_slots(scenario, service)]
    for at, provider in enumerate(scenario.providers):
        found += _provider(scenario, demand, service, provider, f"$.providers[{at}]")
    for at, tool in enumerate(scenario.tools):
        found += _tool(demand, service, tool, f"$.tools[{at}]")
    return (*found, _processor(processor))


def first(ceilings: Sequence[Ceiling]) -> Ceiling | None:
    """The lowest of the known ones; the earlier of two equal ones. None: nothing known bounds the load."""
    known = [one for one in ceilings if one.tasks_per_min is not None]
    return min(known, key=lambda one: one.tasks_per_min or 0.0, default=None)


def _ceiling(
    name: str,
    pointer: str,
    limit: Limit,
    unit: str,
    per_task: float,
    lines: Callable[[int], Iterator[str | float]],
) -> Ceiling:
    """``lines`` gives the arithmetic of a known limit and, last, the tasks a minute."""
    if limit is None:
        text = "no limit is declared; it bounds nothing here"
        return Ceiling(name, pointer, limit, unit, per_task, "none", None, (text,))
    if limit == UNKNOWN:
        text = f"the limit is unknown; a task takes {shown(per_task)} {unit}"
        return Ceiling(name, pointer, limit, unit, per_task, "unknown", None, (text,))
    assert isinstance(limit, int)
    if per_task <= 0:
        return Ceiling(name, pointer, limit, unit, 0.0, "unused", None, ("no task of the mix uses it",))
    *said, rate = lines(limit)
    assert isinstance(rate, float)
    texts = tuple(str(line) for line in said)
    return Ceiling(name, pointer, limit, unit, per_task, "known", rate, texts)


def _provider(
    scenario: Scenario, demand: Demand, service: Service, provider: Provider, at: str
) -> Iterator[Ceiling]:
    name, use = f"provider:{provider.name}", demand.of_provider(scenario, provider.name)
    calls = _calls(scenario, service, provider.name)
    busy, memory_s = sum(seconds for seconds, _ in calls), service.kv_token_s.get(provider.name, 0.0)

    def tokens(limit: int) -> Iterator[str | float]:
        rate = limit / use.counted_tokens
        if use.cached_tokens > 0 and not provider.count_cached:
            whole = use.input_tokens + use.output_tokens
            yield (
                f"cold, nothing cached: {shown(limit)} tokens/min ÷ {shown(whole)} tokens/task"
                f" = {shown(limit / whole)} tasks/min"
            )
        yield (
            f"a task: {shown(use.input_tokens)} input + {shown(use.output_tokens)} output tokens"
            + ("" if provider.count_cached else f" - {shown(use.cached_tokens)} cached, which do not count")
            + f" = {shown(use.counted_tokens)} tokens"
        )
        if provider.reserve == "max_tokens":
            yield "each call reserves its longest output and gives back the rest: less headroom, same rate"
        yield f"{shown(limit)} tokens/min ÷ {shown(use.counted_tokens)} tokens/task = {shown(rate)} tasks/min"
        yield rate

    def requests(limit: int) -> Iterator[str | float]:
        rate = limit / use.calls
        yield f"{shown(limit)} requests/min ÷ {shown(use.calls)} requests/task = {shown(rate)} tasks/min"
        yield rate

    def concurrency(limit: int) -> Iterator[str | float]:
        yield from _in_calls(calls, float(limit), f"{shown(limit)} calls in flight")

    def memory(limit: int) -> Iterator[str | float]:
        yield from _in_memory(calls, limit, memory_s)

    yield _ceiling(
        f"{name}:tokens",
        f"{at}.tokens_per_min",
        provider.tokens_per_min,
        "tokens",
        use.counted_tokens,
        tokens,
    )
    yield _ceiling(
        f"{name}:requests",
        f"{at}.requests_per_min",
        provider.requests_per_min,
        "requests",
        use.calls,
        requests,
    )
    yield _ceiling(
        f"{name}:concurrency", f"{at}.concurrency", provider.concurrency, "call seconds", busy, concurrency
    )
    yield _ceiling(f"{name}:kv", f"{at}.kv_tokens", provider.kv_tokens, "token seconds", memory_s, memory)


def _calls(scenario: Scenario, service: Service, provider: str) -> list[tuple[float, float]]:
    """For each model of the provider: seconds of its calls in a task, and the slope of their latency."""
    models = [one for one in scenario.models if one.provider == provider]
    return [(service.model_s.get(one.name, 0.0), _slope(scenario, one)) for one in models]


def _in_calls(calls: Sequence[tuple[float, float]], number: float, what: str) -> Iterator[str | float]:
    """Tasks a minute with so many calls in flight, each as slow as that makes it."""
    idle = sum(seconds for seconds, _ in calls)
    busy = sum(seconds * (1 + slope * number) for seconds, slope in calls)
    if busy > idle:
        slowed = f"{shown(busy)} with {shown(number)} calls in flight"
        yield f"{shown(idle)} call seconds/task without load, {slowed}"
    rate = number * 60 / busy
    yield f"{what} × 60 s/min ÷ {shown(busy)} call seconds/task = {shown(rate)} tasks/min"
    yield rate


def _in_memory(calls: Sequence[tuple[float, float]], limit: int, token_s: float) -> Iterator[str | float]:
    """Sequences that fit × their rate: memory is held as long as a call runs."""
    busy = sum(seconds for seconds, _ in calls)
    context = token_s / busy
    sequences = limit / context
    held = f"{shown(token_s)} token seconds ÷ {shown(busy)} s"
    yield f"mean context of a running call: {held} = {shown(context)} tokens"
    yield f"{shown(limit)} tokens of KV memory ÷ {shown(context)} tokens = {shown(sequences)} sequences"
    yield from _in_calls(calls, sequences, f"{shown(sequences)} sequences")


def _slope(scenario: Scenario, model: Model) -> float:
    """By how much of itself a call of the model takes longer for each call in flight at its provider."""
    concurrency = scenario.provider_of(model.name).concurrency
    reference = model.load_reference or (concurrency if isinstance(concurrency, int) else 1)
    return model.load_slope / reference


def _tool(demand: Demand, service: Service, tool: Tool, at: str) -> Iterator[Ceiling]:
    calls, busy = demand.tools.get(tool.name, 0.0), service.tool_s.get(tool.name, 0.0)

    def rate(limit: int) -> Iterator[str | float]:
        tasks = limit / calls
        yield f"{shown(limit)} calls/min ÷ {shown(calls)} calls/task = {shown(tasks)} tasks/min"
        yield tasks

    def concurrency(limit: int) -> Iterator[str | float]:
        tasks = limit * 60 / busy
        yield f"{shown(limit)} calls in flight × 60 s/min ÷ {shown(busy)} s/task = {shown(tasks)} tasks/min"
        yield tasks

    yield _ceiling(f"tool:{tool.name}:rate", f"{at}.rate_per_min", tool.rate_per_min, "calls", calls, rate)
    yield _ceiling(
        f"tool:{tool.name}:concurrency",
        f"{at}.concurrency",
        tool.concurrency,
        "call seconds",
        busy,
        concurrency,
    )


def _slots(scenario: Scenario, service: Service) -> Ceiling:
    def lines(limit: int) -> Iterator[str | float]:
        rate = _rate_of_slots(scenario, service, limit)
        pinned = limit * 60 / rate
        if pinned > service.slot_s * (1 + 1e-9):
            idle = f"{shown(service.slot_s)} s/task without load"
            yield f"a slot is held {idle}, {shown(pinned)} s when all are busy"
        yield f"{shown(limit)} slots × 60 s/min ÷ {shown(pinned)} s/task = {shown(rate)} tasks/min"
        yield rate

    return _ceiling("slots", "$.slots.workers", scenario.slots.workers, "slot seconds", service.slot_s, lines)


def _rate_of_slots(scenario: Scenario, service: Service, workers: int) -> float:
    """The rate at which all slots are busy, by halving: the more calls in flight, the longer a task."""
    low, high = 0.0, workers * 60 / service.slot_s
    if slot_s_at(scenario, service, high) <= service.slot_s:
        return high
    for _ in range(200):
        middle = (low + high) / 2
        if middle / 60 * slot_s_at(scenario, service, middle) < workers:
            low = middle
        else:
            high = middle
    return low


def slot_s_at(scenario: Scenario, service: Service, rate_per_min: float) -> float:
    """How long a task holds its slot at so many tasks a minute, when no limit makes it wait.

    With n calls in flight a call takes (1 + slope·n/reference) times as long; n = rate × time of the calls.
    Infinite where the model server slows down faster than it works.
    """
    total = service.slot_s
    for provider in scenario.providers:
        calls_of = _calls(scenario, service, provider.name)
        plain = sum(seconds for seconds, _ in calls_of)
        slope = sum(seconds * one for seconds, one in calls_of)
        left = 1 - rate_per_min / 60 * slope
        most = provider.concurrency if isinstance(provider.concurrency, int) else math.inf
        calls = min(most, rate_per_min / 60 * plain / left if left > 0 else math.inf)
        if slope > 0:
            total += slope * calls
    return total


def _processor(processor: Processor | None) -> Ceiling:
    pointer = "--cpu-ms, --cores"
    if processor is None:
        text = "the CPU time that a task takes of our own machine is unknown: measure CPU seconds ÷ tasks"
        return Ceiling("cpu", pointer, UNKNOWN, "CPU ms", 0.0, "unknown", None, (text,))
    rate = processor.cores * 60_000 / processor.ms_per_task
    line = (
        f"{shown(processor.cores)} cores × 60,000 ms/min ÷ {shown(processor.ms_per_task)} CPU ms/task"
        f" = {shown(rate)} tasks/min"
    )
    return Ceiling("cpu", pointer, processor.cores, "CPU ms", processor.ms_per_task, "known", rate, (line,))
