"""The newcomer's road, really walked: gate, runs, check, table, site, recount, on this machine.

Everything it writes lies under ``build/``: the evidence in ``build/demo/data``, the site in ``build/site``.
"""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

from tallymark import tables
from tallymark.check import check_paths
from tallymark.errors import FindingsError, UsageError
from tallymark.evidence.documents import shown_path
from tallymark.recount.verify import verify
from tallymark.suites import measure
from tallymark.suites.plan import Request
from tallymark.suites.progress import Reporter
from tallymark.suites.scale import SCALE
from tallymark.suites.written import shown

SPEC = Path("examples", "demo-scale.toml")
FOLDER = Path("build", "demo")
DATA = FOLDER / "data"
# what the site is made with; asked for before the runs, not after them
SITE_NEEDS = ("pandas", "jinja2", "plotly", "mkdocs")


@dataclass(frozen=True, slots=True)
class Walked:
    """What the road ends with: the recount in a line, and the page to open."""

    summary: str
    page: Path


def walk(project: Path, reporter: Reporter) -> Walked:
    """Run suite scale at preset quick, check it, compute its table, build the site with it, recount the site.

    An earlier demo's evidence is replaced; nothing outside ``build/`` is written.
    UsageError: the project has no demo spec, or the site's packages are missing. BrokenRuntimeError: there is
    no compiled runtime. FindingsError: a run did not complete, or a number differs.
    """
    spec = project / SPEC
    _require(project, spec)
    shutil.rmtree(project / FOLDER, ignore_errors=True)
    written = measure.run(Request(SCALE), project / DATA, reporter)
    if written.unexpected:
        raise FindingsError(
            shown_path(written.path, project), written.unexpected[0], "run the demo again; the rest is kept"
        )
    reporter.say(f"checking {shown_path(written.path, project)}")
    for finding in check_paths([project / DATA], project).findings:
        reporter.say(shown(finding))
        if finding.severity == "error":
            raise FindingsError(f"{finding.file}::{finding.pointer}", finding.problem, finding.do)
    from tallymark.site.build import build_site  # heavy, and proved to be there by now

    report = tables.compute(project, tables.spec.load(spec, project))
    reporter.say(f"table {report.name}: {len(report.table.rows)} rows, digest {report.digest}")
    built = build_site(project, reports=[spec], say=reporter.say)
    reporter.say(f"recounting {shown_path(built.site, project)}")
    outcome = verify(built.site, project)
    for difference in outcome.differences:
        raise FindingsError(f"{difference.file}: {difference.place}", difference.problem, difference.do)
    return Walked(outcome.summary(), built.site / "index.html")


def _require(project: Path, spec: Path) -> None:
    """Everything that is needed later, asked for now."""
    measure.require_runtime()
    if not spec.is_file():
        raise UsageError(
            shown_path(spec, project),
            "the demo's report spec is not here",
            "run the demo in a clone of the project, or name one with --project",
        )
    for package in SITE_NEEDS:
        if importlib.util.find_spec(package) is None:
            raise UsageError("tallymark demo", f"{package} is not installed", "pip install 'tallymark[site]'")
