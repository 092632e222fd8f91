"""``tallymark demo``: the whole road in one command, ending in a line that says whether it agrees."""

from __future__ import annotations

from pathlib import Path

import click

from tallymark.demo import walk
from tallymark.evidence.documents import shown_path
from tallymark.suites.progress import reporter


@click.command()
@click.pass_obj
def demo(project: Path) -> None:
    """Run, check, tabulate, build and recount a small suite here.

    The smoke gate and suite scale (roles 100 and 1000, 100,000 tasks, 3 repetitions) really run on this
    machine, into build/demo; the site in build/site then holds their page beside those of the committed
    evidence. Nothing outside build/ is written. The last two lines are
    "N cells, N prose numbers, 0 differences" and "open build/site/index.html".

    Exit codes: 0 everything agrees, 1 a run failed or a number differs, 2 something is missing here
    (a compiler, the site's packages, the demo's spec), 130 stopped by the user.
    """
    walked = walk(project, reporter())
    click.echo(walked.summary)
    click.echo(f"open {shown_path(walked.page)}")
