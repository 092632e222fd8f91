"""The knee: a bracket of tested loads, and advice that claims nothing about others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.agentload.knee import Point, advice, knee
from tallymark.agentload.quality import Pairs, difference

VERDICTS = {
    "good": difference(Pairs(400, 0, 0, 100), margin=0.05),
    "bad": difference(Pairs(200, 200, 0, 100), margin=0.05),
    "open": difference(Pairs(8, 1, 0, 1), margin=0.05),
    "fallen": difference(Pairs(380, 30, 5, 85), margin=0.05),
}


def points(limit: str | None = None, **loads: str) -> list[Point]:
    return [Point(float(key[1:]), VERDICTS[kind], limit) for key, kind in loads.items()]


def test_the_knee_is_between_the_last_good_and_the_first_bad_load() -> None:
    found = knee(points("slots", l5="good", l10="good", l20="bad", l40="bad"))
    assert (found.good, found.bad, found.open, found.fell) == (10, 20, (), True)
    given_ = advice(found, "tasks/min")
    assert (given_.low, given_.high, given_.limited_by, given_.certainty) == (7, 8, "slots", "bracketed")
    assert given_.sentence == (
        "Quality falls between 10 and 20 tasks/min, limited by slots. Admit 7 to 8 tasks/min (70-80 % of 10)."
    )


def test_where_no_quality_fell_it_says_so() -> None:
    found = knee(points(l5="good", l10="good"))
    assert (found.good, found.bad, found.fell) == (10, None, False)
    given_ = advice(found, "tasks/min")
    assert (given_.low, given_.high, given_.certainty) == (7, 8, "not bracketed")
    assert "Quality fell at no tested load up to 10 tasks/min." in given_.sentence
    assert "the knee was not reached" in given_.sentence


def test_an_undecided_load_is_neither_good_nor_bad() -> None:
    found = knee(points(l5="good", l10="open", l20="bad"))
    assert (found.good, found.bad, found.open) == (5, 20, (10,))
    given_ = advice(found, "tasks/min")
    assert (given_.certainty, given_.low) == ("wide bracket", 3.5)
    assert "It is undecided at 10 tasks/min." in given_.sentence
    assert "test loads inside it" in given_.sentence
    only_open = knee(points(l5="good", l10="open"))
    assert (only_open.bad, only_open.open) == (None, (10,))
    assert advice(only_open, "tasks/min").sentence == (
        "It is undecided at 10 tasks/min whether quality falls."
        " Admit 3.5 to 4 tasks/min (70-80 % of 5); the knee may be above; test more tasks there."
    )


def test_a_loss_that_is_shown_bounds_the_knee_also_when_the_margin_may_hold() -> None:
    """Five points lost, between 2.7 and 7.3: surely less quality, not surely beyond a margin of five."""
    loss = VERDICTS["fallen"]
    assert loss.verdict == "worse" and loss.low < -0.05 < loss.high < 0
    found = knee(points(l5="good", l10="open", l20="fallen", l40="bad"))
    assert (found.good, found.bad, found.open) == (5, 20, (10,))
    assert "Quality falls between 5 and 20 x" in advice(found, "x").sentence


def test_a_small_loss_within_the_margin_is_good() -> None:
    small = difference(Pairs(4500, 60, 20, 420), margin=0.05)
    assert small.verdict == "no worse" and small.high < 0
    assert knee([Point(5, small)]).good == 5


def test_a_good_load_above_a_bad_one_is_not_admitted() -> None:
    found = knee(points(l5="good", l10="bad", l20="good"))
    assert (found.good, found.bad) == (5, 10)


@pytest.mark.parametrize(("kind", "said"), [("bad", "is worse"), ("open", "is undecided")])
def test_without_a_good_load_nothing_is_advised(kind: str, said: str) -> None:
    given_ = advice(knee(points("kv", l5=kind, l10="good")), "tasks/min")
    assert (given_.low, given_.high, given_.certainty, given_.limited_by) == (
        None,
        None,
        "no good load",
        "kv",
    )
    assert said in given_.sentence


@pytest.mark.parametrize("wrong", [[], points(l5="good") * 2])
def test_loads_are_tested_once_each(wrong: list[Point]) -> None:
    with pytest.raises(ValueError, match="each once"):
        knee(wrong)


@given(st.lists(st.integers(1, 10_000), min_size=2, max_size=12, unique=True), st.data())
def test_a_planted_knee_is_bracketed(loads: list[int], data: st.DataObject) -> None:
    """Loads up to a planted one are good, those above bad, in any order: the bracket holds it."""
    loads = sorted(loads)
    planted = data.draw(st.integers(loads[0], loads[-1]))
    tested = [Point(load, VERDICTS["good" if load <= planted else "bad"]) for load in loads]
    found = knee(data.draw(st.permutations(tested)))
    assert found.good is not None
    assert found.good <= planted
    assert (found.bad is None and planted == loads[-1]) or (found.bad is not None and planted < found.bad)
    given_ = advice(found, "x")
    assert given_.high is not None and given_.high < found.good
