"""Commands that exist only in tests, for what no command of ours does on purpose."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
def broken() -> None:
    """Fail as a bug would, with a message that tries to speak."""
    raise RuntimeError("half of it\n::error::\x1b[2J\udcff")


@click.command()
def interrupted() -> None:
    """Be stopped by the user."""
    raise KeyboardInterrupt


@click.command()
@click.argument("lines", type=int)
def talkative(lines: int) -> int:
    """Print that many lines, with characters that not every terminal has."""
    for _ in range(lines):
        click.echo("≤ 5 µs \udcff")
    return 3


@click.command()
def refused() -> None:
    """Meet a file system that refuses."""
    Path("/proc/version\x1b").read_bytes()
