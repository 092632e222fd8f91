"""The order that a seed fixes: known values, fairness at the edge, and nothing lost."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.suites.shuffle import below, shuffled, splitmix64


def test_splitmix64_gives_the_published_sequence() -> None:
    # https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64, first five values for seed 1234567
    assert list(itertools.islice(splitmix64(1234567), 5)) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_fisher_yates_follows_the_hand_calculation() -> None:
    # from the end: last=3 swaps with 7 % 4 = 3, last=2 with 3 % 3 = 0, last=1 with 5 % 2 = 1
    assert shuffled(["a", "b", "c", "d"], iter([7, 3, 5])) == ["c", "b", "a", "d"]


def test_a_value_that_would_favour_the_low_ones_is_drawn_again() -> None:
    # 2^64 = 3 * 6148914691236517205 + 1, so of 2^64 values the last one is unfair for a limit of 3
    assert below(3, iter([2**64 - 1, 5])) == 2


@given(st.lists(st.integers(), max_size=40), st.integers(min_value=0, max_value=2**53 - 1))
def test_a_shuffle_loses_and_invents_nothing(items: list[int], seed: int) -> None:
    assert sorted(shuffled(items, splitmix64(seed))) == sorted(items)


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_every_value_below_the_limit_comes_up(limit: int) -> None:
    values = splitmix64(1)
    assert {below(limit, values) for _ in range(100)} == set(range(limit))
