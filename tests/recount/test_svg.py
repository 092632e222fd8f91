"""Where a value stands in a static chart, and how an axis label reads."""

from __future__ import annotations

import pytest

from tallymark.recount.html_tree import parse
from tallymark.recount.published import Published
from tallymark.recount.reference import Unresolved
from tallymark.recount.svg import Axis, compare_charts, reads_as

NAME = "runtime-scale"
ROWS = ("tasks=1000,agents=100", "tasks=1000,agents=1000")


@pytest.mark.parametrize(
    ("axis", "value", "pixel"),
    [
        # by hand: a quarter of the way, half of two decades, two of four nines, the middle of the first band
        (Axis("linear", 0, 10, 0, 100), 2.5, "25.00"),
        (Axis("linear", 0, 10, 200, 0), 2.5, "150.00"),
        (Axis("log", 1, 100, 0, 100), 10, "50.00"),
        (Axis("nines", 0, 4, 0, 100), 0.99, "50.00"),
        (Axis("nines", 0, 4, 0, 100), 1, "100.00"),
        (Axis("category", 0, 2, 0, 100, ROWS), ROWS[0], "25.00"),
    ],
)
def test_a_value_stands_where_the_axis_puts_it(axis: Axis, value: float | str, pixel: str) -> None:
    assert axis.pixel(value) == pixel


@pytest.mark.parametrize(
    ("axis", "value"),
    [
        (Axis("log", 1, 100, 0, 100), 0),
        (Axis("log", 1, 100, 0, 100), -1),
        (Axis("category", 0, 2, 0, 100, ROWS), "tasks=7"),
        (Axis("linear", 0, 10, 0, 100), "fast"),
        (Axis("linear", 0, 10, 0, 100), float("nan")),
    ],
)
def test_a_value_that_no_axis_can_hold_is_unresolved(axis: Axis, value: float | str) -> None:
    with pytest.raises(Unresolved, match="cannot hold"):
        axis.pixel(value)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("1.5M", "1500000"),
        ("20k", "20000"),
        ("0.25", "0.25"),
        ("99.9%", "0.999"),
        ("max", "1"),
        ("3G", "3000000000"),
    ],
)
def test_a_label_reads_as_its_value(label: str, value: str) -> None:
    assert reads_as(label, value)


@pytest.mark.parametrize(
    ("label", "value"), [("1.5M", "1500"), ("99%", "0.999"), ("max", "0.9"), ("", "1"), ("k", "1000")]
)
def test_another_label_does_not(label: str, value: str) -> None:
    assert not reads_as(label, value)


def compare(read: Published, svg: str) -> tuple[int, list[str]]:
    article = parse(f"<article><figure id='fig-a'>{svg}</figure></article>").article()
    assert article is not None
    points, differences = compare_charts(read, "page.html", article)
    return points, [one.line() for one in differences]


def chart(points: str, x: str = "category,0,2,0,100", y: str = "linear,0,6,60,0") -> str:
    return (
        f'<svg class="tm-chart" data-x="{x}" data-y="{y}">'
        f'<g data-from="series:cells/{NAME}/runs">{points}</g></svg>'
    )


def test_points_of_a_series_are_compared(read: Published) -> None:
    # both rows have 3 runs: half of 0..6 on 60..0 is 30; the middles of two bands are at 25 and 75
    assert compare(read, chart('<polyline points="25.00,30.00 75.00,30.00"/>')) == (2, [])
    circles = '<circle cx="25.00" cy="30.00"/><circle cx="75.00" cy="30.00"/>'
    assert compare(read, chart(circles)) == (2, [])


@pytest.mark.parametrize(
    ("svg", "said"),
    [
        (
            chart('<polyline points="25.00,30.00 75.00,29.00"/>'),
            'point 2: shown "75.00,29.00", recomputed "75.00,30.00"',
        ),
        (chart('<polyline points="25.00,30.00"/>'), 'shown "1 points", recomputed "2 points"'),
        (chart('<polyline points="25.00 30.00"/>'), "point 1: shown"),
        (chart(""), 'shown "0 points"'),
        (chart('<circle cx="25.00" cy="30.00"/><polyline points="75.00,30.00"/>'), "point 2: shown"),
        (chart("", x="category,0,3,0,100"), "does not hold the 2 rows"),
        (chart("", x="circular,0,2,0,100"), "is no axis"),
        (chart("", y="linear,6,0,60,0"), "is no axis"),
        (chart("", y="linear,0"), "is no axis"),
        ('<svg class="tm-chart"><path d="M0 0"/></svg>', "<path> on line 1 belongs to no series"),
        ('<svg data-x="1"><rect/></svg>', "<rect> on line 1 belongs to no series"),
        (chart("").replace("runs", "speed"), "has no column 'speed'"),
    ],
)
def test_whatever_does_not_follow_is_named(read: Published, svg: str, said: str) -> None:
    _, found = compare(read, svg)
    assert any(said in line and line.startswith("page.html::figure a, line 1") for line in found), found
