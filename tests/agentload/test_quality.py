"""Paired quality: against published examples and against counting by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.agentload import quality
from tallymark.agentload.quality import Pairs, difference, mcnemar, paired, wilson

BENTUR = Pairs(both=1, only_idle=7, only_loaded=1, neither=12)
"""Bentur et al. 2009, the example of Fagerland, Lydersen and Laake (2013, 2014)."""

counts = st.integers(0, 60)
tables = st.builds(Pairs, counts, counts, counts, counts).filter(lambda pairs: pairs.count > 0)


def test_pairs_are_counted_task_by_task() -> None:
    idle = [True, True, True, False, False, True]
    loaded = [True, False, False, True, False, True]
    assert paired(idle, loaded) == Pairs(both=2, only_idle=2, only_loaded=1, neither=1)
    for wrong in (([], []), ([True], [True, False])):
        with pytest.raises(ValueError, match="are no pairs"):
            paired(*wrong)


def test_the_exact_test_and_mid_p_of_a_published_example() -> None:
    """Of 8 pairs that differ 1 goes the other way: 2 * (1 + 8) / 256; mid-p takes the point 8 / 256 off."""
    found = mcnemar(BENTUR)
    assert (found.p, found.mid_p) == (18 / 256, 10 / 256)
    assert (round(found.p, 4), round(found.mid_p or 0, 4)) == (0.0703, 0.0391)
    assert (found.discordant, found.method) == (8, "exact binomial")


def test_another_example_of_the_exact_test() -> None:
    """10 against 2 of 100 tasks: 2 * (1 + 12 + 66) / 4096."""
    found = mcnemar(Pairs(80, 10, 2, 8))
    assert (round(found.p, 4), round(found.mid_p or 0, 4)) == (0.0386, 0.0225)


def test_above_the_limit_the_asymptotic_test_is_used_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Published for the same example: 0.034 (z = 6 / sqrt 8)."""
    monkeypatch.setattr(quality, "EXACT_UP_TO", 7)
    found = mcnemar(BENTUR)
    assert (round(found.p, 4), found.mid_p, found.method) == (0.0339, None, "asymptotic")


def test_without_a_pair_that_differs_nothing_speaks_against_no_change() -> None:
    assert mcnemar(Pairs(5, 0, 0, 5)).p == 1.0
    assert mcnemar(Pairs(5, 0, 0, 5)).method == "no pair differs"


@given(st.integers(0, 9), st.integers(0, 9))
def test_the_exact_test_is_what_counting_all_outcomes_gives(one: int, other: int) -> None:
    """Every sequence of heads and tails that is at least as uneven as the one that was seen."""
    n = one + other
    if n == 0 or n > 10:
        return
    uneven = abs(one - other)
    extreme = sum(abs(2 * sum(heads) - n) >= uneven for heads in product((0, 1), repeat=n))
    assert mcnemar(Pairs(3, one, other, 4)).p == float(Fraction(extreme, 2**n))


def test_the_interval_of_two_published_examples() -> None:
    found = difference(BENTUR, margin=0.1)
    assert (round(found.difference, 3), round(found.low, 3), round(found.high, 3)) == (-0.286, -0.507, -0.026)
    altman = difference(
        Pairs(both=14, only_idle=0, only_loaded=5, neither=22), margin=0.1
    )  # Altman 2000, p. 52
    assert (round(altman.difference, 3), round(altman.low, 3), round(altman.high, 3)) == (0.122, 0.011, 0.226)


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        (Pairs(400, 0, 0, 100), "no worse"),
        (Pairs(200, 200, 0, 100), "worse"),
        (Pairs(8, 1, 0, 1), "undecided"),  # ten tasks decide nothing about five points
        (Pairs(100, 0, 300, 100), "no worse"),  # better is no worse
        (Pairs(800, 40, 0, 160), "worse"),  # -4 points [-5.4, -3.0]: a loss for sure, of more than 5 perhaps
        (Pairs(9000, 200, 0, 800), "no worse"),  # -2 points for sure, and for sure less than 5
    ],
)
def test_the_verdict_is_about_the_whole_interval(pairs: Pairs, verdict: str) -> None:
    assert difference(pairs, margin=0.05).verdict == verdict


@given(tables)
def test_an_interval_holds_its_estimate_and_turns_with_the_sides(pairs: Pairs) -> None:
    found = difference(pairs, margin=0.05)
    assert -1 <= found.low <= found.difference <= found.high <= 1
    turned = Pairs(pairs.both, pairs.only_loaded, pairs.only_idle, pairs.neither)
    other = difference(turned, margin=0.05)
    assert math.isclose(other.low, -found.high, abs_tol=1e-12)
    assert math.isclose(other.high, -found.low, abs_tol=1e-12)
    assert mcnemar(turned) == mcnemar(pairs)


@given(tables)
def test_more_confidence_is_wider(pairs: Pairs) -> None:
    narrow, wide = (difference(pairs, margin=0.05, confidence=level) for level in (0.8, 0.99))
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high <= wide.high + 1e-12


def test_wilson_of_a_known_example() -> None:
    """Newcombe 1998 (Statistics in Medicine 17:857-872), table I, method 3: 81 of 263 is 0.2553 to 0.3662."""
    low, high = wilson(81, 263, 1.959963984540054)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert wilson(0, 20, 1.96)[0] == 0.0
    assert wilson(20, 20, 1.96)[1] == 1.0


@pytest.mark.parametrize(("margin", "confidence"), [(0, 0.95), (1, 0.95), (0.1, 0), (0.1, 1)])
def test_nonsense_is_refused(margin: float, confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        difference(BENTUR, margin, confidence)
