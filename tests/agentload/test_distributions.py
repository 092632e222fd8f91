"""Distributions: what is declared, and integers that are the same on every machine."""

from __future__ import annotations

import decimal
import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.agentload.distributions import (
    CERTAIN,
    QUANTILES,
    Distribution,
    cumulated,
    integer,
    quantiles,
    table,
    threshold,
)


def test_the_quantiles_of_a_lognormal_law_are_those_of_another_implementation() -> None:
    found = quantiles(400, 8000)
    normal = NormalDist()
    sigma = math.log(20) / normal.inv_cdf(0.99)
    assert len(found) == QUANTILES
    for k in range(1, QUANTILES - 1):
        expected = 400 * math.exp(sigma * normal.inv_cdf(k / (QUANTILES - 1)))
        assert float(found[k]) == pytest.approx(expected, rel=1e-12)
    assert list(found) == sorted(found)


def test_the_table_does_not_depend_on_the_callers_decimal_context() -> None:
    quantiles.cache_clear()
    expected = table(Distribution.declared({"lognormal": {"median": 3.7, "p99": 41}}), 1_000_000)
    quantiles.cache_clear()
    with decimal.localcontext(decimal.Context(prec=5)):
        assert table(Distribution.declared({"lognormal": {"median": 3.7, "p99": 41}}), 1_000_000) == expected


def test_a_number_is_taken_as_the_file_writes_it() -> None:
    assert integer(0.1, 1_000_000_000) == 100_000_000
    assert integer(2.675, 100) == 268  # half even on the decimal; the double is below the half
    assert threshold(1) == CERTAIN
    assert threshold(0.5) == CERTAIN // 2


def test_thresholds_are_cumulated_and_end_at_certainty() -> None:
    assert cumulated((9, 1)) == (CERTAIN * 9 // 10, CERTAIN)
    assert cumulated((0, 0, 5)) == (0, 0, CERTAIN)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20).filter(any))
def test_thresholds_ascend(weights: list[float]) -> None:
    found = cumulated(tuple(weights))
    assert list(found) == sorted(found)
    assert found[-1] == CERTAIN


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_samples_have_their_own_mean_and_percentiles(samples: list[int]) -> None:
    found = Distribution.declared({"samples": samples})
    assert found.mean() == pytest.approx(sum(samples) / len(samples))
    assert found.percentile(1, 1) == max(samples)
    assert found.least() == min(samples)
    assert table(found, 3).values == tuple(sorted(3 * sample for sample in samples))


def test_the_mean_of_the_mix_of_the_article() -> None:
    steps = Distribution.declared({"choices": [3, 40], "weights": [9, 1]})
    assert steps.mean() == pytest.approx(6.7)
    assert (steps.percentile(9, 10), steps.percentile(99, 100)) == (3, 40)


def test_a_constant_and_a_context_factor() -> None:
    assert Distribution.declared(7).constant
    assert not Distribution.declared({"samples": [1, 2]}).constant
    assert Distribution.declared(7).scaled(2500).values == (17.5,)
    lognormal = Distribution.declared({"lognormal": {"median": 10, "p99": 50}})
    assert lognormal.scaled(2000).mean() == pytest.approx(2 * lognormal.mean())


def test_values_of_a_trace_are_not_made_up() -> None:
    with pytest.raises(ValueError, match="in the traces"):
        table(Distribution.declared({"trace": "crm"}), 1)
