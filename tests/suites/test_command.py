"""``tallymark run`` and ``tallymark recover`` as a user calls them, and what is left after ``kill -9``."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.console import Console
from support.suites import Recorder

from tallymark.evidence.journal import read as read_journal
from tallymark.suites import catalogue
from tallymark.suites.catalogue import SUITES
from tallymark.suites.plan import Request, build
from tallymark.suites.scale import SCALE
from tallymark.suites.session import fold
from tallymark.suites.settings import SETTABLE

SMALL = ("--set", "tasks=300", "--set", "context_bytes=65536", "--set", "probes=4", "--repetitions", "1")
# 500 tasks at 1000 a second: a run is alive for half a second after its line on standard error
PACED = (
    *("--set", "tasks=500", "--set", "context_bytes=65536", "--set", "probes=4"),
    *("--set", "submission=paced", "--set", "rate_per_s=1000", "--repetitions", "2", "--label", "slow"),
)
# the same, but a run takes a thousand seconds unless something ends it
ENDLESS = tuple(argument.replace("tasks=500", "tasks=1000000") for argument in PACED)


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(tmp_path, monkeypatch, capsys)


def document(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


@contextmanager
def suite(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """``tallymark run scale ARGUMENTS`` in a process of its own, ended in any case."""
    command = [sys.executable, "-m", "tallymark", "run", "scale", *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_that_begins(process: subprocess.Popen[str], start: str) -> str:
    """Read the talk of the suite up to the line that begins so."""
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        seen.append(line)
        if line.startswith(start):
            return line
    raise AssertionError(f"no line begins {start!r} in {''.join(seen)}")


def process_named_in(line: str) -> int:
    found = re.search(r"process ([0-9]+)", line)
    assert found is not None
    return int(found[1])


def test_the_path_of_the_document_is_all_of_standard_output(console: Console, tmp_path: Path) -> None:
    code, out, err = console.run("run", "scale", *SMALL, "--label", "tiny")
    assert (code, out) == (0, "data/scale/tiny.json\n")
    assert "smoke.drained: passed" in err
    assert "precheck.signs: passed" in err
    assert "run 2/2: completed" in err
    value = document(tmp_path / "data" / "scale" / "tiny.json")
    assert [assertion["passed"] for assertion in value["gate"]["assertions"]] == [True] * 22
    assert console.run("check", "data")[0] == 0


def test_run_smoke_checks_every_suite_and_is_made_anew_each_time(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = console.run("run", "smoke")
    assert (code, out.splitlines()) == (0, [f"build/smoke/{name}/smoke.json" for name in SUITES]), err
    for name, suite in SUITES.items():
        value = document(tmp_path / "build" / "smoke" / name / "smoke.json")
        assert (value["execution"]["suite"], value["execution"]["label"]) == (name, "smoke")
        assert len(value["runs"]) == len(build(Request(suite, preset="smoke")).runs)
    assert console.run("check", "build/smoke")[0] == 0
    monkeypatch.setattr(catalogue, "SUITES", {"scale": SCALE})
    assert console.run("run", "smoke")[:2] == (0, "build/smoke/scale/smoke.json\n")
    assert [path.name for path in (tmp_path / "build" / "smoke").iterdir()] == ["scale"]
    assert not (tmp_path / "data").exists()


def test_run_smoke_overwrites_nothing_in_a_folder_that_was_named(console: Console, tmp_path: Path) -> None:
    (tmp_path / "kept" / "scale").mkdir(parents=True)
    (tmp_path / "kept" / "scale" / "smoke.json").write_text("precious", "utf-8")
    code, out, err = console.run("run", "smoke", "--out", "kept")
    assert (code, out) == (2, "")
    assert "already there" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("scale", "--set", "threads=4"), "'threads' is not a configuration key"),
        (("scale", "--set", "agents=0"), "--set agents=0"),
        (("scale", "--set", "tasks=1,2"), "one document holds one task count"),
        (("scale", "--label", "A b"), "not a label"),
        (("scale", "--preset", "huge"), "--preset huge: there is no such preset"),
        (("scale", "--seed", "-1"), "a seed is a whole number"),
        (("scale", "--seed", "x"), "'x' is not a valid integer"),
        (("scale", "--repetitions", "0"), "outside 1"),
        (("scale", "--resume"), "no journal to resume"),
        (("sizzle",), "there is no such suite. Use one of scale, "),
        (("smoke", "--label", "x"), "takes no option but --out"),
        (("smoke", "--set", "tasks=5"), "takes no option but --out"),
        (("smoke", "--preset", "full"), "has one size"),
        ((), "Missing argument"),
    ],
)
def test_misuse_is_said_in_a_line_with_exit_code_2_and_nothing_is_written(
    console: Console, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = console.run("run", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_key_is_answered_with_the_keys(console: Console) -> None:
    _, _, err = console.run("run", "scale", "--set", "threads=4")
    assert all(key in err for key in SETTABLE)


def test_the_help_names_the_keys_and_the_exit_codes(console: Console) -> None:
    code, out, _ = console.run("run", "--help")
    assert code == 0
    flat = " ".join(out.split())
    assert all(key in flat for key in SETTABLE)
    assert "130 stopped by the user" in flat


def test_a_suite_killed_in_mid_run_loses_nothing_finished_and_the_dead_run_is_named(
    console: Console, tmp_path: Path
) -> None:
    with suite(tmp_path, *PACED) as process:
        line_that_begins(process, "run 2/4: started")
        process.kill()
        assert process.wait() == -signal.SIGKILL
    path = tmp_path / "data" / "scale" / "slow.journal"
    before = fold(read_journal(path), "slow.journal")
    finished = [run for (section, _), run in sorted(before.finished.items()) if section == "runs"]
    assert finished
    assert before.open_attempt is not None

    code, out, err = console.run("recover", "data/scale/slow.journal", "--out", "recovered")
    assert (code, out) == (0, "recovered/slow.json\n")
    value = document(tmp_path / "recovered" / "slow.json")
    *kept, dead = value["runs"]
    assert kept == finished
    assert dead["index"] == before.open_attempt.planned.index
    assert (dead["outcome"], dead["recorded_by"]) == ("killed", "parent")
    assert dead["cause"] == "the suite's process was killed while the run was in progress"
    assert f"run {dead['index']}: killed in phase setup: {dead['cause']}" in err
    assert value["execution"]["complete"] is False
    assert console.run("check", "recovered")[0] == 0

    code, out, err = console.run("run", "scale", "--label", "slow", "--resume")
    assert (code, out) == (0, "data/scale/slow.json\n")
    whole = document(tmp_path / "data" / "scale" / "slow.json")
    assert whole["runs"][: len(finished)] == finished
    assert [run["outcome"] for run in whole["runs"]] == ["completed"] * 4
    assert whole["execution"]["complete"] is True
    (interruption,) = whole["execution"]["interruptions"]
    assert (interruption["run_id"], interruption["cause"]) == (dead["run_id"], dead["cause"])
    assert whole["execution"]["plan"] == value["execution"]["plan"]
    assert whole["execution"]["id"] == value["execution"]["id"]
    assert not path.exists()
    assert console.run("check", "data")[0] == 0


def test_a_killed_suite_leaves_no_run_behind_that_goes_on(tmp_path: Path) -> None:
    with suite(tmp_path, *ENDLESS) as process:
        child = process_named_in(line_that_begins(process, "warm-up 1/1: started"))
        descriptor = os.pidfd_open(child)
        process.kill()
        process.wait()
    # ready when the process has ended; left alone its run would take a thousand seconds
    assert select.select([descriptor], [], [], 60)[0] == [descriptor]
    os.close(descriptor)


def test_after_a_kill_the_label_is_taken_until_the_journal_is_resumed(
    console: Console, tmp_path: Path
) -> None:
    Recorder(tmp_path / "data" / "scale").gate().finished("warmups", 0).killed()
    code, out, err = console.run("run", "scale", *SMALL, "--label", "broken")
    assert (code, out) == (2, "")
    assert "a suite that was killed left its journal with 1 of 5 runs" in err
    assert "--resume" in err


def test_ctrl_c_keeps_the_journal_and_says_how_to_go_on(tmp_path: Path) -> None:
    with suite(tmp_path, *ENDLESS) as process:
        line_that_begins(process, "warm-up 1/1: started")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "stopped by the user; 0 of 5 runs are kept in the journal" in err
    assert "--resume" in err
    session = fold(read_journal(tmp_path / "data" / "scale" / "slow.journal"), "j")
    assert session.cut_short["warmups", 0]["outcome"] == "killed"
    assert not (tmp_path / "data" / "scale" / "slow.json").exists()


def test_a_child_killed_alone_makes_the_command_fail_after_the_document_is_written(tmp_path: Path) -> None:
    one_run = [*PACED, "--set", "agents=100", "--repetitions", "1"]
    with suite(tmp_path, *one_run) as process:
        os.kill(process_named_in(line_that_begins(process, "run 1/1: started")), signal.SIGKILL)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "data/scale/slow.json\n")
    assert "data/scale/slow.json: run 0: killed in phase" in err
    value = document(tmp_path / "data" / "scale" / "slow.json")
    assert [run["outcome"] for run in value["runs"]] == ["killed"]


def test_recover_refuses_what_is_no_journal(console: Console, tmp_path: Path) -> None:
    (tmp_path / "x.journal").write_text("{}\n", "utf-8")
    code, out, err = console.run("recover", "x.journal")
    assert (code, out) == (5, "")
    assert "x.journal::$: not a suite's journal" in err


def test_recover_says_that_a_journal_is_not_there(console: Console) -> None:
    code, out, err = console.run("recover", "missing.journal")
    assert (code, out) == (2, "")
    assert "missing.journal" in err
