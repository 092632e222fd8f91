"""Paired ratios: a run beside the baseline's run of the same round, and never beside another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.evidence import died, runtime_execution
from support.tables import column, computed, declared, published, samples, spec_of, texts

from tallymark.errors import SpecError
from tallymark.evidence import canonical
from tallymark.recount import recount
from tallymark.tables.report import Report
from tallymark.tables.spec import Spec, from_value

BASE = 'benchmark="b"'
# a and b in three rounds; by hand: ratios 2/1, 3/2 and 8/2
ROUNDS = {"a": [2.0, 3.0, 8.0], "b": [1.0, 2.0, 2.0]}


def paired_spec(*extra: dict[str, Any], **more: Any) -> Spec:
    columns = [
        column(f"{kind}", f"{kind}_of_paired_ratios", "elapsed_s", baseline=BASE, places=2)
        for kind in ("median", "min", "max")
    ]
    return spec_of(*columns, *extra, **{"rows": ["benchmark"], **more})


def row(report: Report, at: int) -> list[str]:
    return [cell.text for cell in report.table.cells[at].values()]


def test_the_ratio_is_taken_within_each_round_before_the_aggregate(tmp_path: Path) -> None:
    report = computed(tmp_path, paired_spec(), samples(**ROUNDS))
    # the ratio of the medians would be 3 / 2, of the sums 13 / 5
    assert row(report, 0) == ["2.00", "1.50", "4.00"]


def test_the_baseline_beside_itself_is_one(tmp_path: Path) -> None:
    assert row(computed(tmp_path, paired_spec(), samples(**ROUNDS)), 1) == ["1.00", "1.00", "1.00"]


def test_sources_are_the_runs_of_both_rows_and_n_counts_pairs(tmp_path: Path) -> None:
    cells = computed(tmp_path, paired_spec(), samples(**ROUNDS)).table.cells
    pointers = [source.pointer for source in cells[0]["median"].sources]
    assert pointers == [f"$.runs[{index}].elapsed_s" for index in (0, 1, 2, 3, 4, 5)]
    assert (cells[0]["median"].n, cells[1]["median"].n, len(cells[1]["median"].sources)) == (3, 3, 3)


def test_source_over_another_measure_is_divided_in_each_run_first(tmp_path: Path) -> None:
    document = samples(**ROUNDS)
    for run, size in zip(document["runs"], [4, 4, 4, 1, 2, 4], strict=True):
        run["memory_bytes"] = size
    per_byte = column(
        "x", "median_of_paired_ratios", "elapsed_s", over="memory_bytes", baseline=BASE, places=3
    )
    report = computed(tmp_path, paired_spec(per_byte), document)
    # (2/4)/(1/1) = 0.5, (3/4)/(2/2) = 0.75, (8/4)/(2/4) = 4
    assert texts(report, "x")[0] == "0.750"


def test_a_ratio_may_be_shown_in_percent(tmp_path: Path) -> None:
    share = column("x", "min_of_paired_ratios", "elapsed_s", baseline=BASE, unit="percent")
    report = computed(tmp_path, paired_spec(share), samples(**ROUNDS))
    assert texts(report, "x") == ["150", "100"]
    assert report.resolved.columns[3].rule == (
        'smallest over the rounds of elapsed_s, divided by the same of benchmark="b" in the same round'
        " (completed runs, several of a row in a round by their median), in percent,"
        " rounded half up to 0 places"
    )


def test_a_pair_that_failed_leaves_no_ratio_and_no_smaller_sample(tmp_path: Path) -> None:
    document = runtime_execution(agents=(100, 1000), repetitions=2)
    broken = next(at for at, run in enumerate(document["runs"]) if run["agents"] == 1000)
    document["runs"][broken] = died(document["runs"][broken])
    paired = column("x", "median_of_paired_ratios", "elapsed_ms", baseline="tasks=1000,agents=100", places=2)
    report = computed(tmp_path, spec_of(paired, repetitions=2), document)
    assert texts(report, "x") == ["1.00", "failed in 1 of 2 pairs"]


def test_without_its_baseline_a_row_has_no_ratio(tmp_path: Path) -> None:
    spec = paired_spec(expected_rows={"benchmark": ["a", "b", "c"]})
    report = computed(tmp_path, spec, samples(a=[1.0, 2.0, 3.0]))
    assert [row(report, at)[0] for at in range(3)] == [
        "baseline not measured",
        "not measured",
        "not measured",
    ]


def test_a_baseline_that_is_no_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"columns\[0\]\.baseline: there is no row 'benchmark=\"b\"'"):
        computed(tmp_path, paired_spec(), samples(a=[1.0, 2.0, 3.0]))


def test_rounds_that_do_not_meet_are_refused(tmp_path: Path) -> None:
    spec = paired_spec(repetitions={'benchmark="a"': 3, BASE: 2})
    with pytest.raises(SpecError, match=r"round 3 of row benchmark=.a. has no partner in row benchmark=.b."):
        computed(tmp_path, spec, samples(a=[1.0, 2.0, 3.0], b=[1.0, 2.0]))


def test_an_excluded_round_is_excluded_on_both_sides_or_refused(tmp_path: Path) -> None:
    document = samples(**ROUNDS)
    digest = canonical.sha256_hex(canonical.encode(document))
    entries = [{"sha256": digest, "pointer": f"$.runs[{at}]", "reason": "a backup ran"} for at in (2, 5)]
    assert row(computed(tmp_path, paired_spec(exclude=entries), document), 0) == ["1.75", "1.50", "2.00"]
    with pytest.raises(SpecError, match="has no partner"):
        computed(tmp_path, paired_spec(exclude=entries[:1]), document)


def test_one_repetition_twice_is_refused(tmp_path: Path) -> None:
    one = samples(**ROUNDS)
    other = samples(**ROUNDS)
    other["execution"]["id"], other["source"]["sha256"] = "0" * 16, "e" * 64
    with pytest.raises(SpecError, match="Pair the runs of one execution only"):
        computed(tmp_path, paired_spec(repetitions=6), one, other)


def in_rounds(document: dict[str, Any], *numbers: int) -> dict[str, Any]:
    for run, number in zip(document["runs"], numbers, strict=True):
        run["round"] = number
    return document


def test_several_runs_of_a_round_stand_there_with_their_median(tmp_path: Path) -> None:
    # round 1: a 2, 3, 9 beside b 1, 3; round 2: a 4, 5, 6 beside b 2, 2
    document = samples(a=[2.0, 3.0, 9.0, 4.0, 5.0, 6.0], b=[1.0, 3.0, 2.0, 2.0])
    in_rounds(document, 1, 1, 1, 2, 2, 2, 1, 1, 2, 2)
    report = computed(tmp_path, paired_spec(repetitions={'benchmark="a"': 6, BASE: 4}), document)
    # 3 / 2 and 5 / 2
    assert row(report, 0) == ["2.00", "1.50", "2.50"]
    assert report.table.cells[0]["median"].n == 2
    assert len(report.table.cells[0]["median"].sources) == 10
    spec, value, files = published(report)
    assert recount.compare(value, spec, recount.recompute(spec, files)) == []


def test_one_round_of_two_executions_is_refused(tmp_path: Path) -> None:
    one, other = (in_rounds(samples(**ROUNDS), *[1] * 6) for _ in range(2))
    other["execution"]["id"], other["source"]["sha256"] = "0" * 16, "e" * 64
    with pytest.raises(SpecError, match="Pair the runs of one execution only"):
        computed(tmp_path, paired_spec(repetitions=6), one, other)
    spec, _, _ = published(computed(tmp_path / "one", paired_spec(repetitions=3), one))
    files = [(f"{at}.json", canonical.encode(value)) for at, value in enumerate((one, other))]
    with pytest.raises(recount.Refused, match="the same repetition as"):
        recount.recompute({**spec, "repetitions": 6}, files)


def test_nothing_is_divided_by_zero(tmp_path: Path) -> None:
    zero = column("x", "max_of_paired_ratios", "tasks_failed", baseline="tasks=1000,agents=100")
    with pytest.raises(SpecError, match=r"columns\[0\]\.baseline: tasks_failed is 0 in row"):
        computed(tmp_path / "base", spec_of(zero), runtime_execution())
    over = column(
        "x", "max_of_paired_ratios", "elapsed_ms", over="tasks_failed", baseline="tasks=1000,agents=100"
    )
    with pytest.raises(SpecError, match=r"columns\[0\]\.over: tasks_failed is 0 in a run"):
        computed(tmp_path / "over", spec_of(over), runtime_execution())


@pytest.mark.parametrize(
    ("one", "pointer"),
    [
        (column("c", "median_of_paired_ratios", "x"), "$.columns[0]"),
        (column("c", "median_of_runs", "x", baseline="a=1"), "$.columns[0].baseline"),
        (
            column("c", "median_of_paired_ratios", "x", baseline="a=1", include_failed=True),
            "$.columns[0].include_failed",
        ),
    ],
)
def test_a_paired_column_that_makes_no_sense_is_refused(one: dict[str, Any], pointer: str) -> None:
    with pytest.raises(SpecError) as caught:
        from_value(declared(one), "x.toml")
    assert caught.value.where == f"x.toml::{pointer}"
