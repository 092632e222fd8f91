"""The hand calculation: every step shown, rounded digit by digit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark import units
from tallymark.errors import UsageError
from tallymark.recount import explain, hand, sample
from tallymark.recount.published import Published, Report
from tallymark.recount.reference import Unresolved

ROW = "tasks=1000,agents=100"
NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.decimals(min_value=-1000, max_value=1000, places=4).map(float),
)


@pytest.fixture
def report(read: Published) -> Report:
    return read.reports["runtime-scale"]


@pytest.mark.parametrize(
    ("value", "places", "text", "dropped"),
    [
        # by hand: the shortest decimal of the double decides, halves go away from zero
        (2.675, 2, "2.68", "5"),
        (0.5, 0, "1", "5"),
        (2.5, 0, "3", "5"),
        (-2.5, 0, "-3", "5"),
        (-0.0004, 3, "0.000", "4"),
        (14.7905, 3, "14.791", "5"),
        (9.996, 2, "10.00", "6"),
        (12, 3, "12.000", "0"),
        (123456, -3, "123000", "4"),
        (7, -1, "10", "7"),
        (1e21, 1, "1000000000000000000000.0", "0"),
    ],
)
def test_rounding_digit_by_digit(value: float, places: int, text: str, dropped: str) -> None:
    assert hand.half_up(value, places) == (text, dropped)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (9.996, 3, "10.0"),
        (0.09996, 3, "0.100"),
        (999.6, 3, "1000"),
        (123456, 3, "123000"),
        (0, 3, "0"),
        (0.0123, 1, "0.01"),
    ],
)
def test_significant_digits_digit_by_digit(value: float, digits: int, text: str) -> None:
    assert hand.half_up_significant(value, digits)[0] == text


@given(NUMBERS, st.integers(0, 12))
def test_it_rounds_as_the_unit_table_does(value: float, places: int) -> None:
    assert hand.half_up(value, places)[0] == units.fixed(value, places)


@given(NUMBERS, st.integers(1, 12))
def test_it_rounds_to_significant_digits_as_the_unit_table_does(value: float, digits: int) -> None:
    assert hand.half_up_significant(value, digits)[0] == units.significant(value, digits)


def test_every_cell_agrees_with_its_hand_calculation(read: Published) -> None:
    drawn, total = sample.draw(read, 1000, seed=1)
    assert len(drawn) == total == 10
    assert all(calculation.agrees for calculation in drawn)


def test_a_median_shows_its_values_sorted_and_the_middle_one(report: Report) -> None:
    steps = dict(hand.calculate(report, ROW, "elapsed").steps)
    values = sorted(run.value["elapsed_ms"] for run in report.sources(ROW, "elapsed"))
    assert steps["sorted"] == ", ".join(map(repr, values))
    assert steps["median"] == f"the middle one of 3: {values[1]!r}"
    assert steps["shown"] == f'"{report.rows[ROW]["cells"]["elapsed"]["text"]}" in the published report'
    assert steps["check"].startswith("jq -n ")


def test_a_pooled_percentile_shows_rank_and_bucket(report: Report) -> None:
    steps = dict(hand.calculate(report, ROW, "queue_p99_pooled").steps)
    # 3 runs of 1,000 samples: 99 * 3000 / 100
    assert steps["rank"] == "smallest whole number >= 99 * 3000 / 100 = 2970"
    assert "which holds" in steps["bucket"]


def test_a_conversion_is_shown(report: Report) -> None:
    steps = dict(hand.calculate(report, ROW, "peak_rss").steps)
    # 17 MiB
    assert steps["convert"] == "17825792 / 1048576 = 17 MiB"
    assert steps["round"] == "17 to 2 places, first digit dropped is 0: down: 17.00"


def test_every_value_names_its_file_and_pointer(report: Report) -> None:
    steps = hand.calculate(report, ROW, "elapsed").steps
    values = [text for step, text in steps if step == "value"]
    assert len(values) == 3
    assert all(text.startswith("data/runtime-scale/1k.json::$.runs[") for text in values)


def test_the_same_seed_draws_the_same_cells_and_another_seed_others(read: Published) -> None:
    def names(seed: int) -> list[str]:
        return [f"{one.row}:{one.column}" for one in sample.draw(read, 4, seed)[0]]

    assert names(7) == names(7)
    assert len({tuple(names(seed)) for seed in range(8)}) > 1
    assert sample.draw(read, 2, 7)[0] == sample.draw(read, 4, 7)[0][:2]


def test_an_unknown_cell_is_answered_with_the_closest_ones(report: Report) -> None:
    with pytest.raises(UsageError, match=r"The closest are: tasks=1000,agents=100:elapsed"):
        explain.explain(report, "tasks=1000,agents=100:elapsd")
    with pytest.raises(UsageError, match="there is no such cell"):
        explain.explain(report, "nonsense")
    with pytest.raises(Unresolved):
        hand.calculate(report, ROW, "speed")


def test_the_list_of_cells_shows_each_once(report: Report) -> None:
    listed = explain.cell_list(report)
    assert len(listed) == 10
    assert listed[0].split() == ["tasks=1000,agents=100:runs", "3"]
