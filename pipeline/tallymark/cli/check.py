"""``tallymark check``: documents against their schema and the rules."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tallymark.check import check_paths
from tallymark.check.formats import FORMATS, summary
from tallymark.cli.talk import talk
from tallymark.errors import message_line


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="json is a findings/1.0 document; github, sarif and junit are for CI.",
)
def check(paths: tuple[Path, ...], format_name: str) -> int:
    """Check documents against their schema, then against the rules.

    A PATH is a file, read whatever its suffix, or a folder, which means its **/*.json. Paths are shown
    relative to the working directory; what lies outside of it is outside-1/NAME in every format but text.
    The findings go to standard output, a summary to standard error.

    Exit codes: 0 clean (warnings included), 1 findings, 2 misuse, 4 nothing was checked, 5 unreadable; the
    highest that applies.
    """
    outcome = check_paths(paths)
    sys.stdout.buffer.write(FORMATS[format_name](outcome))
    if outcome.files:
        talk(summary(outcome))
    for folder in outcome.empty:
        do = "Name a document or a folder that holds one"
        talk(message_line(folder, "there is no document", do))
    return outcome.exit_code
