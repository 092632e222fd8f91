"""The main table of a report, its column notes and the lineage of every cell, as ready text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark.printable import printable as visible
from tallymark.site.labels import key_head
from tallymark.site.report_data import RawFile, ReportData, run_index
from tallymark.site.shown import Shown, sourced, value_text

Places = tuple[tuple[str, int], ...]
DIRECTIONS = {"lower": "Lower is better.", "higher": "Higher is better."}
NOTE_FACTS = (
    ("rule", "Rule"),
    ("definition", "Measures"),
    ("population", "Population"),
    ("outside", "Outside it"),
    ("footnote", "Note"),
)


@dataclass(frozen=True, slots=True)
class Head:
    """One column header; ``unit`` is empty for plain counts; ``note`` is the letter of its note.

    ``words``: the column holds text, not numbers (row keys only).
    """

    name: str
    title: Shown
    unit: Shown | None
    note: str
    words: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: shown text, the exact value as an attribute, the anchor of its lineage."""

    shown: Shown
    exact: str
    anchor: str
    absent: bool
    tie: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its reference base, its keys (and whether each is text) and its cells."""

    base: str
    keys: tuple[tuple[Shown, bool], ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """What stands below the table for one column: rule, definition, population, free footnote, samples."""

    letter: str
    name: str
    title: Shown
    facts: tuple[tuple[str, Shown], ...]
    better: str
    samples: Shown | None


@dataclass(frozen=True, slots=True)
class LineageCell:
    """How one cell came about: exact value, n, the runs used and a jq line that needs none of our code.

    ``beside`` is the baseline row whose runs stand beside those of the cell's own row; ``own_sources`` lists
    the runs where they are others than these.
    """

    anchor: str
    title: Shown
    text: Shown
    exact: Shown | None
    n: Shown
    samples: Shown | None
    reason: Shown | None
    beside: Shown | None
    own_sources: tuple[Source, ...]
    jq: Shown | None


@dataclass(frozen=True, slots=True)
class Source:
    """One run that a cell was computed from."""

    file: Shown
    href: str
    digest: Shown
    pointer: Shown


@dataclass(frozen=True, slots=True)
class LineageRow:
    """The lineage of one row: the runs that most of its cells share, then each cell."""

    base: str
    label: Shown
    sources: tuple[Source, ...]
    cells: tuple[LineageCell, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """The table with its notes and lineage."""

    report: str
    keys: tuple[Head, ...]
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]
    lineage: tuple[LineageRow, ...]
    ties: bool


def table_view(report: ReportData, jq_lines: Mapping[str, str]) -> TableView:
    """The table of a report. ``jq_lines`` holds the jq line of each present cell by cell id."""
    rows = tuple(_row(report, at, row) for at, row in enumerate(report.rows))
    return TableView(
        report=report.name,
        keys=tuple(
            Head(key, key_head(report, at), None, "", report.holds_words(key))
            for at, key in enumerate(report.spec["rows"])
        ),
        heads=tuple(_head(report, at, column) for at, column in enumerate(report.columns)),
        rows=rows,
        notes=tuple(_note(report, at, column) for at, column in enumerate(report.columns)),
        lineage=tuple(_lineage(report, at, row, jq_lines) for at, row in enumerate(report.rows)),
        ties=any(cell.tie for row in rows for cell in row.cells),
    )


def _head(report: ReportData, at: int, column: Mapping[str, Any]) -> Head:
    base = f"spec:{report.name}/$.columns[{at}]"
    unit = Shown(column["unit"], f"{base}.unit") if column["unit"] != "1" else None
    return Head(column["name"], Shown(column["title"], f"{base}.title"), unit, letter(at))


def letter(at: int) -> str:
    """a, b … z, aa, ab …"""
    return (letter(at // 26 - 1) if at >= 26 else "") + chr(ord("a") + at % 26)


def _row(report: ReportData, at: int, row: Mapping[str, Any]) -> Row:
    keys = tuple(
        (Shown(value_text(value), f"key:~/{name}"), report.holds_words(name))
        for name, value in row["key"].items()
    )
    cells = tuple(_cell(at, name, row["cells"][name]) for name in _names(report))
    return Row(f"{report.name}/{row['id']}", keys, cells)


def _names(report: ReportData) -> list[str]:
    return [column["name"] for column in report.columns]


def _cell(row: int, name: str, cell: Mapping[str, Any]) -> Cell:
    absent = "absent" in cell
    return Cell(
        shown=Shown(cell["text"], f"cell:~:{name}"),
        exact="" if absent else value_text(cell["exact"]),
        anchor=f"c{row}-{name}",
        absent=absent,
        tie=bool(cell.get("ties")),
    )


def _note(report: ReportData, at: int, column: Mapping[str, Any]) -> Note:
    base = f"spec:{report.name}/$.columns[{at}]"
    return Note(
        letter=letter(at),
        name=column["name"],
        title=sourced(column["title"], f"{base}.title"),
        facts=tuple(
            (label, sourced(visible(column[name]), f"{base}.{name}"))
            for name, label in NOTE_FACTS
            if column.get(name)
        ),
        better=DIRECTIONS.get(column.get("direction", ""), ""),
        samples=_same_n(report, column["name"]),
    )


def _same_n(report: ReportData, name: str) -> Shown | None:
    """The n of a column when it is the same in every cell; else each lineage says its own."""
    counts = {row["cells"][name]["n"] for row in report.rows}
    if len(counts) != 1:
        return None
    return Shown(str(counts.pop()), f"cell:{report.name}/{report.rows[0]['id']}:{name}|n")


def _lineage(report: ReportData, at: int, row: Mapping[str, Any], jq_lines: Mapping[str, str]) -> LineageRow:
    shared = _shared(report, row)
    cells = [
        _lineage_cell(report, at, index, row["cells"][name], shared, jq_lines.get(f"{row['id']}:{name}"))
        for index, name in enumerate(_names(report))
    ]
    return LineageRow(
        f"{report.name}/{row['id']}",
        Shown(visible(row["id"]), f"row:{report.name}/{row['id']}"),
        _sources(report, shared),
        tuple(cells),
    )


def _lineage_cell(
    report: ReportData,
    row: int,
    column: int,
    cell: Mapping[str, Any],
    shared: Places,
    jq_line: str | None,
) -> LineageCell:
    name, absent = report.columns[column]["name"], cell.get("absent")
    base = f"spec:{report.name}/$.columns[{column}]"
    beside = _is_beside(report, report.columns[column].get("baseline"), cell, shared)
    return LineageCell(
        anchor=f"c{row}-{name}",
        title=sourced(report.columns[column]["title"], f"{base}.title"),
        text=Shown(cell["text"], f"cell:~:{name}"),
        exact=None if absent else Shown(value_text(cell["exact"]), f"cell:~:{name}|exact"),
        n=Shown(str(cell["n"]), f"cell:~:{name}|n"),
        samples=Shown(str(cell["samples"]), f"cell:~:{name}|samples") if "samples" in cell else None,
        reason=sourced(absent["reason"], f"cell:~:{name}|reason") if absent else None,
        beside=Shown(report.columns[column]["baseline"], f"{base}.baseline") if beside else None,
        own_sources=() if beside or _places(cell) == shared else _sources(report, _places(cell)),
        jq=None if jq_line is None else Shown(jq_line, f"jq:~:{name}"),
    )


def _shared(report: ReportData, row: Mapping[str, Any]) -> Places:
    """The runs that most cells of a row were computed from."""
    return _most_common([_places(row["cells"][name]) for name in _names(report)])


def _is_beside(report: ReportData, baseline: str | None, cell: Mapping[str, Any], shared: Places) -> bool:
    """Whether a cell's runs are those of its row and those of the baseline row, which is another one."""
    for row in report.rows:
        if row["id"] == baseline:
            other = _shared(report, row)
            return other != shared and set(_places(cell)) == {*shared, *other}
    return False


def _places(cell: Mapping[str, Any]) -> Places:
    """The runs behind a cell as (digest, index), each once."""
    places = ((one["sha256"], run_index(one["pointer"])) for one in cell["sources"])
    return tuple(dict.fromkeys(places))


def _most_common(lists: Sequence[Places]) -> Places:
    return max(lists, key=lists.count, default=())


def _sources(report: ReportData, places: Places) -> tuple[Source, ...]:
    return tuple(_source(report.by_digest[digest], f"$.runs[{index}]") for digest, index in places)


def _source(file: RawFile, pointer: str) -> Source:
    return Source(
        file=Shown(visible(file.name), f"file:{file.published}|name"),
        href=f"../{file.published}",
        digest=Shown(file.sha256[:12], f"file:{file.published}|sha12"),
        pointer=Shown(pointer, f"pointer:{file.sha256}/{pointer}"),
    )
