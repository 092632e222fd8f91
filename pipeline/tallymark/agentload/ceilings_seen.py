"""The ceilings that a run met: what stopped whom when, and how many tasks a minute each would allow.

Tasks a minute = limit / what a task of this run needed of it. What is needed is measured over everything that
the tasks did, retries and failures included, divided by the tasks that ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tallymark.agentload.scenario import Limit, Scenario

_MS: Final = 1_000_000
_MINUTE_NS: Final = 60 * 10**9
Json = dict[str, Any]


def first_ms(record: Mapping[str, Any]) -> float | None:
    """When the first ceiling stopped something."""
    hits = [one["first_hit_ns"] for one in record["ceilings"] if one["first_hit_ns"] is not None]
    return min(hits) / _MS if hits else None


def slots(scenario: Scenario, record: Mapping[str, Any]) -> Json:
    """The ceiling of our own worker slots."""
    needed = int(record["slots"]["busy_area_ns"])
    return _ceiling("slots", scenario.slots.workers, _busy(needed), record)


def of_provider(name: str, scenario: Scenario, record: Mapping[str, Any]) -> Json:
    """The ceilings of a provider. KV memory has no tasks a minute: its need is tokens times seconds, which no
    counter holds.
    """
    provider = next(one for one in scenario.providers if one.name == name)
    seen = next(one for one in record["providers"] if one["name"] == name)
    cached = 0 if provider.count_cached else seen["tokens_cached"]
    tokens = seen["tokens_input"] - cached + seen["tokens_output"]
    calls = seen["calls"]
    return {
        "tokens": _ceiling(f"provider:{name}:tokens", provider.tokens_per_min, (1, tokens), record),
        "requests": _ceiling(f"provider:{name}:requests", provider.requests_per_min, (1, calls), record),
        "concurrency": _ceiling(
            f"provider:{name}:concurrency",
            provider.concurrency,
            _busy(int(seen["latency"]["sum_ns"])),
            record,
        ),
        "kv": _ceiling(f"provider:{name}:kv", provider.kv_tokens, (0, 0), record),
    }


def of_tool(name: str, scenario: Scenario, record: Mapping[str, Any]) -> Json:
    """The ceilings of a tool."""
    tool = next(one for one in scenario.tools if one.name == name)
    seen = next(one for one in record["tools"] if one["name"] == name)
    busy = _busy(int(seen["latency"]["sum_ns"]))
    return {
        "rate": _ceiling(f"tool:{name}:rate", tool.rate_per_min, (1, seen["calls"]), record),
        "concurrency": _ceiling(f"tool:{name}:concurrency", tool.concurrency, busy, record),
    }


def _busy(needed_ns: int) -> tuple[int, int]:
    return _MINUTE_NS, needed_ns


def _ceiling(name: str, limit: Limit, needed: tuple[int, int], record: Mapping[str, Any]) -> Json:
    """``needed``: a factor, and what all tasks together needed of the limit."""
    seen = next(one for one in record["ceilings"] if one["name"] == name)
    tasks = record["tasks"]
    ended = tasks["finished"] + tasks["failed"]
    factor, total = needed
    known = limit if isinstance(limit, int) else None
    first = seen["first_hit_ns"]
    return {
        "limit": known,
        "tasks_per_min": None if known is None or not total else known * factor * ended / total,
        "hits": seen["hits"],
        "first_hit_ms": None if first is None else first / _MS,
        "waited_ms": int(seen["waited_ns"]) / _MS,
    }
