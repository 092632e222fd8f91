"""The data of a report: which files, which of their runs count, and what stops the report."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from support.evidence import died, imported_execution, runtime_execution
from support.tables import column, computed, project_of, samples, spec_of, texts

from tallymark.errors import FindingsError, SpecError, UnreadableError
from tallymark.evidence import canonical
from tallymark.tables import evidence


def test_a_file_that_two_globs_match_is_read_once(tmp_path: Path) -> None:
    spec = spec_of(data=["data/x/*.json", "data/**/*.json", "data/x/0.json"])
    report = computed(tmp_path, spec, runtime_execution())
    assert [document.path for document in report.documents] == ["data/x/0.json"]


def test_no_data_is_an_error_that_says_which_glob_is_empty(tmp_path: Path) -> None:
    spec = spec_of(data=["data/x/*.json", "data/none/*.json"])
    with pytest.raises(SpecError) as caught:
        computed(tmp_path, spec, runtime_execution())
    assert caught.value.where == "x.toml::$.data[1]"
    assert caught.value.problem == "no file matches 'data/none/*.json'"


def test_files_are_read_in_the_order_of_their_paths(tmp_path: Path) -> None:
    project_of(tmp_path, runtime_execution(seed=1), runtime_execution(seed=2, tasks=2000))
    (tmp_path / "data" / "x" / "0.json").rename(tmp_path / "data" / "x" / "z.json")
    files = evidence.data_files(tmp_path, spec_of())
    assert [path.name for path in files] == ["1.json", "z.json"]


def test_documents_of_two_schemas_do_not_mix(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"is imported-execution/1\.0, .* is runtime-execution/1\.0"):
        computed(tmp_path, spec_of(), runtime_execution(), imported_execution())


def test_an_unfinished_execution_is_not_published(tmp_path: Path) -> None:
    document = runtime_execution()
    document["execution"]["complete"] = False
    with pytest.raises(FindingsError, match=r"data/x/0\.json::\$\.execution\.complete"):
        computed(tmp_path, spec_of(), document)


def test_the_same_bytes_under_two_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match=r"data/x/1\.json: the same file as data/x/0\.json"):
        computed(tmp_path, spec_of(), runtime_execution(), runtime_execution())


def test_the_same_execution_with_one_byte_changed_is_refused(tmp_path: Path) -> None:
    other = runtime_execution()
    other["execution"]["label"] = "copy"
    with pytest.raises(FindingsError, match=r"data/x/1\.json: the same execution as data/x/0\.json"):
        computed(tmp_path, spec_of(), runtime_execution(), other)


def test_the_same_run_in_two_executions_is_refused(tmp_path: Path) -> None:
    one, other = runtime_execution(seed=1), runtime_execution(seed=2, tasks=2000)
    other["runs"][3]["run_id"] = one["runs"][0]["run_id"]
    with pytest.raises(
        FindingsError, match=r"1\.json::\$\.runs\[3\]: the same run as data/x/0\.json::\$\.runs\[0\]"
    ):
        computed(tmp_path, spec_of(), one, other)


def test_one_foreign_file_imported_twice_is_refused(tmp_path: Path) -> None:
    one = samples(a=[0.1])
    other = copy.deepcopy(one)
    other["execution"]["id"] = "0" * 16
    with pytest.raises(FindingsError, match="the same source as"):
        computed(tmp_path, spec_of(rows=["benchmark"], repetitions=2), one, other)


def test_an_unreadable_file_stops_the_report(tmp_path: Path) -> None:
    project_of(tmp_path, runtime_execution())
    (tmp_path / "data" / "x" / "1.json").write_text('{"schema": NaN}', encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"data/x/1\.json::\$\.schema"):
        evidence.read(tmp_path, spec_of())


def test_a_finding_stops_the_report(tmp_path: Path) -> None:
    document = runtime_execution()
    document["runs"][0]["queue_at_end"] = 1
    with pytest.raises(FindingsError, match=r"data/x/0\.json::\$\.runs\[0\]"):
        computed(tmp_path, spec_of(), document)


def test_a_failed_run_is_counted_found_shown_and_in_no_aggregate(tmp_path: Path) -> None:
    document = runtime_execution(agents=(100,))
    document["runs"][1] = died(document["runs"][1])
    spec = spec_of(
        column("runs", "run_count"),
        column("all", "run_count", include_failed=True),
        column("peak", "max_of_runs", "queue_peak"),
    )
    report = computed(tmp_path, spec, document)
    assert [texts(report, name) for name in ("runs", "all", "peak")] == [["2"], ["3"], ["1000"]]
    ledger = report.table.ledger
    assert (ledger.found, ledger.published, ledger.failed, ledger.closes) == (3, 2, 1, True)
    assert [note.text for note in report.notes if "failed" in note.text] == [
        "1 runs failed; they are only in columns whose rule says so."
    ]


def test_an_excluded_run_stays_in_the_ledger_with_its_reason(tmp_path: Path) -> None:
    document = runtime_execution(agents=(100,))
    digest = canonical.sha256_hex(canonical.encode(document))
    entry = {"sha256": digest, "pointer": "$.runs[2]", "reason": "another process took the cores"}
    report = computed(tmp_path, spec_of(exclude=[entry]), document)
    assert texts(report, "runs") == ["2"]
    assert report.table.ledger.to_json() == {
        "found": 3,
        "published": 2,
        "failed": 0,
        "excluded": [entry],
        "duplicate": 0,
        "expected": 3,
        "missing": 0,
        "warmups": 1,
        "closes": True,
    }


def test_an_exclusion_that_matches_no_run_is_refused(tmp_path: Path) -> None:
    entry = {"sha256": "0" * 64, "pointer": "$.runs[0]", "reason": "gone"}
    with pytest.raises(SpecError, match=r"x\.toml::\$\.exclude\[0\]: no file with SHA-256 0000"):
        computed(tmp_path, spec_of(exclude=[entry]), runtime_execution())


def test_a_profile_is_passed_over_by_a_glob_and_refused_by_name(tmp_path: Path) -> None:
    project_of(tmp_path, runtime_execution())
    example = Path(__file__).parents[2] / "schemas" / "profile" / "examples" / "perf.json"
    (tmp_path / "data" / "x" / "0.profile.json").write_bytes(example.read_bytes())
    files = evidence.read(tmp_path, spec_of()).documents
    assert [document.path for document in files] == ["data/x/0.json"]
    for data in (["data/x/0.profile.json"], ["data/x/*.profile.json"], ["data/x/0.json", "data/x/a.json"]):
        (tmp_path / "data" / "x" / "a.json").write_bytes(example.read_bytes())  # under another name too
        with pytest.raises(SpecError, match=r"is a profile: it is untimed and no evidence"):
            evidence.read(tmp_path, spec_of(data=data))
