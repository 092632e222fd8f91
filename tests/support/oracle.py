"""Simulated runs for the oracles, and the interval of a mean over independent runs."""

from __future__ import annotations

import copy
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tallymark.agentload import scenario_file
from tallymark.agentload.compile import Cache, Choice, Load, compiled
from tallymark.runtime.simulator import Simulation

# 99.9 % of Student's t with so many degrees of freedom, both sides (tables; scipy.stats.t.ppf(0.9995, df)).
STUDENT_999: Final = {19: 3.8834, 29: 3.6594}

# A task that is nothing but one call of a tool: a queue of textbooks, with the slots as its servers.
QUEUE: Final[dict[str, Any]] = {
    "schema": "agent-scenario/1.0",
    "name": "queue",
    "title": "A queue of textbooks",
    "run": {"tasks": 12_000, "warmup_tasks": 2000, "deadline_s": 1_000_000},
    "arrival": {"process": "poisson", "rate_per_min": 48},
    "slots": {"workers": 1},
    "providers": [{"name": "vendor"}],
    "models": [
        {
            "name": "at-once",
            "provider": "vendor",
            "base_ms": 0,
            "input_tokens_per_s": 1000,
            "output_tokens_per_s": 1000,
        }
    ],
    "tools": [{"name": "server", "latency_ms": 1000}],
    "tasks": [
        {"name": "only", "model": "at-once", "steps": 2, "tool_calls": [{"tool": "server", "per_step": 1}]}
    ],
}


def queue(seed: int, latency_ms: Any, rate_per_min: float, workers: int) -> dict[str, Any]:
    """The queue with a law of service, a rate of arrivals and a number of servers."""
    value = copy.deepcopy(QUEUE)
    value["seed"] = seed
    value["tools"][0]["latency_ms"] = latency_ms
    value["arrival"]["rate_per_min"] = rate_per_min
    value["slots"]["workers"] = workers
    value["run"]["tasks"] = 10_000 + 2000 * workers
    return value


def text(value: Mapping[str, Any], load: Load = "loaded", cache: Cache = "cold") -> str:
    """The record of one run, as the simulator wrote it."""
    scenario = scenario_file.from_value(value, "oracle.toml")
    with Simulation(compiled(scenario, Choice(load, cache))) as simulation:
        simulation.execute()
        return simulation.record()


def record(value: Mapping[str, Any], load: Load = "loaded", cache: Cache = "cold") -> dict[str, Any]:
    """The same, parsed."""
    found: dict[str, Any] = json.loads(text(value, load, cache))
    return found


def mean_s(histogram: Mapping[str, Any]) -> float:
    """The mean of a histogram: its sum and count are exact."""
    return int(histogram["sum_ns"]) / int(histogram["count"]) / 1e9


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 99.9 % interval of the mean of independent runs, by Student's t."""
    reach = STUDENT_999[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    centre = statistics.fmean(values)
    return centre - reach, centre + reach
