"""``tallymark load simulate``: evidence that depends on the scenario and its seed, and on nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.console import Console

from tallymark.agentload.measures import amplification_interval
from tallymark.evidence.canonical import compact

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Project:
    """A project with one scenario, and the command line in its folder."""

    def __init__(self, folder: Path, console: Console) -> None:
        self.folder = folder
        self.run = console.run

    def simulate(self, *options: str) -> tuple[int, str, str]:
        return self.run("load", "simulate", "examples/small.toml", *options)

    def document(self, label: str = "simulated") -> dict[str, Any]:
        path = self.folder / "data" / "agent-small" / f"{label}.json"
        loaded: dict[str, Any] = json.loads(path.read_bytes())
        return loaded


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    (tmp_path / "examples").mkdir()
    shutil.copy(HERE / "small.toml", tmp_path / "examples" / "small.toml")
    return Project(tmp_path, Console(tmp_path, monkeypatch, capsys))


def in_a_process(project: Project, label: str, hash_seed: str) -> None:
    words = ["load", "simulate", "examples/small.toml", "--label", label]
    subprocess.run(
        [sys.executable, "-m", "tallymark", *words],
        cwd=project.folder,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        check=True,
        capture_output=True,
    )


def test_one_seed_gives_the_same_bytes_in_any_process(project: Project) -> None:
    in_a_process(project, "one", "0")
    in_a_process(project, "two", "4711")
    folder = project.folder / "data" / "agent-small"
    one, two = project.document("one"), project.document("two")
    assert compact(one["runs"]) == compact(two["runs"])
    assert json.dumps(one["runs"]) == json.dumps(two["runs"])  # the order of the keys, too
    slowest = [(folder / f"{label}.slowest.jsonl").read_bytes() for label in ("one", "two")]
    assert slowest[0] == slowest[1]


def test_the_runs_hold_nothing_of_the_host(project: Project) -> None:
    assert project.simulate()[0] == 0
    value = project.document()
    machine = value["execution"]["host"]["manifest"]["machine"]["cpu_model"]
    assert machine is None or machine not in json.dumps(value["runs"])
    assert value["execution"]["host"]["runs"][0]["event_pops"] > 0


def test_every_run_is_there_idle_and_loaded_cold_and_warm(project: Project) -> None:
    assert project.simulate("--set", "slots.workers=1,4", "--set", "run.tasks=12")[0] == 0
    runs = project.document()["runs"]
    assert [(run["workers"], run["load"], run["cache"]) for run in runs] == [
        (workers, load, cache)
        for workers in (1, 4)
        for load in ("idle", "loaded")
        for cache in ("cold", "warm")
    ]
    assert {run["tasks"] for run in runs} == {12}
    assert {run["variant"] for run in runs} == {"none"}


def test_a_setting_without_a_key_of_its_own_is_named(project: Project) -> None:
    assert project.simulate("--set", "tools.crm.rate_per_min=10,40")[0] == 0
    variants = [run["variant"] for run in project.document()["runs"]]
    assert variants == ["tools.crm.rate_per_min=10"] * 4 + ["tools.crm.rate_per_min=40"] * 4


def test_longer_contexts_are_an_axis(project: Project) -> None:
    assert project.simulate("--set", "run.context_factor_permille=1000,2000")[0] == 0
    runs = {
        (run["context_factor_permille"], run["load"], run["cache"]): run for run in project.document()["runs"]
    }
    short, long = runs[1000, "idle", "cold"], runs[2000, "idle", "cold"]
    assert long["tokens_input"] > 1.5 * short["tokens_input"]
    assert long["tokens_output"] == short["tokens_output"]


def test_the_same_document_again_is_no_conflict_and_another_one_is(project: Project) -> None:
    assert project.simulate()[0] == 0
    before = (project.folder / "data" / "agent-small" / "simulated.json").read_bytes()
    code, _, err = project.simulate()
    assert code == 0
    assert "every run came out the same" in err
    code, _, err = project.simulate("--seed", "99")
    assert code == 2
    assert "already there" in err
    assert (project.folder / "data" / "agent-small" / "simulated.json").read_bytes() == before


def test_a_seed_is_part_of_the_scenario(project: Project) -> None:
    assert project.simulate()[0] == 0
    assert project.simulate("--seed", "99", "--label", "other")[0] == 0
    one, other = project.document(), project.document("other")
    assert other["execution"]["seed"] == other["runs"][0]["seed"] == 99
    assert one["scenario_sha256"] != other["scenario_sha256"]
    assert one["runs"][2]["duration_max_ms"] != other["runs"][2]["duration_max_ms"]


def test_a_scenario_that_is_wrong_is_refused_with_every_finding(project: Project) -> None:
    path = project.folder / "examples" / "small.toml"
    text = path.read_text(encoding="utf-8").replace("rate_per_min = 12", "rate_per_min = 0")
    path.write_text(text.replace("error = 0.1", "error = 1.1"), encoding="utf-8")
    code, out, err = project.simulate()
    assert code == 2
    assert out == ""
    lines = err.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "examples/small.toml::$.arrival.rate_per_min",
        "examples/small.toml::$.tools[0].error",
    ]
    assert "Give a probability between 0 and 1." in lines[1]
    assert not (project.folder / "data").exists()


def test_a_scenario_that_never_catches_up_is_overloaded_and_that_is_a_result(project: Project) -> None:
    code, _, _ = project.simulate("--set", "run.deadline_s=30")
    assert code == 0
    outcomes = [(run["load"], run["outcome"]) for run in project.document()["runs"]]
    assert outcomes == [("idle", "completed")] * 2 + [("loaded", "overloaded")] * 2
    loaded = project.document()["runs"][2]
    assert loaded["virtual_ms"] == 30_000
    assert loaded["tasks_unfinished"] > 0
    assert "deadline of 30 s" in loaded["cause"]


def test_an_unknown_limit_is_said_and_kept(project: Project) -> None:
    _, _, err = project.simulate()
    assert "$.providers[0].requests_per_min: the limit is unknown" in err
    value = project.document()
    assert value["unknown_limits"] == ["$.providers[0].requests_per_min"]
    assert value["runs"][0]["providers"]["vendor"]["ceilings"]["requests"]["limit"] is None


def test_money_without_a_price_is_null_with_a_reason(project: Project) -> None:
    assert project.simulate("--set", "models.large.usd_per_million_output=unpriced")[0] == 0
    run = project.document()["runs"][0]
    assert (run["usd_total"], run["usd_per_task"]) == (None, None)
    assert "price" in run["unavailable"]["usd_total"]


def test_loaded_runs_are_compared_with_the_idle_one_of_the_same_caches(project: Project) -> None:
    assert project.simulate()[0] == 0
    idle, _, loaded, _ = project.document()["runs"]
    assert idle["quality"] is None
    assert "quality" in idle["unavailable"]
    before = {row[0]: row[2] for row in idle["evaluation"]}
    after = {row[0]: row[2] for row in loaded["evaluation"]}
    assert before.keys() == after.keys()
    assert loaded["quality"]["pairs"] == 10
    assert loaded["quality"]["lost"] == sum(before[task] > after[task] for task in before)
    assert loaded["quality"]["gained"] == sum(before[task] < after[task] for task in before)


def test_the_slowest_tasks_are_a_corpus_that_is_imported_again(project: Project) -> None:
    assert project.simulate()[0] == 0
    path = project.folder / "data" / "agent-small" / "simulated.slowest.jsonl"
    header, *tasks = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert header["tasks"] == len(tasks)
    slowest = next(
        task for task in tasks if header["sources"][task["source"]]["name"].endswith("loaded, cold")
    )
    assert slowest["duration_ns"] == round(project.document()["runs"][2]["duration_max_ms"] * 1_000_000)
    assert project.run("load", "traces", "import", str(path))[0] == 0


def test_paths_and_outcomes_as_json(project: Project) -> None:
    _, out, _ = project.simulate("--json")
    said = json.loads(out)
    assert said["document"].endswith("simulated.json")
    assert [run["outcome"] for run in said["runs"]] == ["completed"] * 4
    assert said["findings"] == []


@pytest.mark.parametrize("options", [("--set", "slots.workers"), ("--label", "A b"), ("--set", "slotz.x=1")])
def test_misuse(project: Project, options: Sequence[str]) -> None:
    assert project.simulate(*options)[0] == 2


def test_the_interval_of_the_amplification_by_hand() -> None:
    """Three tasks: attempts 2, 4, 6 of 2, 2, 2 operations; ratio 2, residuals -2, 0, 2.

    variance = 8 / 2 * 3 / 36 = 1/3, half a width = 1.96 * 0.577.
    """
    samples = {
        "tasks": 3,
        "attempts": "12",
        "logical": "6",
        "attempts_squared": "56",
        "attempts_logical": "24",
        "logical_squared": "12",
    }
    low, high = amplification_interval(samples)
    assert low == pytest.approx(2 - 1.131586, abs=1e-6)
    assert high == pytest.approx(2 + 1.131586, abs=1e-6)
    assert amplification_interval(samples | {"tasks": 1}) == (None, None)
