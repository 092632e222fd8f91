"""A real site, built by ``tallymark.site`` from the documents of tests: the shipped report and an import."""

from __future__ import annotations

from pathlib import Path

from support.evidence import imported_execution, runtime_execution, write_project
from tallymark.evidence import canonical
from tallymark.site.build import build_site

SHIPPED = Path(__file__).parents[2] / "site" / "reports" / "runtime-scale.toml"
IMPORTED = """\
schema = "report-spec/1.0"
name = "sleeping"
version = 1
title = "Sleeping"
data = ["data/sleep/*.json"]
rows = ["benchmark", "parameters"]
repetitions = 4

[[columns]]
name = "elapsed"
title = "Elapsed, median"
source = "elapsed_s"
aggregate = "median_of_runs"
unit = "ms"
places = 1
"""


def build(folder: Path) -> Path:
    """A project with evidence, two report specs and its site; returns the project."""
    documents = {
        "100k": runtime_execution(tasks=100_000, seed=3, label="100k"),
        "1m": runtime_execution(tasks=1_000_000, seed=4, label="1m"),
    }
    project = write_project(folder, documents, SHIPPED.read_text(encoding="utf-8"))
    sleep = project / "data" / "sleep" / "sleep.json"
    sleep.parent.mkdir()
    names = ("sleep 0.1", 'python3 -c "print(a / b: {1} | 2 <b>)"')
    sleep.write_bytes(canonical.encode(imported_execution(names, repetitions=4, label="sleep")))
    (project / "site" / "reports" / "sleeping.toml").write_text(IMPORTED, encoding="utf-8")
    build_site(project)
    return project
