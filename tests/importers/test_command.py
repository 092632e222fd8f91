"""``tallymark import``: where the document goes, what is printed, and what stops it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.console import Console
from support.evidence import imported_execution, runtime_execution
from support.hyperfine import FILES, entry, export

from tallymark.evidence import canonical


def write(name: str, *entries: Any) -> None:
    Path(name).write_bytes(export(*(entries or (entry(),))))


def test_the_path_is_printed_and_the_losses_go_to_the_other_stream(console: Console) -> None:
    write("h.json", entry("a"), entry("b"))
    code, out, err = console.run("import", "hyperfine", "h.json", "--out", "data/x")
    assert (code, out) == (0, "data/x/h.json\n")
    assert "h.json: loss at $.results[*].user (2 places)" in err
    assert "records no machine" in err
    document = json.loads(Path("data/x/h.json").read_bytes())
    assert (document["execution"]["suite"], document["execution"]["label"]) == ("x", "h")
    assert len(document["runs"]) == 6


def test_no_key_of_a_file_is_a_command_to_a_terminal_or_a_ci_log(console: Console) -> None:
    Path("h.json").write_bytes(export(entry() | {"##[add-mask]\x1b[2J\u202e": 1}))
    code, _, err = console.run("import", "hyperfine", "h.json", "--out", "data/x")
    assert code == 0
    assert '["##\\u005badd-mask]\\u001b[2J\\u202e"]' in err
    assert "##[" not in err and "\x1b" not in err and "\u202e" not in err


def test_without_a_folder_the_evidence_goes_to_the_project(console: Console) -> None:
    write("h.json")
    assert console.run("import", "hyperfine", "h.json")[1] == "data/hyperfine/h.json\n"


def test_what_was_written_passes_the_check(console: Console) -> None:
    console.run("import", "hyperfine", str(FILES / "failing.json"), "--out", "data/x")
    assert console.run("check", "data/x")[0] == 0


def test_a_file_that_is_there_is_never_overwritten(console: Console) -> None:
    write("h.json")
    assert console.run("import", "hyperfine", "h.json", "--out", "data/x")[0] == 0
    before = Path("data/x/h.json").read_bytes()
    code, out, err = console.run("import", "hyperfine", "h.json", "--out", "data/x")
    assert (code, out) == (2, "")
    assert "data/x/h.json: the file is already there" in err
    assert Path("data/x/h.json").read_bytes() == before


def test_another_label_gives_another_file(console: Console) -> None:
    write("h.json")
    console.run("import", "hyperfine", "h.json", "--out", "data/x")
    assert console.run("import", "hyperfine", "h.json", "--out", "data/x", "--label", "again")[0] == 0


def test_standard_input_needs_a_label_or_is_called_stdin(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(export(entry()))))
    assert console.run("import", "hyperfine", "-", "--out", "data/x")[1] == "data/x/stdin.json\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("import", "jmh", "h.json"),
            2,
            "there is no importer for 'jmh'. Choose one of: benchmark, hyperfine",
        ),
        (("import", "hyperfine", "none.json"), 2, "none.json: there is no such file"),
        (("import", "hyperfine", "My Run.json"), 2, "Give --label my-run"),
        (("import", "hyperfine", "h.json", "--out", "My Data"), 2, "Give --suite my-data"),
        (("import", "hyperfine", "h.json", "--label", "../x"), 2, "--label"),
        (("import", "hyperfine", "nan.json"), 5, "nan.json::$.results[0].mean: NaN is not a JSON number"),
        (("import", "hyperfine", "home.json"), 1, "home.json::$.results[0].command: holds a home folder"),
        (("import", "hyperfine", "other.json"), 1, "it looks like asv"),
        (("import", "hyperfine", "a\x07.json", "--label", "a"), 1, "a\\x07.json"),
        (("import", "hyperfine"), 2, "Missing argument 'FILE'"),
    ],
)
def test_a_bad_call_writes_nothing_and_says_why(
    console: Console, arguments: tuple[str, ...], code: int, said: str
) -> None:
    for name in ("h.json", "My Run.json", "a\x07.json"):
        write(name)
    Path("nan.json").write_text('{"results": [{"command": "a", "mean": NaN}]}', encoding="utf-8")
    write("home.json", entry("/home/li/x"))
    Path("other.json").write_text('{"commit_hash": "a", "results": {}}', encoding="utf-8")
    found, out, err = console.run(*arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert not Path("data").exists()


def test_the_machine_of_an_execution_is_taken_when_the_user_says_so(console: Console) -> None:
    write("h.json")
    runtime = runtime_execution(tasks=10)
    Path("1m.json").write_bytes(canonical.encode(runtime))
    code, _, err = console.run("import", "hyperfine", "h.json", "--out", "data/x", "--machine", "1m.json")
    assert (code, f"execution {runtime['execution']['id']}" in err) == (0, True)
    document = json.loads(Path("data/x/h.json").read_bytes())
    assert document["manifest"]["machine"] == runtime["manifest"]["machine"]
    assert console.run("check", "data/x")[0] == 0


def test_a_machine_is_taken_from_the_runtime_only(console: Console) -> None:
    write("h.json")
    Path("other.json").write_bytes(canonical.encode(imported_execution()))
    code, _, err = console.run("import", "hyperfine", "h.json", "--machine", "other.json")
    assert (code, "--machine: other.json is imported-execution/1.0" in err) == (2, True)


def test_redaction_is_a_choice(console: Console) -> None:
    write("h.json", entry("/home/li/x"))
    code, _, err = console.run("import", "hyperfine", "h.json", "--out", "data/x", "--redact")
    assert code == 0
    assert "a home folder was replaced by <home>" in err
    assert b"/home/" not in Path("data/x/h.json").read_bytes()


def test_a_pipe_is_not_waited_for(console: Console) -> None:
    """A named pipe with no writer would block a plain open for ever."""
    os.mkfifo("pipe")
    code, _, err = console.run("import", "hyperfine", "pipe")
    assert (code, "not a regular file" in err) == (5, True)
