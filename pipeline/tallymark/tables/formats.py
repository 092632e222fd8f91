"""A computed table as text: aligned plain text, Markdown, and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from tallymark.evidence.strict_json import JsonValue
from tallymark.printable import printable
from tallymark.tables.report import Report

# A spreadsheet takes a cell that starts like this for a formula; a plain number is none.
_FORMULA = re.compile(r"[=+\-@\t\r\n]|\A\s+[=+\-@]")
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?\Z")
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_HEADING_WIDTH = 14


def headings(report: Report) -> list[str]:
    """Titles of the row keys, then those of the columns with their unit and the number of their footnote."""
    columns = [
        f"{one.column.title}{'' if one.unit == '1' else f' ({one.unit})'} [{number}]"
        for number, one in enumerate(report.resolved.columns, start=1)
    ]
    spec = report.resolved.spec
    return [*(spec.row_titles.get(key, key) for key in spec.rows), *columns]


def body(report: Report) -> list[list[str]]:
    """The shown texts, row by row: key values, then cells."""
    return [
        [*(key_text(value) for value in row.key.values()), *(cell.text for cell in cells.values())]
        for row, cells in zip(report.table.rows, report.table.cells, strict=True)
    ]


def footnotes(report: Report) -> list[str]:
    """For each column its rule, the number of runs behind its cells, its unit and its population."""
    lines = []
    for number, one in enumerate(report.resolved.columns, start=1):
        counts = sorted({cells[one.column.name].n for cells in report.table.cells})
        runs = " or ".join(str(count) for count in counts)
        counted = "runs" if one.column.baseline is None else "rounds"
        parts = [f"[{number}] {one.rule}", f"n = {runs} {counted} a cell"]
        if one.column.percentile is not None:
            parts.append(f"population: {one.column.population or 'the samples recorded by completed runs'}")
        parts += [text for text in (one.column.footnote, one.definition) if text]
        lines.append(". ".join(part.rstrip(".") for part in parts) + ".")
    return lines


def closing(report: Report) -> list[str]:
    """Notes, what is constant, the ledger, the files and the digest."""
    ledger = report.table.ledger
    constants = ", ".join(f"{key} = {key_text(value)}" for key, value in report.table.constants.items())
    sums = (
        f"ledger: {ledger.found} runs found = {ledger.published} published + {ledger.failed} failed"
        f" + {len(ledger.excluded)} excluded + {ledger.duplicate} duplicate;"
        f" {ledger.expected} expected = {ledger.found} found + {ledger.missing} missing;"
        f" {ledger.warmups} warm-ups not counted"
    )
    files = [f"file: {document.path} sha256 {document.sha256}" for document in report.documents]
    notes = [f"note: {note.text}" for note in report.notes]
    return [*notes, f"constant: {constants}", sums, *files, f"digest: {report.digest}"]


def plain(report: Report) -> str:
    """The table aligned with spaces, then footnotes and ledger. Foreign text cannot steer a terminal."""
    cells = body(report)
    heads = [
        textwrap.wrap(heading, max(_HEADING_WIDTH, *(len(line[at]) for line in cells), 1))
        for at, heading in enumerate(headings(report))
    ]
    lines = [list(texts) for texts in zip_longest(*heads, fillvalue="")] + cells
    widths = [max(len(line[at]) for line in lines) for at in range(len(heads))]
    table = ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines]
    return (
        "\n".join(printable(line) for line in [*table, "", *footnotes(report), "", *closing(report)]) + "\n"
    )


def markdown(report: Report) -> str:
    """The same as a Markdown table; every character of foreign text is escaped."""
    head = [_escaped(text) for text in headings(report)]
    rows = [[_escaped(text) for text in line] for line in body(report)]
    table = [head, ["---:"] * len(head), *rows]
    lines = ["| " + " | ".join(line) + " |" for line in table]
    rest = [f"- {_escaped(text)}" for text in [*footnotes(report), *closing(report)]]
    return "\n".join([*lines, "", *rest]) + "\n"


def csv_text(report: Report) -> str:
    """One line a row: key values, then for each column the shown text and the exact value."""
    head: list[str] = [*report.resolved.spec.rows]
    for one in report.resolved.columns:
        head += [one.column.name, f"{one.column.name}_exact"]
    lines = [head]
    for row, cells in zip(report.table.rows, report.table.cells, strict=True):
        line = [key_text(value) for value in row.key.values()]
        for cell in cells.values():
            line += [cell.text, "" if cell.exact is None else json.dumps(cell.exact)]
        lines.append(line)
    return _csv(lines)


def key_text(value: JsonValue) -> str:
    """A configuration value in a table: strings bare, everything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _csv(lines: Sequence[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([[_unarmed(text) for text in line] for line in lines])
    return out.getvalue()


def _unarmed(text: str) -> str:
    """A text that no spreadsheet runs as a formula."""
    if _FORMULA.match(text) and not _PLAIN_NUMBER.match(text):
        return "'" + text
    return text


def _escaped(text: str) -> str:
    return _MARKDOWN_SPECIAL.sub(r"\\\1", printable(text)).replace("&", "&amp;")
