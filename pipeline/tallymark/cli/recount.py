"""``tallymark recount``, ``explain``, ``freeze`` and ``bundle``: what a reviewer does with a site."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from pathlib import Path

import click
from click.core import ParameterSource

from tallymark import errors
from tallymark.cli.talk import talk
from tallymark.evidence import canonical, documents
from tallymark.printable import log_line
from tallymark.recount import bundle as bundles
from tallymark.recount import explain as explanations
from tallymark.recount import files, published, sample
from tallymark.recount import freeze as freezes
from tallymark.recount.published import Published, Report
from tallymark.recount.verify import Outcome, verify, verify_bundle

_SITE = Path("build", "site")
_site_option = click.option(
    "--site",
    type=click.Path(path_type=Path),
    show_default="build/site of the project",
    help="The published folder, or the bundle of one report.",
)


@click.command()
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--expect", multiple=True, metavar="DIGEST", help="A digest cited elsewhere; repeatable.")
@click.option(
    "--sample", "count", type=click.IntRange(min=1), metavar="N", help="Calculate N cells by hand instead."
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="S", help="Which cells: the same seed, the same cells."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json is for a program that reads it.",
)
@click.pass_context
def recount(
    context: click.Context,
    path: Path | None,
    expect: tuple[str, ...],
    count: int | None,
    seed: int | None,
    form: str,
) -> None:
    """Recompute every published number of a site or bundle from its raw files and compare.

    PATH is the published folder (default: build/site of the project) or a bundle. Compared are digests,
    every table cell, every number in prose, charts, report files, ledger and rules; a site of this project
    also with data/ and site/reports. Nothing is written. The last line is
    "N cells, N prose numbers, N differences".

    Exit codes: 0 no difference, 1 a difference or a leak, 2 no such site, 4 it publishes no report,
    5 the bundle is unreadable.
    """
    project: Path = context.obj
    site = path or project / _SITE
    if count is not None:
        _sample(_read(site), count, secrets.randbelow(1 << 32) if seed is None else seed, form)
        return
    if seed is not None:
        raise errors.UsageError("--seed", "chooses cells only with --sample", "add --sample N")
    outcome = verify(site, _project_of(context, site), expect=expect)
    _print(outcome, form)
    context.exit(errors.FINDINGS if outcome.differences else errors.CLEAN)


def _project_of(context: click.Context, site: Path) -> Path | None:
    """The project to compare with: the one that was named, or the one that the site was built in."""
    project: Path = context.obj
    parent = context.parent
    if parent is not None and parent.get_parameter_source("project") is not ParameterSource.DEFAULT:
        return project
    return project if site.resolve().is_relative_to(project.resolve()) else None


def _read(site: Path) -> Published:
    if site.is_file():
        return published.read_bundle(files.from_bundle(site))
    return published.read_site(files.from_folder(site))


def _print(outcome: Outcome, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(outcome.to_json(), indent=1, ensure_ascii=False))
        return
    for difference in outcome.differences:
        click.echo(difference.line())
    counts = f"{outcome.reports} reports, {outcome.files} files, {outcome.chart_values} chart values"
    talk(f"{counts}, {outcome.illustrations} numbers that only illustrate")
    click.echo(outcome.summary())


def _print_lines(lines: Iterable[str]) -> None:
    """A site may be anybody's: its texts are shown, and steer neither the terminal nor a CI service."""
    for line in lines:
        click.echo(log_line(line))


def _sample(found: Published, count: int, seed: int, form: str) -> None:
    """Print the hand calculation of cells drawn from a seed. FindingsError: one does not agree."""
    calculations, total = sample.draw(found, count, seed)
    wrong = [one for one in calculations if not one.agrees]
    if form == "json":
        click.echo(
            json.dumps({"seed": seed, "cells": total, "drawn": [c.to_json() for c in calculations]}, indent=1)
        )
    else:
        click.echo(
            f"seed {seed}: {len(calculations)} of {total} cells, ordered by SHA-256 of SEED/REPORT/ROW:COLUMN"
        )
        for calculation in calculations:
            click.echo()
            _print_lines(calculation.lines())
        click.echo(f"\n{len(calculations)} cells calculated by hand, {len(wrong)} differences")
    for one in wrong:
        where = f"report {one.report}, row {one.row}, column {one.column}"
        raise errors.FindingsError(where, f'by hand it is "{one.text}"', "recount the whole site")


