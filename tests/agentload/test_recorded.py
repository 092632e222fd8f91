"""``[traces]``: a corpus bound to a scenario's tools, and whole recorded tasks in the simulator."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.traces import FILES, imported

from tallymark.agentload import recorded, scenario_file
from tallymark.agentload.compile import Choice, compiled
from tallymark.agentload.scenario_file import ScenarioError
from tallymark.agentload.traces import corpus
from tallymark.agentload.traces.corpus import Call, Rows, Source, Step, Task
from tallymark.errors import UnreadableError, UsageError
from tallymark.runtime.simulator import Simulation, constant

MS = 1_000_000


def model(name: str) -> dict[str, Any]:
    rates = {"base_ms": 100, "input_tokens_per_s": 9000, "output_tokens_per_s": 50}
    return {"name": name, "provider": "vendor", **rates}


def scenario(**traces: Any) -> dict[str, Any]:
    return {
        "schema": "agent-scenario/1.0",
        "name": "replayed",
        "title": "Recorded tasks",
        "run": {"tasks": 300, "deadline_s": 86400},
        "arrival": {"process": "poisson", "rate_per_min": 6},
        "providers": [{"name": "vendor", "cache_tokens": 100_000}],
        "models": [
            model("small"),
            model("big"),
        ],
        "tools": [
            {"name": "wiki", "latency_ms": 100},
            {"name": "find", "latency_ms": {"trace": "crm.find"}},
        ],
        "traces": {"file": "corpus.jsonl", "model": "big"} | traces,
    }


def problems(value: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    with pytest.raises(ScenarioError) as stopped:
        scenario_file.from_value(value, "s.toml", folder)
    return [(one.pointer, one.problem) for one in stopped.value.problems]


def test_recorded_tasks_are_tables_of_whole_tasks(tmp_path: Path) -> None:
    imported(tmp_path, FILES / "otlp_new.json", FILES / "mooncake.jsonl")
    found = scenario_file.from_value(scenario(success=0.25), "s.toml", tmp_path)
    made = recorded.tables(found)
    assert [(task["first_step"], task["steps"], task["model"]) for task in made["recorded"]] == [
        (0, 3, 1),
        (3, 1, 1),
        (4, 1, 1),
        (5, 1, 1),
    ]
    # the two prompts of Mooncake that begin with block 1 share its 512 tokens
    assert [(task["prefix"], task["shared_tokens"]) for task in made["recorded"]] == [
        (recorded.NONE, 0),
        (0, 512),
        (0, 512),
        (recorded.NONE, 0),
    ]
    assert made["prefix_tokens"] == [512]
    assert {task["success"] for task in made["recorded"]} == {2**30}
    assert [step["latency_ns"] // MS for step in made["recorded_steps"]] == [1000, 2000, 980, 0, 0, 0]
    assert [(call["tool"], call["latency_ns"] // MS) for call in made["recorded_calls"]] == [
        (1, 500),
        (0, 500),
    ]
    assert found.tools[1].latency_ms.values == (500.0,)
    assert any("not recorded for 4 of 4 tasks: success is 0.25" in said for said in found.assumptions)


def test_the_digest_of_the_scenario_covers_the_corpus(tmp_path: Path) -> None:
    value = scenario() | {"tools": []}
    digests = []
    for name in ("azure.csv", "mooncake.jsonl"):
        (tmp_path / name).mkdir()
        imported(tmp_path / name, FILES / name)
        digests.append(scenario_file.from_value(value, "s.toml", tmp_path / name).sha256)
    assert digests[0] != digests[1]
    wrong = scenario(sha256="0" * 64) | {"tools": []}
    assert problems(wrong, tmp_path / "mooncake.jsonl")[0][0] == "$.traces.sha256"
    again = scenario_file.from_value(value, "s.toml", tmp_path / "azure.csv")
    assert scenario_file.from_value(again.declared, "s.toml", tmp_path / "azure.csv").sha256 == digests[0]


def test_the_context_factor_lengthens_recorded_prompts(tmp_path: Path) -> None:
    imported(tmp_path, FILES / "mooncake.jsonl")
    value = scenario()
    value["run"]["context_factor_permille"] = 2000
    value["tools"] = []
    made = recorded.tables(scenario_file.from_value(value, "s.toml", tmp_path))
    assert [step["input_tokens"] for step in made["recorded_steps"]] == [2000, 2048, 1026]
    assert made["prefix_tokens"] == [1024]


def test_a_tool_that_no_tool_describes_is_a_finding_with_its_remedy(tmp_path: Path) -> None:
    imported(tmp_path, FILES / "otlp_new.json")
    value = scenario()
    value["tools"] = [{"name": "other", "latency_ms": {"trace": "nothing"}}]
    assert problems(value, tmp_path) == [
        ("$.tools", "the traces call 'crm.find' 1 times, and no tool describes it"),
        ("$.tools", "the traces call 'wiki' 1 times, and no tool describes it"),
        ("$.tools[0].latency_ms.trace", "no latency of 'nothing' was recorded"),
    ]


def test_a_name_fits_without_its_special_characters(tmp_path: Path) -> None:
    imported(tmp_path, FILES / "otlp_new.json")
    value = scenario()
    value["tools"][1] = {"name": "crm-find", "latency_ms": 1}
    found = scenario_file.from_value(value, "s.toml", tmp_path)
    assert found.recorded is not None
    assert found.recorded.tools == {"crm.find": 1, "wiki": 0}


def test_a_corpus_that_is_missing_or_broken_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file"):
        scenario_file.from_value(scenario(), "s.toml", tmp_path)
    (tmp_path / "corpus.jsonl").write_text('{"schema": ', encoding="utf-8")
    with pytest.raises(UnreadableError, match="the last line is cut off"):
        scenario_file.from_value(scenario(), "s.toml", tmp_path)


def test_a_latency_that_was_not_recorded_comes_from_the_tool_the_same_every_time(tmp_path: Path) -> None:
    calls = tuple(Call("wiki") for _ in range(400))
    task = Task("t", 0, (Step(input_tokens=1, output_tokens=1, calls=calls),), succeeded=True)
    corpus.write(tmp_path / "corpus.jsonl", [Source("x", "x", "0" * 64, 1, Rows(1, 1, {}))], [task])
    value = scenario()
    value["tools"] = [{"name": "wiki", "latency_ms": {"samples": [10, 20, 30, 40]}}]
    found = scenario_file.from_value(value, "s.toml", tmp_path)
    latencies = [call["latency_ns"] // MS for call in recorded.tables(found)["recorded_calls"]]
    # evenly over the four samples: each a quarter of 400, give or take two
    assert {ms: abs(latencies.count(ms) - 100) <= 2 for ms in (10, 20, 30, 40)} == dict.fromkeys(
        (10, 20, 30, 40), True
    )
    assert latencies == [call["latency_ns"] // MS for call in recorded.tables(found)["recorded_calls"]]
    assert any("(400 of 400 tool calls)" in said for said in found.assumptions)


def test_the_simulator_runs_whole_recorded_tasks(tmp_path: Path) -> None:
    """A task of the spans has 3 steps, 2 tool calls, 2,501 input tokens; a row of Azure one step."""
    imported(tmp_path, FILES / "otlp_new.json", FILES / "azure.csv")
    found = scenario_file.from_value(scenario(), "s.toml", tmp_path)
    traced = tuple(range(300))
    with Simulation(compiled(found, Choice(load="idle", trace_ids=traced))) as simulation:
        simulation.execute()
        tasks: dict[int, Counter[tuple[int, int]]] = {number: Counter() for number in traced}
        for span in simulation.spans():
            if span.kind != constant("SPAN_TASK"):
                tasks[span.task][(span.kind, span.input_tokens)] += 1
    model, tool = constant("SPAN_MODEL"), constant("SPAN_TOOL")
    spans = {(model, 1000): 1, (model, 300): 1, (model, 1201): 1, (tool, 0): 2}
    kinds = (spans, {(model, 4808): 1}, {(model, 110): 1})
    assert all(dict(calls) in kinds for calls in tasks.values())
    drawn = [sum(dict(calls) == kind for calls in tasks.values()) for kind in kinds]
    assert sum(drawn) == 300
    assert min(drawn) > 60  # each as likely: 100, with a standard deviation of 8.2
