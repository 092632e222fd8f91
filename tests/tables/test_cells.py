"""Cells: exact value, text, number of runs, samples, lineage, and every kind of absence."""

from __future__ import annotations

from typing import Any

import pytest
from support.tables import column, recorded, run_of, spec_of

from tallymark.errors import FindingsError
from tallymark.tables import cells
from tallymark.tables.cells import Cell
from tallymark.tables.evidence import Run, State
from tallymark.tables.groups import Row
from tallymark.tables.resolve import Resolved

FAILED, EXCLUDED = State.FAILED, State.EXCLUDED


def cell(
    runs: list[Run], kind: str, source: str | None = "x", factor: tuple[int, int] = (1, 1), **more: Any
) -> Cell:
    declared = spec_of(column("c", kind, source, **more), schema="report-spec/1.1").columns[0]
    resolved = Resolved(declared, "1", "1", factor, "none", "", "")
    return cells.compute(resolved, Row("k=1", {"k": 1}, tuple(runs), 3), "x.toml::$.columns[0]")


@pytest.mark.parametrize(
    ("value", "rounding", "text"),
    [
        # half up on the shortest decimal; the doubles are 14.789499..., 2.67499... and 1.00499...
        (14.7895, {"places": 3}, "14.790"),
        (2.675, {"places": 2}, "2.68"),
        (1.005, {"places": 2}, "1.01"),
        (0.5, {"places": 0}, "1"),
        (0.0004, {"places": 3}, "0.000"),
        (9.996, {"significant": 3}, "10.0"),
        (123456, {"significant": 3}, "123000"),
        (0, {"places": 2}, "0.00"),
    ],
)
def test_text_is_rounded_half_up_and_exact_keeps_every_digit(
    value: float, rounding: dict[str, Any], text: str
) -> None:
    found = cell([run_of(x=value)], "max_of_runs", **rounding)
    assert (found.text, found.exact) == (text, value)


def test_unit_factor_is_applied_after_the_aggregate() -> None:
    # the median of 1 MiB and 2 MiB + 1 B is 1572864.5 B; / 1048576 = 1.50000047...
    found = cell(
        [run_of(x=1_048_576), run_of(x=2_097_153)], "median_of_runs", factor=(1, 1_048_576), places=2
    )
    assert (found.text, found.exact) == ("1.50", 1572864.5 / 1048576)


def test_an_integer_that_divides_stays_an_integer() -> None:
    found = cell([run_of(x=3_145_728)], "max_of_runs", factor=(1, 1_048_576), places=2)
    assert (found.text, repr(found.exact)) == ("3.00", "3")


def test_lineage_names_file_digest_and_pointer_of_every_value() -> None:
    found = cell([run_of(x=1, y=2)], "total_over_median", over="y")
    assert [(source.path, source.pointer) for source in found.sources] == [
        ("a.json", "$.runs[0].x"),
        ("a.json", "$.runs[0].y"),
    ]
    assert {len(source.sha256) for source in found.sources} == {64}


def test_a_count_of_runs_leads_to_the_runs() -> None:
    found = cell([run_of(), run_of()], "run_count", None)
    assert (found.text, found.n, [source.pointer for source in found.sources]) == ("2", 2, ["$.runs[0]"] * 2)


def test_failed_and_excluded_runs_are_in_no_aggregate() -> None:
    found = cell([run_of(x=1), run_of(FAILED, x=9), run_of(EXCLUDED, x=99)], "max_of_runs")
    assert (found.text, found.n) == ("1", 1)


def test_include_failed_reads_failed_runs_and_still_no_excluded_one() -> None:
    found = cell([run_of(x=1), run_of(FAILED, x=9), run_of(EXCLUDED, x=99)], "total", include_failed=True)
    assert (found.text, found.n) == ("10", 2)


@pytest.mark.parametrize(
    ("runs", "kind", "text"),
    [
        ([], "not_measured", "not measured"),
        ([run_of(FAILED), run_of(EXCLUDED)], "failed", "all runs failed"),
        ([run_of(FAILED, outcome="killed")] * 2, "failed", "all runs killed"),
        (
            [run_of(FAILED, outcome="killed"), run_of(FAILED, outcome="timed_out")],
            "failed",
            "all runs failed",
        ),
        ([run_of(EXCLUDED)], "skipped", "all runs excluded"),
        ([run_of(x=1), run_of(x=None), run_of()], "not_measured", "not measured in 2 of 3 runs"),
    ],
)
def test_absence_has_a_kind_and_a_reason_and_is_never_a_number(runs: list[Run], kind: str, text: str) -> None:
    found = cell(runs, "max_of_runs")
    assert found.absent is not None
    assert (found.absent.kind, found.absent.reason, found.text, found.exact) == (kind, text, text, None)
    assert found.to_json() == {
        "absent": {"kind": kind, "reason": text},
        "text": text,
        "n": 0,
        "sources": [],
    }


def test_no_completed_run_is_a_count_of_zero_not_an_absence() -> None:
    found = cell([run_of(FAILED)], "run_count", None)
    assert (found.text, found.exact, found.n, found.sources) == ("0", 0, 0, ())


@pytest.mark.parametrize(("count", "text"), [(999, "needs 1000 samples, has 999"), (1000, "≤ 5")])
def test_p99_needs_a_thousand_samples(count: int, text: str) -> None:
    # 10 / (1 - 99/100) = 1000
    found = cell([run_of(x=recorded(*[5] * count))], "pooled_percentile", percentile="99/100", significant=1)
    assert found.text == text
    assert (found.absent is None) == (count == 1000)