@click.command()
@click.argument("report", metavar="REPORT")
@click.argument("cell", metavar="[CELL]", required=False)
@_site_option
@click.pass_obj
def explain(project: Path, report: str, cell: str | None, site: Path | None) -> None:
    """Show how CELL of REPORT follows from its raw files: value, rule, runs, files and a jq line.

    CELL is ROW:COLUMN, such as tasks=1000000,agents=100:elapsed. Without CELL the cells are listed.
    Exit codes: 0 shown, 1 the published text is another one, 2 no such report or cell.
    """
    found = _report(_read(site or project / _SITE), report)
    if cell is None:
        _print_lines(explanations.cell_list(found))
        return
    calculation = explanations.explain(found, cell)
    _print_lines(calculation.lines())
    if not calculation.agrees:
        raise errors.FindingsError(
            f"{report}, {cell}", "the published text is another one", "recount the site"
        )


def _report(found: Published, name: str) -> Report:
    """The report of that name. FindingsError: it cannot be recounted. UsageError: it is not published."""
    if name in found.reports:
        return found.reports[name]
    for problem in found.problems if name in found.broken or "" in found.broken else ():
        raise errors.FindingsError(f"{problem.file}::{problem.place}", problem.problem, problem.do)
    known = ", ".join(found.reports) or "none"
    raise errors.UsageError(name, "is not a published report", f"build the site, or choose from: {known}")


@click.command()
@click.argument("report", metavar="REPORT")
@_site_option
@click.pass_obj
def freeze(project: Path, report: str, site: Path | None) -> None:
    """Record the digest of data, rules and cells of REPORT under its version, in site/reports.

    A later build of the same version with another digest is then an error. Prose is never part of it.
    Exit codes: 0 frozen, 1 the published report does not agree with its raw files, 2 this version is
    already frozen with another digest, or there is no such report.
    """
    place = site or project / _SITE
    found = _report(_read(place), report)
    path, data = freezes.prepared(project, found)
    _refuse(verify(place, project))
    canonical.write_replacing(path, data)
    shown = documents.shown_path(path, project)
    click.echo(f"{shown}: version {found.spec['version']}, digest {found.table['digest']}")


def _refuse(outcome: Outcome) -> None:
    """FindingsError: nothing is frozen or packed that does not recount."""
    for difference in outcome.differences:
        more = len(outcome.differences) - 1
        problem = f"{difference.problem} ({more} more differences)" if more else difference.problem
        raise errors.FindingsError(f"{difference.file}::{difference.place}", problem, difference.do)


@click.command()
@click.argument("report", metavar="REPORT")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    show_default="build/REPORT.zip",
    help="The zip to write.",
)
@_site_option
@click.pass_obj
def bundle(project: Path, report: str, out: Path | None, site: Path | None) -> None:
    """Pack REPORT into one zip that ``python3 recount.py ZIP`` recounts anywhere.

    It holds the spec, the report, the raw files, recount.py and SHA256SUMS; the same report gives the same
    bytes. Exit codes: 0 written, 1 it does not recount or holds a leak, 2 no such report.
    """
    found = _read(site or project / _SITE)
    held = bundles.members(found, _report(found, report))
    _refuse(verify_bundle(files.from_memory(f"{report}.zip", held)))
    data = bundles.packed(held)
    path = out or project / "build" / f"{report}.zip"
    canonical.write_replacing(path, data)
    click.echo(
        f"{documents.shown_path(path, project)}: {len(held)} files, sha256 {canonical.sha256_hex(data)}"
    )
