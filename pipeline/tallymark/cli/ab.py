"""``tallymark ab``: a plan in, the paths of two documents out."""

from __future__ import annotations

from pathlib import Path

import click

from tallymark.cli.run import told
from tallymark.suites import ab as comparison
from tallymark.suites import ab_plan
from tallymark.suites.progress import reporter


@click.command()
@click.argument("plan", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the documents; data/ab unless said otherwise.",
)
@click.option("--resume", is_flag=True, help="Continue a comparison that was killed or stopped.")
@click.pass_obj
def ab(project: Path, plan: Path, out: Path | None, resume: bool) -> int:
    """Run two built runtimes alternately, as the PLAN (TOML, schema ab-plan/1.0) says; print the two paths.

    Each block is A B B A or B A A B by the plan's seed; run n of A stands beside run n of B. The smoke gate
    and the pre-check judge both runtimes first.

    Exit codes: 0 every run completed, 1 a run did not or a document has findings, 2 misuse: a bad plan, a
    library that is missing or no runtime, workloads of two versions, one library on both sides; 130 stopped.
    """
    checked = ab_plan.load(plan, project)
    directory = project / "data" / ab_plan.SUITE if out is None else out
    return max(told(made) for made in comparison.run(checked, directory, reporter(), resume=resume))