def test_pooling_reaches_the_samples_that_no_run_alone_has() -> None:
    runs = [run_of(x=recorded(*[5] * 500), p99=5, n=500) for _ in range(2)]
    pooled = cell(runs, "pooled_percentile", percentile="99/100", significant=1)
    each = cell(runs, "median_of_runs", "p99", percentile="99/100", samples="n", significant=1)
    assert (pooled.text, pooled.samples) == ("≤ 5", 1000)
    assert each.text == "needs 1000 samples, has 500"
    assert each.absent is not None and each.absent.kind == "refused"


def test_the_run_with_the_fewest_samples_decides_for_a_percentile_of_each_run() -> None:
    runs = [run_of(p50=5, n=count) for count in (5000, 20)]
    found = cell(runs, "median_of_runs", "p50", percentile="1/2", samples="n", significant=2)
    assert (found.text, found.samples) == ("≤ 5.0", 20)


def test_samples_that_are_no_count_are_refused() -> None:
    with pytest.raises(FindingsError, match=r"\$\.runs\[0\]\.n: is not a count"):
        cell([run_of(p50=5, n=20.5)], "max_of_runs", "p50", percentile="1/2", samples="n", significant=2)


def test_an_outcome_is_counted_instead_of_the_completed_runs() -> None:
    runs = [run_of(outcome="completed"), run_of(FAILED, outcome="killed"), run_of(EXCLUDED, outcome="killed")]
    found = cell(runs, "run_count", None, outcome="killed")
    assert (found.text, found.n) == ("1", 1)
    assert cell(runs, "run_count", None, outcome="timed_out").text == "0"


P99: dict[str, Any] = {"percentile": "99/100", "significant": 1}


def test_where_the_queue_grew_no_value_is_given_as_if_it_were_steady() -> None:
    grown = [run_of(FAILED, outcome="overloaded", x=recorded(*[5] * 1000), y=7) for _ in range(2)]
    for found in (
        cell(grown, "pooled_percentile", **P99),
        cell(grown, "pooled_percentile", include_failed=True, **P99),
        cell(grown, "max_of_runs", "y"),
    ):
        assert found.absent is not None
        assert (found.text, found.absent.kind) == ("overloaded", "failed")
    # what was counted until then may be asked for
    assert cell(grown, "total", "y", include_failed=True).text == "14"


def test_the_calm_runs_of_a_row_do_not_speak_for_the_others() -> None:
    calm, grown = (
        run_of(outcome="completed", x=recorded(*[5] * 1000), y=3),
        run_of(FAILED, outcome="overloaded"),
    )
    assert cell([calm, grown], "pooled_percentile", **P99).text == "overloaded in 1 of 2 runs"
    assert cell([calm, grown], "max_of_runs", "y").text == "3"


def series(*values: float | None) -> dict[str, Any]:
    return {"columns": ["x", "y"], "rows": [[at, value] for at, value in enumerate(values)]}


def slope(*runs: Run, end: str = "slope", **more: Any) -> Cell:
    return cell(list(runs), f"theil_sen_{end}", "s.y", over="s.x", **{"places": 2, **more})


def test_a_slope_of_several_runs_is_the_middle_one_between_the_outermost_ends() -> None:
    # lines of slope 1, 2 and 6: every pair of points has the slope of its line, and so have the ends
    runs = [run_of(s=series(*(scale * at for at in range(8)))) for scale in (2, 1, 6)]
    assert [slope(*runs, end=end).text for end in ("low", "slope", "high")] == ["1.00", "2.00", "6.00"]
    # one step of 7 that cannot be seen, over the 7 between the first and the last x: 1 to either side
    assert [slope(*runs, end=end, resolution=7).text for end in ("low", "high")] == ["0.00", "7.00"]
    assert slope(*runs).n == 3
    assert [source.pointer for source in slope(*runs).sources] == ["$.runs[0].s"] * 3


def test_skipped_rows_and_nulls_are_no_points() -> None:
    flat = [5.0] * 8
    assert slope(run_of(s=series(900.0, 400.0, *flat)), skip=2).text == "0.00"
    assert slope(run_of(s=series(None, *flat, None))).text == "0.00"


def test_a_slope_needs_eight_points_in_every_run() -> None:
    found = slope(run_of(s=series(*range(9))), run_of(s=series(*range(9), None)), skip=2)
    assert found.text == "needs 8 points, has 7"
    assert found.absent is not None and found.absent.kind == "refused"
    assert slope(run_of(s=series(*range(2001)))).text == "takes 2000 points, has 2001"
    assert slope(run_of()).text == "not measured in 1 of 1 runs"


def test_zero_is_shown_as_zero() -> None:
    assert cell([run_of(x=0)], "total").text == "0"


def test_equal_text_of_different_values_is_marked() -> None:
    one, other, same = (cell([run_of(x=value)], "max_of_runs") for value in (1.1, 1.2, 1.1))
    marked = cells.mark_ties([{"c": one}, {"c": other}, {"c": same}])
    assert [row["c"].ties for row in marked] == [True, True, True]
    assert marked[0]["c"].to_json()["ties"] is True


def test_equal_text_of_equal_values_is_not_marked() -> None:
    one, other = (cell([run_of(x=1.1)], "max_of_runs") for _ in range(2))
    assert [row["c"].ties for row in cells.mark_ties([{"c": one}, {"c": other}])] == [False, False]


def test_equal_text_in_another_column_is_no_tie() -> None:
    one, other = (cell([run_of(x=value)], "max_of_runs") for value in (1.1, 1.2))
    assert not any(found.ties for found in cells.mark_ties([{"c": one, "d": other}])[0].values())
