"""The record of the simulator as a run of ``agent-execution/1.0``: units of people, percentiles, shares.

Every figure follows from integers of the record by one division, rounded once (an integer over an integer is
the nearest double everywhere), so that one record gives one run, byte for byte, on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from tallymark.agentload import ceilings_seen
from tallymark.agentload.compile import Choice, arrivals
from tallymark.agentload.scenario import Scenario
from tallymark.histogram import Histogram

VERSION: Final = "1"
NO_VARIANT: Final = "none"
_MS: Final = 1_000_000
_USD: Final = 10**12
_PERCENTILES: Final = (("p50", 50, 100), ("p95", 95, 100), ("p99", 99, 100), ("max", 1, 1))
_NORMAL_975: Final = 1.959963984540054
_CALLS: Final = ("calls", "ok", "errors", "timeouts", "throttled_429", "breaker_rejected")
_LINE: Final = ("in_flight", "in_flight_max", "queue_depth_max", "breaker_opened")
Json = dict[str, Any]


def configuration(scenario: Scenario, choice: Choice, base_sha256: str, variant: str) -> Json:
    """The configuration keys of a run, in the order of the schema. ``base_sha256``: without what varies."""
    workers = scenario.slots.workers
    return {
        "scenario": scenario.name,
        "scenario_sha256": base_sha256,
        "simulator_version": VERSION,
        "arrival_process": scenario.arrival.process,
        "rate_per_min": scenario.arrival.rate_per_min,
        "tasks": arrivals(scenario),
        "workers": workers if isinstance(workers, int) else None,
        "load": choice.load,
        "cache": choice.cache,
        "context_factor_permille": scenario.run.context_factor_permille,
        "seed": scenario.seed,
        "variant": variant,
    }


def run(
    index: int, config: Json, scenario: Scenario, record: Mapping[str, Any], quality: Json | None
) -> Json:
    """One run: its place, its configuration, how it ended, and everything that was measured.

    ``quality``: the fixed subset beside that of the idle run; None where there is no such pair.
    """
    outcome = record["outcome"]
    found = {
        "index": index,
        "repetition": 1,
        **config,
        "outcome": outcome,
        "phase": "run",
        "cause": _cause(scenario, record),
        "virtual_ms": record["virtual_ns"] / _MS,
        "events": record["events"],
        **_tasks(record),
        **_load(record),
        **_durations(record),
        **_tokens(record),
        **_retries(record),
        **_money(record),
        **_quality(record),
        "first_ceiling": record["first_ceiling"],
        "first_ceiling_ms": ceilings_seen.first_ms(record),
        "slots": {
            "busy_mean": _over(int(record["slots"]["busy_area_ns"]), record["virtual_ns"]),
            "busy_max": record["slots"]["busy_max"],
            "ceiling": ceilings_seen.slots(scenario, record),
        },
        "providers": {one["name"]: _provider(one, scenario, record) for one in record["providers"]},
        "models": {one["name"]: _model(one) for one in record["models"]},
        "tools": {one["name"]: _tool(one, scenario, record) for one in record["tools"]},
        "degradations": {one["name"]: _degradation(one, record) for one in record["degradations"]},
        "classes": {one["name"]: _class(one) for one in record["classes"]},
        "tenants": {one["name"]: _tenant(one) for one in record["tenants"]},
        "histograms": _histograms(record),
        "steps_histogram": record["histograms"]["steps"],
        "conservation": record["conservation"],
        "littles_law": {key: record["in_flight"][key] for key in ("area_ns", "sojourn_ns")},
        "quality": quality,
        "evaluation": [_evaluated(row) for row in record["evaluation"]],
        "timeline": _timeline(record),
        "buckets": _buckets(record),
    }
    return {**found, "unavailable": _reasons(found)}


def _cause(scenario: Scenario, record: Mapping[str, Any]) -> str | None:
    if record["outcome"] == "overloaded":
        left = record["tasks"]["unfinished"]
        return f"the deadline of {scenario.run.deadline_s:g} s came before {left} tasks had ended"
    return None if record["outcome"] == "completed" else "stopped before its end"


def _over(value: int, by: int) -> float | None:
    """The nearest double to a quotient of integers; None where there is nothing to divide by."""
    return value / by if by else None


def _tasks(record: Mapping[str, Any]) -> Json:
    tasks = record["tasks"]
    counted = {f"tasks_{key}": count for key, count in tasks.items()}
    return {
        **counted,
        "tasks_per_min": _over(tasks["finished"] * 60 * 10**9, record["virtual_ns"]),
        "failures": dict(record["failures"]),
    }


def _load(record: Mapping[str, Any]) -> Json:
    return {
        "in_flight_mean": _over(int(record["in_flight"]["area_ns"]), record["virtual_ns"]),
        "in_flight_max": record["in_flight"]["max"],
        "queue_depth_max": record["queue"]["depth_max"],
        "queue_age_max_ms": record["queue"]["age_max_ns"] / _MS,
    }


def _durations(record: Mapping[str, Any]) -> Json:
    found: Json = {}
    for prefix, name in (("duration", "duration"), ("queue_wait", "queue_wait")):
        histogram = Histogram.from_record(record["histograms"][name])
        for label, a, b in _PERCENTILES:
            ended = histogram.count > 0
            found[f"{prefix}_{label}_ms"] = histogram.percentile_ns(a, b) / _MS if ended else None
        found[f"{prefix}_mean_ms"] = _over(histogram.sum_ns, histogram.count * _MS)
    steps = record["histograms"]["steps"]
    return {
        **found,
        "steps_mean": _over(int(steps["sum"]), steps["count"]),
        "steps_max": steps["max"],
        "steps_done": record["steps"]["done"],
    }


def _tokens(record: Mapping[str, Any]) -> Json:
    sums = {
        key: sum(one[key] for one in record["providers"])
        for key in ("tokens_input", "tokens_cached", "tokens_output", "tokens_wasted")
    }
    return {**sums, "cached_share": _over(sums["tokens_cached"], sums["tokens_input"])}


def _retries(record: Mapping[str, Any]) -> Json:
    retries = record["retries"]
    low, high = amplification_interval(retries["samples"])
    layers = {
        one["name"]: {
            "logical": one["logical"],
            "attempts": one["attempts"],
            "exhausted": one["exhausted"],
            "amplification": _over(one["attempts"], one["logical"]),
        }
        for one in retries["layers"]
    }
    return {
        "logical_operations": retries["logical"],
        "attempts": retries["attempts"],
        "retry_amplification": _over(retries["attempts"], retries["logical"]),
        "retry_amplification_low": low,
        "retry_amplification_high": high,
        "retries_dropped_budget": retries["dropped_budget"],
        "retries_dropped_degradation": retries["dropped_degradation"],
        "retries": layers,
    }


def amplification_interval(samples: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """95 % interval of attempts / logical operations: the ratio estimator over tasks, which are independent
    draws, with its variance by linearisation; None with fewer than two tasks.
    """
    tasks = samples["tasks"]
    logical, attempts = int(samples["logical"]), int(samples["attempts"])
    if tasks < 2 or not logical:
        return None, None
    ratio = Fraction(attempts, logical)
    squared = (
        int(samples["attempts_squared"])
        - 2 * ratio * int(samples["attempts_logical"])
        + ratio**2 * int(samples["logical_squared"])
    )
    variance = squared / (tasks - 1) * tasks / logical**2
    half = _NORMAL_975 * math.sqrt(variance)
    return float(ratio) - half, float(ratio) + half


def _money(record: Mapping[str, Any]) -> Json:
    """Money of the whole run by the tasks that ended: what a retry or a failed task cost is in it."""
    cost, tasks = record["cost_pusd"], record["tasks"]
    if cost is None:
        return {"usd_total": None, "usd_per_task": None, "usd_per_success": None}
    ended = tasks["finished"] + tasks["failed"]
    return {
        "usd_total": int(cost) / _USD,
        "usd_per_task": _over(int(cost), ended * _USD),
        "usd_per_success": _over(int(cost), tasks["succeeded"] * _USD),
    }


def _quality(record: Mapping[str, Any]) -> Json:
    tasks, rows = record["tasks"], record["evaluation"]
    ended = tasks["finished"] + tasks["failed"] + tasks["shed"]
    succeeded = sum(row[2] for row in rows)
    return {
        "success_share": _over(tasks["succeeded"], ended),
        "evaluated": len(rows),
        "evaluated_succeeded": succeeded,
        "evaluated_success_share": _over(succeeded, len(rows)),
    }


def _provider(one: Mapping[str, Any], scenario: Scenario, record: Mapping[str, Any]) -> Json:
    cost = one["cost_pusd"]
    return {
        **{key: one[key] for key in _CALLS},
        "refused": one["refused"],
        "preempted": one["preempted"],
        **{key: one[key] for key in ("tokens_input", "tokens_cached", "tokens_output", "tokens_wasted")},
        "tokens_headroom_min_permille": one["tokens_headroom_min_permille"],
        "requests_headroom_min_permille": one["requests_headroom_min_permille"],
        **{key: one[key] for key in _LINE},
        "queue_age_max_ms": one["queue_age_max_ns"] / _MS,
        "kv_peak_tokens": one["kv_peak"],
        "cache_evictions": one["cache_evictions"],
        "usd_total": None if cost is None else int(cost) / _USD,
        "latency": one["latency"],
        "ceilings": ceilings_seen.of_provider(one["name"], scenario, record),
    }


def _model(one: Mapping[str, Any]) -> Json:
    cost = one["cost_pusd"]
    kept = {key: one[key] for key in ("calls", "ok", "tokens_input", "tokens_cached", "tokens_output")}
    return {**kept, "usd_total": None if cost is None else int(cost) / _USD}


def _tool(one: Mapping[str, Any], scenario: Scenario, record: Mapping[str, Any]) -> Json:
    histogram = Histogram.from_record(one["latency"])
    percentiles = {
        f"latency_{label}_ms": histogram.percentile_ns(a, b) / _MS if histogram.count else None
        for label, a, b in _PERCENTILES
    }
    return {
        **{key: one[key] for key in _CALLS},
        "write": one["write"],
        "headroom_min_permille": one["headroom_min_permille"],
        **{key: one[key] for key in _LINE},
        "queue_age_max_ms": one["queue_age_max_ns"] / _MS,
        **percentiles,
        "latency": one["latency"],
        "ceilings": ceilings_seen.of_tool(one["name"], scenario, record),
    }


def _degradation(one: Mapping[str, Any], record: Mapping[str, Any]) -> Json:
    return {
        "tasks": one["tasks"],
        "times": one["times"],
        "share": _over(one["tasks"], record["tasks"]["arrived"]),
        "onset_ms": None if one["onset_ns"] is None else one["onset_ns"] / _MS,
    }


def _class(one: Mapping[str, Any]) -> Json:
    kept = {key: one[key] for key in ("arrived", "finished", "succeeded", "failed", "shed")}
    return {**kept, "duration": one["duration"]}


def _tenant(one: Mapping[str, Any]) -> Json:
    kept = {key: one[key] for key in ("arrived", "finished", "succeeded", "failed", "shed")}
    waited = _over(int(one["queue_wait_sum_ns"]), one["arrived"] * _MS)
    return {**kept, "queue_wait_max_ms": one["queue_wait_max_ns"] / _MS, "queue_wait_mean_ms": waited}


def _histograms(record: Mapping[str, Any]) -> Json:
    return {key: record["histograms"][key] for key in ("duration", "queue_wait", "model_wait", "tool_wait")}


def _evaluated(row: list[int]) -> list[Any]:
    task, outcome, succeeded, steps, duration_ns, degradations = row
    return [task, outcome, succeeded, steps, duration_ns / _MS, degradations]


TIMELINE: Final = (
    "t_ms",
    "in_flight",
    "queue",
    "queue_age_ms",
    "slots_free",
    "tokens_headroom_permille",
    "requests_headroom_permille",
    "tool_headroom_permille",
    "model_calls",
    "model_calls_waiting",
    "tool_calls",
    "tool_calls_waiting",
    "kv_tokens",
)
# column of the timeline → (part of the system, name of the record's column, how several are one)
_GATHERED: Final[Mapping[str, tuple[str, str, Callable[[list[int]], int]]]] = {
    "tokens_headroom_permille": ("provider", "tokens_headroom_permille", min),
    "requests_headroom_permille": ("provider", "requests_headroom_permille", min),
    "tool_headroom_permille": ("tool", "rate_headroom_permille", min),
    "model_calls": ("provider", "in_flight", sum),
    "model_calls_waiting": ("provider", "waiting", sum),
    "tool_calls": ("tool", "in_flight", sum),
    "tool_calls_waiting": ("tool", "waiting", sum),
    "kv_tokens": ("provider", "kv_tokens", sum),
}


def _timeline(record: Mapping[str, Any]) -> Json:
    """The system at a glance: of several headrooms the least, of several counts the sum."""
    columns = record["timeline"]["columns"]
    places = {
        name: [at for at, column in enumerate(columns) if _is(column, kind, what)]
        for name, (kind, what, _) in _GATHERED.items()
    }
    rows = []
    for row in record["timeline"]["rows"]:
        made: list[Any] = [row[0] / _MS, row[1], row[2], row[3] / _MS, row[4]]
        for name, (_, _, gather) in _GATHERED.items():
            values = [row[at] for at in places[name] if row[at] is not None]
            made.append(gather(values) if values else None)
        rows.append(made)
    interval = record["timeline"]["interval_ns"] / _MS
    return {"interval_ms": interval, "samples": len(rows), "columns": list(TIMELINE), "rows": rows}


def _is(column: str, kind: str, what: str) -> bool:
    parts = column.split(":")
    return len(parts) == 3 and parts[0] == kind and parts[2] == what


def _buckets(record: Mapping[str, Any]) -> Json:
    """Every bucket and line of the system by its own name, as the simulator wrote it."""
    timeline = record["timeline"]
    columns = ["t_ms", *timeline["columns"][5:]]
    rows = [[row[0] / _MS, *row[5:]] for row in timeline["rows"]]
    return {"interval_ms": timeline["interval_ns"] / _MS, "columns": columns, "rows": rows}


_REASONS: Final = {
    "rate_per_min": "the arrival process has no rate",
    "workers": "the scenario bounds no slots, or does not know how many there are",
    "usd_total": "a model that was used has no price",
    "usd_per_task": "a model that was used has no price, or no task ended",
    "usd_per_success": "a model that was used has no price, or no task succeeded",
    "first_ceiling": "no limit stopped anything",
    "first_ceiling_ms": "no limit stopped anything",
    "retry_amplification_low": "an interval needs two tasks",
    "retry_amplification_high": "an interval needs two tasks",
    "quality": "there is no subset, or no idle run beside this one that completed",
    "cached_share": "no input was read",
    "evaluated_success_share": "no task of the subset arrived",
}
_NOTHING: Final = "nothing was there to measure"


def _reasons(found: Json) -> dict[str, str]:
    """Why a value is null; ``cause`` is null in a run that completed."""
    return {
        key: _REASONS.get(key, _NOTHING) for key, value in found.items() if value is None and key != "cause"
    }
