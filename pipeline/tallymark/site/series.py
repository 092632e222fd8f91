"""The numbers of a chart: kinds of series, each of which names how to compute it again.

``source`` is the series' reference (``series:...``); ``x`` and ``y`` are plain numbers or row ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark import histogram, units
from tallymark.errors import SpecError
from tallymark.site.report_data import ReportData, Run, column_format, resolve
from tallymark.stats.order import median, minimum_samples

Number = int | float

# The quantiles of a percentile plot as exact fractions; a series stops where its samples are too few.
QUANTILES = (
    (1, 2),
    (3, 4),
    (9, 10),
    (95, 100),
    (99, 100),
    (999, 1_000),
    (9_999, 10_000),
    (99_999, 100_000),
)
NS_PER_MS = 1_000_000
MIB = 1_048_576
_RUN_AGGREGATES = ("median_of_runs", "max_of_runs", "min_of_runs", "only_value")
_PAIR_AGGREGATES = ("median_of_paired_ratios", "max_of_paired_ratios", "min_of_paired_ratios")


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one line or set of marks, with the reference that recomputes them."""

    source: str
    x: tuple[Number | str, ...]
    y: tuple[Number, ...]


def cells(report: ReportData, column: str) -> Series:
    """The exact cell values of a column in its unit, by row id; absent cells are left out."""
    present = [
        (row["id"], row["cells"][column]["exact"])
        for row in report.rows
        if "absent" not in row["cells"][column]
    ]
    return Series(
        f"series:cells/{report.name}/{column}",
        tuple(row for row, _ in present),
        tuple(exact for _, exact in present),
    )


def runs(report: ReportData, column: str) -> Series:
    """The value of every run (or the ratio of every pair) behind a column, in the column's unit, by row id.

    SpecError: the column has no single value a run (a pooled percentile, a total or a ratio of totals).
    """
    rule = report.column(column)
    if rule["aggregate"] not in (*_RUN_AGGREGATES, *_PAIR_AGGREGATES):
        raise SpecError(
            f"report {report.name}",
            f"a chart shows every run of {column!r}, whose aggregate is {rule['aggregate']}",
            f"choose a column with one of {', '.join((*_RUN_AGGREGATES, *_PAIR_AGGREGATES))}",
        )
    form = column_format(rule)
    points = [
        (row["id"], form.scaled(value))
        for at, row in enumerate(report.rows)
        for value in _values(report, rule, at, report.sources(at, column))
    ]
    return Series(
        f"series:runs/{report.name}/{column}",
        tuple(row for row, _ in points),
        tuple(value for _, value in points),
    )


def _values(
    report: ReportData, rule: Mapping[str, Any], row: int, sources: Sequence[Run]
) -> Iterator[Number]:
    """The source of each run; for a paired ratio, of the row's runs in each round over the baseline's."""
    if "baseline" not in rule:
        yield from (_number(run, rule["source"]) for run in sources)
        return
    own = _by_round(run for run in sources if run.row == row)
    base = _by_round(
        run for run in sources if run.row is not None and report.rows[run.row]["id"] == rule["baseline"]
    )
    yield from (_middle(runs, rule) / _middle(base[number], rule) for number, runs in own.items())


def _by_round(runs: Iterable[Run]) -> dict[int, list[Run]]:
    found: dict[int, list[Run]] = {}
    for run in runs:
        found.setdefault(run.value.get("round", run.value["repetition"]), []).append(run)
    return found


def _middle(runs: Sequence[Run], rule: Mapping[str, Any]) -> Number:
    values = [_number(run, rule["source"]) for run in runs]
    if "over" in rule:
        values = [value / _number(run, rule["over"]) for value, run in zip(values, runs, strict=True)]
    return median(values)


