"""A scenario as the simulator takes it: integers, tables, thresholds; nothing of it depends on the machine.

Times become nanoseconds, probabilities thresholds of 2^32, prices 10^-12 USD a token; rates stay a minute.
What is no limit, or is not known, becomes 0, which bounds nothing (`Scenario.unknown_limits`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from tallymark.agentload import recorded
from tallymark.agentload.distributions import Distribution, integer, table, threshold
from tallymark.agentload.scenario import Degradation, Limit, Model, Provider, Retry, Scenario, TaskClass, Tool
from tallymark.runtime.simulator import constant

Load: TypeAlias = Literal["idle", "loaded"]
Cache: TypeAlias = Literal["cold", "warm"]
Compiled: TypeAlias = dict[str, Any]

NONE: Final = 2**32 - 1
LONGEST_NS: Final = 2**53 - 1
TIMELINE_NS: Final = 1_000_000_000
TIMELINE_ROWS: Final = 256
KEPT: Final = 10_000  # slowest and failed tasks that are kept at most
_NS: Final = 1_000_000_000
_MS: Final = 1_000_000
_SHARES: Final = 1 << 31
_KINDS: Final = {
    "samples": "SAMPLES",
    "quantiles": "QUANTILES",
    "exponential": "EXPONENTIAL",
    "weighted": "WEIGHTED",
}
_OUTCOMES: Final = {
    "429": "ON_429",
    "error": "ON_ERROR",
    "timeout": "ON_TIMEOUT",
    "breaker": "ON_BREAKER",
}
_OPERATIONS: Final = {
    "client": ("MODEL_CALLS",),
    "tool": ("TOOL_CALLS",),
    "workflow": ("MODEL_CALLS", "TOOL_CALLS"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the runs of a scenario: ``loaded`` as it says, or ``idle``: one task after another, no events.

    ``cache``: what the prefix caches hold at the start. ``trace_ids``: tasks whose every call is kept.
    """

    load: Load = "loaded"
    cache: Cache = "cold"
    trace_ids: tuple[int, ...] = ()


@dataclass(slots=True)
class _Values:
    """The common array of all distributions, filled while they are compiled."""

    numbers: list[int] = field(default_factory=list)

    def of(self, distribution: Distribution, scale: int = 1, least: int = 0) -> dict[str, int]:
        made = table(distribution, scale, least)
        first = len(self.numbers)
        self.numbers += [*made.values, *made.thresholds]
        return {"kind": constant(_KINDS[made.kind]), "first": first, "count": len(made.values)}


