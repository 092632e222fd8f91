"""One cell explained: value, rule, runs, files, and the jq line; or the cells that there are."""

from __future__ import annotations

import difflib

from tallymark.errors import UsageError
from tallymark.recount.hand import Calculation, calculate
from tallymark.recount.published import Report

_CLOSE = 5


def explain(report: Report, cell: str) -> Calculation:
    """How ``ROW:COLUMN`` comes about. UsageError: there is no such cell; it names the closest ones."""
    row, _, column = cell.rpartition(":")
    if row in report.rows and column in report.columns:
        return calculate(report, row, column)
    close = difflib.get_close_matches(cell, _ids(report), n=_CLOSE, cutoff=0.3) or _ids(report)[:_CLOSE]
    raise UsageError(
        f"{report.name}, {cell}", "there is no such cell", f"the closest are: {', '.join(close)}"
    )


def cell_list(report: Report) -> list[str]:
    """Every cell of the table as ``ROW:COLUMN``, its text beside it."""
    width = max(map(len, _ids(report)))
    texts = [cell["text"] for row in report.rows.values() for cell in row["cells"].values()]
    return [f"{one.ljust(width)}  {text}" for one, text in zip(_ids(report), texts, strict=True)]


def _ids(report: Report) -> list[str]:
    return [f"{row}:{column}" for row in report.rows for column in report.columns]
