"""What a command says beside its result: on standard error, a line at a time."""

from __future__ import annotations

import click

from tallymark.printable import log_line


def talk(line: str) -> None:
    """Say one line; a name in it can neither steer the terminal nor command a CI service."""
    click.echo(log_line(line), err=True)
