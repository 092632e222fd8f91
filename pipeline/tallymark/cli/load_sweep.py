"""``tallymark load sweep``: one scenario at several loads, and how much of it to admit."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tallymark import errors
from tallymark.agentload import overrides, sweep_text
from tallymark.agentload import sweep as sweeps
from tallymark.agentload.sweep import Sweep
from tallymark.cli.talk import talk
from tallymark.evidence import canonical
from tallymark.evidence.documents import shown_path
from tallymark.printable import log_line, printable

_STOPPED = 130


@click.command()
@click.argument("scenario", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--set",
    "settings",
    multiple=True,
    required=True,
    metavar="KEY=VALUE[,VALUE]",
    help="The loads (arrival.rate_per_min, arrival.in_flight or arrival.burst_tasks), and other settings.",
)
@click.option("--label", default="sweep", show_default=True, help="Name of the document.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the document; data/agent-NAME unless said otherwise.",
)
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed in place of the scenario's.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.pass_obj
def sweep(
    project: Path,
    scenario: Path,
    settings: tuple[str, ...],
    label: str,
    out: Path | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Simulate SCENARIO idle and at several loads; print quality beside latency, the knee, what to admit.

    The same tasks with the same draws run at each load. The fixed subset at each load is compared in pairs
    with idle (McNemar's test; the interval of the difference against the margin). The knee is a bracket of
    tested loads. The evidence is one document.

    Exit codes: 0 written, 1 the document has findings, 2 misuse or a bad scenario, 130 stopped by the user.
    """
    made = sweeps.run(project, scenario, overrides.parse(settings), label, out, seed)
    for finding in made.written.findings:
        talk(finding.line())
    document = shown_path(made.written.path)
    if as_json:
        value = {"document": document, **sweeps.to_json(made)}
        sys.stdout.write(canonical.encode(value).decode("utf-8"))
    elif sys.stdout.isatty():
        sys.stdout.write(_rich(made))
        click.echo(document)
    else:
        sys.stdout.write("".join(f"{log_line(line)}\n" for line in _plain(made)))
        click.echo(document)
    if made.written.stopped:
        return _STOPPED
    bad = any(one.severity == "error" for one in made.written.findings)
    return errors.FINDINGS if bad else errors.CLEAN


def _plain(made: Sweep) -> list[str]:
    table = [sweep_text.HEADINGS, *sweep_text.rows(made)]
    widths = [max(len(texts[at]) for texts in table) for at in range(len(sweep_text.HEADINGS))]
    drawn = [
        "  ".join(text.rjust(width) for text, width in zip(texts, widths, strict=True)) for texts in table
    ]
    return [f"load in {made.unit}", *drawn, "", *sweep_text.lines(made)]


def _rich(made: Sweep) -> str:
    """The same texts, drawn for a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(printable(f"{made.plan.scenario.title} (load in {made.unit})")))
    for heading in sweep_text.HEADINGS:
        drawn.add_column(Text(heading), justify="right", overflow="fold")
    for texts in sweep_text.rows(made):
        drawn.add_row(*(Text(printable(text)) for text in texts))
    console = Console(file=sys.stdout, highlight=False)
    with console.capture() as captured:
        console.print(drawn)
        for line in sweep_text.lines(made):
            console.print(Text(printable(line)))
    return captured.get()
