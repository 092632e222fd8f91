"""``tallymark load plan``: what it says of scenarios that are worked out by hand, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support import hand
from support.traces import FILES, imported

from tallymark.agentload import load_plan, scenario_file
from tallymark.cli.load_plan import plan
from tallymark.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(plan, list(arguments), obj=ROOT, standalone_mode=False)


def of(tasks: int = 20, **sections: dict[str, Any]) -> load_plan.LoadPlan:
    return load_plan.plan(hand.scenario(**sections), tasks=tasks)


def test_an_unknown_limit_is_a_finding_and_the_known_first_ceiling_is_named(tmp_path: Path) -> None:
    """240 requests a minute are 80 tasks; 100 calls of the tool are 25."""
    limits = {"requests_per_min": 240, "concurrency": "unknown"}
    path = hand.written(tmp_path / "a.toml", hand.value(providers=limits, tools={"rate_per_min": 100}))
    found = json.loads(run(str(path), "--json").output)
    assert (found["first_ceiling"], found["first_tasks_per_min"]) == ("tool:crm:rate", 25)
    assert found["overloaded"] is False
    pointers = [one["pointer"] for one in found["findings"]]
    assert pointers == ["$.providers[0].concurrency", "--cpu-ms, --cores", "$.models"]
    assert found["durations"]["source"].startswith("a seeded pilot of 2,000 tasks by the simulator")
    assert found["sizing"]["in_flight"]["value"] == pytest.approx(6 * 14.6 / 60)


def test_the_text_shows_the_arithmetic_that_the_json_has() -> None:
    path = str(ROOT / "examples" / "coding-agent.toml")
    text, found = run(path).output, json.loads(run(path, "--json").output)
    for one in found["ceilings"]:
        for line in one["lines"]:
            assert f"  {one['name']}: {line}\n" in text
    for line in found["assumptions"]:
        assert f"  {line}\n" in text
    assert f"{found['first_ceiling']}, at " in text
    assert "is only a smoke test" in text


def test_one_seed_gives_the_same_plan() -> None:
    path = str(ROOT / "examples" / "retry-storm.toml")
    assert run(path, "--json").output == run(path, "--json").output


def test_a_service_slower_than_its_arrivals_is_said_to_be_overloaded() -> None:
    """Six tasks a minute arrive, 3 requests each; 15 requests a minute are 5 tasks."""
    made = of(providers={"requests_per_min": 15})
    assert made.overloaded
    (line,) = made.overload_lines()
    assert "6 tasks/min arrive and provider:vendor:requests lets 5 through" in line
    assert "grows by 1 tasks a minute" in line


def test_a_closed_loop_is_never_overloaded() -> None:
    closed = hand.value(providers={"requests_per_min": 15})
    closed["arrival"] = {"process": "closed", "in_flight": 50}
    assert not load_plan.plan(scenario_file.from_value(closed, "x"), tasks=20).overloaded


def test_the_test_needs_tokens_money_and_time() -> None:
    prices = {"usd_per_million_input": 2, "usd_per_million_output": 10}
    needed = load_plan.needs(of(models=prices))
    assert needed["providers"]["vendor"]["tokens"] == pytest.approx(3900 * 1000)
    assert needed["tools"] == {"crm": 4000}
    assert needed["usd"] == pytest.approx((3600 * 2 + 300 * 10) / 1e6 * 1000)
    assert needed["seconds"] == 10_000
    assert load_plan.needs(of())["usd"] is None


def test_arrivals_that_end_before_the_longest_tasks_are_a_smoke_test() -> None:
    """A task takes 14.6 s; one task at six a minute is over after 10 s."""
    (note,) = [one for one in of(1000, run={"tasks": 1}).notes if one.pointer == "$.run.tasks"]
    assert "only a smoke test" in note.problem
    assert note.do == "give at least 2"


def test_a_setting_changes_the_plan(tmp_path: Path) -> None:
    path = str(hand.written(tmp_path / "a.toml", hand.value()))
    found = json.loads(run(path, "--json", "--set", "tools.crm.rate_per_min=20").output)
    assert found["first_tasks_per_min"] == 5
    assert found["overload"].startswith("overloaded: 6 tasks/min arrive and tool:crm:rate lets 5 through")
    assert isinstance(run(path, "--set", "slots.workers=1,2").exception, UsageError)


def test_durations_are_those_of_the_traces_where_they_have_some(tmp_path: Path) -> None:
    """One recorded task has times, 7.39 s from its first call to its last; those of Mooncake have none."""
    imported(tmp_path, FILES / "otlp_new.json", FILES / "mooncake.jsonl")
    value = hand.value(arrival={"rate_per_min": 6})
    del value["tasks"]
    value["traces"] = {"file": "corpus.jsonl"}
    value["tools"] = [{"name": "crm-find", "latency_ms": 100}, {"name": "wiki", "latency_ms": 100}]
    made = load_plan.plan(scenario_file.from_value(value, "x", tmp_path), tasks=50)
    assert made.source == "the traces corpus.jsonl: 1 of 4 tasks have one"
    assert made.durations.mean_s.value == pytest.approx(7.39)
    assert made.demand.classes == ()
    assert made.demand.models["large"].calls == pytest.approx(1.5, abs=0.5)


def test_a_cache_that_does_not_hold_the_prompts_in_flight_is_a_finding() -> None:
    """6 · 14.6 / 60 = 1.46 tasks of 16,460 / 12.6 = 1,306 tokens: 1,907 tokens, less where cached input makes
    calls shorter; a prompt alone has 1,000 to 1,400.
    """

    def pointers(cache: int) -> list[str]:
        return [note.pointer for note in of(1000, providers={"cache_tokens": cache}).notes]

    assert "$.providers[0].cache_tokens" in pointers(1000)
    assert "$.providers[0].cache_tokens" not in pointers(2000)


def test_cpu_and_cores_are_given_together() -> None:
    result = run(str(ROOT / "examples" / "retry-storm.toml"), "--cores", "2")
    assert isinstance(result.exception, UsageError)
