"""What must hold of every run whatever the scenario: conservation, Little's law, more quota does not hurt."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support import hand, oracle
from support.planted import planted

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("support-desk", "coding-agent", "research-agent", "retry-storm")


def example(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "examples" / f"{name}.toml").read_text(encoding="utf-8"))


def assert_conserved(run: dict[str, Any]) -> None:
    """Tasks, calls, tokens and money to the last unit, each counted in two places."""
    tasks = run["tasks"]
    ended = tasks["finished"] + tasks["failed"] + tasks["shed"]
    assert tasks["arrived"] == ended + tasks["unfinished"]
    assert tasks["succeeded"] <= tasks["finished"]
    for what, sums in run["conservation"].items():
        assert sums["by_task"] == sums["by_dependency"], what
    for one in run["providers"]:
        ways = one["ok"] + one["errors"] + one["timeouts"] + one["throttled_429"]
        assert one["calls"] == ways + one["in_flight"], one["name"]
    for one in run["tools"]:
        ways = one["ok"] + one["errors"] + one["timeouts"] + one["throttled_429"]
        assert one["calls"] == ways + one["in_flight"], one["name"]
    for key in ("tokens_input", "tokens_cached", "tokens_output"):
        assert sum(one[key] for one in run["providers"]) == sum(one[key] for one in run["models"]), key
    attempts = sum(one["calls"] for one in [*run["providers"], *run["tools"]])
    assert int(run["conservation"]["attempts"]["by_task"]) == attempts
    # Little: the integral of the tasks in flight is the sum of the times in the system
    assert run["in_flight"]["area_ns"] == run["in_flight"]["sojourn_ns"]


@pytest.mark.parametrize("load", ["idle", "loaded"])
@pytest.mark.parametrize("cache", ["cold", "warm"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_lose_nothing(name: str, load: Any, cache: Any) -> None:
    assert_conserved(oracle.record(example(name), load, cache))


@pytest.mark.parametrize("deadline_s", [30, 300, 3000])
def test_nothing_is_lost_when_the_deadline_cuts_a_run(deadline_s: int) -> None:
    value = example("retry-storm")
    value["run"]["deadline_s"] = deadline_s
    run = oracle.record(value)
    assert run["outcome"] == "overloaded"
    assert run["tasks"]["unfinished"] > 0
    assert_conserved(run)


@pytest.mark.parametrize("seed", range(60))
def test_random_scenarios_lose_nothing(seed: int) -> None:
    value = planted(seed).value
    value["providers"][0] |= {"error": 0.05, "overflow": ("wait", "reject")[seed % 2], "retry_after_s": 1}
    value["tools"][0] |= {
        "error": 0.1,
        "timeout": 0.02,
        "timeout_s": 20,
        "overflow": ("reject", "wait")[seed % 2],
    }
    value["retries"] = [
        {"layer": "client", "attempts": 3, "backoff": "exponential", "delay_ms": 200, "jitter": "full"},
        {"layer": "workflow", "attempts": 2},
    ]
    value["breaker"] = {"failures": 5, "open_s": 3}
    assert_conserved(oracle.record(value))


@pytest.mark.parametrize("seed", range(5))
def test_one_seed_gives_the_same_bytes_and_another_one_others(seed: int) -> None:
    value = example("support-desk") | {"seed": seed}
    assert oracle.text(value) == oracle.text(value)
    assert oracle.text(value) != oracle.text(value | {"seed": seed + 1})


# ---- metamorphic ----

DOUBLED = {
    "tokens": ("providers", "tokens_per_min", 30_000),
    "requests": ("providers", "requests_per_min", 24),
    "concurrency": ("providers", "concurrency", 1),
    "memory": ("providers", "kv_tokens", 4000),
    "tool": ("tools", "rate_per_min", 30),
    "tool concurrency": ("tools", "concurrency", 1),
    "slots": ("slots", "workers", 2),
}


@pytest.mark.parametrize("what", DOUBLED)
def test_twice_the_quota_does_not_lower_the_mean_throughput(what: str) -> None:
    """Over 100 seeds, at a load which the single quota does not bear and the double one does better."""
    section, key, limit = DOUBLED[what]
    rates = [_throughput(section, key, quota) for quota in (limit, 2 * limit)]
    assert rates[1] > rates[0]


def _throughput(section: str, key: str, quota: int) -> float:
    total = 0.0
    for seed in range(100):
        value = hand.value(**{section: {key: quota}}, run={"tasks": 40}, tasks={"user_tokens": 100})
        value["seed"] = seed
        value["arrival"] = {"process": "poisson", "rate_per_min": 30}
        value["tools"][0] |= {"latency_ms": {"lognormal": {"median": 400, "p99": 9000}}, "error": 0.05}
        value["tasks"][0]["steps"] = {"choices": [2, 6], "weights": [9, 1]}
        value["retries"] = [{"layer": "tool", "attempts": 3, "on": ["error"]}]
        run = oracle.record(value)
        total += run["tasks"]["finished"] / run["virtual_ns"]
    return total


def test_the_notation_of_a_duration_changes_nothing() -> None:
    plain = hand.value()
    other = copy.deepcopy(plain)
    other["tools"][0]["latency_ms"] = {"samples": [500.0, 500.0]}
    other["models"][0]["base_ms"] = 1000.0
    other["tasks"][0]["steps"] = {"choices": [3]}
    assert oracle.text(plain) == oracle.text(other)


@pytest.mark.parametrize("factor", [10, 20])
def test_a_slower_clock_changes_nothing_but_the_unit(factor: int) -> None:
    """Every time longer and every rate lower by a factor: the same run, each of its times so much longer."""
    plain, slow = oracle.record(_clocked(1)), oracle.record(_clocked(factor))
    for key in ("tasks", "failures", "steps", "retries", "conservation", "first_ceiling"):
        assert plain[key] == slow[key], key
    assert slow["virtual_ns"] == plain["virtual_ns"] * factor
    for name in ("duration", "queue_wait", "model_wait", "tool_wait"):
        assert int(slow["histograms"][name]["sum_ns"]) == int(plain["histograms"][name]["sum_ns"]) * factor, (
            name
        )
        assert slow["histograms"][name]["max_ns"] == plain["histograms"][name]["max_ns"] * factor, name
    for one, other in zip(plain["ceilings"], slow["ceilings"], strict=True):
        assert (one["name"], one["hits"]) == (other["name"], other["hits"])
        assert int(other["waited_ns"]) == int(one["waited_ns"]) * factor
    assert any(one["hits"] for one in plain["ceilings"])


def _clocked(factor: int) -> dict[str, Any]:
    """Every number is divisible, so that no division rounds."""
    value = hand.value(
        run={"tasks": 400, "deadline_s": 5000 * factor},
        slots={"workers": 12},
        providers={
            "tokens_per_min": 6_000_000 // factor,
            "requests_per_min": 60_000 // factor,
            "concurrency": 6,
        },
        models={
            "base_ms": 100 * factor,
            "input_tokens_per_s": 1000 / factor,
            "output_tokens_per_s": 50 / factor,
        },
        tools={"concurrency": 3, "latency_ms": {"samples": [10 * factor, 30 * factor, 900 * factor]}},
    )
    value["arrival"] = {"process": "constant", "rate_per_min": 60 / factor}
    value["retries"] = [{"layer": "tool", "attempts": 3, "backoff": "fixed", "delay_ms": 100 * factor}]
    value["tools"][0]["error"] = 0.125
    return value
