"""Named aggregates on numbers small enough to be checked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from support.tables import column, recorded, run_of, spec_of

from tallymark.errors import FindingsError, SpecError
from tallymark.tables import aggregates
from tallymark.tables.evidence import Run

WHERE = "x.toml::$.columns[0]"


def aggregate(runs: list[Run], kind: str, source: str | None = "x", **more: Any) -> int | float:
    spec = spec_of(column("c", kind, source, **more))
    return aggregates.aggregate(spec.columns[0], runs, WHERE)


def runs_of(*values: Any) -> list[Run]:
    return [run_of(x=value) for value in values]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3, 1, 2], 2),
        ([1, 3], 2),
        ([1, 2], 1.5),
        # three elapsed times of a published example: 50.0, 50.4 and 61.2 s
        ([61.2, 50.0, 50.4], 50.4),
        # the mean of the two middle doubles, not of their decimal texts
        ([0.1, 0.2], 0.15000000000000002),
    ],
)
def test_median_is_the_middle_value_or_the_mean_of_the_two_middle_ones(
    values: list[Any], expected: float
) -> None:
    found = aggregate(runs_of(*values), "median_of_runs")
    assert found == expected and type(found) is type(expected)


def test_maximum_and_minimum_are_values_of_runs() -> None:
    assert aggregate(runs_of(3, 1, 2), "max_of_runs") == 3
    assert aggregate(runs_of(3, 1, 2), "min_of_runs") == 1


def test_integers_are_summed_exactly_beyond_the_doubles() -> None:
    # 2^53 - 1 three times; as doubles the sum would end in ...972
    assert aggregate(runs_of(*[2**53 - 1] * 3), "total") == 27021597764222973


def test_floats_are_summed_without_the_error_of_a_loop() -> None:
    # ten times 0.1 in a loop gives 0.9999999999999999
    assert aggregate(runs_of(*[0.1] * 10), "total") == 1.0


def test_ratio_of_totals_divides_the_sums() -> None:
    # (10 + 20) / (4 + 2) = 5; the mean of the two ratios would be (2.5 + 10) / 2 = 6.25
    runs = [run_of(x=10, y=4), run_of(x=20, y=2)]
    assert aggregate(runs, "ratio_of_totals", over="y") == 5


def test_tasks_over_median_elapsed_is_not_the_median_of_rates() -> None:
    # elapsed 50, 60, 70, 80 s for 1,000,000 tasks each. By hand: 1,000,000 / 65 = 15384.615...;
    # the rates 20000, 16666.67, 14285.71, 12500 have the median 15476.19...
    runs = [run_of(x=1_000_000, y=elapsed, rate=1_000_000 / elapsed) for elapsed in (50, 60, 70, 80)]
    assert aggregate(runs, "total_over_median", over="y") == 1_000_000 / 65
    assert aggregate(runs, "median_of_runs", source="rate") == pytest.approx(15476.190476)


def test_pooled_percentile_weighs_tasks_where_the_median_weighs_runs() -> None:
    # 990 tasks of 10 ns, 990 of 12 ns and 20 of 100 ns (below 128 ns every value has its own bucket).
    # Pooled p99: rank ceil(0.99 * 2000) = 1980, the last of the 12 ns; p99.5: rank 1990, one of the 100 ns.
    runs = [run_of(x=recorded(*[10] * 990)), run_of(x=recorded(*[12] * 990)), run_of(x=recorded(*[100] * 20))]
    assert aggregate(runs, "pooled_percentile", percentile="99/100", significant=3) == 12
    assert aggregate(runs, "pooled_percentile", percentile="995/1000", significant=3) == 100


def test_pooled_percentile_is_the_top_of_its_bucket_but_never_above_the_maximum() -> None:
    # 1000 has s = 2 and index 3 * 128 + 122 = 506: the bucket from 1000 to 1003; 5000 is the exact maximum
    runs = [run_of(x=recorded(*[1000] * 999, 5000))]
    assert aggregate(runs, "pooled_percentile", percentile="50/100", significant=3) == 1003
    assert (
        aggregate([run_of(x=recorded(*[1001] * 20))], "pooled_percentile", percentile="1/2", significant=3)
        == 1001
    )


def test_run_count_counts_runs() -> None:
    assert aggregate(runs_of(1, 1), "run_count", None) == 2


def test_only_value_is_the_one_value_that_all_runs_share() -> None:
    assert aggregate(runs_of(7, 7), "only_value") == 7


def test_only_value_refuses_two_values_and_names_both() -> None:
    with pytest.raises(SpecError, match=r"x is 7 in a.json::\$.runs\[0\] and 8 in"):
        aggregate(runs_of(7, 8), "only_value")


def test_only_value_does_not_take_one_for_one_point_zero() -> None:
    with pytest.raises(SpecError, match=r"x is 1 in .* and 1\.0 in"):
        aggregate(runs_of(1, 1.0), "only_value")


@pytest.mark.parametrize("kind", ["ratio_of_totals", "total_over_median"])
def test_nothing_divides_by_zero(kind: str) -> None:
    with pytest.raises(SpecError, match=r"x\.toml::\$\.columns\[0\]\.over: y is 0"):
        aggregate([run_of(x=1, y=0)], kind, over="y")


@pytest.mark.parametrize("value", ["7", True, [7], {"a": 7}])
def test_what_is_no_number_is_refused_with_its_place(value: Any) -> None:
    with pytest.raises(FindingsError, match=r"a\.json::\$\.runs\[0\]\.x: .* is not a number"):
        aggregate(runs_of(value), "max_of_runs")


def test_histograms_of_different_sampling_are_not_added() -> None:
    other = {**recorded(1), "sample_every": 16}
    with pytest.raises(FindingsError, match="does not merge"):
        aggregates.pooled([run_of(x=recorded(1)), run_of(x=other)], "x")


def test_a_histogram_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(FindingsError, match="hold 1 values, count says 2"):
        aggregates.pooled([run_of(x={**recorded(1), "count": 2})], "x")
