"""Formats of a check: each says everything, and nothing in a document can speak through it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from support.evidence import imported_execution, small_execution

from tallymark import __version__, errors, schemas
from tallymark.check import RULES, check_paths
from tallymark.check.formats import FORMATS, summary
from tallymark.cli.check import check
from tallymark.evidence import canonical
from tallymark.printable import printable

NASTY = "a\x1b[2J\n::error file=x::pwned\r%0A,b:\u202ec\uffff##[add-mask]</failure>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three documents: clean, with one error and one warning, and with a name that tries to speak."""
    monkeypatch.chdir(tmp_path)
    good, bad, nasty = small_execution(), small_execution(), small_execution()
    bad["runs"][0]["tasks_rejected"] = 1
    bad["manifest"]["dirty"] = True
    nasty["runs"][0][NASTY] = 1
    data = Path("data")
    data.mkdir()
    for name, value in {"a.json": good, "b,%:\x07.json": bad, "c.json": nasty}.items():
        (data / name).write_bytes(canonical.encode(value))
    return data


def formatted(folder: Path, name: str) -> str:
    return FORMATS[name](check_paths([folder])).decode("utf-8")


def visible(text: str) -> bool:
    return all(printable(line) == line for line in text.split("\n"))


def test_text_is_one_visible_line_a_finding(folder: Path) -> None:
    text = formatted(folder, "text")
    lines = text.splitlines()
    assert len(lines) == 3 and visible(text)
    assert lines[0].startswith("data/b,%:\\u0007.json::$.manifest.dirty: warning: the sources differed")
    assert lines[1].startswith("data/b,%:\\u0007.json::$.runs[0].tasks_submitted: 10 submitted")
    assert lines[2].startswith('data/c.json::$.runs[0]["a\\u001b[2J\\n::error')


def test_no_line_of_text_is_a_command_to_a_ci_service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "::error::x.json").write_bytes(b"{}")
    (folder / " ::stop-commands::x.json").write_bytes(b"{}")
    monkeypatch.chdir(folder)
    lines = FORMATS["text"](check_paths([Path()])).decode("utf-8").splitlines()
    assert [line for line in lines if line.lstrip().startswith("::") or "##[" in line] == []
    assert any(line.startswith("\\u003a:error::x.json::$: the document") for line in lines)
    assert any(line.startswith(" \\u003a:stop-commands::x.json::$: the document") for line in lines)


def test_json_is_a_findings_document_with_every_assertion(folder: Path) -> None:
    document: dict[str, Any] = json.loads(formatted(folder, "json"))
    assert schemas.errors("findings/1.0", document) == []
    assert document["parser"]["version"] == __version__
    assert document["exit_code"] == errors.FINDINGS
    first, second, third = document["documents"]
    assert (first["verdict"], second["verdict"], third["verdict"]) == ("passed", "failed", "failed")
    assert first["sha256"] == canonical.sha256_hex((folder / "a.json").read_bytes())
    results = {entry["rule"]: entry["result"] for entry in second["assertions"]}
    assert results["counts-conserved"] == "failed" and results["clean-source"] == "warned"
    assert results["drained"] == "passed"
    assert {entry["result"] for entry in third["assertions"]} == {"failed", "not_run"}


def test_json_says_what_could_not_be_read(folder: Path) -> None:
    (folder / "d.json").write_bytes(b"{")
    document = json.loads(formatted(folder, "json"))
    assert schemas.errors("findings/1.0", document) == []
    entry = document["documents"][-1]
    assert (entry["sha256"], entry["schema"], entry["verdict"]) == (None, None, "unreadable")
    assert document["exit_code"] == errors.UNREADABLE


def test_github_lines_hold_one_command_each(folder: Path) -> None:
    lines = formatted(folder, "github").splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("::warning file=data/b%2C%25%3A\\u0007.json,title=clean-source::$.manifest")
    assert lines[2].startswith("::error file=data/c.json,title=schema::")
    assert "%250A" in lines[2] and visible("\n".join(lines))


