"""Every run of a report as a row, failed and excluded ones too, and the ledger that accounts for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallymark.printable import printable as visible
from tallymark.site.labels import key_head
from tallymark.site.report_data import ReportData, Run, column_format, config_value, resolve
from tallymark.site.shown import ABSENT_MARK, Format, Shown, sourced, value_text

LEDGER = (
    ("found", "Runs in the raw files."),
    ("published", "Completed runs, all of them in the table."),
    ("failed", "Runs that ended otherwise: kept, shown below, in no aggregate that does not say so."),
    ("failed_as_planned", "Of these, the runs whose outcome their plan announced."),
    ("excluded", "Runs left out by the spec, each with its reason."),
    ("duplicate", "Runs that stand twice in the data."),
    ("expected", "Runs that the spec declares."),
    ("missing", "Expected runs that are not there."),
    ("warmups", "Warm-up runs: recorded, never counted."),
)
# aggregates whose unit and rounding suit the value of a single run
_QUOTIENTS = (
    "ratio_of_totals",
    "total_over_median",
    "median_of_paired_ratios",
    "min_of_paired_ratios",
    "max_of_paired_ratios",
)
_OF_THE_RUN = ("median_of_runs", "max_of_runs", "min_of_runs", "only_value", "total")


@dataclass(frozen=True, slots=True)
class Measure:
    """One column of the run table: a field of the run record and how it is shown."""

    source: str
    unit: Shown | None
    form: Format


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run: its reference base, where it stands, what it was and what it measured."""

    base: str
    href: str
    file: Shown
    index: Shown
    keys: tuple[tuple[Shown, bool], ...]
    repetition: Shown
    round: Shown | None
    started_at: Shown | None
    state: str
    outcome: Shown
    remark: Shown | None
    measures: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class RunsView:
    """The run table; ``keys`` are the row keys, each with: has it a title, does it hold text."""

    keys: tuple[tuple[Shown, bool, bool], ...]
    measures: tuple[Measure, ...]
    has_time: bool
    has_rounds: bool
    rows: tuple[RunRow, ...]


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One count of the ledger and what it counts."""

    name: str
    count: Shown
    meaning: str


def runs_view(report: ReportData) -> RunsView:
    """Every run of every file of the report."""
    measures = _measures(report)
    return RunsView(
        keys=tuple(
            (key_head(report, at), key in report.spec.get("row_titles", {}), report.holds_words(key))
            for at, key in enumerate(report.spec["rows"])
        ),
        measures=measures,
        has_time=any(run.value.get("started_at") for run in report.runs),
        has_rounds=any("round" in run.value for run in report.runs),
        rows=tuple(_row(report, run, measures) for run in report.runs),
    )


def ledger_view(report: ReportData) -> tuple[LedgerLine, ...]:
    """The ledger: every run is accounted for, and expected = found + missing."""
    ledger = report.value["ledger"]
    return tuple(
        LedgerLine(name, Shown(str(_length(ledger[name])), f"ledger:{report.name}/{name}"), meaning)
        for name, meaning in LEDGER
        if ledger.get(name) is not None
    )


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else int(value)


def _measures(report: ReportData) -> tuple[Measure, ...]:
    """The scalar fields behind the columns, each once, rounded as the first column that shows it itself."""
    found: dict[str, Measure] = {}
    for at, column in enumerate(report.columns):
        source = column.get("source")
        if not source or column["aggregate"] not in _OF_THE_RUN + _QUOTIENTS:
            continue  # a histogram or a series is not one number of a run
        if column["aggregate"] not in _OF_THE_RUN:
            # unit and rounding of the column belong to a quotient, not to the run's own value
            found.setdefault(source, Measure(source, None, Format()))
        elif source not in found or found[source].form == Format():
            form = column_format(column)
            # a field names its own unit; it is said only when the column shows another one
            converted = (form.numerator, form.denominator) != (1, 1)
            shown = Shown(column["unit"], f"spec:{report.name}/$.columns[{at}].unit") if converted else None
            found[source] = Measure(source, shown, form)
    return tuple(found.values())


def _row(report: ReportData, run: Run, measures: tuple[Measure, ...]) -> RunRow:
    state, remark = _state(report, run)
    return RunRow(
        base=run.base,
        href=f"../{run.file.published}",
        file=Shown(visible(run.file.name), f"file:{run.file.published}|name"),
        index=Shown(str(run.value["index"]), "raw:~.index"),
        keys=_keys(report, run),
        repetition=Shown(str(run.value["repetition"]), "raw:~.repetition"),
        round=Shown(str(run.value["round"]), "raw:~.round") if "round" in run.value else None,
        started_at=_started(run),
        state=state,
        outcome=Shown(str(run.value["outcome"]), "raw:~.outcome"),
        remark=remark,
        measures=tuple(_measured(run, measure) for measure in measures),
    )


def _keys(report: ReportData, run: Run) -> tuple[tuple[Shown, bool], ...]:
    """The row keys; a key that lies in the manifest is read from the document, not from the run."""
    shown = []
    keys = {key["name"]: (at, key) for at, key in enumerate(report.spec["config_keys"])}
    for name in report.spec["rows"]:
        at, key = keys[name]
        value = value_text(config_value(run.file, run.value, key))
        inside = key["pointer"].startswith("$.runs[]")
        path = key["pointer"].removeprefix("$.runs[]")
        below = f"raw:~{path}" if inside else f"raw:{run.file.sha256}/{path}"
        if inside and name not in run.value:  # an older document is read with the default
            below = f"spec:{report.name}/$.config_keys[{at}].default_before"
        shown.append((Shown(value, below), report.holds_words(name)))
    return tuple(shown)


def _started(run: Run) -> Shown | None:
    started = run.value.get("started_at")
    return Shown(started, "raw:~.started_at") if started else None


def _state(report: ReportData, run: Run) -> tuple[str, Shown | None]:
    """The ledger's word for a run and the remark beside it."""
    for at, entry in enumerate(report.spec.get("exclude") or ()):
        if (entry["sha256"], entry["pointer"]) == (run.file.sha256, run.pointer):
            return "excluded", sourced(visible(entry["reason"]), f"spec:{report.name}/$.exclude[{at}].reason")
    if run.value["outcome"] == "completed":
        return "published", None
    cause = run.value.get("cause")
    return "failed", sourced(visible(cause), "raw:~.cause") if cause else None


def _measured(run: Run, measure: Measure) -> Shown:
    value = resolve(run.value, f"$.{measure.source}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Shown(ABSENT_MARK)
    return Shown(measure.form.text(value), f"raw:~.{measure.source}{measure.form.options()}")


def constants_view(report: ReportData) -> tuple[tuple[str, Shown], ...]:
    """The configuration that makes no row: one value over all data, compound keys field by field."""
    lines: list[tuple[str, Shown]] = []
    for name, value in report.value["constants"].items():
        lines += _constant(report.name, name, value)
    return tuple(lines)


def _constant(report: str, name: str, value: Any) -> list[tuple[str, Shown]]:
    if isinstance(value, Mapping) and value:
        return [
            (f"{name} · {key}", _constant_value(inner, f"constant:{report}/{name}/{key}"))
            for key, inner in value.items()
        ]
    return [(name, _constant_value(value, f"constant:{report}/{name}"))]


def _constant_value(value: Any, source: str) -> Shown:
    return Shown("not recorded") if value is None else Shown(value_text(value), source)