def percentiles(report: ReportData, row: int, stage: str) -> Series | None:
    """Pooled latency percentiles of a row's completed runs: quantile → ms, then (1, maximum).

    None: no run of the row recorded a sample of that stage.
    """
    pooled = pooled_histogram(report, row, stage)
    if pooled is None or pooled.max_ns is None:
        return None
    points: list[tuple[Number, Number]] = [
        (a / b, units.scaled(pooled.percentile_ns(a, b), 1, NS_PER_MS))
        for a, b in QUANTILES
        if pooled.count >= minimum_samples(a, b)
    ]
    points.append((1, units.scaled(pooled.max_ns, 1, NS_PER_MS)))
    return Series(
        f"series:percentiles/{report.name}/{report.rows[row]['id']}/{stage}",
        tuple(x for x, _ in points),
        tuple(y for _, y in points),
    )


def pooled_histogram(report: ReportData, row: int, stage: str) -> histogram.Histogram | None:
    """The merged histogram of a stage over the counted runs of a row; None when there is no sample."""
    place = stage_path(stage)
    held = [resolve(run.value, f"$.{place}") for run in report.row_runs(row) if report.counts(run)]
    records = [record for record in held if record is not None]
    if not records:
        return None
    merged = histogram.merged([histogram.Histogram.from_record(record) for record in records])
    return merged if merged.count else None


def stage_path(stage: str) -> str:
    """Where a run has the histogram that a chart calls so: a bare name is one of ``histograms``."""
    return stage if "." in stage else f"histograms.{stage}"


def timeline(run: Run, column: str, name: str = "timeline") -> Series:
    """One column of a series of a run over its first one: of the sampled timeline, time in ms.

    Bytes are given in MiB; rows without a value are no points. SpecError: the series has no such column.
    """
    record = run.value[name]
    if column not in record["columns"]:
        raise SpecError(
            f"{run.file.document.path}::{run.pointer}.{name}",
            f"it has no column {column!r}",
            f"choose from {', '.join(record['columns'])}",
        )
    at = record["columns"].index(column)
    points = [(row[0], row[at]) for row in record["rows"] if row[at] is not None]
    place = f"timeline/{run.file.sha256}/{run.pointer}"
    if name != "timeline":
        place = f"rows/{run.file.sha256}/{run.pointer}.{name}"
    return Series(
        f"series:{place}/{column}",
        tuple(x for x, _ in points),
        tuple(in_mib(column, y) for _, y in points),
    )


def in_mib(name: str, value: Number) -> Number:
    """The value in the unit that charts show: MiB where the name says bytes."""
    return units.scaled(value, 1, MIB) if name.endswith("_bytes") else value


def line(report: ReportData, rows: Sequence[int], key: str, column: str) -> Series:
    """The exact cell values of rows that differ in one key, over the numbers of that key."""
    every = cells(report, column)
    own = {report.rows[row]["id"]: key_number(report, row, key) for row in rows}
    points = [(own[str(row)], y) for row, y in zip(every.x, every.y, strict=True) if row in own]
    return Series(_of_line("line", report, rows, key, column), tuple(x for x, _ in points), _second(points))


def line_runs(report: ReportData, rows: Sequence[int], key: str, column: str) -> Series:
    """The value of every run behind such cells. SpecError: the column has no single value a run."""
    every = runs(report, column)
    own = {report.rows[row]["id"]: key_number(report, row, key) for row in rows}
    points = [(own[str(row)], y) for row, y in zip(every.x, every.y, strict=True) if row in own]
    return Series(
        _of_line("line_runs", report, rows, key, column), tuple(x for x, _ in points), _second(points)
    )


def _of_line(kind: str, report: ReportData, rows: Sequence[int], key: str, column: str) -> str:
    return f"series:{kind}/{report.name}/{report.rows[rows[0]]['id']}/{key}/{column}"


def _second(points: Sequence[tuple[Number, Number]]) -> tuple[Number, ...]:
    return tuple(y for _, y in points)


def key_number(report: ReportData, row: int, key: str) -> Number:
    """The value of a row key as a number for an axis. SpecError: it is none."""
    value = report.rows[row]["key"].get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpecError(
            f"report {report.name}",
            f"a chart has the row key {key!r} as axis, which is no number",
            "use another",
        )
    return in_mib(key, value)


def _number(run: Run, source: str) -> Number:
    value: Any = resolve(run.value, f"$.{source}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SpecError(
            f"{run.file.document.path}::{run.pointer}.{source}",
            "a chart needs a number here",
            "name a measure",
        )
    return value