def test_sarif_names_rule_place_and_digest(folder: Path) -> None:
    log = json.loads(formatted(folder, "sarif"))
    (run,) = log["runs"]
    known = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {rule.id for rule in RULES} <= known
    assert {result["ruleId"] for result in run["results"]} <= known
    result = run["results"][1]
    location = result["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "data/b%2C%25%3A%07.json"
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "$.runs[0].tasks_submitted"
    assert run["artifacts"][0]["hashes"]["sha-256"] == canonical.sha256_hex((folder / "a.json").read_bytes())
    prints = {result["partialFingerprints"]["tallymark/v1"] for result in run["results"]}
    assert len(prints) == len(run["results"])


def test_sarif_texts_are_visible_and_fingerprints_are_of_the_very_key(folder: Path) -> None:
    result = json.loads(formatted(folder, "sarif"))["runs"][0]["results"][-1]
    (location,) = result["locations"]
    assert visible(result["message"]["text"]) and "\\u202e" in result["message"]["text"]
    (logical,) = location["logicalLocations"]
    assert visible(logical["fullyQualifiedName"]) and "\\u202e" in logical["fullyQualifiedName"]


def test_sarif_fingerprints_do_not_depend_on_the_wording_or_the_order(folder: Path) -> None:
    first = json.loads(formatted(folder, "sarif"))["runs"][0]["results"]
    (folder / "a0.json").write_bytes(b"{}")
    second = json.loads(formatted(folder, "sarif"))["runs"][0]["results"]
    assert {r["partialFingerprints"]["tallymark/v1"] for r in first} <= {
        r["partialFingerprints"]["tallymark/v1"] for r in second
    }


def test_junit_shows_green_rules_too_and_stays_well_formed(folder: Path) -> None:
    root = ElementTree.fromstring(formatted(folder, "junit"))
    good, bad, nasty = root
    assert (good.get("failures"), bad.get("failures"), nasty.get("failures")) == ("0", "1", "1")
    assert int(good.get("tests", "0")) == len(list(good)) > 20
    failed = [case.get("name") for case in bad if case.find("failure") is not None]
    assert failed == ["counts-conserved"]
    assert nasty.get("skipped") == str(len(list(nasty)) - 1)


def test_junit_of_nothing_is_not_green(tmp_path: Path) -> None:
    root = ElementTree.fromstring(FORMATS["junit"](check_paths([tmp_path])))
    assert root[0].get("errors") == "1"


@pytest.fixture
def abroad(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A clean file inside the working directory; bad ones of equal names in folders outside of it."""
    for place in ("anna/one", "anna/two"):
        (tmp_path / place / "deep").mkdir(parents=True)
        (tmp_path / place / "x.json").write_bytes(b"{}")
        (tmp_path / place / "deep" / "y.json").write_bytes(b"{")
    (tmp_path / "anna" / "empty").mkdir()
    monkeypatch.chdir(folder)
    return [
        Path("a.json"),
        tmp_path / "anna" / "one",
        Path("../anna/two/x.json"),
        Path("../anna/../anna/two/deep/y.json"),
        tmp_path / "anna" / "empty",
    ]


@pytest.mark.parametrize("name", ["json", "github", "sarif", "junit"])
def test_a_file_outside_of_the_working_directory_is_published_without_its_folders(
    abroad: list[Path], name: str
) -> None:
    text = FORMATS[name](check_paths(abroad)).decode("utf-8")
    assert "anna" not in text and ".." not in text and Path.cwd().parent.name not in text
    for shown in ("outside-1/x.json", "outside-1/deep/y.json", "outside-2/x.json", "outside-3/y.json"):
        assert text.count(shown) >= 1


def test_files_outside_are_told_apart_and_text_says_where_they_are(abroad: list[Path]) -> None:
    outcome = check_paths(abroad)
    document = json.loads(FORMATS["json"](outcome))
    assert [entry["path"] for entry in document["documents"]] == [
        "a.json",
        "outside-1/deep/y.json",
        "outside-1/x.json",
        "outside-2/x.json",
        "outside-3/y.json",
    ]
    assert [finding["file"] for finding in document["findings"]] == [
        "outside-1/deep/y.json",
        "outside-1/x.json",
        "outside-2/x.json",
        "outside-3/y.json",
    ]
    text = FORMATS["text"](outcome).decode("utf-8")
    assert f"{abroad[1]}/x.json::$: the document" in text
    assert "../anna/two/x.json::$: the document" in text


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_same_documents_give_the_same_bytes(folder: Path, name: str) -> None:
    assert formatted(folder, name) == formatted(folder, name)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(check, list(arguments), standalone_mode=False)


def test_the_result_goes_to_stdout_and_the_talk_to_stderr(folder: Path) -> None:
    result = call(str(folder))
    assert result.return_value == errors.FINDINGS
    assert result.stdout == formatted(folder, "text")
    assert result.stderr == "3 documents: 1 passed, 2 failed; 3 findings\n"


def test_a_clean_check_prints_nothing_to_stdout(folder: Path) -> None:
    result = call(str(folder / "a.json"))
    assert (result.return_value, result.stdout) == (errors.CLEAN, "")
    assert result.stderr == "1 document: 1 passed; 0 findings\n"


def test_a_check_over_nothing_is_an_error_after_its_output(folder: Path) -> None:
    empty = folder / "empty"
    empty.mkdir()
    result = call(str(empty), "--format", "json")
    assert result.return_value == errors.NOTHING_CHECKED
    assert json.loads(result.stdout)["exit_code"] == errors.NOTHING_CHECKED
    assert result.stderr.startswith("data/empty: there is no document. ")


def test_one_empty_folder_beside_others_is_not_green(folder: Path) -> None:
    empty = folder / "empty"
    empty.mkdir()
    result = call(str(folder / "a.json"), str(empty))
    assert result.return_value == errors.NOTHING_CHECKED
    assert result.stderr.splitlines()[0] == "1 document: 1 passed; 0 findings"


def test_paths_are_shown_from_the_working_directory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = folder.absolute() / "c.json"
    monkeypatch.chdir(folder)
    assert call("c.json").stdout.startswith("c.json::")
    assert call(str(whole)).stdout.startswith("c.json::")


def test_the_summary_counts_what_is_not_listed(tmp_path: Path) -> None:
    value = imported_execution(repetitions=150)
    for run in value["runs"]:
        run["exit_code"] = 1
    (tmp_path / "a.json").write_bytes(canonical.encode(value))
    outcome = check_paths([tmp_path])
    assert summary(outcome) == "1 document: 1 failed; 300 findings"
    assert len(outcome.findings) == 101
