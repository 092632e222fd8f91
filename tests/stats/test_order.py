"""Order statistics: nearest rank in integers, medians, and the samples that a percentile needs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.stats.order import median, minimum_samples, nearest_rank

FINITE = st.floats(-1e300, 1e300)


# Worked by hand: the middle value, or half of the sum of the two middle ones.
@pytest.mark.parametrize(
    ("values", "expected"),
    [([3], 3), ([1, 3, 2], 2), ([1, 2], 1.5), ([1, 3], 2), ([1.0, 2.0], 1.5), ([40, 0], 20)],
)
def test_the_median_is_the_middle_or_the_mean_of_the_two(values: list[int], expected: float) -> None:
    assert median(values) == expected
    assert type(median(values)) is type(expected)


@given(st.lists(FINITE, min_size=1), st.randoms())
def test_the_order_of_the_values_does_not_matter(values: list[float], source: object) -> None:
    shuffled = sorted(values, key=lambda _: source.random())  # type: ignore[attr-defined]
    assert median(values) == median(shuffled)
    assert nearest_rank(values, 95, 100) == nearest_rank(shuffled, 95, 100)


@given(st.lists(FINITE, min_size=1), st.integers(0, 999), st.integers(1, 1000))
def test_a_percentile_is_the_value_at_the_exact_rank(values: list[float], a: int, b: int) -> None:
    if a > b:
        a, b = b, a
    rank = max(1, ceil(Fraction(a, b) * len(values)))
    assert nearest_rank(values, a, b) == sorted(values)[rank - 1]


# ceil(0.28 * 25) is 8 in doubles; the right rank is 7.
def test_ranks_are_computed_in_integers() -> None:
    assert nearest_rank(range(1, 26), 28, 100) == 7


@pytest.mark.parametrize(
    ("a", "b", "least"),
    [(1, 2, 20), (95, 100, 200), (99, 100, 1000), (999, 1000, 10_000), (0, 1, 10), (2, 3, 30)],
)
def test_ten_values_must_lie_beyond_a_percentile(a: int, b: int, least: int) -> None:
    assert minimum_samples(a, b) == least
    assert least * (1 - Fraction(a, b)) >= 10 > (least - 1) * (1 - Fraction(a, b))


def test_what_has_no_answer_is_refused() -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: median([]),
        lambda: nearest_rank([], 1, 2),
        lambda: nearest_rank([1], 3, 2),
        lambda: minimum_samples(1, 1),
    )
    for call in calls:
        with pytest.raises(ValueError):
            call()
