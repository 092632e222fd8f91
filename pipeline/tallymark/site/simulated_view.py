"""What a page says of evidence that was simulated: every assumption, and the limits that nobody knows.

Nothing here is written by us: each sentence stands in a raw file, and `tallymark recount` looks for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tallymark.evidence.strict_json import JsonValue
from tallymark.printable import printable as visible
from tallymark.site.labels import key_head
from tallymark.site.report_data import ReportData, Run, resolve
from tallymark.site.shown import Format, Shown, sourced, value_text

KIND = "agent-execution"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a scenario: where it stands there, and what it is."""

    place: Shown
    value: Shown


@dataclass(frozen=True, slots=True)
class FirstStop:
    """Which limit stopped anybody first in a run, and when; both are None where none did."""

    keys: tuple[Shown, ...]
    ceiling: Shown | None
    at: Shown | None


@dataclass(frozen=True, slots=True)
class SimulatedView:
    """Assumptions, unknown limits (with whose they are) and the scenarios whole; each once, however many
    files hold it. ``stops``: one line a run, under the ``heads`` of the row keys.
    """

    assumptions: tuple[Shown, ...]
    unknown: tuple[tuple[Shown, Shown | None], ...]
    heads: tuple[Shown, ...]
    stops: tuple[FirstStop, ...]
    scenarios: tuple[tuple[Shown, str, tuple[Setting, ...]], ...]


def is_simulated(report: ReportData) -> bool:
    """Whether the runs of a report happened in virtual time only."""
    return all(file.document.kind == KIND for file in report.files)


def simulated_view(report: ReportData) -> SimulatedView | None:
    """The view of a report of simulated runs; None for one that was measured."""
    if not is_simulated(report):
        return None
    scenarios = []
    said: set[str] = set()
    for file in report.files:
        digest = str(file.document.value["scenario_sha256"])
        if digest not in said:
            name = Shown(visible(file.name), f"file:{file.published}|name")
            base = f"{file.sha256}/"
            settings = tuple(_settings(file.document.value["scenario"], "$.scenario", base))
            scenarios.append((name, f"../{file.published}", settings))
        said.add(digest)
    return SimulatedView(
        assumptions=tuple(said for said, _ in _once(report, "assumptions")),
        unknown=tuple(_once(report, "unknown_limits")),
        heads=tuple(key_head(report, at) for at in range(len(report.spec["rows"]))),
        stops=tuple(_first_stop(report, run) for run in report.runs),
        scenarios=tuple(scenarios),
    )


_SECONDS = Format(1, 1000, 1)


def _first_stop(report: ReportData, run: Run) -> FirstStop:
    keys = tuple(sourced(value_text(run.value[key]), f"raw:{run.base}.{key}") for key in report.spec["rows"])
    ceiling = run.value["first_ceiling"]
    if ceiling is None:
        return FirstStop(keys, None, None)
    at = Shown(
        _SECONDS.text(run.value["first_ceiling_ms"]), f"raw:{run.base}.first_ceiling_ms{_SECONDS.options()}"
    )
    return FirstStop(keys, Shown(value_text(ceiling), f"raw:{run.base}.first_ceiling"), at)


def _once(report: ReportData, key: str) -> Iterator[tuple[Shown, Shown | None]]:
    """The texts of a list of the documents, each where it stands first; of a pointer, the name beside it."""
    said: set[str] = set()
    for file in report.files:
        texts: Any = file.document.value[key]
        for at, text in enumerate(texts):
            if text not in said:
                place = f"$.scenario{text.removeprefix('$').rpartition('.')[0]}.name"
                name = resolve(file.document.value, place) if text.startswith("$") else None
                yield (
                    Shown(visible(text), f"raw:{file.sha256}/$.{key}[{at}]"),
                    Shown(visible(name), f"raw:{file.sha256}/{place}") if isinstance(name, str) else None,
                )
            said.add(text)


def _settings(value: JsonValue, pointer: str, base: str) -> Iterator[Setting]:
    """Every value of a scenario in its order; its assumptions stand above."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            if f"{pointer}.{key}" != "$.scenario.assumptions":
                yield from _settings(inner, f"{pointer}.{key}", base)
    elif isinstance(value, list) and any(isinstance(inner, Mapping) for inner in value):
        for at, inner in enumerate(value):
            yield from _settings(inner, f"{pointer}[{at}]", base)
    else:
        place = Shown(pointer, f"pointer:{base}{pointer}")
        yield Setting(place, Shown(value_text(value), f"raw:{base}{pointer}"))
