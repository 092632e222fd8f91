"""How a child may end: with a record, with a refusal, or in any of the ways in which a process dies.

The programs here are real processes that speak the protocol (or break it); runs of the runtime itself are in
``test_measure.py``.
"""

from __future__ import annotations

import sys

import pytest

from tallymark.suites import child
from tallymark.suites.child import Child, Died, End, Finished, Refused, describe, signal_name
from tallymark.suites.model import Json

ANSWER = 'print(\'{"manifest": {"m": 1}, "run": {"r": 2}}\', flush=True)'
PROGRESS = 'print(\'{"progress": {"phase": "submit", "tasks_submitted": 7}}\', flush=True)'


def ends(program: str, deadline_s: float = 60, heard: list[Json] | None = None) -> End:
    lines = "import os, signal, sys, time\nasked = sys.stdin.readline()\n" + program
    with Child({"tasks": 5}, command=(sys.executable, "-I", "-c", lines)) as started:
        return started.wait(deadline_s, (heard if heard is not None else []).append)


def test_a_record_is_handed_on_as_it_was_written() -> None:
    assert ends(ANSWER) == Finished({"m": 1}, {"r": 2})


def test_the_options_arrive_as_one_line_of_json() -> None:
    assert ends('print(\'{"manifest": {}, "run": \' + asked.strip() + "}")') == Finished({}, {"tasks": 5})


def test_progress_is_told_as_it_comes() -> None:
    heard: list[Json] = []
    assert ends(f"{PROGRESS}\n{ANSWER}", heard=heard) == Finished({"m": 1}, {"r": 2})
    assert heard == [{"phase": "submit", "tasks_submitted": 7}]


def test_a_refusal_keeps_its_status_and_message() -> None:
    refusal = (
        'print(\'{"error": {"status": "invalid", "message": "agents is 0; use 1 or more"}}\')\nsys.exit(1)'
    )
    assert ends(refusal) == Refused("invalid", "agents is 0; use 1 or more")


def test_a_kill_is_named_and_the_last_progress_is_kept() -> None:
    assert ends(f"{PROGRESS}\nos.kill(os.getpid(), signal.SIGKILL)") == Died(
        "killed", "ended by SIGKILL", {"phase": "submit", "tasks_submitted": 7}, ""
    )


def test_a_crash_names_its_signal() -> None:
    end = ends("import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nos.abort()")
    assert isinstance(end, Died)
    assert (end.outcome, end.cause) == ("killed", "ended by SIGABRT")


def test_an_exit_status_is_a_failure_and_the_last_words_stay_out_of_the_cause() -> None:
    end = ends('sys.exit("/home/someone/secret.py failed")')
    assert isinstance(end, Died)
    assert (end.outcome, end.cause) == ("failed", "the process ended with exit status 1")
    assert "secret.py" in end.said


def test_a_record_before_a_bad_exit_status_is_not_believed() -> None:
    # a sanitizer reports what it found at exit, after the record was printed
    end = ends(f"{ANSWER}\nsys.exit(3)")
    assert isinstance(end, Died)
    assert end.cause == "the process ended with exit status 3"


def test_silence_is_a_failure() -> None:
    end = ends("pass")
    assert isinstance(end, Died)
    assert (end.outcome, end.cause) == ("failed", "the process ended without a record")


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        "NaN",
        '"progress"',
        '{"run": {}}',
        '{"manifest": {}, "run": []}',
        '{"progress": 5}',
        '{"progress": {"a": 1, "a": 2}}',
        '{"error": "x"}',
    ],
)
def test_a_line_outside_the_protocol_is_a_failure_even_when_a_record_follows(line: str) -> None:
    end = ends(f"print({line!r})\n{ANSWER}")
    assert isinstance(end, Died)
    assert end.outcome == "failed"
    assert end.cause.startswith("the process wrote a line outside its protocol")


def test_a_deadline_of_a_century_is_one() -> None:
    # 2^40 tasks, the most that the schema allows, make a deadline of 35 years
    assert ends(ANSWER, deadline_s=3.2e9) == Finished({"m": 1}, {"r": 2})


def test_a_child_that_is_told_of_its_deadline_may_still_write_its_record() -> None:
    answers = f"signal.signal(signal.SIGALRM, lambda *_: None)\n{PROGRESS}\nsignal.pause()\n{ANSWER}"
    assert ends(answers, deadline_s=1.0) == Finished({"m": 1}, {"r": 2})


def test_a_child_that_does_not_hear_of_its_deadline_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_GRACE_S", 0.1)
    deaf = f"signal.signal(signal.SIGALRM, signal.SIG_IGN)\n{PROGRESS}\nsignal.pause()\n{ANSWER}"
    end = ends(deaf, deadline_s=1.0)
    assert isinstance(end, Died)
    assert (end.outcome, end.cause) == ("timed_out", "no record after 1 s, the deadline of the run")


def test_a_hanging_child_is_ended_at_its_deadline() -> None:
    end = ends(f"{PROGRESS}\nsignal.pause()", deadline_s=0.5)
    assert isinstance(end, Died)
    assert end.outcome == "timed_out"
    assert end.last in ({}, {"phase": "submit", "tasks_submitted": 7})


def test_a_child_that_dies_before_it_reads_its_options_is_a_death_like_any_other() -> None:
    with Child(
        {"filling": "x" * 1_000_000}, command=(sys.executable, "-I", "-c", "raise SystemExit(4)")
    ) as child:
        end = child.wait(60, lambda progress: None)
    assert isinstance(end, Died)
    assert end.cause == "the process ended with exit status 4"


def test_an_interrupt_reaches_the_child_which_may_still_answer() -> None:
    program = f"""
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
{PROGRESS}
signal.sigwait([signal.SIGINT])
{ANSWER}
"""
    lines = "import signal\n" + program
    with Child({}, command=(sys.executable, "-I", "-c", lines)) as child:
        end = child.wait(60, lambda progress: child.interrupt())
    assert end == Finished({"m": 1}, {"r": 2})


def test_leaving_a_child_early_leaves_no_process() -> None:
    with Child({}, command=(sys.executable, "-I", "-c", "import signal; signal.pause()")) as child:
        process = child._process
    assert process.returncode == -9


def test_an_end_is_described_for_people() -> None:
    assert describe(Refused("invalid", "agents is 0")) == "refused, invalid: agents is 0"
    assert describe(Died("failed", "exit status 1", {}, "no module")) == "failed, exit status 1 (no module)"
    assert describe(Finished({}, {})) == "gave a record"


def test_a_signal_without_a_name_keeps_its_number() -> None:
    assert signal_name(9) == "SIGKILL"
    assert signal_name(63) == "signal 63"
