"""Random scenarios whose first ceiling is known by construction.

Everything is constant, so that what a task takes follows from a few sums; they are written here once more,
step by step, and share nothing with the code under test. The planted limit is met at ``rate_per_min``, every
other one only above twice and a half that rate, with room for calls that happen to coincide.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

KINDS = ("slots", "tokens", "requests", "concurrency", "kv", "rate", "tool concurrency")
NAMES = {
    "slots": "slots",
    "tokens": "provider:vendor:tokens",
    "requests": "provider:vendor:requests",
    "concurrency": "provider:vendor:concurrency",
    "kv": "provider:vendor:kv",
    "rate": "tool:crm:rate",
    "tool concurrency": "tool:crm:concurrency",
}
_ROOM = 2.5


@dataclass(frozen=True)
class Planted:
    """A scenario, the name of its first ceiling and the tasks a minute at which that is met."""

    value: dict[str, Any]
    name: str
    rate_per_min: float
    duration_s: float


def planted(seed: int) -> Planted:
    """The scenario of a seed."""
    draw = random.Random(seed)
    shape = _shape(draw)
    takes, largest = _takes(shape)
    kind = draw.choice(KINDS)
    wanted = draw.uniform(4, 60)
    if kind in ("tokens", "kv"):  # a quota is larger than one call
        wanted = max(wanted, 3 * largest / takes[kind])
    limits: dict[str, int | str | None] = {kind: max(1, round(wanted * takes[kind]))}
    rate = float(limits[kind] or 0) / takes[kind]
    for other in KINDS:
        if other == kind:
            continue
        together = shape["steps"] * shape["calls"] + 2
        room = math.ceil(rate * takes[other] * draw.uniform(_ROOM, 6)) + together
        if other in ("tokens", "kv"):
            room = max(room, (together + 1) * largest) + together * largest
        limits[other] = draw.choice([room, room, room, None, "unknown"])
    return Planted(_value(seed, shape, limits, rate, takes), NAMES[kind], rate, takes["slots"] * 60)


def knee(seed: int) -> Planted:
    """A scenario whose quality falls from ``rate_per_min`` on, and only there.

    Its slots (or its tokens a minute) let so many tasks through. Above that the queue gets old (the headroom
    gets small) and stays so; then a smaller model answers, as fast as the large one and wrong more often.
    """
    draw = random.Random(seed)
    shape = _shape(draw)
    takes, largest = _takes(shape)
    kind = ("slots", "tokens")[seed % 2]
    wanted = max(draw.uniform(30, 60), 30 * largest / takes["tokens"] if kind == "tokens" else 0)
    limits: dict[str, int | str | None] = dict.fromkeys(KINDS)
    limits[kind] = math.ceil(wanted * takes[kind])
    rate = float(limits[kind] or 0) / takes[kind]
    value = _value(seed, shape, limits, rate, takes)
    value["run"] = {"tasks": 1000, "warmup_tasks": 100, "deadline_s": 1_000_000}
    value["arrival"] = {"process": "poisson", "rate_per_min": rate}
    value["models"].append({**value["models"][0], "name": "small"})
    value["tasks"][0]["success"] = draw.uniform(0.75, 0.95)
    when = {"queue_age_s": 15 * 60 / rate} if kind == "slots" else {"headroom_below": 0.05}
    value["degradations"] = [
        {
            "name": "small-model",
            "state": "fallback_model",
            "model": "small",
            "when": when,
            "success_delta": -draw.uniform(0.25, 0.5),
        }
    ]
    value["evaluation"] = {"tasks": 300, "margin": 0.05}
    return Planted(value, NAMES[kind], rate, takes["slots"] * 60)


def _shape(draw: random.Random) -> dict[str, Any]:
    return {
        "steps": draw.randint(2, 12),
        "prompt": draw.randint(200, 4000),
        "output": draw.randint(20, 300),
        "calls": draw.randint(1, 3),
        "result": draw.randint(0, 300),
        "base_ms": draw.randint(100, 2000),
        "input_per_s": draw.choice([1000, 2000, 8000]),
        "output_per_s": draw.choice([32, 64, 128]),
        "tool_ms": draw.randint(50, 3000),
        "cache": draw.choice([0, 10**9]),
        "counted": draw.choice([False, True]),
    }


def _takes(shape: dict[str, Any]) -> tuple[dict[str, float], int]:
    """What a task takes of each limit, at one task a minute: minutes, tokens, calls; and its largest call."""
    prompt, tokens, call_s, kv = shape["prompt"], 0, 0.0, 0.0
    before = 0
    for _ in range(shape["steps"]):
        cached = before if shape["cache"] else 0
        took = shape["base_ms"] / 1000
        took += (prompt - cached) / shape["input_per_s"] + shape["output"] / shape["output_per_s"]
        tokens += prompt + shape["output"] - (0 if shape["counted"] else cached)
        call_s += took
        kv += (prompt + shape["output"]) * took
        before = prompt
        prompt += shape["output"] + shape["calls"] * shape["result"]
    tool_calls = (shape["steps"] - 1) * shape["calls"]
    tool_s = tool_calls * shape["tool_ms"] / 1000
    takes = {
        "slots": (call_s + tool_s) / 60,
        "tokens": float(tokens),
        "requests": float(shape["steps"]),
        "concurrency": call_s / 60,
        "kv": kv / 60,
        "rate": float(tool_calls),
        "tool concurrency": tool_s / 60,
    }
    return takes, before + shape["output"]


def _value(
    seed: int,
    shape: dict[str, Any],
    limits: dict[str, int | str | None],
    rate: float,
    takes: dict[str, float],
) -> dict[str, Any]:
    provider = {
        "name": "vendor",
        "tokens_per_min": limits["tokens"],
        "requests_per_min": limits["requests"],
        "concurrency": limits["concurrency"],
        "kv_tokens": limits["kv"],
        "cache_tokens": shape["cache"],
        "count_cached": shape["counted"],
    }
    tool = {
        "name": "crm",
        "latency_ms": shape["tool_ms"],
        "result_tokens": shape["result"],
        "rate_per_min": limits["rate"],
        "concurrency": limits["tool concurrency"],
    }
    minutes = 6 + 3 * takes["slots"]
    return {
        "schema": "agent-scenario/1.0",
        "name": f"planted-{seed}",
        "title": "A ceiling that is known by construction",
        "seed": seed,
        "run": {"tasks": math.ceil(1.5 * rate * minutes), "deadline_s": 1_000_000},
        "arrival": {"process": "constant", "rate_per_min": 1.5 * rate},
        "slots": {key: value for key, value in {"workers": limits["slots"]}.items() if value is not None},
        "providers": [{key: value for key, value in provider.items() if value is not None}],
        "models": [
            {
                "name": "large",
                "provider": "vendor",
                "base_ms": shape["base_ms"],
                "input_tokens_per_s": shape["input_per_s"],
                "output_tokens_per_s": shape["output_per_s"],
            }
        ],
        "tools": [{key: value for key, value in tool.items() if value is not None}],
        "tasks": [
            {
                "name": "only",
                "model": "large",
                "steps": shape["steps"],
                "system_tokens": shape["prompt"],
                "output_tokens": shape["output"],
                "tool_calls": [{"tool": "crm", "per_step": shape["calls"]}],
            }
        ],
    }
