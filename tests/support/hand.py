"""A scenario small enough to be worked out by hand.

Three steps; the first prompt has 1,000 tokens, every step writes 100 and calls the tool twice, which adds
2 · 50. Prompts are 1000, 1200 and 1400 = 3,600 input tokens, 300 output tokens, 3 requests, 4 tool calls.
A model call takes 1 s + 1 s for 1,000 input tokens + 2 s for 100 output tokens: 4.0, 4.2 and 4.4 = 12.6 s;
the tool 4 · 0.5 = 2 s; the task 14.6 s. KV memory: 1100 · 4.0 + 1300 · 4.2 + 1500 · 4.4 = 16,460 token
seconds.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Final

from tallymark.agentload import scenario_file
from tallymark.agentload.scenario import Scenario

VALUE: Final[dict[str, Any]] = {
    "schema": "agent-scenario/1.0",
    "name": "by-hand",
    "title": "Worked out by hand",
    "run": {"tasks": 1000, "deadline_s": 100_000},
    "arrival": {"process": "constant", "rate_per_min": 6},
    "slots": {},
    "providers": [{"name": "vendor"}],
    "models": [
        {
            "name": "large",
            "provider": "vendor",
            "base_ms": 1000,
            "input_tokens_per_s": 1000,
            "output_tokens_per_s": 50,
        }
    ],
    "tools": [{"name": "crm", "latency_ms": 500, "result_tokens": 50}],
    "tasks": [
        {
            "name": "only",
            "model": "large",
            "steps": 3,
            "system_tokens": 1000,
            "output_tokens": 100,
            "tool_calls": [{"tool": "crm", "per_step": 2}],
        }
    ],
}


def value(**sections: dict[str, Any]) -> dict[str, Any]:
    """The scenario with members of a section changed: ``value(providers={"cache_tokens": 9})``."""
    changed = copy.deepcopy(VALUE)
    for section, members in sections.items():
        target = changed.setdefault(section, {})
        (target[0] if isinstance(target, list) else target).update(members)
    return changed


def scenario(**sections: dict[str, Any]) -> Scenario:
    """The same, checked."""
    return scenario_file.from_value(value(**sections), "by-hand.toml")


def toml(value: object) -> str:
    """A value as TOML writes it; tables are inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    return json.dumps(value)


def written(path: Path, value: dict[str, Any]) -> Path:
    """The path, once a scenario is in it."""
    path.write_text("".join(f"{key} = {toml(one)}\n" for key, one in value.items()), encoding="utf-8")
    return path
