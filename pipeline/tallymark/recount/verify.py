"""The whole recount of a site or a bundle: every comparison once, and the line that sums it up."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallymark import __version__
from tallymark.errors import NothingCheckedError
from tallymark.evidence.personal import KnownNames, known_here
from tallymark.recount import (
    artefacts,
    charts,
    digests,
    evidence,
    files,
    freeze,
    leaks,
    pages,
    published,
    rules,
    search,
    status,
)
from tallymark.recount.difference import Difference
from tallymark.recount.files import Files
from tallymark.recount.published import Published
from tallymark.recount.status import SCRIPT

_OUR_CODE = ("tallymark/", "assets/plotly/")
__all__ = ["Outcome", "verify", "verify_bundle"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was compared and what did not agree.

    ``cells``: table cells of the pages with a recounted number (of a bundle: cells of its table).
    ``prose``: other recounted numbers of the pages. ``illustrations``: numbers that only illustrate.
    """

    cells: int
    prose: int
    illustrations: int
    chart_values: int
    files: int
    reports: int
    differences: tuple[Difference, ...]

    def summary(self) -> str:
        """``N cells, N prose numbers, N differences``."""
        return f"{self.cells} cells, {self.prose} prose numbers, {len(self.differences)} differences"

    def to_json(self) -> dict[str, Any]:
        """The outcome as ``recount --format json`` prints it."""
        return {
            "cells": self.cells,
            "prose_numbers": self.prose,
            "illustrations": self.illustrations,
            "chart_values": self.chart_values,
            "files": self.files,
            "reports": self.reports,
            "differences": [difference.to_json() for difference in self.differences],
        }


def verify(
    site: Path,
    project: Path | None = None,
    *,
    expect: Iterable[str] = (),
    known: KnownNames | None = None,
    checked: frozenset[str] = frozenset(),
) -> Outcome:
    """Recount a published site, or the bundle of one report. Nothing is written.

    ``project``: also compare with its raw files, report specs and frozen reports. ``expect``: digests cited
    elsewhere. ``known``: names that must not be published, by default those of this machine and its user.
    ``checked``: digests of raw files of which this process knows that they pass the check.

    UsageError: no such site. UnreadableError: not a zip. NothingCheckedError: it publishes no report.
    """
    if site.is_file():
        return verify_bundle(files.from_bundle(site), project, expect=expect, known=known)
    found = published.read_site(files.from_folder(site), checked)
    return compare_site(found, project, expect=expect, known=known)


def compare_site(
    found: Published,
    project: Path | None = None,
    *,
    expect: Iterable[str] = (),
    known: KnownNames | None = None,
) -> Outcome:
    """Compare a site that was read and recounted; otherwise as ``verify``."""
    there = found.files
    _require_reports(found)
    trees, unreadable = pages.read_pages(there)
    tally = pages.compare_pages(found, trees)
    values, chart_differences = charts.compare_charts(found, trees)
    differences = [
        *there.odd,
        *digests.compare_sums(there),
        *_common(found, project, tuple(expect), whole=True),
    ]
    differences += [*unreadable, *tally.differences, *chart_differences, *status.compare(found)]
    differences += search.compare_search(there, trees)
    for name, report in found.reports.items():
        differences += artefacts.compare_report(found, report, f"reports/{name}.json")
        differences += artefacts.compare_csv(found, report, f"reports/{name}.csv")
        differences += _rules(found, name, f"reports/{name}.spec.json", project)
    differences += leaks.find_leaks(there, known or known_here())
    return Outcome(
        cells=tally.cells,
        prose=tally.prose,
        illustrations=tally.illustrations,
        chart_values=values + tally.chart_points,
        files=len(there.names),
        reports=len(found.reports),
        differences=tuple(dict.fromkeys(differences)),
    )


def verify_bundle(
    there: Files,
    project: Path | None = None,
    *,
    expect: Iterable[str] = (),
    known: KnownNames | None = None,
) -> Outcome:
    """Recount the bundle of one report, already in memory; otherwise as ``verify``."""
    found = published.read_bundle(there)
    _require_reports(found)
    differences = [
        *there.odd,
        *digests.compare_sums(there),
        *_common(found, project, tuple(expect), whole=False),
    ]
    cells = 0
    for name, report in found.reports.items():
        differences += artefacts.compare_report(found, report, "report.json")
        differences += _rules(found, name, "spec.json", project)
        cells += sum(len(row["cells"]) for row in report.table["rows"])
    differences += leaks.find_leaks(there, known or known_here())
    return Outcome(cells, 0, 0, 0, len(there.names), len(found.reports), tuple(dict.fromkeys(differences)))


def _require_reports(found: Published) -> None:
    if not found.reports and not found.broken:
        raise NothingCheckedError(
            found.files.shown, "publishes no report", "build the site first: tallymark site build"
        )


def _common(
    found: Published, project: Path | None, expect: tuple[str, ...], *, whole: bool
) -> list[Difference]:
    differences = [*found.problems, *_programs(found), *digests.compare_expected(found, expect)]
    if project is not None:
        differences += evidence.compare_project(found, project)
        differences += freeze.compare_frozen(found, project, whole=whole)
    return differences


def _programs(found: Published) -> Iterator[Difference]:
    """The script and the site's own code are those of the version that made the reports, when it is this one.

    They compute and draw numbers where the reader sees them. The theme's code is not ours to know; it is
    held by SHA256SUMS alone.
    """
    if SCRIPT not in found.files:
        yield Difference(SCRIPT, "", "is missing", "Build the site again")
    made_by = {report.value["generated"]["tool_version"] for report in found.reports.values()}
    if __version__ not in made_by:
        return
    package = importlib.resources.files("tallymark")
    for name in found.files.names:
        last = name.rpartition("/")[2]
        known = package / "recount" / SCRIPT if name == SCRIPT else package / "assets" / last
        ours = name == SCRIPT or name.startswith(_OUR_CODE)
        if ours and known.is_file() and found.files.read(name) != known.read_bytes():
            yield Difference(name, "", f"is not that of tallymark {__version__}", "Build the site again")


def _rules(found: Published, name: str, file: str, project: Path | None) -> list[Difference]:
    report = found.reports[name]
    differences = list(rules.compare_schema(report, file))
    if project is not None:
        differences += rules.compare_toml(report, file, project)
        differences += evidence.compare_globs(report, _report_file(file), project)
    return differences


def _report_file(spec_file: str) -> str:
    """The report JSON beside a spec."""
    return "report.json" if spec_file == "spec.json" else spec_file.replace(".spec.json", ".json")
