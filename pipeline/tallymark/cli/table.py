"""``tallymark table REPORT``: compute the table of a report and print it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallymark import tables
from tallymark.evidence import canonical
from tallymark.printable import log_line, printable

if TYPE_CHECKING:
    from tallymark.tables.report import Report


@click.command()
@click.argument("report", metavar="REPORT")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "csv", "json"]),
    default="text",
    show_default=True,
    help="text: a table for reading; json: the report document with the lineage of every cell.",
)
@click.pass_obj
def table(project: Path, report: str, form: str) -> None:
    """Compute the table of REPORT from its raw files and print it.

    REPORT is the name of a spec in site/reports or the path of one. Nothing is written. The footnotes state
    each column's rule, unit and number of runs. Exit codes: 0 printed, 1 the evidence has findings,
    2 the spec is wrong or does not fit the evidence, 5 a raw file is unreadable.
    """
    computed = tables.compute(project, tables.spec.by_name(project, report))
    sys.stdout.write(_printed(computed, form))


def _printed(computed: Report, form: str) -> str:
    from tallymark.tables import formats

    if form == "json":
        return canonical.encode(computed.to_json()).decode("utf-8")
    if form == "markdown":
        return formats.markdown(computed)
    if form == "csv":
        return formats.csv_text(computed)
    if sys.stdout.isatty():
        return _rich(computed)
    return "\n".join(map(log_line, formats.plain(computed).split("\n")))


def _rich(computed: Report) -> str:
    """The table drawn for a terminal; the texts are the same as in the plain form."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from tallymark.tables import formats

    drawn = Table(title=Text(printable(computed.resolved.spec.title)))
    for heading in formats.headings(computed):
        drawn.add_column(Text(printable(heading)), justify="right", overflow="fold")
    for texts in formats.body(computed):
        drawn.add_row(*(Text(printable(text)) for text in texts))
    console = Console(file=sys.stdout, highlight=False)
    with console.capture() as captured:
        console.print(drawn)
        for line in [*formats.footnotes(computed), "", *formats.closing(computed)]:
            console.print(Text(printable(line)))
    return captured.get()
