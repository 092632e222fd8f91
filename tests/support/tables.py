"""Specs, projects and single runs for tests of the tables and of recount.py."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from support.evidence import imported_execution
from tallymark import tables
from tallymark.evidence import canonical, documents
from tallymark.histogram import Histogram
from tallymark.tables.evidence import Run, State, spelled
from tallymark.tables.report import Report
from tallymark.tables.spec import Spec, from_value


def column(name: str, aggregate: str, source: str | None = None, **more: Any) -> dict[str, Any]:
    """A column as a spec declares it; whole numbers unless ``places`` or ``significant`` say otherwise."""
    declared: dict[str, Any] = {"name": name, "title": name.replace("_", " "), "aggregate": aggregate}
    if source is not None:
        declared["source"] = source
    if "places" not in more and "significant" not in more:
        declared["places"] = 0
    return {**declared, **more}


def declared(*columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The value of a spec over ``data/x/*.json`` with rows by tasks and agents, three runs each."""
    return {
        "schema": "report-spec/1.0",
        "name": "x",
        "version": 1,
        "title": "X",
        "data": ["data/x/*.json"],
        "rows": ["tasks", "agents"],
        "repetitions": 3,
        "columns": list(columns) or [column("runs", "run_count")],
        **more,
    }


def spec_of(*columns: dict[str, Any], **more: Any) -> Spec:
    """The same as a spec."""
    return from_value(declared(*columns, **more), "x.toml")


def project_of(folder: Path, *values: dict[str, Any]) -> Path:
    """A project whose data/x holds one file for each document: 0.json, 1.json, …"""
    for index, value in enumerate(values):
        path = folder / "data" / "x" / f"{index}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(canonical.encode(value))
    return folder


def computed(folder: Path, spec: Spec, *values: dict[str, Any]) -> Report:
    """The report of documents written into ``folder``."""
    return tables.compute(project_of(folder, *values), spec)


def published(report: Report) -> tuple[dict[str, Any], dict[str, Any], list[tuple[str, bytes]]]:
    """(spec JSON, report JSON, raw files) as the site publishes them, read back from their bytes."""
    return (
        json.loads(canonical.encode(report.spec_json())),
        json.loads(canonical.encode(report.to_json())),
        [(document.path, document.data) for document in report.documents],
    )


def texts(report: Report, name: str) -> list[str]:
    """The shown texts of a column, in table order."""
    return [cells[name].text for cells in report.table.cells]


def samples(**series: list[float]) -> dict[str, Any]:
    """An imported execution: benchmark → the elapsed seconds of its runs."""
    document = imported_execution(tuple(series))
    template = document["runs"][0]
    document["reported"] = []
    document["runs"] = []
    for benchmark, values in series.items():
        for repetition, elapsed in enumerate(values, start=1):
            run = copy.deepcopy(template)
            run |= {"index": len(document["runs"]), "repetition": repetition, "benchmark": benchmark}
            run |= {"parameters": {}, "elapsed_s": elapsed}
            document["runs"].append(run)
    sizes = {len(values) for values in series.values()}
    document["execution"]["repetitions"] = sizes.pop() if len(sizes) == 1 else None
    return document


def run_of(state: State = State.PUBLISHED, key: dict[str, Any] | None = None, **value: Any) -> Run:
    """One run outside any file, for the tests of single aggregates and cells."""
    document = documents.from_bytes(canonical.encode({"schema": "runtime-execution/1.0"}), "a.json")
    configuration = key or {}
    texts = {name: spelled(one) for name, one in configuration.items()}
    return Run(document, "$.runs[0]", value, configuration, texts, state)


def recorded(*values: int) -> dict[str, Any]:
    """The record of a histogram of ``values`` in nanoseconds."""
    return Histogram.recorded(values).to_record()


def long_timelines(document: dict[str, Any], samples: int = 14) -> dict[str, Any]:
    """The same execution with that many samples in each timeline: a series long enough for a slope."""
    for position, run in enumerate(document["runs"]):
        timeline = run["timeline"]
        first, *middle, last = timeline["rows"]
        rows = [
            [
                last[0] * at / samples,
                (middle[0][1] * (at + position) ** 2) % 97 % (middle[0][1] + 1),
                *middle[0][2:5],
            ]
            for at in range(1, samples - 1)
        ]
        timeline["rows"] = [first, *([*row, last[5] * at / samples] for at, row in enumerate(rows, 1)), last]
        timeline["samples"] = len(timeline["rows"])
    return document


def slopes_of(
    source: str = "timeline.queue", over: str = "timeline.t_ms", **more: Any
) -> list[dict[str, Any]]:
    """Columns with the slope of a series and both ends of its interval."""
    more = {"significant": 6, **more}
    return [column(end, f"theil_sen_{end}", source, over=over, **more) for end in ("slope", "low", "high")]
