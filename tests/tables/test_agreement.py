"""Two implementations, one table: the pandas pipeline and recount.py agree on every cell, text for text."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evidence import died, runtime_execution
from support.tables import (
    column,
    computed,
    declared,
    long_timelines,
    published,
    recorded,
    run_of,
    samples,
    slopes_of,
    spec_of,
    texts,
)

from tallymark import histogram, units
from tallymark.errors import SpecError
from tallymark.evidence import canonical
from tallymark.recount import recount
from tallymark.stats import order
from tallymark.tables import aggregates
from tallymark.tables.report import Report
from tallymark.tables.spec import from_value

FINITE = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
NUMBER = st.one_of(WHOLE, FINITE)


def differences(report: Report) -> list[str]:
    """What recount.py finds different in a published report; it compares every text, value and source."""
    spec, value, files = published(report)
    table = recount.recompute(spec, files)
    assert [row["id"] for row in table["rows"]] == [row["id"] for row in value["rows"]]
    assert table["digest"] == value["digest"]
    found: list[str] = recount.compare(value, spec, table)
    return found


# --- the pieces ---


@settings(max_examples=300, deadline=None)
@given(NUMBER, st.integers(0, 12))
def test_places_agree(value: float, places: int) -> None:
    assert recount.fixed(value, places) == units.fixed(value, places)


@settings(max_examples=300, deadline=None)
@given(NUMBER, st.integers(1, 17))
def test_significant_digits_agree(value: float, digits: int) -> None:
    assert recount.significant(value, digits) == units.significant(value, digits)


@settings(max_examples=200, deadline=None)
@given(
    NUMBER, st.sampled_from([(1, 1), (1000, 1), (1, 1000), (1, 1_000_000), (1, 1 << 20), (100, 1), (25, 16)])
)
def test_unit_factors_agree_to_the_last_bit(value: float, factor: tuple[int, int]) -> None:
    assert repr(recount.scaled(value, *factor)) == repr(units.scaled(value, *factor))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(WHOLE, st.floats(-1e300, 1e300)), min_size=1, max_size=9))
def test_medians_and_totals_agree_to_the_last_bit(values: list[float]) -> None:
    assert repr(recount.median(values)) == repr(order.median(values))
    assert repr(recount.total(values)) == repr(aggregates.total(values))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40), min_size=1, max_size=4),
    st.sampled_from([(1, 2), (95, 100), (99, 100), (999, 1000), (1, 1000)]),
)
def test_pooled_percentiles_agree_and_bound_the_nearest_rank(
    values: list[list[int]], p: tuple[int, int]
) -> None:
    records = [recorded(*one) for one in values]
    for record in records:
        record["sum_ns"] = str(record["sum_ns"])
    merged = histogram.merged([histogram.Histogram.from_record(record) for record in records])
    found = recount.percentile(recount.merge(records), *p)
    assert found == merged.percentile_ns(*p)
    # against the definition on the raw values: never below the nearest rank, at most 1/128 above
    exact = order.nearest_rank([value for one in values for value in one], *p)
    assert exact <= found <= exact + exact / 128


# --- whole tables over generated evidence ---

ELAPSED = st.floats(1e-9, 1e6)
SERIES = st.dictionaries(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8),
    st.lists(ELAPSED, min_size=2, max_size=2),
    min_size=1,
    max_size=4,
)
ROUNDING = st.one_of(
    st.fixed_dictionaries({"places": st.integers(0, 9)}),
    st.fixed_dictionaries({"significant": st.integers(1, 15)}),
)


@st.composite
def foreign_column(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A column over imported evidence with any aggregate, unit and rounding."""
    kind = draw(st.sampled_from(["run_count", "median_of_runs", "max_of_runs", "min_of_runs", "total"]))
    more: dict[str, Any] = {**draw(ROUNDING), "include_failed": draw(st.booleans())}
    if kind == "run_count":
        return column(name, kind, **more)
    source, unit = draw(
        st.sampled_from(
            [("elapsed_s", "ms"), ("elapsed_s", "s"), ("memory_bytes", "MiB"), ("memory_bytes", "bytes")]
        )
    )
    return column(name, kind, source, unit=unit, **more)


