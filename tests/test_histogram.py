"""Log-linear histograms: layout by the formulas of the record's layout name, merge algebra, percentiles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.histogram import (
    LAYOUT,
    MAX_INDEX,
    MAX_VALUE,
    Histogram,
    HistogramError,
    bucket_high,
    bucket_index,
    bucket_low,
    merged,
)
from tallymark.stats.order import nearest_rank

VALUES = st.lists(st.integers(0, MAX_VALUE), max_size=60)
QUANTILES = st.tuples(st.integers(0, 1000), st.just(1000))


# By hand from the layout: 128 and 255 have buckets of their own, 256 and 257 share one.
@pytest.mark.parametrize(
    ("value", "index", "low", "high"),
    [
        (0, 0, 0, 0),
        (127, 127, 127, 127),
        (128, 128, 128, 128),
        (255, 255, 255, 255),
        (256, 256, 256, 257),
        (257, 256, 256, 257),
        (258, 257, 258, 259),
        (900, 481, 900, 903),
        (MAX_VALUE, MAX_INDEX, 0xFF << 56, MAX_VALUE),
    ],
)
def test_values_fall_into_the_buckets_of_the_layout(value: int, index: int, low: int, high: int) -> None:
    assert (bucket_index(value), bucket_low(index), bucket_high(index)) == (index, low, high)


@given(st.integers(0, MAX_INDEX - 1))
def test_buckets_follow_each_other_without_gap(index: int) -> None:
    assert bucket_high(index) + 1 == bucket_low(index + 1)
    assert bucket_index(bucket_low(index)) == bucket_index(bucket_high(index)) == index


@given(st.integers(128, MAX_VALUE))
def test_a_bucket_is_at_most_a_128th_wide(value: int) -> None:
    index = bucket_index(value)
    assert bucket_low(index) <= value <= bucket_high(index)
    assert (bucket_high(index) - bucket_low(index)) * 128 < bucket_low(index)


@pytest.mark.parametrize("value", [-1, MAX_VALUE + 1])
def test_a_value_outside_64_bits_is_refused(value: int) -> None:
    with pytest.raises(HistogramError):
        bucket_index(value)


@given(VALUES, VALUES)
def test_merge_equals_recording_everything_in_one(left: list[int], right: list[int]) -> None:
    both = merged([Histogram.recorded(left), Histogram.recorded(right)])
    assert both == Histogram.recorded(left + right)


@given(VALUES, VALUES, VALUES)
def test_merge_takes_any_order_and_grouping(one: list[int], two: list[int], three: list[int]) -> None:
    a, b, c = (Histogram.recorded(values) for values in (one, two, three))
    assert merged([a, merged([b, c])]) == merged([merged([c, a]), b]) == merged([a, b, c])


@given(VALUES.filter(bool), QUANTILES)
def test_a_percentile_is_an_upper_bound_within_the_stated_error(
    values: list[int], quantile: tuple[int, int]
) -> None:
    exact = nearest_rank(values, *quantile)
    shown = Histogram.recorded(values).percentile_ns(*quantile)
    assert exact <= shown <= exact + exact // 128
    assert shown <= max(values)


@given(VALUES.filter(bool))
def test_percentiles_rise_with_the_quantile_up_to_the_exact_maximum(values: list[int]) -> None:
    histogram = Histogram.recorded(values)
    found = [histogram.percentile_ns(a, 100) for a in range(101)]
    assert found == sorted(found)
    assert found[-1] == max(values)


@given(VALUES)
def test_a_record_reads_back_as_the_same_histogram(values: list[int]) -> None:
    histogram = Histogram.recorded(values)
    assert Histogram.from_record(histogram.to_record()) == histogram


def test_nothing_is_merged_across_layouts_or_samplings() -> None:
    one = Histogram.recorded([1])
    other = Histogram(LAYOUT, 16, 1, 1, 1, 1, ((1, 1),))
    with pytest.raises(HistogramError, match="does not merge"):
        merged([one, other])
    with pytest.raises(HistogramError, match="nothing to merge"):
        merged([])


def test_an_empty_histogram_has_no_percentile() -> None:
    with pytest.raises(HistogramError, match="empty"):
        Histogram.recorded([]).percentile_ns(1, 2)
    with pytest.raises(HistogramError, match="not a quantile"):
        Histogram.recorded([1]).percentile_ns(3, 2)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"layout": "log-linear/8"}, "layout"),
        ({"buckets": [[5, 1], [1, 1]]}, "ascending"),
        ({"buckets": [[1, 1], [MAX_INDEX + 1, 1]]}, "outside"),
        ({"count": 3}, "count says"),
        ({"min_ns": 2}, "minimum"),
        ({"max_ns": 6}, "maximum"),
        ({"min_ns": None}, "null"),
        ({"sum_ns": "7"}, "sum"),
        ({"buckets": [], "count": 0}, "nothing was recorded"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused(change: dict[str, object], problem: str) -> None:
    record = Histogram.recorded([1, 5]).to_record() | change
    with pytest.raises(HistogramError, match=problem):
        Histogram.from_record(record)
