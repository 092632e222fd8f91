"""A tool's own figures against its own samples, and series that would be pooled by mistake."""

from __future__ import annotations

import pytest
from support.hyperfine import entry, imported

from tallymark.errors import FindingsError


@pytest.mark.parametrize("figure", ["mean", "median", "min", "max", "stddev"])
def test_a_figure_that_its_samples_do_not_give_is_refused(figure: str) -> None:
    """One part in a million: far less than any printed digit, far more than the noise of summing."""
    with pytest.raises(FindingsError) as caught:
        imported(entry(**{figure: entry()[figure] * (1 + 1e-6)}))
    assert caught.value.where == f"h.json::$.results[0].{figure}"
    assert f"is not the {figure} of its 3 times" in caught.value.problem


def test_the_last_place_of_a_sum_is_no_fault() -> None:
    """hyperfine adds in another order than math.fsum does."""
    assert len(imported(entry(mean=entry()["mean"] * (1 + 1e-15))).runs) == 3


def test_equal_samples_have_a_deviation_of_nearly_0() -> None:
    """0.1 + 0.1 + 0.1 is not 0.3: summing in doubles leaves about 1e-17 where exact arithmetic leaves 0."""
    assert len(imported(entry(times=(0.1, 0.1, 0.1), stddev=1.4e-17)).runs) == 3


def test_milliseconds_beside_seconds_are_called_by_name() -> None:
    whole = entry()
    scaled = {key: whole[key] * 1000 for key in ("mean", "stddev", "median", "min", "max")}
    with pytest.raises(FindingsError, match="it looks like milliseconds, the times like seconds"):
        imported({**whole, **scaled})


def test_samples_in_microseconds_beside_seconds_are_called_by_name() -> None:
    whole = entry()
    with pytest.raises(FindingsError, match="it looks like seconds, the times like microseconds"):
        imported({**whole, "times": [time * 1e6 for time in whole["times"]]})


def test_two_entries_of_one_series_are_refused_with_both_places() -> None:
    with pytest.raises(FindingsError) as caught:
        imported(entry("a"), entry("b"), entry("a"))
    assert caught.value.where == "h.json::$.results[2]"
    assert "$.results[0]" in caught.value.problem


def test_the_order_of_parameters_makes_no_other_series() -> None:
    with pytest.raises(FindingsError, match="same command and parameters"):
        imported(
            entry("a", parameters={"x": "1", "y": "2"}),
            entry("a", parameters={"y": "2", "x": "1"}),
        )


def test_one_command_with_two_parameters_is_two_series() -> None:
    runs = imported(entry("a", parameters={"x": "1"}), entry("a", parameters={"x": "2"})).runs
    assert [run.repetition for run in runs] == [1, 2, 3, 1, 2, 3]
