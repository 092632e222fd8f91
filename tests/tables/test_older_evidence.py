"""Runs of two minor versions in one table: pooled where their configuration is equal, named where it is not.

Three computations that share no code must agree: the pipeline, ``recount.py`` and the jq line of a cell.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.evidence import runtime_execution
from support.tables import column, computed, project_of, published, spec_of

from tallymark.errors import SpecError
from tallymark.recount import jq
from tallymark.recount import recount as script
from tallymark.tables.report import Report

OLD, NEW = "runtime-execution/1.0", "runtime-execution/1.1"
COLUMNS = (column("runs", "run_count"), column("elapsed", "median_of_runs", "elapsed_ms", places=3))


def execution(version: str, seed: int, **configuration: Any) -> dict[str, Any]:
    """One run of three tasks, in the given version, with the configuration changed in run and plan."""
    document = runtime_execution(3, (100,), 1, seed, warmup_runs=0, version=version)
    for holder in (document["runs"][0], document["execution"]["plan"][0]["configuration"]):
        holder.update(configuration)
    return document


def pooled(folder: Path, *values: dict[str, Any], **more: Any) -> Report:
    return computed(
        folder, spec_of(*COLUMNS, **{"schema": "report-spec/1.1", "repetitions": 2} | more), *values
    )


def test_runs_of_one_configuration_are_one_row_whatever_their_version(tmp_path: Path) -> None:
    report = pooled(tmp_path, execution("1.0", 1), execution("1.1", 2))
    assert [cells["runs"].exact for cells in report.table.cells] == [2]
    assert report.table.constants["workload"] == "tasks"
    spec, shown, files = published(report)
    assert (spec["evidence_schema"], spec["evidence_older"]) == (NEW, [OLD])
    table = script.recompute(spec, files)
    assert script.compare(shown, spec, table) == []
    assert len(table["rows"]) == 1


def test_a_row_key_that_older_evidence_lacks_has_its_default(tmp_path: Path) -> None:
    values = (execution("1.0", 1), execution("1.1", 2), execution("1.1", 3, priorities=4))
    repetitions = {"tasks=3,priorities=1": 2, "tasks=3,priorities=4": 1}
    report = pooled(tmp_path, *values, rows=["tasks", "priorities"], repetitions=repetitions)
    spec, shown, files = published(report)
    assert script.compare(shown, spec, script.recompute(spec, files)) == []
    for row, cells in zip(report.table.rows, report.table.cells, strict=True):
        line = jq.line(spec, spec["columns"][1], row.key, [name for name, _ in files], floats=True)
        found = subprocess.run(shlex.split(line), cwd=tmp_path, capture_output=True, check=True)
        assert json.loads(found.stdout) == cells["elapsed"].exact, row.id


def test_a_newer_run_of_another_configuration_stops_the_report_and_the_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"workload_seed varies and makes no row: 1 in .* 7 in"):
        pooled(tmp_path, execution("1.0", 1), execution("1.1", 2, workload_seed=7))
    report = pooled(project_of(tmp_path / "same"), execution("1.0", 1), execution("1.1", 2))
    spec, _, files = published(report)
    files[1] = (files[1][0], files[1][1].replace(b'"workload_seed": 1', b'"workload_seed": 7'))
    with pytest.raises(script.Refused, match="workload_seed varies"):
        script.recompute(spec, files)


def test_recount_reads_a_default_only_for_the_older_evidence_that_is_declared(tmp_path: Path) -> None:
    spec, _, files = published(pooled(tmp_path, execution("1.0", 1), execution("1.1", 2)))
    with pytest.raises(script.Refused, match=f"is {OLD}, not {NEW}"):
        script.recompute({**spec, "evidence_older": []}, files)
    newer = json.loads(files[1][1])
    del newer["runs"][0]["tenants"]
    with pytest.raises(script.Refused, match="tenants: missing"):
        script.recompute(spec, [files[0], (files[1][0], json.dumps(newer).encode())])


def test_a_spec_that_cannot_publish_defaults_refuses_the_mixture(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="Declare a newer report-spec"):
        pooled(tmp_path, execution("1.0", 1), execution("1.1", 2), schema="report-spec/1.0")


def test_evidence_of_one_version_says_nothing_about_older_ones(tmp_path: Path) -> None:
    spec, shown, files = published(pooled(tmp_path, execution("1.1", 1), execution("1.1", 2)))
    assert "evidence_older" not in spec
    assert all("default_before" not in key for key in spec["config_keys"])
    assert script.compare(shown, spec, script.recompute(spec, files)) == []
