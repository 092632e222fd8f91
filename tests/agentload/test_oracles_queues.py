"""The simulator against queueing theory: Erlang C, Pollaczek–Khinchine, the token bucket in closed form.

Each mean wait is that of twenty independent runs; the theory must lie in the 99.9 % interval which these runs
give, and the interval must be narrow, or a wrong simulator would pass. The seeds are fixed.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from support import oracle

RUNS = range(1, 21)


def erlang_c(servers: int, load: float) -> float:
    """The probability that a task of M/M/c waits; ``load`` in erlangs."""
    waiting = load**servers / math.factorial(servers) * servers / (servers - load)
    return waiting / (sum(load**k / math.factorial(k) for k in range(servers)) + waiting)


def waits(latency_ms: Any, rate_per_min: float, workers: int) -> tuple[float, float]:
    """The interval of the mean time in the queue for a slot, in seconds."""
    found = []
    for seed in RUNS:
        run = oracle.record(oracle.queue(seed, latency_ms, rate_per_min, workers))
        assert run["outcome"] == "completed"
        found.append(oracle.mean_s(run["histograms"]["queue_wait"]))
    return oracle.interval(found)


def test_erlang_c_is_that_of_the_tables() -> None:
    """C(1, a) = a; C(2, 1) = 1/3."""
    assert erlang_c(1, 0.8) == pytest.approx(0.8)
    assert erlang_c(2, 1.0) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("workers", "rate_per_min"), [(1, 42), (4, 180), (16, 720)])
def test_m_m_c_waits_as_erlang_c_says(workers: int, rate_per_min: int) -> None:
    """Exponential service of 1 s: W = C(c, a) / (c - a)."""
    load = rate_per_min / 60
    expected = erlang_c(workers, load) / (workers - load)
    low, high = waits({"exponential": {"mean": 1000}}, rate_per_min, workers)
    assert low < expected < high
    assert high - low < 0.3 * expected


@pytest.mark.parametrize(
    "samples_ms",
    [
        [1000],  # M/D/1: half of the wait of M/M/1
        [500, 1500],
        [200] * 9 + [8200],  # a tail: the longest tenth is 8 times the mean
    ],
)
def test_m_g_1_waits_as_pollaczek_and_khinchine_say(samples_ms: list[int]) -> None:
    """W = λ E[S²] / (2 (1 - ρ)), every law with a mean of 1 s and ρ = 0.7."""
    rate = 42 / 60
    assert sum(samples_ms) / len(samples_ms) == 1000
    second = sum((one / 1000) ** 2 for one in samples_ms) / len(samples_ms)
    expected = rate * second / (2 * (1 - rate))
    low, high = waits({"samples": samples_ms}, 42, 1)
    assert low < expected < high
    assert high - low < 0.4 * expected


@pytest.mark.parametrize("per_min", [7, 60, 600])
def test_a_burst_leaves_a_bucket_at_its_rate(per_min: int) -> None:
    """The bucket holds one minute: task i ends at 0, from per_min on after (i + 1 - per_min) / rate."""
    tasks = 2 * per_min + 3
    value = oracle.queue(1, 0, 1, 1)
    value["arrival"] = {"process": "burst", "burst_tasks": tasks, "burst_every_s": 1}
    value["run"] = {"tasks": tasks, "deadline_s": 100_000}
    value["slots"] = {}
    value["tools"][0]["rate_per_min"] = per_min
    value["evaluation"] = {"tasks": tasks}
    rows = oracle.record(value)["evaluation"]
    minute_ns = 60 * 10**9
    expected = [max(0, -(-(at + 1 - per_min) * minute_ns // per_min)) for at in range(tasks)]
    assert [row[4] for row in rows] == expected


@pytest.mark.parametrize("tokens", [100, 999])
def test_a_bucket_of_tokens_lets_its_tokens_through(tokens: int) -> None:
    """Calls of ``tokens`` tokens against 10,000 a minute: call i ends when so many have been refilled."""
    value = oracle.queue(1, 0, 1, 1)
    value["arrival"] = {"process": "burst", "burst_tasks": 50, "burst_every_s": 1}
    value["run"] = {"tasks": 50, "deadline_s": 100_000}
    value["slots"] = {}
    value["providers"][0]["tokens_per_min"] = 10_000
    value["models"][0]["input_tokens_per_s"] = 10**9
    value["tasks"][0] = {"name": "only", "model": "at-once", "steps": 1, "user_tokens": tokens}
    value["evaluation"] = {"tasks": 50}
    found = [row[4] for row in oracle.record(value)["evaluation"]]
    latency_ns = found[0]
    assert latency_ns < 10_000
    missing = [max(0, (at + 1) * tokens - 10_000) for at in range(50)]
    assert found == [-(-one * 60 * 10**9 // 10_000) + latency_ns for one in missing]
