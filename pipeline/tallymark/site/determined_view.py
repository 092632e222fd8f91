"""The configuration that follows from the row keys: what a row has of its own, and what all others have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tallymark.evidence import canonical
from tallymark.site.report_data import ReportData, Run, config_value
from tallymark.site.shown import Shown, value_text


@dataclass(frozen=True, slots=True)
class Own:
    """A row, or what most rows share (without a name), with its keys and their values."""

    name: Shown | None
    base: str
    values: tuple[tuple[str, Shown], ...]


def determined_view(report: ReportData) -> tuple[Own, ...]:
    """One entry for each measured row, with the values that are not those of most rows; these come first."""
    keys: list[str] = report.spec.get("determined") or []
    first = {at: run for at in range(len(report.rows)) if (run := _first(report, at)) is not None}
    if not keys or not first:
        return ()
    spelled = {
        key: {at: canonical.compact(_value(report, run, key)) for at, run in first.items()} for key in keys
    }
    usual = {key: Counter(values.values()).most_common(1)[0][0] for key, values in spelled.items()}
    entries = []
    shared = []
    for key in keys:
        holder = next(at for at in first if spelled[key][at] == usual[key])
        shared.append((key, _shown(report, first[holder], key)))
    for at, run in first.items():
        own = tuple((key, _shown(report, run, key)) for key in keys if spelled[key][at] != usual[key])
        row = f"{report.name}/{report.rows[at]['id']}"
        entries.append(Own(Shown(value_text(report.rows[at]["id"]), f"row:{row}"), row, own))
    return (Own(None, "", tuple(shared)), *entries)


def _first(report: ReportData, row: int) -> Run | None:
    places = ((run, (run.file.sha256, run.pointer)) for run in report.row_runs(row))
    return next((run for run, place in places if place not in report.excluded), None)


def _pointer(report: ReportData, key: str) -> str:
    return next(str(one["pointer"]) for one in report.spec["config_keys"] if one["name"] == key)


def _value(report: ReportData, run: Run, key: str) -> object:
    return config_value(run.file, run.value, _pointer(report, key))


def _shown(report: ReportData, run: Run, key: str) -> Shown:
    pointer = _pointer(report, key)
    value = config_value(run.file, run.value, pointer)
    if pointer.startswith("$.runs[]"):
        return Shown(value_text(value), f"raw:{run.base}{pointer.removeprefix('$.runs[]')}")
    return Shown(value_text(value), f"raw:{run.file.sha256}/{pointer}")
