"""Scenario files: what is read, and that everything wrong is named with its place and a remedy."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallymark.agentload import scenario_file
from tallymark.agentload.distributions import Distribution
from tallymark.agentload.scenario import Scenario
from tallymark.agentload.scenario_file import ScenarioError
from tallymark.errors import SpecError, UsageError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("support-desk", "coding-agent", "research-agent", "retry-storm")

SMALL: dict[str, Any] = {
    "schema": "agent-scenario/1.0",
    "name": "small",
    "title": "One class, one model, one tool",
    "run": {"tasks": 10, "deadline_s": 600},
    "arrival": {"process": "poisson", "rate_per_min": 6},
    "slots": {"workers": 4},
    "providers": [{"name": "vendor", "tokens_per_min": 10_000}],
    "models": [
        {
            "name": "large",
            "provider": "vendor",
            "base_ms": 500,
            "input_tokens_per_s": 5000,
            "output_tokens_per_s": 50,
        }
    ],
    "tools": [{"name": "crm", "latency_ms": {"samples": [300, 900]}}],
    "tasks": [
        {
            "name": "short",
            "model": "large",
            "steps": 3,
            "system_tokens": 1000,
            "output_tokens": 100,
            "tool_calls": [{"tool": "crm", "per_step": 1.5}],
        }
    ],
}


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    value = copy.deepcopy(SMALL)
    change(value)
    return value


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_scenarios(name: str) -> None:
    scenario = scenario_file.load(ROOT / "examples" / f"{name}.toml", ROOT)
    assert isinstance(scenario, Scenario)
    assert scenario.name == name
    assert scenario.assumptions


def test_the_support_desk_is_the_mix_of_the_article() -> None:
    scenario = scenario_file.load(ROOT / "examples" / "support-desk.toml", ROOT)
    mix = {task.name: (task.share, task.steps.values) for task in scenario.tasks}
    assert mix == {"short": (90, (3,)), "long": (10, (40,))}


def test_what_is_left_out_has_its_default() -> None:
    scenario = scenario_file.from_value(SMALL, "small.toml")
    assert scenario.seed == 1
    assert [tenant.name for tenant in scenario.tenants] == ["all"]
    assert scenario.providers[0].requests_per_min is None
    assert scenario.tools[0].result_tokens == Distribution("samples", (0,))
    assert scenario.models[0].priced is False
    assert scenario.retries == ()


def test_an_unknown_limit_is_reported_and_a_name_is_no_limit() -> None:
    value = changed(lambda v: v["providers"][0].update(concurrency="unknown", name="unknown"))
    value["models"][0]["provider"] = "unknown"
    assert scenario_file.from_value(value, "s").unknown_limits == ("$.providers[0].concurrency",)


def test_the_digest_depends_on_the_content_and_not_on_its_order() -> None:
    turned = dict(reversed(SMALL.items()))
    assert scenario_file.from_value(turned, "s").sha256 == scenario_file.from_value(SMALL, "s").sha256
    other = changed(lambda v: v["run"].update(tasks=11))
    assert scenario_file.from_value(other, "s").sha256 != scenario_file.from_value(SMALL, "s").sha256


UNWEIGHTED = {"choices": [1, 2], "weights": [1]}
TURNED = {"lognormal": {"median": 9, "p99": 3}}
BAD: list[tuple[str, Callable[[dict[str, Any]], object], str, str]] = [
    ("zero rate", lambda v: v["arrival"].update(rate_per_min=0), "$.arrival.rate_per_min", "above 0"),
    ("negative rate", lambda v: v["arrival"].update(rate_per_min=-3), "$.arrival.rate_per_min", "above 0"),
    ("no rate", lambda v: v["arrival"].pop("rate_per_min"), "$.arrival", "no rate_per_min"),
    ("empty mix", lambda v: v.pop("tasks"), "$.tasks", "the mix is empty"),
    ("no tasks", lambda v: v.update(tasks=[]), "$.tasks", "the mix is empty"),
    ("no share", lambda v: v["tasks"][0].update(share=0), "$.tasks", "share 0"),
    ("no latency", lambda v: v["tools"][0].pop("latency_ms"), "$.tools[0]", "no latency data"),
    ("no samples", lambda v: v["tools"][0]["latency_ms"].update(samples=[]), "latency_ms", "0 items"),
    ("unknown model", lambda v: v["tasks"][0].update(model="lrage"), "$.tasks[0].model", "no model 'lrage'"),
    ("unknown tool", lambda v: v["tasks"][0]["tool_calls"][0].update(tool="x"), "tool_calls[0].tool", "'x'"),
    ("unknown provider", lambda v: v["models"][0].update(provider="x"), "$.models[0].provider", "'x'"),
    ("unknown key", lambda v: v["run"].update(task=3), "$.run.task", "is 'tasks' meant?"),
    ("probability", lambda v: v["tools"][0].update(error=1.5), "$.tools[0].error", "above the maximum of 1"),
    ("negative probability", lambda v: v["tools"][0].update(error=-0.5), "$.tools[0].error", "below"),
    ("quota", lambda v: v["providers"][0].update(tokens_per_min=1099), "tokens_per_min", "needs 1100 tokens"),
    ("kv", lambda v: v["providers"][0].update(kv_tokens=1099), "kv_tokens", "needs 1100 tokens"),
    ("context", lambda v: v["models"][0].update(context_tokens=1099), "context_tokens", "1100 tokens"),
    ("zero limit", lambda v: v["tools"][0].update(rate_per_min=0), "$.tools[0].rate_per_min", "minimum of 1"),
    ("endless", lambda v: v["run"].pop("tasks"), "$.run", "nothing bounds the arrivals"),
    ("no deadline", lambda v: v["run"].pop("deadline_s"), "$.run", "'deadline_s' is missing"),
    ("half a step", lambda v: v["tasks"][0].update(steps=2.5), "$.tasks[0].steps", "whole numbers"),
    ("two forms", lambda v: v["tools"][0]["latency_ms"].update(constant=3), "latency_ms", "exclude"),
    ("weights", lambda v: v["tasks"][0].update(steps=UNWEIGHTED), "weights", "1 weights for 2"),
    ("p99", lambda v: v["tools"][0].update(latency_ms=TURNED), "p99", "below the median"),
    ("timeout", lambda v: v["tools"][0].update(timeout=0.1), "$.tools[0].timeout", "nobody gives up"),
    ("slope", lambda v: v["models"][0].update(load_slope=1), "load_slope", "no number of calls"),
    ("warm-up", lambda v: v["run"].update(warmup_tasks=10), "warmup_tasks", "every task is a warm-up"),
    ("twice", lambda v: v["tools"].append(v["tools"][0]), "$.tools[1].name", "twice"),
    ("subset", lambda v: v.update(evaluation={"tasks": 11}), "$.evaluation.tasks", "more tasks than the 10"),
    ("outage", lambda v: v.update(events=[{"at_s": 1, "kind": "outage"}]), "$.events[0]", "an outage has"),
    (
        "conditions",
        lambda v: v.update(
            degradations=[{"name": "d", "state": "shed", "when": {"queue_depth": 3, "queue_age_s": 3}}]
        ),
        "$.degradations[0].when",
        "2 conditions",
    ),
    (
        "effect",
        lambda v: v.update(degradations=[{"name": "d", "state": "lower_effort", "when": {"queue_depth": 3}}]),
        "$.degradations[0]",
        "no effect",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "pointer", "problem"), [one[1:] for one in BAD], ids=[b[0] for b in BAD])
def test_bad_input_is_named_with_its_place_and_a_remedy(
    change: Callable[[dict[str, Any]], object], pointer: str, problem: str
) -> None:
    with pytest.raises(ScenarioError) as raised:
        scenario_file.from_value(changed(change), "small.toml")
    line = raised.value.lines()[0]
    assert line.startswith("small.toml::$")
    assert pointer in line.partition(": ")[0]
    assert problem in line
    assert raised.value.problems[0].do
    assert raised.value.exit_code == 2


def test_every_problem_is_listed() -> None:
    def spoil(value: dict[str, Any]) -> None:
        value["tasks"][0].update(model="x")
        value["tools"][0].pop("latency_ms")

    with pytest.raises(ScenarioError) as raised:
        scenario_file.from_value(changed(spoil), "s.toml")
    assert len(raised.value.lines()) == 2
    assert "(and 1 more)" in raised.value.line()


def test_quotas_that_a_call_fits_into_exactly_are_none_of_it() -> None:
    value = changed(lambda v: v["providers"][0].update(tokens_per_min=1100, kv_tokens=1100))
    assert scenario_file.problems(value) == ()


def test_reserved_output_counts_against_the_quota() -> None:
    value = changed(lambda v: v["providers"][0].update(tokens_per_min=4000, reserve="max_tokens"))
    value["models"][0]["max_output_tokens"] = 4000
    assert [one.pointer for one in scenario_file.problems(value)] == ["$.providers[0].tokens_per_min"]


def test_a_file_that_is_no_toml_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("schema = ")
    with pytest.raises(SpecError, match="not TOML"):
        scenario_file.load(tmp_path / "bad.toml", tmp_path)
    with pytest.raises(UsageError):
        scenario_file.load(tmp_path / "none.toml", tmp_path)


def test_the_small_scenario_is_sound_as_toml_too() -> None:
    text = (ROOT / "examples" / "support-desk.toml").read_text(encoding="utf-8")
    assert scenario_file.problems(tomllib.loads(text)) == ()


def test_a_cached_token_whose_price_is_left_out_costs_as_much_as_another() -> None:
    value = changed(lambda v: v["models"][0].update(usd_per_million_input=3, usd_per_million_output=9))
    assert scenario_file.from_value(value, "s").models[0].usd_per_million_cached == 3
    value["models"][0]["usd_per_million_cached"] = "unpriced"
    assert scenario_file.from_value(value, "s").models[0].priced is False
