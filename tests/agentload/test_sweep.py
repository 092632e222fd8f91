"""``tallymark load sweep``: one document, quality beside latency, a knee, and what to admit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support import hand

from tallymark.agentload import overrides, sweep_text
from tallymark.agentload import sweep as sweeps
from tallymark.agentload.sweep import Sweep
from tallymark.cli.load_sweep import sweep
from tallymark.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]


def scenario(folder: Path, **sections: dict[str, Any]) -> Path:
    """By hand, with ten slots (41.1 tasks a minute), and a degradation once the queue is old."""
    value = hand.value(run={"tasks": 600}, slots={"workers": 10}, **sections)
    value["tasks"][0]["success"] = 0.9
    value["models"].append({**value["models"][0], "name": "small"})
    value["degradations"] = [
        {
            "name": "small-model",
            "state": "fallback_model",
            "model": "small",
            "when": {"queue_age_s": 20},
            "success_delta": -0.4,
        }
    ]
    value["evaluation"] = {"tasks": 300, "margin": 0.05}
    path = folder / "by-hand.toml"
    return hand.written(path, value)


def run(folder: Path, *arguments: str) -> Result:
    path = scenario(folder)
    return CliRunner().invoke(
        sweep, [str(path), "--out", str(folder / "data"), *arguments], obj=folder, standalone_mode=False
    )


LOADS = "arrival.rate_per_min=10,30,60,90"


def test_a_sweep_brackets_the_knee_and_advises(tmp_path: Path) -> None:
    result = run(tmp_path, "--set", LOADS, "--json")
    assert result.exception is None
    found = json.loads(result.output)
    assert [one["cache"] for one in found["outcomes"]] == ["cold", "warm"]
    for outcome in found["outcomes"]:
        assert (outcome["knee"]["good"], outcome["knee"]["bad"]) == (30, 60)
        assert outcome["knee"]["limited_by"] == "slots"
        assert (outcome["advice"]["low"], outcome["advice"]["high"]) == (21, 24)
        assert outcome["advice"]["certainty"] == "bracketed"
        # 30 a minute of 14.6 s each are 7.3 in flight, somewhat less with ramp and drain
        assert outcome["in_flight"] == pytest.approx([0.7 * 7.3, 0.8 * 7.3], rel=0.05)
    assert found["documented_ceiling"] == "slots"
    assert found["documented_tasks_per_min"] == pytest.approx(10 * 60 / 14.6)
    assert found["ranking"].startswith(
        "No ranking by duration: success is worse than idle or undecided at 60, 90"
    )


def test_there_is_one_document_with_idle_once_and_every_load(tmp_path: Path) -> None:
    run(tmp_path, "--set", LOADS)
    (path,) = (tmp_path / "data").glob("*.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert path.name == "sweep.json"
    assert document["execution"]["command"].startswith("tallymark load sweep by-hand.toml --label sweep")
    runs = [(one["load"], one["cache"], one["rate_per_min"]) for one in document["runs"]]
    loaded = [("loaded", cache, rate) for rate in (10, 30, 60, 90) for cache in ("cold", "warm")]
    assert runs == [("idle", "cold", 6), ("idle", "warm", 6), *loaded]
    assert [one["quality"] is None for one in document["runs"]] == [True, True] + [False] * 8
    at_ten = document["runs"][2]["quality"]
    assert (at_ten["pairs"], at_ten["lost"], at_ten["gained"], at_ten["verdict"]) == (300, 0, 0, "no worse")


def test_the_text_has_success_beside_latency(tmp_path: Path) -> None:
    lines = run(tmp_path, "--set", LOADS).output.splitlines()
    heading = lines[1].split()
    assert heading.index("success") < heading.index("p50")
    assert lines[2].split()[:2] == ["idle", "cold"]
    assert any(line.startswith("cold caches: Quality falls between 30 and 60 tasks/min") for line in lines)
    assert any("Simulated in virtual time" in line for line in lines)


def test_where_no_quality_fell_it_says_so(tmp_path: Path) -> None:
    output = run(tmp_path, "--set", "arrival.rate_per_min=10,20").output
    assert "Quality fell at no tested load up to 20 tasks/min" in output
    assert "durations may be compared" in output


def test_a_load_that_the_system_does_not_finish_is_not_admitted(tmp_path: Path) -> None:
    """Ten slots finish 41.1 tasks a minute; nothing degrades at 60, the queue only grows."""
    path = scenario(tmp_path)
    kept = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("degrad")]
    path.write_text("\n".join(kept), encoding="utf-8")
    loads = overrides.parse(["arrival.rate_per_min=10,30,60"])
    made = sweeps.run(tmp_path, path, loads, "sweep", tmp_path / "data", None)
    for outcome in made.outcomes:
        assert (outcome.knee.good, outcome.knee.bad, outcome.overloaded) == (30, None, 60)
        assert (outcome.advice.low, outcome.advice.high, outcome.advice.limited_by) == (21, 24, "slots")
        assert "from 60 on more tasks arrive than end, limited by slots" in outcome.advice.sentence
    assert sweep_text.rows(made)[-1][0] == "60 (overloaded)"
    assert "From 60 tasks/min on they grow with the length of the test." in sweeps.ranking(made)
    only = overrides.parse(["arrival.rate_per_min=60,90"])
    over = sweeps.run(tmp_path, path, only, "over", tmp_path / "data", None)
    assert [one.advice.low for one in over.outcomes] == [None, None]
    assert over.outcomes[0].advice.sentence.startswith(
        "Already at the lowest tested load, 60 tasks/min, more"
    )


def test_429s_are_named_and_amplified_retries_are_alarming(tmp_path: Path) -> None:
    """Twenty tasks a minute of three requests each fill 60 requests a minute; sixty do not fit in."""
    limits = {"requests_per_min": 60, "overflow": "reject", "retry_after_s": 1}
    path = scenario(tmp_path, providers=limits)
    retries = [{"layer": "client", "attempts": 4, "on": ["429"]}]
    path.write_text(f"{path.read_text(encoding='utf-8')}retries = {hand.toml(retries)}\n", encoding="utf-8")
    arguments = [str(path), "--out", str(tmp_path / "data"), "--set", "arrival.rate_per_min=10,60"]
    lines = CliRunner().invoke(sweep, arguments, obj=tmp_path, standalone_mode=False).output.splitlines()
    assert "429s" in lines[1]
    quiet, loud = lines[4], lines[6]
    assert quiet.split()[:2] == ["10", "cold"] and "vendor" not in quiet.rpartition("provider")[0]
    assert loud.split()[:2] == ["60", "cold"] and "  vendor " in loud and " !  " in loud
    assert "Retries: more than 1.3 attempts for each operation at 60 tasks/min (whole interval)." in lines


def swept(tmp_path: Path, *settings: str, **sections: dict[str, Any]) -> Sweep:
    path = scenario(tmp_path, **sections)
    return sweeps.run(tmp_path, path, overrides.parse(settings), "sweep", tmp_path / "data", None)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (("slots.workers=4",), "0 settings have several values"),
        (("arrival.rate_per_min=4,5", "slots.workers=4,5"), "2 settings have several values"),
        (("slots.workers=4,5",), "it is no load"),
    ],
)
def test_a_sweep_has_one_load(tmp_path: Path, settings: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        swept(tmp_path, *settings)


def test_a_sweep_needs_a_fixed_subset(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    text = path.read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith("evaluation")]
    path.write_text("\n".join(kept), encoding="utf-8")
    with pytest.raises(UsageError, match="there is none"):
        sweeps.run(tmp_path, path, overrides.parse([LOADS]), "sweep", tmp_path / "data", None)


def test_a_closed_load_is_a_load(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    text = path.read_text(encoding="utf-8").replace(
        hand.toml(hand.VALUE["arrival"]), hand.toml({"process": "closed", "in_flight": 2})
    )
    path.write_text(text, encoding="utf-8")
    made = sweeps.run(
        tmp_path, path, overrides.parse(["arrival.in_flight=5,20"]), "sweep", tmp_path / "data", None
    )
    assert made.unit == "tasks in flight"
    assert [load for load, _ in made.runs] == [None, None, 5, 5, 20, 20]
