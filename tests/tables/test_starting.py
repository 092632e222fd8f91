"""``report init``: a first spec that is short, complete and computes as it stands."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.evidence import imported_execution, runtime_execution

from tallymark import tables
from tallymark.errors import FindingsError, NothingCheckedError, SpecError, UsageError
from tallymark.evidence import canonical
from tallymark.tables import spec, starting


def put(project: Path, path: str, document: dict[str, Any]) -> Path:
    canonical.write_new(project / path, canonical.encode(document))
    return project / path


def computed(project: Path, draft: starting.Draft) -> dict[str, Any]:
    """The report that the draft gives at once; the draft is at most 15 lines."""
    assert len(draft.text.splitlines()) <= 15
    path = project / "site" / "reports" / f"{draft.name}.toml"
    canonical.write_new(path, draft.text.encode())
    report = tables.compute(project, spec.load(path, project)).to_json()
    assert report["ledger"]["closes"] is True
    return report


def test_imported_evidence_starts_with_a_row_for_each_benchmark(tmp_path: Path) -> None:
    put(tmp_path, "data/sleep/h.json", imported_execution())
    draft = starting.draft(tmp_path, tmp_path / "data/sleep")
    declared = tomllib.loads(draft.text)
    assert declared["name"] == "sleep"
    assert declared["data"] == ["data/sleep/**/*.json"]
    assert declared["rows"] == ["benchmark", "parameters"]
    assert declared["repetitions"] == 3
    report = computed(tmp_path, draft)
    assert [row["key"]["benchmark"] for row in report["rows"]] == ["sleep 0.1", "sleep 0.2"]
    cells = report["rows"][0]["cells"]
    assert [(name, cells[name]["text"]) for name in ("completed", "recorded")] == [
        ("completed", "3"),
        ("recorded", "3"),
    ]


def test_runtime_evidence_starts_with_what_varies(tmp_path: Path) -> None:
    for tasks in (100, 1000):
        put(tmp_path, f"data/scale/t{tasks}.json", runtime_execution(tasks=tasks))
    draft = starting.draft(tmp_path, tmp_path / "data/scale", "first")
    declared = tomllib.loads(draft.text)
    assert (declared["name"], declared["rows"]) == ("first", ["agents", "tasks"])
    report = computed(tmp_path, draft)
    assert len(report["rows"]) == 4
    assert set(report["rows"][0]["cells"]) == {
        *("runs", "elapsed", "rate", "queue_p99", "queue_peak", "rss", "failed")
    }


def test_one_document_gives_its_own_path_and_a_name_from_folder_and_file(tmp_path: Path) -> None:
    path = put(tmp_path, "data/sleep/h.json", imported_execution(benchmarks=("sleep 0.1",)))
    put(tmp_path, "data/sleep/other.json", imported_execution(seed=2))
    draft = starting.draft(tmp_path, path)
    declared = tomllib.loads(draft.text)
    assert (declared["name"], declared["data"]) == ("sleep-h", ["data/sleep/h.json"])
    assert declared["rows"] == ["benchmark"], "nothing varies: the kind's own key"
    assert len(computed(tmp_path, draft)["rows"]) == 1


def test_counts_that_differ_are_declared_for_each_row(tmp_path: Path) -> None:
    """hyperfine chooses the number of runs of each command."""
    document = imported_execution()
    removed = document["runs"].pop()
    document["execution"]["repetitions"] = None
    document["reported"] = []
    put(tmp_path, "data/sleep/h.json", document)
    draft = starting.draft(tmp_path, tmp_path / "data/sleep")
    assert list(tomllib.loads(draft.text)["repetitions"].values()) == [3, 2]
    assert computed(tmp_path, draft)["ledger"]["found"] == 5
    assert removed["benchmark"] == "sleep 0.2"


@pytest.mark.parametrize(("seconds", "unit"), [(2.5, "s"), (0.25, "ms"), (0.00025, "us")])
def test_the_unit_fits_the_times(tmp_path: Path, seconds: float, unit: str) -> None:
    document = imported_execution(benchmarks=("x",))
    for run in document["runs"]:
        run["elapsed_s"] = seconds
    document["reported"] = []
    put(tmp_path, "data/x/h.json", document)
    draft = starting.draft(tmp_path, tmp_path / "data/x")
    assert {column.get("unit") for column in tomllib.loads(draft.text)["columns"]} == {None, unit}
    assert computed(tmp_path, draft)["rows"][0]["cells"]["median"]["text"] in ("2.500", "250.0")


def test_memory_is_a_column_where_every_run_has_it(tmp_path: Path) -> None:
    document = imported_execution(benchmarks=("x",))
    for run in document["runs"]:
        run["memory_bytes"] = 3 << 20
    put(tmp_path, "data/x/h.json", document)
    report = computed(tmp_path, starting.draft(tmp_path, tmp_path / "data/x"))
    assert report["rows"][0]["cells"]["memory"]["text"] == "3.00"


@pytest.mark.parametrize(
    "benchmark", ['say "hi", {x}: a/b | c', "back\\slash", "tab-free é 中 #", '\'single\' """', "a=b,c:d"]
)
def test_any_name_survives_quoting(tmp_path: Path, benchmark: str) -> None:
    """Names are untrusted text: quotes, braces and signs of TOML among them."""
    document = imported_execution(benchmarks=(benchmark, "plain"))
    document["runs"].pop()
    document["execution"]["repetitions"] = None
    document["reported"] = []
    put(tmp_path, "data/x/h.json", document)
    report = computed(tmp_path, starting.draft(tmp_path, tmp_path / "data/x"))
    assert {row["key"]["benchmark"] for row in report["rows"]} == {benchmark, "plain"}


