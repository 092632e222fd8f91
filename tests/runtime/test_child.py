"""The child that makes one run: its protocol, what it refuses, and how it takes a signal."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest
from support.runtime import COMMAND, spoken, start

PROGRESS = (
    "phase",
    "tasks_submitted",
    "tasks_admitted",
    "tasks_completed",
    "tasks_failed",
    "tasks_cancelled",
    "tasks_timed_out",
    "tasks_rejected",
    "queue",
    "active",
    "elapsed_ms",
)
# a run that would take hours, so that whatever ends it, it is not its last task
ENDLESS: dict[str, Any] = {
    "tasks": 10_000_000,
    "submission": "paced",
    "window": 0,
    "rate_per_s": 1000,
    "workers": 2,
    "aux_workers": 0,
    "context_bytes": 65536,
}


def test_progress_comes_first_and_the_record_last() -> None:
    heard = spoken('{"tasks": 1000}')
    assert (heard.code, heard.stderr) == (0, "")
    *progress, last = heard.lines
    assert tuple(last) == ("manifest", "run")
    assert len(progress) >= 2
    assert all(tuple(line) == ("progress",) and tuple(line["progress"]) == PROGRESS for line in progress)
    assert progress[0]["progress"] == dict.fromkeys(PROGRESS[1:], 0) | {"phase": "setup"}
    assert (progress[-1]["progress"]["phase"], progress[-1]["progress"]["tasks_completed"]) == (
        "finished",
        1000,
    )
    completed = [line["progress"]["tasks_completed"] for line in progress]
    assert completed == sorted(completed)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ('{"tasks": 0}', "tasks is 0; choose 1 to 1099511627776"),
        ('{"agents": 0}', "agents is 0; choose 1 to 1000000"),
        ('{"workers": 1025}', "workers is 1025; choose 1 to 1024"),
        ('{"context_bytes": 0}', "context_bytes is 0; choose 1 to 1099511627776"),
        ('{"access_pattern": "zipf"}', "access_pattern is zipf; choose uniform"),
        ('{"roles": 5}', "roles: there is no such option"),
        ('{"tasks": 1, "tasks": 2}', "a key is given twice"),
        ('{"tasks": NaN}', "tasks: nan is not a whole number"),
        ("[]", "they are not a JSON object"),
        ("", "they are not JSON"),
        ("[" * 100_000, "they are not JSON"),
    ],
)
def test_options_that_make_no_run_are_refused_in_one_line(options: str, problem: str) -> None:
    heard = spoken(options)
    assert (heard.code, heard.stderr) == (1, "")
    assert heard.last["error"]["status"] == "invalid"
    assert problem in heard.last["error"]["message"]


@pytest.mark.plain_build
def test_memory_that_is_not_there_is_a_status_and_not_a_crash() -> None:
    """A tebibyte of context is in range and on no machine that runs these tests."""
    heard = spoken(json.dumps({"context_bytes": 1 << 40, "tasks": 1}))
    assert (heard.code, heard.stderr) == (1, "")
    assert heard.last["error"]["status"] == "no_memory"
    assert "context" in heard.last["error"]["message"]


def test_a_thread_that_cannot_start_is_a_status_and_not_a_crash() -> None:
    """A stack of 64 TiB fits no address space: the run is set up, and its thread in Python cannot start."""
    program = "threading.stack_size(1 << 46); sys.exit(main())"
    imports = "import sys, threading; from tallymark.runtime.__main__ import main"
    done = subprocess.run(
        (sys.executable, "-I", "-c", f"{imports}; {program}"),
        input='{"tasks": 10}',
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "error": {
            "status": "no_thread",
            "message": "the thread of the run could not start; raise the limits of threads and memory",
        }
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_run_and_keeps_its_record(number: signal.Signals) -> None:
    with start(**ENDLESS) as child:
        assert child.stdout is not None and child.stderr is not None
        for line in child.stdout:  # until the run is under way
            if json.loads(line)["progress"]["tasks_completed"] > 0:
                break
        child.send_signal(number)
        last = json.loads(child.stdout.readlines()[-1])
        assert child.stderr.read() == ""
    assert child.returncode == 0
    run = last["run"]
    assert run["outcome"] == "killed"
    assert run["phase"] in ("submit", "drain")
    assert run["cause"] == f"interrupted by signal {number.value} ({number.name})"
    assert 0 < run["tasks_completed"] < run["tasks"]
    assert run["tasks_submitted"] == run["tasks_admitted"] + run["tasks_rejected"]
    assert run["tasks_admitted"] == run["tasks_completed"] + run["tasks_failed"] + run["tasks_cancelled"]
    assert run["checks"]["probe_checksum"] == run["checks"]["probe_checksum_expected"]


def test_a_child_that_nobody_hears_ends_by_itself() -> None:
    with start(**ENDLESS) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == ""
    assert child.returncode == 1


def test_the_child_imports_nothing_that_would_weigh_on_its_memory() -> None:
    done = subprocess.run(
        (COMMAND[0], "-X", "importtime", *COMMAND[1:]),
        input='{"tasks": 1000}',
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line}
    ours = {name for name in imported if name.startswith("tallymark")}
    assert ours == {"tallymark", "tallymark._runtime", "tallymark.errors"} | {
        f"tallymark.runtime{part}" for part in ("", ".options")
    }
    heavy = {"pandas", "numpy", "jsonschema", "click", "rich", "jinja2", "plotly", "cffi"}
    assert not heavy & {name.split(".")[0] for name in imported}
