"""The report specs of this project fit the schema of their evidence, also where no run is published yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.evidence import runtime_execution
from support.tables import project_of

from tallymark import tables
from tallymark.tables import resolve, spec

ROOT = Path(__file__).parents[2]
NAMES = [name for name in tables.report_names(ROOT) if name.startswith("runtime-")]
SCHEMAS = {"runtime": "runtime-execution/1.1", "agent": "agent-execution/1.0"}
OURS = [
    name
    for name in tables.report_names(ROOT)
    if name.partition("-")[0] in SCHEMAS and not name.endswith("-benchmark")  # those are imported
]


@pytest.mark.parametrize("name", OURS)
def test_every_source_of_a_spec_is_measured(name: str) -> None:
    """Units, directions and definitions are found for every column; a misspelt source would stop here."""
    report = spec.by_name(ROOT, name)
    resolved = resolve.resolve(report, SCHEMAS[name.partition("-")[0]])
    assert all(column.rule for column in resolved.columns)
    assert report.claims and report.charts and report.scope.must_not_conclude and report.scope.completion


def test_every_suite_has_a_report() -> None:
    from tallymark.suites.catalogue import SUITES

    assert {f"runtime-{suite}" for suite in SUITES} <= set(NAMES)


def _side(letter: str) -> dict[str, Any]:
    document = runtime_execution(agents=(100,), repetitions=10, seed=ord(letter), suite="ab", version="1.1")
    entries = [one["configuration"] for one in document["execution"]["plan"]]
    for holder in (*document["runs"], *document["warmups"], *entries):
        holder["variant"] = letter
    document["manifest"]["build"]["lto"] = letter == "b"
    return document


def test_two_sides_of_one_workload_are_paired_run_by_run(tmp_path: Path) -> None:
    """The build differs between the rows and follows from the side; each ratio is of runs of one number."""
    project = project_of(tmp_path, _side("a"), _side("b"))
    target = project / "data" / "runtime-ab"
    (project / "data" / "x").rename(target)
    report = tables.compute(project, spec.by_name(ROOT, "runtime-ab"))
    first, second = report.table.cells
    assert (first["pace"].exact, first["pace"].n) == (1.0, 10)
    runs = {
        one.key["variant"]: {run.value["repetition"]: run.value["elapsed_ms"] for run in one.runs}
        for one in report.table.rows
    }
    ratios = sorted(runs["b"][number] / runs["a"][number] for number in runs["a"])
    assert second["pace"].exact == (ratios[4] + ratios[5]) / 2
    assert (second["pace_low"].exact, second["pace_high"].exact) == (ratios[0], ratios[-1])