def test_two_kinds_are_two_reports(tmp_path: Path) -> None:
    put(tmp_path, "data/x/a.json", imported_execution())
    put(tmp_path, "data/x/b.json", runtime_execution(tasks=100))
    with pytest.raises(UsageError, match="Start a report for each kind") as caught:
        starting.draft(tmp_path, tmp_path / "data/x")
    assert caught.value.where == "data/x/b.json"


def test_two_machines_are_two_reports_and_both_documents_are_named(tmp_path: Path) -> None:
    put(tmp_path, "data/x/a.json", runtime_execution(tasks=100, label="a"))
    other = runtime_execution(tasks=100, seed=2, label="b")
    other["manifest"]["machine"]["cpu_model"] = "Another CPU"
    put(tmp_path, "data/x/b.json", other)
    with pytest.raises(UsageError) as caught:
        starting.draft(tmp_path, tmp_path / "data/x")
    assert caught.value.where == "data/x/b.json::$.manifest.machine"
    assert "data/x/a.json" in caught.value.problem


def test_evidence_that_fails_its_check_starts_no_report(tmp_path: Path) -> None:
    document = runtime_execution(tasks=100)
    document["runs"][0]["tasks_completed"] -= 1
    put(tmp_path, "data/x/a.json", document)
    with pytest.raises(FindingsError, match=r"data/x/a\.json"):
        starting.draft(tmp_path, tmp_path / "data/x")


def test_an_empty_folder_is_nothing_to_start_from(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(NothingCheckedError):
        starting.draft(tmp_path, tmp_path / "data")


def test_evidence_outside_the_project_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "elsewhere/a.json", imported_execution())
    (tmp_path / "project").mkdir()
    with pytest.raises(UsageError, match="outside the project"):
        starting.draft(tmp_path / "project", path)


def test_a_report_without_runs_cannot_start_one(tmp_path: Path) -> None:
    put(tmp_path, "data/x/h.json", imported_execution())
    report = computed(tmp_path, starting.draft(tmp_path, tmp_path / "data/x"))
    path = put(tmp_path, "data/y/report.json", report)
    with pytest.raises(FindingsError, match="is not an execution"):
        starting.draft(tmp_path, path)


@pytest.mark.parametrize("name", ["", "1m", "Sleep", "a b", "../x", "a\n"])
def test_a_name_that_cannot_be_a_page_is_refused(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, "data/x/h.json", imported_execution())
    with pytest.raises(UsageError) as caught:
        starting.draft(tmp_path, path, name)
    assert caught.value.where == "--name"
    assert caught.value.line().isprintable()


def test_a_folder_that_no_pattern_can_name_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "data/my runs/h.json", imported_execution())
    with pytest.raises(SpecError, match=r"\$\.data\[0\]"):
        starting.draft(tmp_path, path, "mine")
