"""What the page of a report must show: nothing that the evidence or the spec says may be left off it.

A page can mislead with right numbers only, by leaving out a claim that failed, what must not be concluded,
a failed run or a line of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tallymark.recount.difference import Difference
from tallymark.recount.html_tree import Element
from tallymark.recount.layout import references
from tallymark.recount.published import Report

_REBUILD = "Build the site again, or find out who edited the page"
_NOT_SHOWN = "is not shown on the page"


def compare_shown(report: Report, page: str, article: Element) -> Iterator[Difference]:
    """Claims, scope, notes, rules, ledger lines, runs and raw files that the page leaves out."""
    shown = {reference for _, reference in references(article)}
    for reference, said in _required(report):
        if reference not in shown:
            yield Difference(page, f"report {report.name}, {said}", _NOT_SHOWN, _REBUILD)
    text = _plain(article.text())
    for at, note in enumerate(report.value.get("notes") or []):
        if _plain(str(note)) not in text:
            yield Difference(page, f"report {report.name}, note {at + 1}", _NOT_SHOWN, _REBUILD)
    crowded = _crowded(report)
    if crowded is not None and _plain(crowded) not in text:
        yield Difference(page, f"report {report.name}, {crowded!r}", _NOT_SHOWN, _REBUILD)


def _crowded(report: Report) -> str | None:
    """What must be said of more workers than cores, from the raw files: whoever drops the note drops it from
    the report JSON too."""
    constants = report.table["constants"]
    machine, workers = constants.get("machine"), constants.get("workers")
    cores = machine.get("cores") if isinstance(machine, dict) else None
    if isinstance(cores, int) and isinstance(workers, int) and workers > cores:
        return f"{workers} workers on {cores} cores"
    return None


def _required(report: Report) -> Iterator[tuple[str, str]]:
    """Each reference that the page must have, with the words for a person."""
    name, spec = report.name, report.spec
    for at, claim in enumerate(spec.get("claims") or []):
        yield f"claim:{name}/{claim['id']}", f"verdict of claim {claim['id']}"
        yield f"said:{name}/$.claims[{at}].text", f"claim {claim['id']}"
    for key, said in (spec.get("scope") or {}).items():
        for at, _ in enumerate(said if isinstance(said, list) else ()):
            yield f"said:{name}/$.scope.{key}[{at}]", f"scope, {key} {at + 1}"
        if isinstance(said, str):
            yield f"said:{name}/$.scope.{key}", f"scope, {key}"
    for at, column in enumerate(spec["columns"]):
        yield f"spec:{name}/$.columns[{at}].rule", f"rule of column {column['name']}"
    for field, count in report.table["ledger"].items():
        if not isinstance(count, bool):
            yield f"ledger:{name}/{field}", f"ledger, {field}"
    for document in report.data:
        yield f"file:{document.path}|sha256", f"digest of {document.path}"
    yield from _simulated(report)
    paths = {document.sha256: document.path for document in report.data}
    for sha256, pointer in report.runs:
        yield f"raw:{sha256}/{pointer}.outcome", f"run {pointer} of {paths.get(sha256, sha256)}"


def _simulated(report: Report) -> Iterator[tuple[str, str]]:
    """Of simulated runs, what was assumed and which limits nobody knows: each text where it stands first."""
    for key, called in (("assumptions", "assumption"), ("unknown_limits", "unknown limit")):
        said: set[str] = set()
        for document in report.data:
            texts: Any = document.value.get(key)
            for at, text in enumerate(texts if document.kind == "agent-execution" else ()):
                if text not in said:
                    yield f"raw:{document.sha256}/$.{key}[{at}]", f"{called} {text!r}"
                said.add(text)


def _plain(text: str) -> str:
    """A text without its white space: numbers are grouped by markup, lines broken anywhere."""
    return "".join(text.split())
