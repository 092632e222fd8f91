"""The plan: every run, in an order that the seed alone decides, said before anything runs."""

from __future__ import annotations

from collections import Counter

import pytest

from tallymark.errors import UsageError
from tallymark.suites.plan import Request, build
from tallymark.suites.scale import SCALE
from tallymark.suites.settings import parse


def order(seed: int, repetitions: int = 3) -> list[int]:
    plan = build(Request(SCALE, seed=seed, repetitions=repetitions))
    return [run.configuration.agents for run in plan.runs]


def test_a_seed_gives_the_same_order_for_ever() -> None:
    # computed once by hand from the first six SplitMix64 values of seed 1, value % 2 == 0 swapping a pair:
    # 10451216379200822465, 13757245211066428519, 17911839290282890590, ...
    assert order(1) == [100, 1000, 100, 1000, 1000, 100]


def test_orders_differ_between_seeds() -> None:
    assert len({tuple(order(seed, repetitions=6)) for seed in range(20)}) > 10


def test_each_repetition_is_a_block_that_holds_every_configuration_once() -> None:
    plan = build(Request(SCALE, seed=5, repetitions=4))
    assert [run.index for run in plan.runs] == list(range(8))
    for repetition in range(1, 5):
        block = [run for run in plan.runs if run.repetition == repetition]
        assert {run.index // 2 for run in block} == {repetition - 1}
        assert Counter(run.configuration.agents for run in block) == {100: 1, 1000: 1}


@pytest.mark.parametrize(
    ("preset", "tasks", "repetitions"), [("smoke", 1000, 1), ("quick", 100_000, 3), ("full", 1_000_000, 3)]
)
def test_a_preset_decides_tasks_and_repetitions(preset: str, tasks: int, repetitions: int) -> None:
    plan = build(Request(SCALE, preset=preset))
    assert {run.configuration.tasks for run in plan.runs} == {tasks}
    assert len(plan.runs) == 2 * repetitions
    assert plan.label == preset
    assert {run.configuration.workers for run in plan.runs} == {8}


def test_the_preset_is_quick_unless_said_otherwise() -> None:
    assert build(Request(SCALE)).label == "quick"


def test_settings_replace_the_fixture_and_axes_make_a_product() -> None:
    plan = build(Request(SCALE, settings=parse(["agents=1,10,100", "workers=2"], SCALE), repetitions=1))
    assert sorted(run.configuration.agents for run in plan.runs) == [1, 10, 100]
    assert {run.configuration.workers for run in plan.runs} == {2}


def test_an_open_loop_has_no_window() -> None:
    settings = parse(["submission=paced", "rate_per_s=1000"], SCALE)
    plan = build(Request(SCALE, settings=settings))
    assert {run.configuration.window for run in plan.runs} == {0}


def test_the_command_is_in_one_spelling_and_without_the_defaults() -> None:
    settings = parse(["workers=2", "tasks=1000000"], SCALE)
    request = Request(SCALE, preset="quick", settings=settings, label="million", seed=4)
    assert build(request).command == (
        "tallymark run scale --set tasks=1000000 --set workers=2 --seed 4 --label million"
    )
    assert build(Request(SCALE, preset="full", label="full")).command == "tallymark run scale --preset full"


def test_a_seed_that_was_not_given_is_drawn_and_recorded() -> None:
    seeds = {build(Request(SCALE)).seed for _ in range(8)}
    assert len(seeds) == 8
    assert all(0 <= seed < 2**53 for seed in seeds)


@pytest.mark.parametrize("label", ["", "A", "../x", ".hidden", "a/b", "a b", "x" * 65, "a\n", "ä"])
def test_a_label_that_makes_no_plain_file_name_is_refused(label: str) -> None:
    with pytest.raises(UsageError, match="not a label"):
        build(Request(SCALE, label=label))


@pytest.mark.parametrize("seed", [-1, 2**53])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(UsageError, match="0 to 2\\^53 - 1"):
        build(Request(SCALE, seed=seed))


@pytest.mark.parametrize("repetitions", [0, -1, 1001])
def test_repetitions_out_of_range_are_refused(repetitions: int) -> None:
    with pytest.raises(UsageError, match="outside 1"):
        build(Request(SCALE, repetitions=repetitions))


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="Use one of smoke, quick, full"):
        build(Request(SCALE, preset="huge"))


@pytest.mark.parametrize(
    "setting", ["agents=0", "tasks=0", "workers=1025", "agents=-5", "submission=batches", "queue_limit=0"]
)
def test_a_value_that_the_schema_refuses_is_refused_before_anything_runs(setting: str) -> None:
    with pytest.raises(UsageError) as refused:
        build(Request(SCALE, settings=parse([setting], SCALE)))
    assert refused.value.where == f"--set {setting}"
