"""The published report JSON and CSV against the recount: data, constants, rows, cells, ledger, digest."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tallymark.errors import UnreadableError
from tallymark.recount import claims
from tallymark.recount import recount as script
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.published import Json, Published, Report
from tallymark.recount.reference import Unresolved
from tallymark.recount.resolver import resolve
from tallymark.recount.shown import value_text

_REBUILD = "Build the site again, or restore the published file"
_CELL_KEYS = ("exact", "text", "n", "samples", "absent")
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def compare_report(published: Published, report: Report, file: str) -> Iterator[Difference]:
    """Everything in the report JSON that does not agree with its spec and its raw files."""
    for key in ("name", "version", "title"):
        yield from _same(file, f"$.{key}", report.value.get(key), report.spec.get(key))
    yield from _same(file, "$.spec", report.value["spec"], report.spec)
    yield from _compare_data(report, file)
    yield from _compare_map(file, "$.constants", report.value["constants"], report.table["constants"])
    yield from _compare_map(file, "$.ledger", report.value["ledger"], report.table["ledger"])
    yield from _compare_rows(report, file)
    yield from _same(file, "$.digest", report.value["digest"], report.table["digest"])
    try:
        yield from claims.compare_prose(report, file, lambda one: resolve(published, one).text)
    except Unresolved as error:
        yield Difference(file, "$.claims", error.problem, _REBUILD)


def _same(file: str, place: str, shown: Any, recomputed: Any) -> Iterator[Difference]:
    if script.compact(shown) == script.compact(recomputed):
        return
    if isinstance(shown, dict) and isinstance(recomputed, dict):
        yield from _compare_map(file, place, shown, recomputed)
    elif isinstance(shown, list) and isinstance(recomputed, list) and len(shown) == len(recomputed):
        for at, (one, other) in enumerate(zip(shown, recomputed, strict=True)):
            yield from _same(file, f"{place}[{at}]", one, other)
    else:
        yield mismatch(file, place, _short(shown), _short(recomputed), _REBUILD)


def _compare_map(file: str, place: str, shown: Json, recomputed: Json) -> Iterator[Difference]:
    for key in dict.fromkeys((*recomputed, *shown)):
        if key not in shown or key not in recomputed:
            problem = "is missing" if key in recomputed else "is not in the recount"
            yield Difference(file, f"{place}.{key}", problem, _REBUILD)
        else:
            yield from _same(file, f"{place}.{key}", shown[key], recomputed[key])


def _short(value: Any) -> str:
    text = value_text(value)
    return text if len(text) <= 200 else text[:199] + "…"


def _compare_data(report: Report, file: str) -> Iterator[Difference]:
    """The list of raw files: digest, size and identity of each."""
    by_path = {document.path: document for document in report.data}
    for at, entry in enumerate(report.value["data"]):
        path = entry["path"]
        document = by_path.get(path if path.startswith("data/") else f"data/{path}")
        if document is None:
            continue  # said when the files were read
        value: Any = document.value
        execution = value["execution"]
        facts = {
            "sha256": document.sha256,
            "bytes": len(document.data),
            "schema": document.schema,
            "runs": len(value["runs"]),
            "execution_id": execution["id"],
            "started_at": execution.get("started_at") or execution.get("imported_at"),
        }
        for key, recomputed in facts.items():
            yield from _same(file, f"$.data[{at}].{key}", entry.get(key), recomputed)


def _compare_rows(report: Report, file: str) -> Iterator[Difference]:
    shown = [row["id"] for row in report.value["rows"]]
    if shown != list(report.rows):
        yield mismatch(file, "$.rows, ids in order", _short(shown), _short(list(report.rows)), _REBUILD)
        return
    ties = _ties(report)
    for at, row in enumerate(report.value["rows"]):
        recounted = report.rows[row["id"]]
        yield from _same(file, f"$.rows[{at}].key", row["key"], recounted["key"])
        if list(row["cells"]) != list(report.columns):
            place = f"$.rows[{at}].cells, columns in order"
            yield mismatch(file, place, _short(list(row["cells"])), _short(list(report.columns)), _REBUILD)
            continue
        for name, cell in row["cells"].items():
            place = f"$.rows[{at}].cells.{name} (row {row['id']}, column {name})"
            yield from _compare_cell(report, file, place, cell, recounted["cells"][name])
            yield from _same(file, f"{place}.ties", bool(cell.get("ties")), (row["id"], name) in ties)


def _compare_cell(report: Report, file: str, place: str, cell: Json, recounted: Json) -> Iterator[Difference]:
    for key in _CELL_KEYS:
        if (key in cell) != (key in recounted):
            problem = "is missing" if key in recounted else "is not in the recount"
            yield Difference(file, f"{place}.{key}", problem, _REBUILD)
        elif key in cell:
            yield from _same(file, f"{place}.{key}", cell[key], recounted[key])
    shown = [(one["sha256"], one["pointer"]) for one in cell["sources"]]
    wanted = [(one["sha256"], one["pointer"]) for one in recounted["sources"]]
    if sorted(shown) != sorted(wanted):
        yield mismatch(file, f"{place}.sources", _short(shown), _short(wanted), _REBUILD)
    paths = {entry["sha256"]: entry["path"] for entry in report.value["data"]}
    for at, one in enumerate(cell["sources"]):
        yield from _same(file, f"{place}.sources[{at}].path", one.get("path"), paths.get(one["sha256"]))


def _ties(report: Report) -> set[tuple[str, str]]:
    """The cells whose column shows their text for another exact value too."""
    seen: defaultdict[tuple[str, str], dict[Any, list[str]]] = defaultdict(dict)
    for row_id, row in report.rows.items():
        for name, cell in row["cells"].items():
            if "exact" in cell:
                seen[name, cell["text"]].setdefault(cell["exact"], []).append(row_id)
    return {
        (row_id, name)
        for (name, _), values in seen.items()
        if len(values) > 1
        for row_ids in values.values()
        for row_id in row_ids
    }


def compare_csv(published: Published, report: Report, file: str) -> Iterator[Difference]:
    """The CSV: one line a row with its keys, then for each column the shown text and the exact value."""
    if file not in published.files:
        yield Difference(file, "", "is missing", _REBUILD)
        return
    wanted = _csv_lines(report)
    try:
        text = published.files.text(file)
        shown = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnreadableError, csv.Error) as error:
        yield Difference(file, "", getattr(error, "problem", f"is no CSV ({error})"), _REBUILD)
        return
    if len(shown) != len(wanted) or any(len(a) != len(b) for a, b in zip(shown, wanted, strict=False)):
        yield Difference(file, "", f"has not the {len(wanted)} lines of the table", _REBUILD)
        return
    for at, (line, recounted) in enumerate(zip(shown, wanted, strict=True)):
        for name, one, other in zip(wanted[0], line, recounted, strict=True):
            if one != other:
                row = f"row {list(report.rows)[at - 1]}" if at else "head"
                yield mismatch(file, f"{row}, column {name}", one, other, _REBUILD)
    if shown == wanted and text != _csv_text(wanted):
        yield Difference(file, "", "is quoted or ended in another way than it is built", _REBUILD)


def _csv_lines(report: Report) -> list[list[str]]:
    head = [*report.spec["rows"]]
    for name in report.columns:
        head += [name, f"{name}_exact"]
    lines = [head]
    for row in report.rows.values():
        line = [value if isinstance(value, str) else script.compact(value) for value in row["key"].values()]
        for cell in row["cells"].values():
            line += [cell["text"], value_text(cell["exact"]) if "exact" in cell else ""]
        lines.append(line)
    return [[harmless(text) for text in line] for line in lines]


def harmless(text: str) -> str:
    """A text that a spreadsheet would take for a formula gets an apostrophe; a plain number is none."""
    start = text.lstrip()[:1]
    if text[:1] in ("\t", "\r", "\n") or start in ("=", "+", "-", "@"):
        return text if _PLAIN_NUMBER.fullmatch(text) else "'" + text
    return text


def _csv_text(lines: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()
