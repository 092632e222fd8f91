"""The pages beside the reports: start page, method, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark import schemas
from tallymark.check import RULES, Rule
from tallymark.printable import printable as visible
from tallymark.site.report_data import RawFile, ReportData
from tallymark.site.report_page import Badge, ClaimView, age_badge, claims, claims_badge
from tallymark.site.shown import Sentence, Shown, plain, sourced, words
from tallymark.site.status import Status
from tallymark.site.templating import render

_RUNTIME = "runtime-execution/"
_IMPORTED = "imported-execution/"
_OWN_BENCHMARKS = "benchmark"
_GROUPS = (
    "Experiments of the runtime",
    "Systems of agents",
    "Benchmarks beside peers",
    "Imported from other tools",
)


@dataclass(frozen=True, slots=True)
class ReportCard:
    """A report on the start page: title, claims with their numbers, and what it is made of."""

    href: str
    title: Shown
    age: Badge | None
    verdicts: Badge | None
    claims: tuple[ClaimView, ...]
    runs: Shown
    files: Shown
    cells: Shown
    newest: Shown
    digest: Shown


@dataclass(frozen=True, slots=True)
class ReportGroup:
    """Reports of one origin: experiments of the runtime, agent systems, our benchmarks, other tools."""

    title: str
    cards: tuple[ReportCard, ...]


@dataclass(frozen=True, slots=True)
class Timestamp:
    """One stage timestamp of the runtime as its manifest describes it."""

    stage: Shown
    taken: Shown
    lock: Shown


@dataclass(frozen=True, slots=True)
class MeasureLine:
    """One measure of the published evidence: its field, unit, direction and definition.

    The definition is in parts (text, whether it is code), as the schemas write it with backticks.
    """

    name: str
    unit: str
    direction: str
    definition: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class MeasureGroup:
    """The measures of one evidence schema."""

    schema: str
    lines: tuple[MeasureLine, ...]


def start_page(reports: Sequence[ReportData], status: Status) -> str:
    """The Markdown file of the start page."""
    return render(
        "index.md.j2",
        groups=tuple(
            ReportGroup(title, tuple(_card(report) for report in own)) for title, own in grouped(reports)
        ),
        totals=_totals(reports),
        recounted=_recounted(status),
    )


def method_page(reports: Sequence[ReportData]) -> str:
    """The Markdown file of the method page; what timestamps mean is quoted from the evidence."""
    file = _runtime_file(reports)
    return render(
        "method.md.j2",
        timestamps=() if file is None else _timestamps(file),
        timestamps_of=None if file is None else Shown(visible(file.name), f"file:{file.published}|name"),
        timestamps_href="" if file is None else file.published,
        groups=tuple(_measures(schema) for schema in _evidence_schemas(reports)),
    )


def rules_page() -> str:
    """The Markdown file of the rule page: the very table that ``tallymark check`` applies."""
    rules: tuple[Rule, ...] = RULES
    return render("rules.md.j2", rules=rules)


def _card(report: ReportData) -> ReportCard:
    name = report.name
    cells = sum(len(row["cells"]) for row in report.rows)
    return ReportCard(
        href=f"reports/{name}.html",
        title=sourced(report.value["title"], f"spec:{name}/$.title"),
        age=_age(report),
        verdicts=claims_badge(report),
        claims=claims(report),
        runs=Shown(str(report.value["ledger"]["published"]), f"count:{name}/runs"),
        files=Shown(str(len(report.files)), f"count:{name}/raw-files"),
        cells=Shown(str(cells), f"count:{name}/cells"),
        newest=_newest(report),
        digest=Shown(str(report.value["digest"])[:12], f"report:{name}/$.digest|sha12"),
    )


def _age(report: ReportData) -> Badge | None:
    """``current`` or ``historical``: the report's own page says what that means."""
    badge = age_badge(report)
    return None if badge is None else Badge((words(plain(badge.text).partition(":")[0]),), badge.tone)


def grouped(reports: Sequence[ReportData]) -> list[tuple[str, list[ReportData]]]:
    """The reports by where their numbers come from, in the order given; groups without one are left out."""
    found: dict[str, list[ReportData]] = {title: [] for title in _GROUPS}
    for report in reports:
        found[_group(report)].append(report)
    return [(title, own) for title, own in found.items() if own]


