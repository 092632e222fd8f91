"""The suite sweep: one or two factors of the user's choice, every combination, blocks in random order."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.console import Console

from tallymark.errors import MISUSE, UsageError
from tallymark.suites.model import Plan
from tallymark.suites.plan import Request, build
from tallymark.suites.scale import SCALE
from tallymark.suites.settings import SETTABLE, parse
from tallymark.suites.sweep import SWEEP

# numbers of which 1 and 2 are out of range
NUMBERS = {"stack_bytes": (16384, 32768)}
SMALL = ("--set", "tasks=300", "--set", "context_bytes=65536", "--set", "probes=4", "--repetitions", "1")


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(tmp_path, monkeypatch, capsys)


def planned(*settings: str, seed: int = 1, repetitions: int = 2) -> Plan:
    return build(Request(SWEEP, settings=parse(settings, SWEEP), seed=seed, repetitions=repetitions))


def points(plan: Plan, *keys: str) -> Counter[tuple[object, ...]]:
    """How many runs each combination of the keys' values has."""
    made = (run.configuration.to_json() for run in plan.runs)
    return Counter(tuple(configuration[key] for key in keys) for configuration in made)


def document(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


# --- what is planned ---


@pytest.mark.parametrize(
    ("preset", "tasks", "repetitions"), [("smoke", 1000, 1), ("quick", 100_000, 3), ("full", 1_000_000, 3)]
)
def test_workers_vary_when_nothing_is_said(preset: str, tasks: int, repetitions: int) -> None:
    plan = build(Request(SWEEP, preset=preset))
    assert points(plan, "workers", "tasks") == {(workers, tasks): repetitions for workers in (1, 2, 4, 8)}
    assert {run.configuration.suite for run in plan.runs} == {"sweep"}


def test_single_values_leave_the_workers_varying() -> None:
    assert points(planned("tasks=200000", "agents=10"), "workers", "tasks", "agents") == {
        (workers, 200_000, 10): 2 for workers in (1, 2, 4, 8)
    }
    assert points(planned("workers=4"), "workers") == {(4,): 2}


def test_a_factor_of_the_users_choice_takes_the_place_of_the_workers() -> None:
    assert points(planned("probes=0,16,64"), "probes", "workers") == {(n, 8): 2 for n in (0, 16, 64)}
    assert points(planned("probes=0,16", "workers=2"), "probes", "workers") == {(n, 2): 2 for n in (0, 16)}


WORDS = {
    "access_pattern": ("uniform", "strided"),
    "submission": ("closed", "held"),
    "task_stack": ("inline", "pooled"),
    "workload": ("context", "lookup"),
    "wait_mode": ("none", "blocking"),
    "wait_distribution": ("constant", "exponential"),
    "fault_ramp": ("none", "linear"),
    "retry_policy": ("immediate", "backoff"),
    "snapshot": ("at_rest", "running"),
}


@pytest.mark.parametrize("key", [key for key in SETTABLE if key != "tasks"])
def test_every_key_but_the_task_count_is_a_factor(key: str) -> None:
    low, high = WORDS.get(key, NUMBERS.get(key, (1, 2)))
    assert points(planned(f"{key}={low},{high}"), key) == {(low,): 2, (high,): 2}


def test_keys_that_follow_from_a_factor_follow_it_in_each_combination() -> None:
    plan = planned("submission=closed,paced,held", "rate_per_s=1000")
    assert points(plan, "submission", "window", "rate_per_s") == {
        ("closed", 1024, 0): 2,
        ("paced", 0, 1000): 2,
        ("held", 0, 0): 2,
    }


def test_two_factors_make_every_combination_in_each_block() -> None:
    plan = planned("workers=1,2,4", "agents=10,100", repetitions=3)
    whole = set(product((1, 2, 4), (10, 100)))
    assert points(plan, "workers", "agents") == dict.fromkeys(whole, 3)
    for repetition in (1, 2, 3):
        block = [run for run in plan.runs if run.repetition == repetition]
        assert [run.index // 6 for run in block] == [repetition - 1] * 6
        assert {(run.configuration.workers, run.configuration.agents) for run in block} == whole


def test_the_seed_decides_the_order_and_the_order_of_the_options_does_not() -> None:
    factors = ("workers=1,2,4", "agents=10,100")
    assert planned(*factors, seed=7) == planned(*reversed(factors), seed=7)
    assert len({planned(*factors, seed=seed).runs for seed in range(10)}) == 10


def test_the_blocks_are_in_orders_of_their_own() -> None:
    runs = planned("workers=1,2,4,8", "agents=10,100", repetitions=4).runs
    orders = {tuple(run.configuration for run in runs[start : start + 8]) for start in range(0, 32, 8)}
    assert len(orders) == 4


def test_an_open_loop_in_steps_of_its_rate_has_no_window() -> None:
    plan = planned("submission=paced", "rate_per_s=10000,50000")
    assert points(plan, "rate_per_s", "window") == {(10_000, 0): 2, (50_000, 0): 2}
    assert planned("submission=paced", "window=0", "rate_per_s=10000,50000").runs == plan.runs


def test_the_command_repeats_the_factors_in_the_order_of_the_record() -> None:
    settings = parse(["workers=1,2,4,8", "tasks=200000"], SWEEP)
    assert build(Request(SWEEP, settings=settings, label="workers")).command == (
        "tallymark run sweep --set tasks=200000 --set workers=1,2,4,8 --label workers"
    )


# --- what is refused ---


@pytest.mark.parametrize(
    ("texts", "problem", "advice"),
    [
        (
            ["workers=1,2", "agents=1,2", "probes=1,2"],
            "3 keys have several values: agents, workers, probes",
            "vary 2 of them at most",
        ),
        (["tasks=1000,2000"], "one document holds one task count", "with its own --label"),
        (["variant=a,b"], "variant follows from the suite that is run", "name the suite itself"),
        (["suite=scale,sweep"], "suite follows from the suite that is run", "name the suite itself"),
        (["workers=2,2"], "a value is given twice", "name each value once"),
    ],
)
def test_what_is_no_sweep_is_misuse_with_advice(texts: list[str], problem: str, advice: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(texts, SWEEP)
    assert problem in refused.value.problem
    assert advice in refused.value.do
    assert refused.value.exit_code == MISUSE


def test_another_suite_still_varies_its_own_axes_only() -> None:
    with pytest.raises(UsageError, match="suite scale takes several values only for agents"):
        parse(["probes=1,2"], SCALE)


def test_a_value_out_of_its_range_is_named_wherever_it_stands() -> None:
    with pytest.raises(UsageError) as refused:
        planned("workers=1,2,1025")
    assert refused.value.where == "--set workers=1025"


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_combination_that_the_runtime_refuses_stops_the_sweep_before_it_begins(
    console: Console, tmp_path: Path, seed: int
) -> None:
    # window 0 is refused in a closed loop, wherever the seed puts it
    code, out, err = console.run("run", "sweep", *SMALL, "--set", "window=64,0", "--seed", str(seed))
    assert (code, out) == (2, "")
    assert "the runtime refuses this run: window (of closed submission) is 0" in err
    assert "smoke." not in err
    assert list(tmp_path.rglob("*.j*")) == []


def test_three_factors_exit_with_2_and_write_nothing(console: Console, tmp_path: Path) -> None:
    factors = ("--set", "workers=1,2", "--set", "agents=1,2", "--set", "window=1,2")
    code, out, err = console.run("run", "sweep", *factors)
    assert (code, out) == (2, "")
    assert "--set: 3 keys have several values: agents, workers, window. Vary 2 of them at most" in err
    assert list(tmp_path.iterdir()) == []


# --- what is measured ---


def test_a_sweep_over_two_factors_leaves_a_document_that_check_accepts(
    console: Console, tmp_path: Path
) -> None:
    factors = ("--set", "workers=1,2", "--set", "agents=10,100")
    code, out, err = console.run("run", "sweep", *SMALL, *factors, "--label", "two", "--seed", "5")
    assert (code, out) == (0, "data/sweep/two.json\n"), err
    value = document(tmp_path / "data" / "sweep" / "two.json")
    made = [(run["workers"], run["agents"]) for run in value["runs"]]
    assert sorted(made) == list(product((1, 2), (10, 100)))
    plan = value["execution"]["plan"]
    assert made == [(run["configuration"]["workers"], run["configuration"]["agents"]) for run in plan]
    assert {run["suite"] for run in value["runs"]} == {value["execution"]["suite"]} == {"sweep"}
    assert all(run["active_peak"] <= run["workers"] for run in value["runs"])
    assert console.run("check", "data")[0] == 0


def test_a_sweep_over_rates_is_paced_by_each_of_them(console: Console, tmp_path: Path) -> None:
    rates = ("--set", "submission=paced", "--set", "window=0", "--set", "rate_per_s=1000,3000")
    code, out, err = console.run("run", "sweep", *SMALL, *rates, "--label", "rates")
    assert (code, out) == (0, "data/sweep/rates.json\n"), err
    for run in document(tmp_path / "data" / "sweep" / "rates.json")["runs"]:
        # the last of 300 tasks is due 299 intervals after the start, and no run can end before
        assert run["elapsed_ms"] >= 299 / run["rate_per_s"] * 1000
    assert console.run("check", "data")[0] == 0


def test_a_combination_that_rejects_tasks_is_kept_and_named(console: Console, tmp_path: Path) -> None:
    limits = ("--set", "queue_limit=1,1000", "--set", "window=200")
    code, out, err = console.run("run", "sweep", *SMALL, *limits, "--label", "limits", "--seed", "1")
    assert (code, out) == (1, "data/sweep/limits.json\n"), err
    runs = {run["queue_limit"]: run for run in document(tmp_path / "data" / "sweep" / "limits.json")["runs"]}
    assert (runs[1]["outcome"], runs[1000]["outcome"]) == ("overloaded", "completed")
    assert runs[1]["tasks_rejected"] > 0 == runs[1000]["tasks_rejected"]
    assert "overloaded in phase finished" in err
    assert console.run("check", "data")[0] == 0
