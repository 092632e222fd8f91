"""The points of a chart's series, recounted from the raw files.

``series:cells/REPORT/COLUMN``, ``series:runs/REPORT/COLUMN``, ``series:percentiles/REPORT/ROWID/STAGE``,
``series:timeline/SHA256/POINTER/COLUMN`` and ``series:rows/SHA256/POINTER.SERIES/COLUMN``. Over the numbers
of a row key, of the rows that agree with ROWID in every other one: ``series:line/REPORT/ROWID/KEY/COLUMN``
(their cells) and ``series:line_runs/REPORT/ROWID/KEY/COLUMN`` (every run).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tallymark.recount import recount as script
from tallymark.recount.pointers import value_at
from tallymark.recount.published import Published, Report
from tallymark.recount.reference import Unresolved

Number = int | float
QUANTILES = (
    (1, 2),
    (3, 4),
    (9, 10),
    (95, 100),
    (99, 100),
    (999, 1000),
    (9999, 10_000),
    (99_999, 100_000),
)
_ONE_VALUE_A_RUN = frozenset(["median_of_runs", "max_of_runs", "min_of_runs", "only_value"])
_ONE_VALUE_A_PAIR = frozenset(f"{name}_of_paired_ratios" for name in ("median", "max", "min"))


@dataclass(frozen=True, slots=True)
class Series:
    """Points in order; ``x`` are row ids or numbers. ``categories``: all row ids when x are row ids."""

    x: tuple[Number | str, ...]
    y: tuple[Number, ...]
    categories: tuple[str, ...] = ()


def recompute(published: Published, rest: str) -> Series:
    """The series that the reference ``series:REST`` names. Unresolved: there is no such series."""
    kind, _, place = rest.partition("/")
    owner, _, what = place.partition("/")
    if kind == "timeline":
        pointer, _, column = what.rpartition("/")
        return _rows(published, owner, f"{pointer}.timeline", column)
    if kind == "rows":
        return _rows(published, owner, *_parted(what))
    if kind in ("line", "line_runs"):
        return _line(published.report(owner), kind, what)
    if kind == "cells":
        return _cells(published.report(owner), what)
    if kind == "runs":
        return _runs(published.report(owner), what)
    if kind == "percentiles":
        row, _, stage = what.rpartition("/")
        return _percentiles(published.report(owner), row, stage)
    raise Unresolved(f"no series is called {rest!r}")


def row_of(published: Published, rest: str) -> str | None:
    """The row that a series is about; None for a series over all rows. Unresolved: there is no such row."""
    kind, _, place = rest.partition("/")
    owner, _, what = place.partition("/")
    row = what.rpartition("/")[0]
    if kind == "percentiles":
        published.report(owner).row(row)
        return row
    if kind in ("timeline", "rows"):
        row = row.rpartition(".")[0] if kind == "rows" else row
        for report in published.reports.values():
            if (owner, row) in report.runs:
                return report.runs[owner, row].row
        raise Unresolved(f"no report has the run {row} of {owner[:12]}…")
    return None


def pooled(report: Report, row: str, stage: str) -> dict[str, Any]:
    """The added histograms of a stage over the published runs of a row. Unresolved: no run has one."""
    report.row(row)
    path = stage if "." in stage else f"histograms.{stage}"
    held = [script.pointer(run.value, f"$.{path}") for run in report.runs_of(row) if run.state == "published"]
    histograms = [one for one in held if one is not None]
    if not histograms:
        raise Unresolved(f"no run of row {row!r} has a histogram of {stage!r}")
    return script.merge(histograms, f"{report.name}/{row}")


def _column(report: Report, name: str) -> dict[str, Any]:
    if name not in report.columns:
        raise Unresolved(f"report {report.name} has no column {name!r}")
    column: dict[str, Any] = report.columns[name]
    return column


def _cells(report: Report, column: str) -> Series:
    _column(report, column)
    present = [
        (row, found["cells"][column]["exact"])
        for row, found in report.rows.items()
        if "exact" in found["cells"][column]
    ]
    return Series(tuple(row for row, _ in present), tuple(exact for _, exact in present), tuple(report.rows))


def _runs(report: Report, name: str) -> Series:
    column = _column(report, name)
    if column["aggregate"] not in _ONE_VALUE_A_RUN | _ONE_VALUE_A_PAIR:
        raise Unresolved(f"column {name!r} has no single value for each run")
    points = []
    for row in report.rows:
        runs = report.sources(row, name)
        if column["aggregate"] in _ONE_VALUE_A_PAIR and runs:
            values = script.ratios(
                column, script.pair(report.runs_of(row), report.runs_of(column["baseline"]))
            )
        else:
            values = script.numbers(column, runs)
        points += [(row, script.scaled(value, *column["factor"])) for value in values]
    return Series(tuple(row for row, _ in points), tuple(value for _, value in points), tuple(report.rows))


def _percentiles(report: Report, row: str, stage: str) -> Series:
    merged = pooled(report, row, stage)
    if not merged["count"]:
        raise Unresolved(f"row {row!r} has no sample of {stage!r}")
    points: list[tuple[Number, int]] = [
        (a / b, script.percentile(merged, a, b)) for a, b in QUANTILES if merged["count"] * (b - a) >= 10 * b
    ]
    points.append((1, merged["max_ns"]))
    return Series(
        tuple(x for x, _ in points), tuple(script.scaled(value, 1, 1_000_000) for _, value in points)
    )


def _rows(published: Published, digest: str, pointer: str, column: str) -> Series:
    """A column of a series of a run over its first one; a row without a value is no point."""
    if digest not in published.raw:
        raise Unresolved(f"no published raw file of a report has the SHA-256 {digest[:12]}…", f"raw {digest}")
    held = value_at(published.raw[digest].value, pointer)
    columns = held.get("columns", []) if isinstance(held, dict) else []
    if column not in columns:
        raise Unresolved(f"the series {pointer} has no column {column!r}")
    at = columns.index(column)
    points = [(row[0], row[at]) for row in held["rows"] if row[at] is not None]
    return Series(tuple(x for x, _ in points), tuple(_mib(column, y) for _, y in points))


def _mib(name: str, value: Number) -> Number:
    """Charts show bytes in MiB."""
    return script.scaled(value, 1, 1_048_576) if name.endswith("_bytes") else value


def _parted(what: str) -> tuple[str, str]:
    before, _, last = what.rpartition("/")
    return before, last


def _line(report: Report, kind: str, what: str) -> Series:
    """Cells, or the runs behind them, over a row key: of the rows that agree with one in all other keys."""
    place, column = _parted(what)
    row, key = _parted(place)
    every = _cells(report, column) if kind == "line" else _runs(report, column)
    own = {other: report.row(other)["key"][key] for other in on_line(report, row, key)}
    points = [(_mib(key, own[x]), y) for x, y in zip(every.x, every.y, strict=True) if x in own]
    return Series(tuple(x for x, _ in points), tuple(y for _, y in points))


def on_line(report: Report, row: str, key: str) -> list[str]:
    """The rows that agree with a row in every key but one, which must be a number. Unresolved: it is none."""
    mine = report.row(row)["key"]
    if isinstance(mine.get(key), bool) or not isinstance(mine.get(key), int | float):
        raise Unresolved(f"the row key {key!r} of {row!r} is no number")
    rest = {name: script.compact(value) for name, value in mine.items() if name != key}
    return [
        other
        for other, found in report.rows.items()
        if {name: script.compact(value) for name, value in found["key"].items() if name != key} == rest
    ]


def line_of(rest: str) -> tuple[str, str, str] | None:
    """(report, row, key) of a series over a row key; None for another one."""
    kind, _, place = rest.partition("/")
    if kind not in ("line", "line_runs"):
        return None
    owner, _, what = place.partition("/")
    row, key = _parted(_parted(what)[0])
    return owner, row, key
