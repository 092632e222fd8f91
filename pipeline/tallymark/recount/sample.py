"""Cells drawn at random from a seed, for a hand calculation that anyone can repeat.

The draw needs no random generator: cells are ordered by the SHA-256 of ``SEED/REPORT/ROW:COLUMN``, and the
first ones are taken. The same seed draws the same cells on every machine and in every language.
"""

from __future__ import annotations

from tallymark.errors import NothingCheckedError
from tallymark.evidence.canonical import sha256_hex
from tallymark.recount.hand import Calculation, calculate
from tallymark.recount.published import Published


def draw(published: Published, count: int, seed: int) -> tuple[list[Calculation], int]:
    """(calculations of the drawn cells, number of cells drawn from). NothingCheckedError: no cell."""
    cells = [
        (report, row, column)
        for report in published.reports.values()
        for row, found in report.rows.items()
        for column, cell in found["cells"].items()
        if "exact" in cell
    ]
    if not cells:
        raise NothingCheckedError(
            published.files.shown, "publishes no cell that can be recounted", "build the site"
        )
    cells.sort(key=lambda cell: sha256_hex(f"{seed}/{cell[0].name}/{cell[1]}:{cell[2]}".encode()))
    return [calculate(report, row, column) for report, row, column in cells[:count]], len(cells)