def compiled(scenario: Scenario, choice: Choice) -> Compiled:
    """The simulator's input for one run of a scenario, as `runtime.simulator.Simulation` takes it."""
    scenario, values = _lengthened(scenario), _Values()
    tasks = arrivals(scenario)
    found: Compiled = {
        "seed": scenario.seed,
        "tasks": tasks,
        "warmup_tasks": scenario.run.warmup_tasks,
        **_arrival(scenario, choice, values),
        **_slots(scenario),
        "tenants": _tenants(scenario),
        "providers": [_provider(one) for one in scenario.providers],
        "models": [_model(one, scenario) for one in scenario.models],
        "tools": [_tool(one, values) for one in scenario.tools],
        **_classes(scenario, values),
        "retries": [_retry(one) for one in scenario.retries],
        **_policies(scenario),
        "degradations": [_degradation(one, scenario) for one in scenario.degradations],
        "events": _events(scenario) if choice.load == "loaded" else [],
        "warm": int(choice.cache == "warm"),
        "evaluation_ids": evaluation_ids(scenario),
        "trace_ids": sorted(choice.trace_ids),
        "slowest_limit": min(KEPT, -(-tasks // 100)),
        "failed_limit": min(KEPT, -(-tasks // 100)),
        "timeline_ns": TIMELINE_NS,
        "timeline_rows": TIMELINE_ROWS,
    }
    return {**found, "values": values.numbers}


def arrivals(scenario: Scenario) -> int:
    """Arrivals at most: as declared, else more than the horizon can hold."""
    run, arrival = scenario.run, scenario.arrival
    if run.tasks is not None:
        return run.tasks
    if arrival.process == "recorded":
        return len(arrival.times_s)
    assert run.horizon_s is not None  # a rule of scenarios
    if arrival.process == "burst":
        assert arrival.burst_every_s is not None and arrival.burst_tasks is not None
        return (int(run.horizon_s / arrival.burst_every_s) + 1) * arrival.burst_tasks
    if arrival.rate_per_min is None:
        return 2**31 - 1  # a closed loop ends by its horizon
    mean = run.horizon_s / 60 * arrival.rate_per_min
    return min(2**31 - 1, math.ceil(mean + 10 * math.sqrt(mean) + 10))


def evaluation_ids(scenario: Scenario) -> list[int]:
    """The fixed subset: spread evenly over the tasks that are measured."""
    if scenario.evaluation is None:
        return []
    first, tasks = scenario.run.warmup_tasks, arrivals(scenario)
    wanted = min(scenario.evaluation.tasks, tasks - first)
    return [first + at * (tasks - first) // wanted for at in range(wanted)]


def _lengthened(scenario: Scenario) -> Scenario:
    """The scenario with its context factor in the lengths of prompts and results."""
    factor = scenario.run.context_factor_permille
    tools = tuple(replace(tool, result_tokens=tool.result_tokens.scaled(factor)) for tool in scenario.tools)
    tasks = tuple(
        replace(
            task,
            system_tokens=task.system_tokens.scaled(factor),
            tools_tokens=task.tools_tokens.scaled(factor),
            document_tokens=task.document_tokens.scaled(factor),
            user_tokens=task.user_tokens.scaled(factor),
        )
        for task in scenario.tasks
    )
    return replace(scenario, tools=tools, tasks=tasks)


def _arrival(scenario: Scenario, choice: Choice, values: _Values) -> Compiled:
    arrival, run = scenario.arrival, scenario.run
    if choice.load == "idle":
        think = values.of(Distribution("samples", (0,)))
        return {
            "arrival": constant("CLOSED"),
            "in_flight": 1,
            "think_ns": think,
            "horizon_ns": 0,
            "deadline_ns": LONGEST_NS,
        }
    gap = 0
    if arrival.rate_per_min is not None:
        gap = max(1, integer(60 / arrival.rate_per_min, _NS))
    if arrival.burst_every_s is not None:
        gap = max(1, integer(arrival.burst_every_s, _NS))
    return {
        "arrival": constant(arrival.process.upper()),
        "gap_ns": gap,
        "times_ns": [integer(at, _NS) for at in arrival.times_s],
        "burst_tasks": arrival.burst_tasks or 0,
        "in_flight": arrival.in_flight or 0,
        "think_ns": values.of(arrival.think_s, _NS),
        "horizon_ns": 0 if run.horizon_s is None else integer(run.horizon_s, _NS),
        "deadline_ns": integer(run.deadline_s, _NS),
    }


def _slots(scenario: Scenario) -> Compiled:
    return {
        "workers": _limit(scenario.slots.workers),
        "queue_limit": scenario.slots.queue_limit,
        "discipline": constant(scenario.slots.discipline.upper()),
    }


def _limit(limit: Limit) -> int:
    return limit if isinstance(limit, int) else 0


def _shares(shares: Sequence[float]) -> list[int]:
    """Integers in the ratio of the shares, whose sum is about 2^31; a share above 0 stays above 0."""
    total = sum(shares)
    return [max(int(share > 0), integer(share / total, _SHARES)) for share in shares]


def _tenants(scenario: Scenario) -> list[Compiled]:
    shares = _shares([tenant.share for tenant in scenario.tenants])
    return [
        {"name": tenant.name, "share": share, "priority": tenant.priority, "weight": tenant.weight}
        for tenant, share in zip(scenario.tenants, shares, strict=True)
    ]


def _provider(one: Provider) -> Compiled:
    return {
        "name": one.name,
        "tokens_per_min": _limit(one.tokens_per_min),
        "requests_per_min": _limit(one.requests_per_min),
        "concurrency": _limit(one.concurrency),
        "overflow": constant(one.overflow.upper()),
        "reserve_max_tokens": int(one.reserve == "max_tokens"),
        "count_cached": int(one.count_cached),
        "retry_after_ns": integer(one.retry_after_s, _NS),
        "kv_tokens": _limit(one.kv_tokens),
        "kv_policy": constant(one.kv_policy.upper()),
        "cache_tokens": one.cache_tokens,
        "error": threshold(one.error),
        "timeout_ns": 0 if one.timeout_s is None else integer(one.timeout_s, _NS),
    }


def _model(one: Model, scenario: Scenario) -> Compiled:
    concurrency = scenario.provider_of(one.name).concurrency
    return {
        "name": one.name,
        "provider": [provider.name for provider in scenario.providers].index(one.provider),
        "base_ns": integer(one.base_ms, _MS),
        "input_ns_per_1024_tokens": integer(1024 / one.input_tokens_per_s, _NS),
        "output_ns_per_1024_tokens": integer(1024 / one.output_tokens_per_s, _NS),
        "load_slope_permille": integer(one.load_slope, 1000),
        "load_reference": one.load_reference or _limit(concurrency) or 1,
        "context_tokens": one.context_tokens or 0,
        "max_output_tokens": one.max_output_tokens or 0,
        "priced": int(one.priced),
        "input_pusd": _price(one.usd_per_million_input),
        "cached_pusd": _price(one.usd_per_million_cached),
        "output_pusd": _price(one.usd_per_million_output),
    }


def _price(usd_per_million: float | None) -> int:
    """10^-12 USD a token: one USD for a million tokens is 10^6."""
    return 0 if usd_per_million is None else integer(usd_per_million, 1_000_000)


def _tool(one: Tool, values: _Values) -> Compiled:
    return {
        "name": one.name,
        "latency_ns": values.of(one.latency_ms, _MS),
        "result_tokens": values.of(one.result_tokens),
        "rate_per_min": _limit(one.rate_per_min),
        "concurrency": _limit(one.concurrency),
        "overflow": constant(one.overflow.upper()),
        "retry_after_ns": integer(one.retry_after_s, _NS),
        "error": threshold(one.error),
        "timeout": threshold(one.timeout),
        "timeout_ns": 0 if one.timeout_s is None else integer(one.timeout_s, _NS),
        "optional": int(one.optional),
        "write": int(one.write),
    }


def _classes(scenario: Scenario, values: _Values) -> Compiled:
    """Classes, and the arrays that they point into; with traces the recorded tasks in their place."""
    if scenario.recorded is not None:
        return {"classes": [], "tool_uses": [], **recorded.tables(scenario)}
    classes: list[Compiled] = []
    uses: list[Compiled] = []
    prefixes: list[int] = []
    tools = [tool.name for tool in scenario.tools]
    shares = _shares([task.share for task in scenario.tasks])
    for task, share in zip(scenario.tasks, shares, strict=True):
        classes.append(
            {
                **_class(task, scenario, values),
                "share": share,
                "first_tool_use": len(uses),
                "tool_uses": len(task.tool_calls),
                "first_prefix": len(prefixes),
                "prefixes": task.prefixes,
            }
        )
        uses += [
            {"tool": tools.index(use.tool), "per_step_permille": integer(use.per_step, 1000)}
            for use in task.tool_calls
        ]
        shared = (task.system_tokens.mean() + task.tools_tokens.mean()) * task.prefix_share
        prefixes += [integer(shared)] * task.prefixes
    return {"classes": classes, "tool_uses": uses, "prefix_tokens": prefixes}


def _class(task: TaskClass, scenario: Scenario, values: _Values) -> Compiled:
    tenants = [tenant.name for tenant in scenario.tenants]
    return {
        "name": task.name,
        "tenant": NONE if task.tenant is None else tenants.index(task.tenant),
        "model": _model_index(scenario, task.model),
        "steps": values.of(task.steps, least=1),
        "system_tokens": values.of(task.system_tokens),
        "tools_tokens": values.of(task.tools_tokens),
        "document_tokens": values.of(task.document_tokens),
        "user_tokens": values.of(task.user_tokens),
        "output_tokens": values.of(task.output_tokens),
        "prefix_share": threshold(task.prefix_share),
        "success": threshold(task.success),
    }


def _model_index(scenario: Scenario, name: str) -> int:
    return [model.name for model in scenario.models].index(name)


def _retry(one: Retry) -> Compiled:
    return {
        "name": one.layer,
        "operations": sum(constant(name) for name in _OPERATIONS[one.layer]),
        "attempts": one.attempts,
        "on": sum(constant(_OUTCOMES[name]) for name in dict.fromkeys(one.on)),
        "backoff": constant(f"BACKOFF_{one.backoff.upper()}"),
        "delay_ns": integer(one.delay_ms, _MS),
        "cap_ns": 0 if one.cap_ms is None else integer(one.cap_ms, _MS),
        "full_jitter": int(one.jitter == "full"),
    }


def _policies(scenario: Scenario) -> Compiled:
    budget, breaker = scenario.retry_budget, scenario.breaker
    return {
        "retry_budget_permille": 0 if budget is None else max(1, integer(budget.ratio, 1000)),
        "retry_budget_reserve": 0 if budget is None else budget.reserve,
        "breaker_failures": 0 if breaker is None else breaker.failures,
        "breaker_open_ns": 0 if breaker is None else integer(breaker.open_s, _NS),
    }


_SCALES: Final = {"queue_age_s": _NS, "queue_depth": 1, "headroom_below": 1000, "context_above": 1}
_CONDITIONS: Final = {
    "queue_age_s": "QUEUE_AGE",
    "queue_depth": "QUEUE_DEPTH",
    "headroom_below": "HEADROOM_BELOW",
    "context_above": "CONTEXT_ABOVE",
}


def _degradation(one: Degradation, scenario: Scenario) -> Compiled:
    delta = threshold(abs(one.success_delta))
    return {
        "name": one.name,
        "state": constant("SHED" if one.state == "shed" else one.state.upper()),
        "condition": constant(_CONDITIONS[one.condition]),
        "threshold": integer(one.threshold, _SCALES[one.condition]),
        "model": 0 if one.model is None else _model_index(scenario, one.model),
        "keep_tokens": one.keep_tokens or 0,
        "steps_factor_permille": one.steps_factor_permille,
        "output_factor_permille": one.output_factor_permille,
        "success_delta": delta if one.success_delta >= 0 else -delta,
    }


def _events(scenario: Scenario) -> list[Compiled]:
    providers = [provider.name for provider in scenario.providers]
    tools = [tool.name for tool in scenario.tools]
    found = []
    for event in scenario.events:
        kind, dependency = "INVALIDATE_CACHES", NONE
        if event.provider is not None:
            dependency = providers.index(event.provider)
        if event.kind == "outage":
            kind = "OUTAGE_PROVIDER" if event.tool is None else "OUTAGE_TOOL"
        if event.tool is not None:
            dependency = tools.index(event.tool)
        found.append(
            {
                "kind": constant(kind),
                "dependency": dependency,
                "at_ns": integer(event.at_s, _NS),
                "for_ns": 0 if event.for_s is None else integer(event.for_s, _NS),
            }
        )
    return found
