"""The program as it is called: exit codes, what is said where, and what happens when nothing goes well."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.commands import broken
from support.evidence import small_execution
from support.hyperfine import entry, export
from support.unprivileged import unprivileged

from tallymark import __version__, cli, errors
from tallymark.evidence import canonical

TESTS = Path(__file__).parents[1]
HOSTILE = "x\x1b[2J\u202e"


def called(
    *arguments: str, env: Mapping[str, str] | None = None, before: str = "", shell: str = ""
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a process of its own in the working directory.

    ``before`` is Python to run first, with the tests' own commands in reach; ``shell`` redirects its streams.
    """
    program = f"import sys\nfrom tallymark import cli\n{before}\ncli.main(sys.argv[1:])"
    start = ["-c", program] if before else ["-m", "tallymark"]
    command = [sys.executable, *start, *arguments]
    if shell:
        command = ["bash", "-o", "pipefail", "-c", f'"$@" {shell}', "bash", *command]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), **(env or {})}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", env=environment, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def added(*names: str) -> str:
    """Python that adds the tests' own commands to the table."""
    return ";".join(f"cli.COMMANDS[{name!r}] = ('support.commands:{name}', '')" for name in names)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with one document of each fate."""
    monkeypatch.chdir(tmp_path)
    bad = small_execution()
    bad["runs"][0]["tasks_rejected"] = 1
    Path("good.json").write_bytes(canonical.encode(small_execution()))
    Path("bad.json").write_bytes(canonical.encode(bad))
    Path("broken.json").write_bytes(b"{")
    Path("h.json").write_bytes(export(entry()))
    Path("bad.toml").write_text('schema = "report-spec/1.0"\nname = "bad"\n', encoding="utf-8")
    Path("empty").mkdir()
    return tmp_path


IMPORT = ("import", "hyperfine", "h.json", "--suite", "sleep", "--out", "data")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("check", "good.json"), errors.CLEAN, "1 document: 1 passed; 0 findings"),
        (("check", "bad.json"), errors.FINDINGS, "1 document: 1 failed; 1 finding"),
        (
            (*IMPORT, "--machine", "bad.json"),
            errors.FINDINGS,
            "bad.json::$.runs[0].tasks_submitted: 10 submitted",
        ),
        (
            ("check", "gone.json"),
            errors.MISUSE,
            "gone.json: there is no such file or folder. Check the path.",
        ),
        (("table", "bad.toml"), errors.MISUSE, "bad.toml::$"),
        (("check", "empty"), errors.NOTHING_CHECKED, "empty: there is no document."),
        (("report", "init", "empty"), errors.NOTHING_CHECKED, "empty: "),
        (("check", "broken.json"), errors.UNREADABLE, "1 document: 1 unreadable"),
        (("recover", "broken.json"), errors.UNREADABLE, "broken.json"),
    ],
)
def test_each_fate_has_its_exit_code_and_says_why(arguments: tuple[str, ...], code: int, said: str) -> None:
    got, _, talk = called(*arguments)
    assert (got, said in talk) == (code, True), talk
    assert "Traceback" not in talk


def test_what_may_not_be_read_is_said_and_never_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def checked(name: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as stopped:
            cli.main(["check", name])
        said = capsys.readouterr()
        return stopped.value.code, said.out, said.err

    assert checked("good.json")[0] == errors.CLEAN
    tmp_path.chmod(0o755)
    Path("good.json").rename("empty/good.json")
    locked = (Path("bad.json"), Path("empty"))
    for path in locked:
        path.chmod(0)
    try:
        with unprivileged():
            file, folder, whole = (checked(name) for name in ("bad.json", "empty", "."))
    finally:
        for path in locked:
            path.chmod(0o755)
    assert file[0] == folder[0] == whole[0] == errors.UNREADABLE
    assert file[1] == "bad.json::$: cannot be read (Permission denied). Check the file.\n"
    said = "empty::$: cannot be read (Permission denied). Check the path and its permissions.\n"
    assert (folder[2], whole[2]) == (said, said)


def test_evidence_that_is_there_is_a_conflict() -> None:
    assert called(*IMPORT)[:2] == (errors.CLEAN, "data/h.json\n")
    code, out, talk = called(*IMPORT)
    assert (code, out) == (errors.MISUSE, "")
    assert talk.endswith(
        "data/h.json: the file is already there. "
        "Choose another label or folder; evidence is never overwritten.\n"
    )


def test_without_the_compiled_runtime_run_says_what_is_missing() -> None:
    code, out, talk = called("run", "scale", before="sys.modules['tallymark._runtime'] = None")
    assert (code, out) == (errors.MISUSE, "")
    assert talk.startswith("tallymark._runtime: the compiled runtime is missing")


@pytest.mark.parametrize("arguments", [(), ("--project", "empty"), ("--help",), ("-h",)])
def test_alone_it_lists_its_commands(arguments: tuple[str, ...]) -> None:
    code, out, talk = called(*arguments)
    assert (code, talk) == (errors.CLEAN, "")
    assert out.startswith("Usage: tallymark [OPTIONS] [COMMAND] [ARGS]...")
    assert [name for name in cli.COMMANDS if f"\n  {name} " not in out] == []


def test_it_tells_its_version() -> None:
    assert called("--version") == (errors.CLEAN, f"tallymark, version {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chekc",), "No such command 'chekc'."),
        (("check",), "Missing argument 'PATH...'."),
        (("check", "--formt", "json", "good.json"), "No such option"),
        (("check", "good.json", "--format", "yaml"), "'yaml' is not one of"),
        (("--project", "gone", "check", "good.json"), "Directory 'gone' does not exist."),
        (("--project", "good.json", "check", "good.json"), "Directory 'good.json' is a file."),
        (("schema",), "Usage: tallymark schema"),
    ],
)
def test_a_misuse_is_said_with_the_usage(arguments: tuple[str, ...], said: str) -> None:
    code, out, talk = called(*arguments)
    assert (code, out) == (errors.MISUSE, "")
    assert talk.startswith("Usage: tallymark") and said in talk
    assert "Traceback" not in talk


@pytest.mark.parametrize(
    "arguments",
    [
        (HOSTILE,),
        (f"--{HOSTILE}",),
        ("check", HOSTILE),
        ("check", f"--{HOSTILE}", "good.json"),
        ("check", "--format", HOSTILE, "good.json"),
        ("table", HOSTILE),
        ("explain", "a", "--site", HOSTILE),
        ("recount", HOSTILE),
        ("run", HOSTILE),
        ("run", "scale", "--set", HOSTILE),
        ("run", "scale", "--label", HOSTILE),
        ("recover", HOSTILE),
        ("import", HOSTILE, "h.json"),
        ("import", "hyperfine", HOSTILE),
        ("report", "init", HOSTILE),
        ("site", "serve", "--site", HOSTILE),
        ("schema", HOSTILE),
        ("--project", HOSTILE, "check", "good.json"),
    ],
)
def test_no_argument_steers_the_terminal(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(list(arguments))
    said = capsys.readouterr()
    assert stopped.value.code not in (errors.CLEAN, errors.INTERNAL)
    assert "\x1b" not in said.err + said.out and "\u202e" not in said.err + said.out
    assert "u202e" in said.err


@pytest.mark.parametrize("arguments", [("check", "::error::x"), ("::error::x",), ("recount", "##[error]x")])
def test_no_argument_is_a_command_in_a_ci_log(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(list(arguments))
    talk = capsys.readouterr().err
    assert [line for line in talk.splitlines() if line.lstrip().startswith("::") or "##[" in line] == []
    assert "error" in talk


def test_a_bug_of_ours_is_said_as_one_and_its_traceback_kept(tmp_path: Path) -> None:
    code, out, talk = called("broken", before=added("broken"), env={"TMPDIR": str(tmp_path)})
    assert (code, out) == (errors.INTERNAL, "")
    (kept,) = tmp_path.glob("tallymark-*.traceback")
    assert talk == (
        f"tallymark: internal error: RuntimeError: half of it\\u000a::error::\\u001b[2J\\udcff. "
        f"Please report it with {kept}.\n"
    )
    text = kept.read_text(encoding="utf-8")
    assert text.startswith("Traceback (most recent call last):") and "support/commands.py" in text


def test_a_traceback_that_cannot_be_kept_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    monkeypatch.setitem(cli.COMMANDS, "broken", (f"{broken.callback.__module__}:broken", ""))
    with pytest.raises(SystemExit) as stopped:
        cli.main(["broken"])
    talk = capsys.readouterr().err
    assert stopped.value.code == errors.INTERNAL
    assert "Traceback (most recent call last):" in talk and "\x1b" not in talk
    assert "Please report it with the lines above." in talk.splitlines()[-1]


def test_stopped_by_the_user_is_130() -> None:
    assert called("interrupted", before=added("interrupted")) == (130, "", "\nstopped by the user\n")


def test_what_the_system_refuses_is_no_bug() -> None:
    code, out, talk = called("refused", before=added("refused"))
    assert (code, out) == (errors.MISUSE, "")
    assert (
        talk
        == "/proc/version\\u001b: No such file or directory. Check the path, its permissions and the disk.\n"
    )


def test_a_reader_that_went_away_is_no_success_and_no_bug() -> None:
    code, _, talk = called("talkative", "100000", before=added("talkative"), shell="| head -n 1 >&2")
    assert code == 141
    assert talk == "≤ 5 µs \\udcff\n"


# Buffered streams, as everybody has them, fail at another moment than unbuffered ones.
BUFFERING = pytest.mark.parametrize("unbuffered", ["", "1"])


@BUFFERING
def test_a_full_disk_is_no_success(unbuffered: str) -> None:
    env = {"PYTHONUNBUFFERED": unbuffered}
    code, _, talk = called("talkative", "1", before=added("talkative"), shell=">/dev/full", env=env)
    assert code == errors.MISUSE
    assert talk == "the output: No space left on device. Check the path, its permissions and the disk.\n"
    code, _, talk = called("check", "good.json", "--format", "json", shell=">/dev/full", env=env)
    assert code == errors.MISUSE
    assert "the output: No space left on device." in talk


@BUFFERING
def test_without_standard_output_the_exit_code_still_tells(unbuffered: str) -> None:
    env = {"PYTHONUNBUFFERED": unbuffered}
    assert called("check", "bad.json", shell=">&-", env=env)[0] == errors.FINDINGS
    assert called("check", "good.json", shell=">&-", env=env)[0] == errors.CLEAN


@BUFFERING
def test_without_standard_error_the_exit_code_still_tells(unbuffered: str) -> None:
    env = {"PYTHONUNBUFFERED": unbuffered}
    for nowhere in ("2>/dev/full", "2>&-"):
        assert called("check", "nowhere.json", shell=nowhere, env=env)[0] == errors.MISUSE
        assert called("check", "good.json", shell=nowhere, env=env)[0] == errors.CLEAN


def test_any_character_can_be_printed_in_any_locale() -> None:
    for name in ("ascii", "latin-1"):
        code, out, talk = called(
            "talkative", "1", before=added("talkative"), env={"PYTHONIOENCODING": name, "LC_ALL": "C"}
        )
        assert (code, out, talk) == (3, "≤ 5 µs \\udcff\n", "")


def test_help_of_every_command_states_what_it_does() -> None:
    for name in cli.COMMANDS:
        command = cli.root.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None and command.help, name


def test_listing_the_commands_imports_none_of_them() -> None:
    probe = (
        "import sys; from tallymark import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "loaded = [m for m in sys.modules if m.startswith('tallymark.') and m not in"
        " ('tallymark.cli', 'tallymark.cli.streams', 'tallymark.cli.talk', 'tallymark.errors',"
        " 'tallymark.printable')]\n"
        "sys.exit(repr(loaded) if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