def _group(report: ReportData) -> str:
    document = report.files[0].document
    if document.schema.startswith(_RUNTIME):
        return _GROUPS[0]
    if not document.schema.startswith(_IMPORTED):
        return _GROUPS[1]
    source: Any = document.value.get("source") or {}
    return _GROUPS[2] if source.get("format") == _OWN_BENCHMARKS else _GROUPS[3]


def _newest(report: ReportData) -> Shown:
    """When the newest raw file was measured (imported, when its source does not say)."""
    found = []
    for file in report.files:
        execution: Any = file.document.value["execution"]
        key = "started_at" if "started_at" in execution else "imported_at"
        found.append((execution[key], f"raw:{file.sha256}/$.execution.{key}"))
    return Shown(*max(found))


def _totals(reports: Sequence[ReportData]) -> Sentence:
    counts = {
        "reports": len(reports),
        "runs": sum(report.value["ledger"]["published"] for report in reports),
        "raw-files": len({file.sha256 for report in reports for file in report.files}),
        "cells": sum(len(row["cells"]) for report in reports for row in report.rows),
    }
    return _counted(counts, "count:")


def _counted(counts: Mapping[str, int], source: str) -> Sentence:
    """``12 runs, 1 raw file, …``; ``source`` is what the reference of each count starts with."""
    parts: list[Shown] = []
    for name, count in counts.items():
        noun = {"raw-files": "raw file", "cells": "table cell"}.get(name, name.removesuffix("s"))
        parts += [
            *([words(", ")] if parts else []),
            Shown(str(count), f"{source}{name}"),
            words(f" {noun}" if count == 1 else f" {noun}s"),
        ]
    return tuple(parts)


def _recounted(status: Status) -> Sentence:
    parts = [words("all recounted from the raw files when this site was built")]
    if status.recounted_at is not None:
        parts += [words(" at "), Shown(status.recounted_at, "status:recounted_at")]
    parts += [
        words(", by "),
        Shown("recount.py", "status:by"),
        words(" (SHA-256 "),
        Shown(status.script_sha256[:12], "file:recount.py|sha12"),
        words("). Evidence until "),
        Shown(status.evidence_until, "status:evidence_until"),
        words("."),
    ]
    return tuple(parts)


def _runtime_file(reports: Sequence[ReportData]) -> RawFile | None:
    """The newest raw file that our own runtime wrote."""
    found = [file for report in reports for file in report.files if file.document.schema.startswith(_RUNTIME)]

    def started(file: RawFile) -> tuple[str, str]:
        execution: Any = file.document.value["execution"]
        return str(execution["started_at"]), file.sha256

    return max(found, key=started, default=None)


def _timestamps(file: RawFile) -> tuple[Timestamp, ...]:
    manifest: Any = file.document.value["manifest"]
    entries: Sequence[Mapping[str, Any]] = manifest["timestamps"]
    base = f"raw:{file.sha256}/$.manifest.timestamps"
    return tuple(
        Timestamp(
            Shown(entry["stage"], f"{base}[{at}].stage"),
            Shown(visible(entry["taken"]), f"{base}[{at}].taken"),
            Shown("true" if entry["under_lock"] else "false", f"{base}[{at}].under_lock"),
        )
        for at, entry in enumerate(entries)
    )


def _evidence_schemas(reports: Sequence[ReportData]) -> list[str]:
    return sorted({file.document.schema for report in reports for file in report.files})


def _measures(schema: str) -> MeasureGroup:
    lines = []
    for pointer, note in schemas.annotations(schema).items():
        if note.role != "measure" or not pointer.startswith("$.runs[]."):
            continue
        direction = "" if note.direction in (None, "none") else str(note.direction)
        text = schemas.definition(note.definition) if note.definition else note.description
        name = pointer.removeprefix("$.runs[].")
        parts = tuple((part, at % 2 == 1) for at, part in enumerate(text.split("`")))
        lines.append(MeasureLine(name, note.unit or "", direction, parts))
    return MeasureGroup(schema, tuple(lines))
