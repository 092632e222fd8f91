"""The report document: schema, lineage, digest, independence of the order of files, foreign evidence."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.evidence import imported_execution, runtime_execution, write_project
from support.tables import column, computed, project_of, spec_of, texts

from tallymark import __version__, runtime, schemas, tables
from tallymark.evidence import canonical, documents
from tallymark.runtime import simulator
from tallymark.tables import provenance
from tallymark.tables.report import Report

SHIPPED = Path(__file__).parents[2] / "site" / "reports" / "runtime-scale.toml"
COLUMNS = (
    column("runs", "run_count"),
    column("elapsed", "median_of_runs", "elapsed_ms", places=3),
    column("p99", "pooled_percentile", "histograms.queue", percentile="99/100", significant=3, unit="ms"),
    column("peak", "max_of_runs", "queue_peak"),
)


# The shipped spec over a hundredth of its tasks: documents of a million simulated tasks would take a minute.
SMALLER = {"100000": "1000", "1000000": "10000"}


@pytest.fixture
def scale(tmp_path: Path) -> Report:
    """The shipped report, computed over small documents."""
    text = re.sub(r"\b10{5,6}\b", lambda match: SMALLER[match[0]], SHIPPED.read_text(encoding="utf-8"))
    made = {
        label: runtime_execution(tasks=tasks, seed=tasks, label=label)
        for label, tasks in (("short", 1000), ("long", 10_000))
    }
    project = write_project(tmp_path, made, text)
    return tables.compute(project, tables.spec.by_name(project, "runtime-scale"))


def test_the_shipped_report_computes_and_passes_its_schema(scale: Report) -> None:
    found = json.loads(canonical.encode(scale.to_json()))
    assert schemas.errors("report/1.0", found) == []
    assert schemas.errors("report-spec/1.0", found["spec"]) == []
    assert [row["id"] for row in found["rows"]] == [
        "tasks=1000,agents=100",
        "tasks=1000,agents=1000",
        "tasks=10000,agents=100",
        "tasks=10000,agents=1000",
    ]


def test_the_shipped_report_has_the_columns_that_it_was_asked_for(scale: Report) -> None:
    assert [one.column.name for one in scale.resolved.columns] == [
        "runs",
        "elapsed",
        "rate_median",
        "rate_over_median",
        "queue_p50_median",
        "queue_p95_median",
        "queue_p99_median",
        "queue_p50_pooled",
        "queue_p95_pooled",
        "queue_p99_pooled",
        "queue_max",
        "execution_p99",
        "queue_peak",
        "peak_rss",
        "failed",
        "rejected",
    ]
    assert texts(scale, "failed") == texts(scale, "rejected") == ["0"] * 4


def test_the_shipped_claims_take_three_numbers_each_and_are_judged(scale: Report) -> None:
    found = scale.to_json()
    assert len(found["claims"]) == 3
    for sentence in found["prose"]["claims"]:
        assert len({part["from"] for part in sentence["parts"] if "from" in part}) >= 3
    assert [claim["holds"] for claim in found["claims"]] == [True, True, True]


def test_an_odd_number_of_equal_runs_gives_one_rate_by_both_rules(scale: Report) -> None:
    # the median of n/t over runs of equal n is n over the median t, when their number is odd
    assert texts(scale, "rate_median") == texts(scale, "rate_over_median")


def test_every_cell_leads_to_values_that_give_it(tmp_path: Path) -> None:
    report = computed(tmp_path, spec_of(*COLUMNS), runtime_execution())
    raw = {document.sha256: document.value for document in report.documents}
    for row in report.to_json()["rows"]:
        sources = row["cells"]["peak"]["sources"]
        indexes = [int(source["pointer"].split("[")[1].split("]")[0]) for source in sources]
        runs: Any = raw[sources[0]["sha256"]]["runs"]
        assert [source["pointer"] for source in sources] == [f"$.runs[{at}].queue_peak" for at in indexes]
        assert row["cells"]["peak"]["exact"] == max(runs[at]["queue_peak"] for at in indexes)
        assert {runs[at]["agents"] for at in indexes} == {row["key"]["agents"]}
        assert {source["path"] for source in sources} == {"data/x/0.json"}


def test_the_names_and_the_order_of_the_files_change_nothing_but_paths(tmp_path: Path) -> None:
    one, other = runtime_execution(seed=1), runtime_execution(seed=2, tasks=2000)
    left = computed(tmp_path / "left", spec_of(*COLUMNS), one, other)
    right = computed(tmp_path / "right", spec_of(*COLUMNS), other, one)
    assert left.digest == right.digest
    assert [texts(left, name) for name in ("elapsed", "p99")] == [
        texts(right, name) for name in ("elapsed", "p99")
    ]


def test_the_digest_changes_with_data_rules_and_cells_and_not_with_prose(tmp_path: Path) -> None:
    document = runtime_execution()
    base = computed(tmp_path, spec_of(*COLUMNS), document)
    prose = copy.deepcopy(COLUMNS)
    prose[1]["title"], prose[1]["footnote"] = "Time", "As the clock goes"
    said = tables.compute(tmp_path, spec_of(*prose, title="Y", scope={"measured": ["It"]}))
    assert said.digest == base.digest
    rounded = copy.deepcopy(COLUMNS)
    rounded[1]["places"] = 2
    assert tables.compute(tmp_path, spec_of(*rounded)).digest != base.digest
    other = copy.deepcopy(document)
    other["runs"][0]["load_average_before"] = 0.26
    assert computed(tmp_path, spec_of(*COLUMNS), other).digest != base.digest


def test_foreign_evidence_takes_the_same_road(tmp_path: Path) -> None:
    spec = spec_of(
        column("runs", "run_count"),
        column("median", "median_of_runs", "elapsed_s", unit="ms", places=3),
        column("memory", "max_of_runs", "memory_bytes", unit="MiB", places=2),
        rows=["benchmark", "parameters"],
    )
    document = imported_execution()
    report = computed(tmp_path, spec, document)
    assert schemas.errors("report/1.0", json.loads(canonical.encode(report.to_json()))) == []
    assert [row.id for row in report.table.rows] == [
        'benchmark="sleep 0.1",parameters={"threads":"1"}',
        'benchmark="sleep 0.2",parameters={"threads":"2"}',
    ]
    assert texts(report, "memory") == ["not measured in 3 of 3 runs"] * 2
    elapsed = sorted(run["elapsed_s"] for run in document["runs"][:3])[1]
    assert report.table.cells[0]["median"].exact == elapsed * 1000
    assert report.to_json()["data"][0]["started_at"] == document["execution"]["imported_at"]


def test_the_ledger_closes_over_rows_that_failed_were_excluded_or_are_missing(tmp_path: Path) -> None:
    document = runtime_execution(tasks=1000)
    digest = documents.from_bytes(canonical.encode(document), "").sha256
    entry = {"sha256": digest, "pointer": "$.runs[0]", "reason": "noise"}
    spec = spec_of(exclude=[entry], expected_rows={"tasks": [1000, 5], "agents": [100, 1000]})
    ledger = computed(tmp_path, spec, document).table.ledger
    # 2 role counts times 3 repetitions were found, as many are missing, and 1 warm-up is beside them
    assert (ledger.found, ledger.published, ledger.failed, len(ledger.excluded)) == (6, 5, 0, 1)
    assert (ledger.expected, ledger.missing, ledger.warmups, ledger.closes) == (12, 6, 1, True)


def test_a_report_says_which_commit_generated_it(tmp_path: Path) -> None:
    project = project_of(tmp_path, runtime_execution())
    assert provenance.generated(project) == {"tool_version": __version__, "revision": None, "dirty": None}

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", "-C", str(project), *identity, *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "Evidence")
    head = git("rev-parse", "HEAD")
    assert provenance.generated(project) == {"tool_version": __version__, "revision": head, "dirty": False}
    (project / "data" / "x" / "1.json").touch()
    assert provenance.generated(project)["dirty"] is True


@pytest.mark.parametrize(("measured", "current"), [("today", True), ("6" * 64, False)])
def test_evidence_is_current_while_it_measured_todays_sources(
    tmp_path: Path, measured: str, current: bool
) -> None:
    document = runtime_execution()
    today = runtime.source_digest_of_build()
    document["manifest"]["build"]["source_digest"] = today if measured == "today" else measured
    assert computed(tmp_path, spec_of(), document).to_json()["data"][0]["current"] is current


@pytest.mark.parametrize(("wrote", "current"), [("today", True), ("6" * 64, False)])
def test_simulated_evidence_is_current_while_todays_simulator_wrote_it(
    tmp_path: Path, wrote: str, current: bool
) -> None:
    ((_, data),) = schemas.shipped().examples("agent-execution/1.0")
    document = json.loads(data)
    document["execution"]["host"]["simulator_digest"] = simulator.digest() if wrote == "today" else wrote
    arrived = {"name": "arrived", "aggregate": "total", "source": "tasks_arrived", "places": 0}
    spec = spec_of(arrived, rows=["load", "cache"], repetitions=1)
    assert computed(tmp_path, spec, document).to_json()["data"][0]["current"] is current


def test_foreign_evidence_is_neither_current_nor_historical(tmp_path: Path) -> None:
    report = computed(tmp_path, spec_of(rows=["benchmark", "parameters"]), imported_execution())
    assert report.to_json()["data"][0]["current"] is None
