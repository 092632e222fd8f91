"""What a command says beside its result: on standard error, a line at a time."""

from __future__ import annotations

import contextlib

import click

from tallymark.printable import log_line


def talk(line: str) -> None:
    """Say one line; a name in it can neither steer the terminal nor command a CI service.

    Where standard error takes nothing, the line is lost: the result and the exit code still tell.
    """
    with contextlib.suppress(OSError):
        click.echo(log_line(line), err=True)
