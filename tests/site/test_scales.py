"""Axes: ranges, ticks, and where a value lies."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.site import scales
from tallymark.site.shown import Shown

_SUFFIXES = {"k": 1000, "M": 10**6, "G": 10**9}


def _read_back(text: str) -> Decimal:
    factor = _SUFFIXES.get(text[-1])
    return Decimal(text) if factor is None else Decimal(text[:-1]) * factor


positive = st.floats(min_value=1e-6, max_value=1e12)


@given(st.lists(positive, min_size=1, max_size=20))
def test_a_linear_axis_starts_at_zero_and_holds_every_value(values: list[float]) -> None:
    """Its ticks are equally far apart, few, and read back as exactly their value."""
    axis = scales.linear_axis(values, "ms")
    assert axis.low == 0 and axis.high >= max(values)
    assert 2 <= len(axis.ticks) <= 6
    for tick in axis.ticks:
        assert float(_read_back(tick.label.text)) == tick.value


@given(st.lists(positive, min_size=1, max_size=20))
def test_a_fitted_axis_holds_every_value_and_says_when_it_is_cut(values: list[float]) -> None:
    """Rings show by their place, so their axis may start above zero, and then says so."""
    axis = scales.fitted_axis(values, "ms")
    assert axis.low <= min(values) and max(values) <= axis.high
    assert ("not from zero" in axis.title) == (axis.low > 0)


@given(st.lists(positive, min_size=1, max_size=20))
def test_a_log_axis_covers_whole_decades_and_says_that_it_is_one(values: list[float]) -> None:
    """Every value has its place between the ends."""
    axis = scales.log_axis(values, "ms")
    assert "log" in axis.title
    for value in values:
        assert -1e-9 <= scales.position(axis, value, 0, 1) <= 1 + 1e-9


def test_values_that_span_a_factor_of_fifty_get_a_log_axis() -> None:
    """Zero has no logarithm, so an axis with a zero stays linear whatever is asked for."""
    assert scales.value_axis([1, 49], "ms").kind == "linear"
    assert scales.value_axis([1, 50], "ms").kind == "log"
    assert scales.value_axis([0, 50], "ms", log=True).kind == "linear"


def test_each_nine_takes_the_same_length() -> None:
    """0.9, 0.99 and 0.999 lie one step apart; the maximum stands at the end."""
    axis = scales.nines_axis([0.5, 0.9, 0.99, 0.999, 1])
    assert axis.high == 4
    places = [scales.position(axis, quantile, 0, 400) for quantile in (0.9, 0.99, 0.999, 1)]
    assert places == pytest.approx([100, 200, 300, 400])
    assert [tick.label.text for tick in axis.ticks] == ["50%", "90%", "99%", "99.9%", "max"]


def test_categories_stand_in_the_middle_of_equal_bands() -> None:
    """Four rows over 80 pixels: 10, 30, 50, 70."""
    axis = scales.category_axis(list("abcd"), [Shown(name) for name in "abcd"], "row")
    assert [scales.position(axis, name, 0, 80) for name in "abcd"] == [10, 30, 50, 70]


@pytest.mark.parametrize(
    ("value", "text"),
    [("0", "0"), ("9999", "9999"), ("20000", "20k"), ("1500000", "1.5M"), ("2E9", "2G"), ("0.05", "0.05")],
)
def test_tick_labels_are_short(value: str, text: str) -> None:
    """Suffixes only from ten thousand on."""
    assert scales.label(Decimal(value)) == text