@st.composite
def foreign_report(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A spec and an imported document: odd names, failed runs, memory that only some runs have."""
    document = samples(**draw(SERIES))
    for run in document["runs"]:
        if draw(st.integers(0, 4)) == 0:
            run |= {"outcome": "failed", "exit_code": 1}
        if draw(st.integers(0, 2)) > 0:
            run["memory_bytes"] = draw(st.integers(0, 2**53 - 1))
    columns = [draw(foreign_column(name)) for name in ("a", "b", "c")]
    return declared(*columns, rows=["benchmark"], repetitions=2), document


@settings(max_examples=60, deadline=None)
@given(foreign_report())
def test_foreign_tables_agree_cell_for_cell(made: tuple[dict[str, Any], dict[str, Any]]) -> None:
    spec, document = made
    with tempfile.TemporaryDirectory() as folder:
        assert differences(computed(Path(folder), from_value(spec, "x.toml"), document)) == []


QUEUE = {"significant": 3, "unit": "ms"}
# every generated report declares this row; sometimes it is the one that was not measured
BASE = "tasks=1000,agents=100"
RUNTIME_COLUMNS = (
    column("runs", "run_count"),
    column("all", "run_count", include_failed=True),
    column("elapsed", "median_of_runs", "elapsed_ms", places=3),
    column("elapsed_s", "min_of_runs", "elapsed_ms", unit="s", significant=9),
    column("rate", "median_of_runs", "tasks_per_second"),
    column("rate_over", "total_over_median", "tasks_completed", over="elapsed_ms", places=2),
    column("cpu", "ratio_of_totals", "cpu_user_ms", over="elapsed_ms", unit="percent", places=1),
    column("lookups", "only_value", "role_lookups"),
    column("rss", "max_of_runs", "peak_rss_bytes", unit="MiB", places=2),
    column("failed", "total", "tasks_failed", include_failed=True),
    *(
        column(
            f"q{a}", "pooled_percentile", "histograms.queue", percentile=f"{a}/100", significant=3, unit="ms"
        )
        for a in (50, 95, 99)
    ),
    column("pair", "median_of_paired_ratios", "cpu_user_ms", over="tasks_completed", baseline=BASE, places=4),
    column("low", "min_of_paired_ratios", "elapsed_ms", baseline=BASE, unit="percent", places=2),
    column("high", "max_of_paired_ratios", "tasks_per_second", baseline=BASE, significant=5),
    column(
        "x99",
        "median_of_runs",
        "execution_p99_ms",
        percentile="99/100",
        samples="histograms.execution.count",
        significant=2,
        unit="us",
    ),
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([1, 19, 20, 150, 1000, 1000]), min_size=1, max_size=3, unique=True),
    st.integers(1, 4),
    st.integers(1, 1000),
    st.sets(st.integers(0, 7)),
    st.booleans(),
)
def test_runtime_tables_agree_cell_for_cell(
    sizes: list[int], repetitions: int, seed: int, dead: set[int], declare_rows: bool
) -> None:
    documents = [
        runtime_execution(tasks=tasks, agents=(100, 1000), repetitions=repetitions, seed=seed + tasks)
        for tasks in sizes
    ]
    for document in documents:
        for at in dead:
            if at < len(document["runs"]):
                document["runs"][at] = died(document["runs"][at])
    tasks = [*sizes, 7] if declare_rows else sizes
    rows = {"expected_rows": {"tasks": list({*tasks, 1000}), "agents": [1000, 100]}}
    spec = spec_of(*RUNTIME_COLUMNS, repetitions=repetitions, **rows)
    with tempfile.TemporaryDirectory() as folder:
        assert differences(computed(Path(folder), spec, *documents)) == []


@settings(max_examples=15, deadline=None)
@given(st.integers(9, 30), st.integers(1, 1000), st.integers(1, 3), st.booleans())
def test_slopes_and_outcomes_agree_cell_for_cell(
    samples: int, seed: int, skip: int, overloaded: bool
) -> None:
    document = long_timelines(runtime_execution(tasks=1000, seed=seed), samples)
    document["runs"][0] = died(document["runs"][0], "killed")
    document["execution"]["plan"][0]["expected_outcomes"] = ["killed"]
    if overloaded:
        document["runs"][1] |= {"outcome": "overloaded", "phase": "finished", "cause": "the queue grew"}
    del document["execution"]["plan"][0]["expected_outcomes"]  # runtime-execution/1.0 does not know it
    columns = [
        *slopes_of(skip=skip, resolution=1),
        column("killed", "run_count", outcome="killed"),
        column("q99", "pooled_percentile", "histograms.queue", percentile="99/100", **QUEUE),
        column("rate", "median_of_runs", "tasks_per_second"),
    ]
    spec = spec_of(*columns, schema="report-spec/1.1")
    with tempfile.TemporaryDirectory() as folder:
        report = computed(Path(folder), spec, document)
        assert differences(report) == []
        ledger = report.to_json()["ledger"]
        assert (ledger["failed"], ledger["failed_as_planned"]) == (1 + overloaded, 0)


def test_keys_that_follow_from_the_row_agree(tmp_path: Path) -> None:
    document = runtime_execution()
    entries = [
        *document["runs"],
        *document["warmups"],
        *(one["configuration"] for one in document["execution"]["plan"]),
    ]
    for entry in entries:
        entry["aux_workers"] = entry["agents"] // 100
    spec = spec_of(*RUNTIME_COLUMNS, schema="report-spec/1.1", determined=["aux_workers"])
    report = computed(tmp_path, spec, document)
    assert differences(report) == []
    assert "aux_workers" not in report.table.constants
    without = spec_of(*RUNTIME_COLUMNS)
    with pytest.raises(SpecError, match="aux_workers varies and makes no row"):
        computed(tmp_path, without, document)


def test_both_refuse_a_key_that_does_not_follow_from_the_row(tmp_path: Path) -> None:
    document = runtime_execution()
    wrong = {"rows": ["tasks"], "determined": ["agents"], "repetitions": 6}
    with pytest.raises(
        SpecError, match=r"determined\[0\]: agents varies within row tasks=1000: 1000? and 1000?"
    ):
        computed(tmp_path, spec_of(schema="report-spec/1.1", **wrong), document)
    spec, _, files = published(computed(tmp_path, spec_of(schema="report-spec/1.1"), document))
    with pytest.raises(recount.Refused, match="agents varies within row tasks=1000"):
        recount.recompute({**spec, **wrong}, files)


def test_excluded_runs_agree(tmp_path: Path) -> None:
    document = runtime_execution()
    entry = {
        "sha256": canonical.sha256_hex(canonical.encode(document)),
        "pointer": "$.runs[1]",
        "reason": "another process took the cores",
    }
    single = [one for one in RUNTIME_COLUMNS if "baseline" not in one]
    assert differences(computed(tmp_path, spec_of(*single, exclude=[entry]), document)) == []


def test_both_refuse_a_pair_that_lost_a_partner(tmp_path: Path) -> None:
    document = runtime_execution(agents=(100, 1000))
    paired = column("pair", "median_of_paired_ratios", "elapsed_ms", baseline=BASE, places=4)
    spec, _, files = published(computed(tmp_path, spec_of(paired), document))
    entry = {"sha256": canonical.sha256_hex(files[0][1]), "pointer": "$.runs[0]", "reason": "noise"}
    with pytest.raises(SpecError, match="has no partner in row"):
        computed(tmp_path, spec_of(paired, exclude=[entry]), document)
    with pytest.raises(recount.Refused, match="a round has no partner in row"):
        recount.recompute({**spec, "exclude": [entry]}, files)


def test_both_give_the_ratio_within_a_round(tmp_path: Path) -> None:
    # a took 2, 3 and 8 s where b took 1, 2 and 2 s in the same rounds: ratios 2, 1.5 and 4; the ratio of the
    # medians would be 3 / 2
    document = samples(a=[2, 3, 8], b=[1, 2, 2])
    columns = [
        column(name, f"{name}_of_paired_ratios", "elapsed_s", baseline='benchmark="b"', places=2)
        for name in ("median", "min", "max")
    ]
    report = computed(tmp_path, spec_of(*columns, rows=["benchmark"]), document)
    assert [texts(report, name) for name in ("median", "min", "max")] == [
        ["2.00", "1.00"],
        ["1.50", "1.00"],
        ["4.00", "1.00"],
    ]
    assert [cells["median"].n for cells in report.table.cells] == [3, 3]
    assert differences(report) == []


def test_rows_of_every_kind_of_value_are_in_one_order() -> None:
    from tallymark.tables import groups

    values: list[Any] = [None, True, False, 0, -1.5, 10, 9, 1, 1.0, "1", "a", "B", "é", {"a": 1}, {"a": 0}]
    ours = sorted(values, key=groups._order)
    assert [repr(one) for one in ours] == [repr(one) for one in sorted(values, key=recount.order)]


@pytest.mark.parametrize("row", [0, 1])
def test_a_cell_that_was_touched_is_found_whatever_its_row(tmp_path: Path, row: int) -> None:
    report = computed(tmp_path, spec_of(*RUNTIME_COLUMNS), runtime_execution())
    spec, value, files = published(report)
    table = recount.recompute(spec, files)
    for name in value["rows"][row]["cells"]:
        touched = copy.deepcopy(value)
        touched["rows"][row]["cells"][name]["text"] += "0"
        [difference] = recount.compare(touched, spec, table)
        assert difference.startswith(f"{value['rows'][row]['id']}:{name} text: ")


def test_single_runs_agree_with_the_pipelines_aggregates() -> None:
    # the mean of two middle doubles, in the one order that both use: (a + b) / 2
    runs = [run_of(x=value) for value in (0.1, 0.7, 0.2, 0.4)]
    found = aggregates.aggregate(spec_of(column("c", "median_of_runs", "x")).columns[0], runs, "")
    assert repr(found) == repr((0.2 + 0.4) / 2) == repr(recount.median([0.1, 0.7, 0.2, 0.4]))
