"""Rules about computed reports: the ledger closes, and every cell belongs to its row and column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tallymark.check.rule import REPORT, Problem, Subject, document_rule
from tallymark.evidence.canonical import compact

_AGAIN: Final = "Compute the report again; it is never corrected by hand"


@document_rule(
    "ledger-closes",
    "Every run found or expected is accounted for",
    why="A run that is in no list was dropped by somebody or by a fault.",
    kinds=(REPORT,),
)
def ledger_closes(subject: Subject) -> Iterator[Problem]:
    """found = published + failed + excluded + duplicate = runs of the data; expected = found + missing."""
    ledger = subject.value["ledger"]
    accounted = ledger["published"] + ledger["failed"] + len(ledger["excluded"]) + ledger["duplicate"]
    if ledger["found"] != accounted:
        yield Problem("$.ledger.found", f"{ledger['found']} found, but {accounted} accounted for", _AGAIN)
    if ledger["expected"] != ledger["found"] + ledger["missing"]:
        problem = (
            f"{ledger['expected']} expected, but {ledger['found']} found and {ledger['missing']} missing"
        )
        yield Problem("$.ledger.expected", problem, _AGAIN)
    held = sum(entry["runs"] for entry in subject.value["data"])
    if ledger["found"] != held:
        yield Problem(
            "$.ledger.found", f"{ledger['found']} found, but the raw files hold {held} runs", _AGAIN
        )
    if not ledger["closes"]:
        yield Problem("$.ledger.closes", "the report says that its ledger does not close", _AGAIN)


@document_rule(
    "cells-fit",
    "Each row has exactly the cells of the columns, under its own id",
    why="A cell in the wrong row or column is a right number in the wrong place.",
    kinds=(REPORT,),
)
def cells_fit(subject: Subject) -> Iterator[Problem]:
    """Row ids are made from their keys and differ; the cells are those of the columns, in order."""
    columns = [column["name"] for column in subject.value["spec"]["columns"]]
    keys = subject.value["spec"]["rows"]
    seen: set[str] = set()
    for position, row in enumerate(subject.value["rows"]):
        pointer = f"$.rows[{position}]"
        if list(row["key"]) != keys:
            yield Problem(f"{pointer}.key", f"the keys are not {', '.join(keys)}", _AGAIN)
        elif row["id"] != ",".join(f"{key}={compact(value)}" for key, value in row["key"].items()):
            yield Problem(f"{pointer}.id", "the id does not follow from the keys", _AGAIN)
        if row["id"] in seen:
            yield Problem(f"{pointer}.id", "the row appears twice", _AGAIN)
        seen.add(row["id"])
        if list(row["cells"]) != columns:
            yield Problem(f"{pointer}.cells", "the cells are not those of the columns", _AGAIN)


@document_rule(
    "sources-listed",
    "Every cell's source is a raw file of the report",
    why="A number whose file is not listed cannot be recounted.",
    kinds=(REPORT,),
)
def sources_listed(subject: Subject) -> Iterator[Problem]:
    """The digest of every source is among the digests of the data."""
    listed = {entry["sha256"] for entry in subject.value["data"]}
    for position, row in enumerate(subject.value["rows"]):
        for column, cell in row["cells"].items():
            for number, source in enumerate(cell["sources"]):
                if source["sha256"] not in listed:
                    pointer = f"$.rows[{position}].cells.{column}.sources[{number}]"
                    yield Problem(pointer, "the file is not among the report's data", _AGAIN)
