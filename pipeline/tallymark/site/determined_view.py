"""The configuration that follows from the row keys: what a row has of its own, and what all others have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallymark.evidence import canonical
from tallymark.evidence.strict_json import JsonValue
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


def _key(report: ReportData, name: str) -> Mapping[str, Any]:
    keys: list[Mapping[str, Any]] = report.spec["config_keys"]
    return next(one for one in keys if one["name"] == name)


def _value(report: ReportData, run: Run, name: str) -> JsonValue:
    return config_value(run.file, run.value, _key(report, name))


def _shown(report: ReportData, run: Run, name: str) -> Shown:
    key = _key(report, name)
    pointer = str(key["pointer"])
    inside = pointer.startswith("$.runs[]")
    text = value_text(config_value(run.file, run.value, key))
    if inside and pointer.removeprefix("$.runs[].") not in run.value:
        return Shown(
            text, f"spec:{report.name}/$.config_keys[{report.spec['config_keys'].index(key)}].default_before"
        )
    below = (
        f"raw:{run.base}{pointer.removeprefix('$.runs[]')}" if inside else f"raw:{run.file.sha256}/{pointer}"
    )
    return Shown(text, below)
