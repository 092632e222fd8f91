"""Projects whose pages are hard to get right, and a reader of built pages."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from support.evidence import REPORT_SPEC, died, imported_execution, runtime_execution, write_project
from tallymark.evidence import canonical
from tallymark.recount.html_tree import Element, parse

# What an attacker, a careless shell and a table format would make of the name of a benchmark.
HOSTILE_NAMES = (
    "<img src=x onerror=alert(1)>",
    "x|y",
    "`tick` *star* _under_ [link](javascript:alert(1))",
    "javascript:alert(1)",
    "</script><script>alert(1)</script>",
    "{{ 7*7 }} {% raw %} {# comment #} {* star *}",
    "\"><svg onload=alert(1)> & 'quoted'",
    'python3 recount.py a/b.json --x "y, z:1" | cat',
    '<a href="javascript:alert(1)">x</a> $\\href{javascript:alert(1)}{x}$',
)
HOSTILE_SPEC = """\
schema = "report-spec/1.0"
name = "hostile"
version = 1
title = "Names with <b>markup</b> & </title><script>alert(document.domain)</script>"
data = ["data/hostile/*.json"]
rows = ["benchmark", "parameters"]
repetitions = 3

[scope]
measured = ["<img src=x onerror=alert(document.domain)>"]

[[columns]]
name = "elapsed"
title = "Elapsed <i>median</i>"
source = "elapsed_s"
aggregate = "median_of_runs"
unit = "ms"
places = 3
footnote = "<script>alert(document.domain)</script>"

[[charts]]
id = "all"
kind = "runs_points"
title = "All <b>runs</b>"
columns = ["elapsed"]
"""
CHARTS = """
[[charts]]
id = "latency"
kind = "percentiles"
title = "Queue latency, all tasks pooled"
stage = "queue"
"""


def hostile_project(folder: Path) -> Path:
    """A project whose only report shows benchmarks with hostile names."""
    return _project(folder, {"a": imported_execution(HOSTILE_NAMES)}, HOSTILE_SPEC, "hostile")


def failed_project(folder: Path) -> Path:
    """A project in which one of the runs was killed: its row has two runs left of three."""
    documents = {
        "1k": runtime_execution(tasks=1000, seed=1, label="1k"),
        "2k": runtime_execution(tasks=2000, seed=2, label="2k"),
    }
    documents["1k"]["runs"][2] = died(documents["1k"]["runs"][2])
    return write_project(folder, documents, REPORT_SPEC + CHARTS)


def sparse_project(folder: Path) -> Path:
    """A project with too few tasks for a p99 and a declared row that nobody measured."""
    documents = {"10": runtime_execution(tasks=10, agents=(100,), seed=5, label="10")}
    rows = "repetitions = 3\n\n[expected_rows]\ntasks = [10, 20]\nagents = [100]\n"
    timeline = """
[[charts]]
id = "time"
kind = "timeline"
title = "Queue over time"
columns = ["queue"]
split = "tasks"

[[charts]]
id = "runs"
kind = "runs_points"
title = "Every run"
columns = ["elapsed"]
log = ["elapsed"]
"""
    spec = REPORT_SPEC.replace("repetitions = 3\n", rows) + CHARTS + timeline
    return write_project(folder, documents, spec)


def _project(folder: Path, documents: dict[str, dict[str, Any]], spec: str, name: str) -> Path:
    project = folder / "project"
    data, reports = project / "data" / name, project / "site" / "reports"
    for path in (data, reports):
        path.mkdir(parents=True)
    for label, document in documents.items():
        (data / f"{label}.json").write_bytes(canonical.encode(document))
    (reports / f"{name}.toml").write_text(spec, encoding="utf-8")
    return project


def article(page: Path) -> Element:
    """The article of a built page."""
    found = parse(page.read_text(encoding="utf-8")).article()
    assert found is not None, page
    return found


def tree_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below ``folder`` by its path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def report_table(page: Path) -> list[list[str]]:
    """The texts of the report's table, row by row."""
    table = next(one for one in article(page).all("table") if "data-report" in one.attributes)
    body = table.all("tbody")[0]
    return [[cell.text() for cell in row.all("th", "td")] for row in body.all("tr")]
