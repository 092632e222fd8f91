"""Theil–Sen slopes: hand-calculated points, published oracles, and what must hold for any series."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import run_of

from tallymark.recount import recount
from tallymark.stats.slopes import NORMAL_975, theil_sen

WHOLE = st.integers(-(2**40), 2**40)
# x apart from each other, y anything
SERIES = st.lists(st.tuples(st.integers(0, 10**6), WHOLE), min_size=2, max_size=40, unique_by=lambda p: p[0])


def test_the_slope_of_four_points_by_hand() -> None:
    # (1, 1), (2, 3), (3, 2), (4, 7): slopes 2, 1/2, 2, -1, 2, 5; sorted -1, 0.5, 2, 2, 2, 5; the middle is 2
    assert theil_sen([(1, 1), (2, 3), (3, 2), (4, 7)]).slope == 2.0


def test_one_wild_point_changes_little() -> None:
    # a line of slope 3 with one point a million off: 36 pairs, 8 of them with that point
    points = [(x, 3 * x) for x in range(1, 10)]
    points[4] = (5, 1_000_000)
    assert theil_sen(points).slope == 3.0


def test_the_interval_of_nine_points_by_hand() -> None:
    # the drained memory of batches 4 to 12 in MiB; scipy.stats.theilslopes gives 1.00833 [0.95, 1.1].
    # n = 9: 36 slopes, sigma = sqrt(9 * 8 * 23 / 18) = sqrt(92), M = (36 - 18.80) / 2 = 8.60, rounded 9
    drained = [112.6, 114.3, 114.9, 116.0, 117.2, 117.8, 119.1, 119.9, 121.0]
    found = theil_sen(list(enumerate(drained)))
    assert (found.slope, found.low, found.high) == pytest.approx((1.0083333, 0.95, 1.1), abs=1e-6)


def test_the_order_of_x_and_y_matters() -> None:
    # theilslopes(y, x) is 10; with the arguments exchanged it is 0.1
    assert theil_sen([(1, 10), (2, 20), (3, 30), (4, 40)]).slope == 10.0
    assert theil_sen([(10, 1), (20, 2), (30, 3), (40, 4)]).slope == pytest.approx(0.1)


def test_equal_values_exclude_no_slope_below_the_resolution() -> None:
    # memory counted in pages of 4096 bytes, the same number after each of 10 batches of 1000 tasks: one page
    # over the 9000 tasks between the first and the last cannot be told from none
    flat = theil_sen([(batch * 1000, 1 << 20) for batch in range(10)], resolution=4096)
    assert (flat.slope, flat.low, flat.high) == (0.0, -4096 / 9000, 4096 / 9000)


@pytest.mark.parametrize("points", [[], [(1, 1)], [(1, 1), (1, 2)]])
def test_no_slope_without_two_places(points: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError):
        theil_sen(points)


@given(SERIES, st.integers(0, 4096))
def test_the_slope_lies_in_its_interval_and_no_order_of_points_matters(
    points: list[tuple[int, int]], resolution: int
) -> None:
    found = theil_sen(points, resolution)
    assert found.low <= found.slope <= found.high
    assert theil_sen(points[::-1], resolution) == found


@given(SERIES, st.integers(-1000, 1000), st.integers(1, 64))
def test_a_steeper_series_has_a_steeper_slope(points: list[tuple[int, int]], lean: int, scale: int) -> None:
    """Adding lean · x adds lean, in exact fractions; in doubles within their precision."""
    base = theil_sen(points)
    leaning = theil_sen([(x, scale * y + lean * x) for x, y in points])
    size = max(abs(y) for _, y in points) * scale + 10**9
    assert math.isclose(leaning.slope, scale * base.slope + lean, rel_tol=1e-9, abs_tol=size * 1e-12)


@given(SERIES)
def test_mirrored_values_mirror_the_interval(points: list[tuple[int, int]]) -> None:
    found, mirrored = theil_sen(points), theil_sen([(x, -y) for x, y in points])
    assert (mirrored.slope, mirrored.low, mirrored.high) == (-found.slope, -found.high, -found.low)


@given(SERIES, st.integers(0, 4096), st.integers(0, 3))
def test_the_recount_has_the_same_slope_to_the_last_bit(
    points: list[tuple[int, int]], resolution: int, skip: int
) -> None:
    rows: list[list[Any]] = [[x, y] for x, y in points]
    if len(rows) - skip < 2:
        return
    run: Any = run_of(series={"columns": ["x", "y"], "rows": rows})
    column = {"source": "series.y", "over": "series.x", "skip": skip, "resolution": resolution}
    found = theil_sen(points[skip:], resolution)
    assert recount.theil_sen(column, run) == (found.slope, found.low, found.high)


def test_the_interval_holds_the_true_slope_about_as_often_as_it_says() -> None:
    """400 seeded series of 20 points around a line: a 95 % interval misses it in about 20 of them."""
    import random

    source = random.Random(3)
    held = 0
    for _ in range(400):
        found = theil_sen([(x, 2.0 * x + source.gauss(0, 5)) for x in range(20)])
        held += found.low <= 2.0 <= found.high
    # binomial, 400 draws of 0.95: 5 standard deviations are 22
    assert 358 <= held <= 400
    # the 97.5 % point of the normal distribution, from its distribution function
    assert math.erf(NORMAL_975 / math.sqrt(2)) == pytest.approx(0.95, abs=1e-12)
