"""``tallymark table``: formats, exit codes and what is said when it cannot compute."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.console import Console
from support.evidence import runtime_execution, write_project

from tallymark import schemas
from tallymark.evidence import canonical


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    """The command line in a project with evidence of 1,000 and 2,000 tasks."""
    return Console(write_project(tmp_path), monkeypatch, capsys)


def test_the_table_is_printed_and_nothing_is_written(console: Console) -> None:
    before = sorted(Path().rglob("*"))
    code, out, err = console.run("table", "runtime-scale")
    assert (code, err) == (0, "")
    assert "tasks  agents  Runs [1]" in out and "[2] median over the runs of elapsed_ms" in out
    assert sorted(Path().rglob("*")) == before


def test_json_is_the_report_document(console: Console) -> None:
    code, out, _ = console.run("table", "runtime-scale", "--format", "json")
    assert code == 0
    assert schemas.errors("report/1.0", json.loads(out)) == []


@pytest.mark.parametrize(
    ("form", "start"), [("csv", "tasks,agents,runs,runs_exact"), ("markdown", "| tasks |")]
)
def test_other_formats_start_as_they_should(console: Console, form: str, start: str) -> None:
    code, out, _ = console.run("table", "site/reports/runtime-scale.toml", "--format", form)
    assert code == 0 and out.startswith(start)


def test_no_title_of_a_spec_is_a_command_in_a_ci_log(console: Console) -> None:
    path = Path("site/reports/runtime-scale.toml")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('title = "Runs"', 'title = "##[error]b"'), encoding="utf-8")
    code, out, _ = console.run("table", "runtime-scale")
    assert code == 0
    assert "##[" not in out and "##\\u005berror]b" in out


def test_an_unknown_report_is_misuse(console: Console) -> None:
    code, out, err = console.run("table", "nothing")
    assert (code, out) == (2, "")
    assert err == ("site/reports/nothing.toml: there is no such report. Known reports: runtime-scale.\n")


def test_a_report_without_data_says_so_and_is_misuse(console: Console) -> None:
    for path in Path("data/runtime-scale").iterdir():
        path.unlink()
    code, _, err = console.run("table", "runtime-scale")
    assert code == 2
    assert err.startswith(
        "site/reports/runtime-scale.toml::$.data[0]: no file matches 'data/runtime-scale/*.json'."
    )


def test_findings_in_the_evidence_are_exit_one(console: Console) -> None:
    document = runtime_execution()
    document["runs"][0]["tasks_completed"] -= 1
    Path("data/runtime-scale/1k.json").write_bytes(canonical.encode(document))
    code, _, err = console.run("table", "runtime-scale")
    assert code == 1
    assert err.startswith("data/runtime-scale/1k.json::$.runs[0]")


def test_unreadable_evidence_is_exit_five(console: Console) -> None:
    Path("data/runtime-scale/1k.json").write_bytes(b'\xef\xbb\xbf{"schema": 1}')
    code, _, err = console.run("table", "runtime-scale")
    assert code == 5
    assert err.startswith("data/runtime-scale/1k.json")


def test_help_states_the_exit_codes(console: Console) -> None:
    code, out, _ = console.run("table", "--help")
    assert code == 0 and "Exit codes: 0 printed" in out


def test_a_terminal_gets_the_same_texts_in_a_drawn_table(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, _ = console.run("table", "runtime-scale")
    assert code == 0 and "┃" in out and "17.00" in out


def test_listing_the_command_does_not_import_pandas() -> None:
    probe = (
        "import sys; import tallymark.cli.table, tallymark.tables.spec;"
        "sys.exit([m for m in ('pandas', 'numpy', 'rich', 'jinja2') if m in sys.modules] != [])"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


def test_without_pandas_it_says_what_to_install(console: Console) -> None:
    without = "import sys; sys.modules['pandas'] = None; from tallymark import cli; cli.main(sys.argv[1:])"
    command = [sys.executable, "-c", without, "table", "runtime-scale"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        'tallymark table: pandas is not installed. Install it with: pip install "tallymark[site]".\n'
    )
