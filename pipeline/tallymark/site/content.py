"""Everything that a site consists of, made from computed reports without touching the disk.

Pages are Markdown files for the page engine; the other files are published as they are.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark.errors import UsageError
from tallymark.evidence import canonical
from tallymark.recount import jq
from tallymark.site import figures, other_pages, plotly_json
from tallymark.site.downloads import SiteFile, downloads
from tallymark.site.engine import Entry
from tallymark.site.report_data import RawFile, ReportData, Run, resolve
from tallymark.site.report_page import report_page
from tallymark.site.status import FILE, SCRIPT, Status, status_of
from tallymark.site.templating import front_matter_title
from tallymark.site.timing_page import PAGE as TIMING
from tallymark.site.timing_page import describes_runtime, timing_page
from tallymark.tables.formats import csv_text
from tallymark.tables.report import Report

# our own files, and those of others with their licence and digest: file name -> path in the site
ASSETS = {
    "tallymark.css": "tallymark/tallymark.css",
    "tallymark.js": "tallymark/tallymark.js",
    "favicon.svg": "tallymark/favicon.svg",
    "plotly-cartesian.min.js": "assets/plotly/plotly-cartesian.min.js",
    "plotly-cartesian.min.js.sha256": "assets/plotly/plotly-cartesian.min.js.sha256",
    "plotly-LICENSE.txt": "assets/plotly/plotly-LICENSE.txt",
}


@dataclass(frozen=True, slots=True)
class SiteContent:
    """``pages``: Markdown by path; ``navigation``: (title, path or entries); ``files``: published as is."""

    pages: Mapping[str, str]
    navigation: tuple[Entry, ...]
    files: tuple[SiteFile, ...]
    status: Status


def site_content(computed: Sequence[Report], epoch: int | None) -> SiteContent:
    """The content of a site of these reports. ``epoch``: the publisher's SOURCE_DATE_EPOCH, if given.

    SpecError: a chart does not fit its data. UsageError: a path cannot be published.
    """
    script = (importlib.resources.files("tallymark") / "recount" / SCRIPT).read_bytes()
    reports = [_report_data(report) for report in computed]
    status = status_of(reports, canonical.sha256_hex(script), epoch)
    shared = SiteFile(SCRIPT, script, "Recounts any report, alone")
    pages = {"index.md": other_pages.start_page(reports, status)}
    timing = timing_page(reports)
    files = {FILE: SiteFile(FILE, canonical.encode(status.to_json()), "")} | {SCRIPT: shared}
    for report, source in zip(reports, computed, strict=True):
        clock = "../timing.html" if timing is not None and describes_runtime(report) else ""
        page, own = _report_files(report, source, status, shared, clock)
        pages[f"reports/{report.name}.md"] = page
        files |= {file.path: file for file in own}
    if timing is not None:
        pages[TIMING] = timing
    pages["method.md"] = other_pages.method_page(reports)
    pages["rules.md"] = other_pages.rules_page()
    listed: tuple[Entry, ...] = tuple(
        (title, tuple((front_matter_title(one.value["title"]), f"reports/{one.name}.md") for one in own))
        for title, own in other_pages.grouped(reports)
    )
    last: tuple[Entry, ...] = (("Method", "method.md"), ("Rules", "rules.md"))
    mapped: tuple[Entry, ...] = () if timing is None else (("Timing map", TIMING),)
    navigation: tuple[Entry, ...] = (("Start", "index.md"), ("Reports", listed), *mapped, *last)
    return SiteContent(pages, navigation, tuple(files.values()), status)


def assets() -> dict[str, bytes]:
    """The style, script and chart library of every page, by path in the site."""
    folder = importlib.resources.files("tallymark") / "assets"
    return {path: (folder / name).read_bytes() for name, path in ASSETS.items()}


def published_path(path: str) -> str:
    """Where a raw file of the project is published: below ``data/``. UsageError: no name for the web."""
    if not path.isprintable() or "\\" in path or path.startswith("/") or ".." in path.split("/"):
        raise UsageError(path, "a file with this name cannot be published", "rename the file")
    return path if path.startswith("data/") else f"data/{path}"


def _report_data(report: Report) -> ReportData:
    value, spec = report.to_json(), report.spec_json()
    current = {entry["sha256"]: entry["current"] for entry in value["data"]}
    raw = tuple(
        RawFile(document, published_path(document.path), current[document.sha256])
        for document in report.documents
    )
    return ReportData(value, spec, raw)


def _report_files(
    report: ReportData, source: Report, status: Status, script: SiteFile, timing: str
) -> tuple[str, list[SiteFile]]:
    """The page of one report and the files beside it."""
    panels = figures.panels(report)
    charts = plotly_json.document(panels)
    plotly_json.check(charts)
    charts_json, charts_script = plotly_json.encode(charts)
    base = f"reports/{report.name}"
    raw = [SiteFile(file.published, file.document.data, "Raw evidence") for file in report.files]
    computed = [
        SiteFile(f"{base}.json", canonical.encode(dict(report.value)), "The computed report with lineage"),
        SiteFile(f"{base}.spec.json", canonical.encode(dict(report.spec)), "The rules, resolved"),
        SiteFile(f"{base}.csv", csv_text(source).encode("utf-8"), "The table, shown and exact"),
        SiteFile(f"{base}.charts.json", charts_json, "The data of the charts"),
    ]
    listed = downloads([*raw, *computed, script], "../")
    page = report_page(report, status, panels, _jq_lines(report), listed, timing)
    return page, [*raw, *computed, SiteFile(f"{base}.charts.js", charts_script, "")]


def _jq_lines(report: ReportData) -> dict[str, str]:
    lines = {}
    for at, row in enumerate(report.rows):
        for column in report.columns:
            name = column["name"]
            if "exact" not in row["cells"][name]:
                continue
            used = {run.file.sha256 for run in report.sources(at, name)}
            files = [file for file in report.files if file.sha256 in used]
            paths = [file.published for file in files]
            floats = _holds_floats(column, report.sources(at, name))
            line = jq.line(report.spec, column, row["key"], paths, _excluded(report, files), floats=floats)
            lines[f"{row['id']}:{name}"] = line
    return lines


def _holds_floats(column: Mapping[str, Any], runs: Iterable[Run]) -> bool:
    """Whether a value that goes into a cell is no integer: then jq has to add with care."""
    pointers = [f"$.{column[key]}" for key in ("source", "over") if key in column]
    return any(isinstance(resolve(run.value, pointer), float) for run in runs for pointer in pointers)


def _excluded(report: ReportData, files: Iterable[RawFile]) -> list[tuple[str, str]]:
    paths = {file.sha256: file.published for file in files}
    return [
        (paths[entry["sha256"]], entry["pointer"])
        for entry in report.spec.get("exclude") or ()
        if entry["sha256"] in paths
    ]
