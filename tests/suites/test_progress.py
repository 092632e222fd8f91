"""What is shown while a suite runs: plain lines in a log, a bar on a terminal."""

from __future__ import annotations

import io
import sys

import pytest
from support.evidence import died
from support.suites import plan_of, smallest

from tallymark.suites.progress import Bar, Lines, reporter, result


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_lines_and_a_terminal_gets_a_bar() -> None:
    assert isinstance(reporter(io.StringIO()), Lines)
    assert isinstance(reporter(Terminal()), Bar)


def test_a_log_that_takes_nothing_does_not_end_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(io.FileIO("/dev/full", "wb"), write_through=True) as full:
        with pytest.raises(OSError, match="No space left"):
            print("nothing", file=full, flush=True)
        reporter(full).say("one")
    monkeypatch.setattr(sys, "stderr", None)  # as Python has it when the caller closed the descriptor
    reporter().say("three")


def test_no_line_is_a_command_to_a_terminal_or_a_ci_service() -> None:
    for stream in (io.StringIO(), Terminal()):
        shown = reporter(stream)
        shown.begin(1)
        shown.say("::error::\x1b]0;a\x07 of a child")
        shown.close()
        assert "\\u003a:error::\\u001b]0;a\\u0007 of a child" in stream.getvalue()


def test_lines_say_which_run_how_it_ended_and_how_long_the_rest_takes() -> None:
    document = smallest(agents=(100, 1000))
    document["runs"][0].update(elapsed_ms=12.5, tasks_per_second=800.4)
    plan, stream = plan_of(document), io.StringIO()
    lines = Lines(stream)
    lines.begin(20)
    lines.started(plan.runs[0], "run 1/2", 42)
    lines.advanced({"tasks_completed": 5})
    lines.finished(document["runs"][0])
    lines.started(plan.runs[1], "run 2/2", 43)
    lines.finished(document["runs"][1])
    lines.close()
    said = stream.getvalue().splitlines()
    agents = plan.runs[0].configuration.agents
    assert said[0] == f"run 1/2: started as process 42, agents={agents} tasks=10 workers=8, repetition 1"
    # 12.5 is half, rounded up
    assert said[1].startswith("run 1/2: completed in 13 ms, 800 tasks/s; about ")
    assert said[1].endswith(" s left")
    assert len(said) == 4
    assert "left" not in said[3]


def test_a_run_that_did_not_complete_says_its_phase_and_cause() -> None:
    run = died(smallest()["runs"][0], "timed_out")
    assert result(run) == "timed_out in phase drain: the child was killed by signal 9"


def test_a_run_that_is_meant_to_fail_is_no_bad_news() -> None:
    document = smallest()
    document["execution"]["plan"][0]["expected_outcomes"] = ["timed_out"]
    plan, stream = plan_of(document), io.StringIO()
    for shown in (Lines(stream), Bar(stream)):
        shown.begin(10)
        shown.started(plan.runs[0], "run 1/1", 42)
        shown.finished(died(document["runs"][0], "timed_out"))
        shown.finished(died(document["runs"][0], "killed"))
        shown.close()
    said = [line for line in stream.getvalue().splitlines() if "in phase drain" in line]
    assert [line.endswith("by signal 9 (expected)") for line in said] == [True, False] * 2


def test_the_bar_advances_with_the_counts_of_the_run() -> None:
    document = smallest(agents=(100, 1000))
    plan, stream = plan_of(document), Terminal()
    bar = Bar(stream)
    bar.say("gate passed")
    bar.begin(20)
    bar.started(plan.runs[0], "run 1/2", 42)
    bar.advanced({"tasks_completed": 5})
    shown = bar._progress.tasks[0]
    assert (shown.completed, shown.total) == (5, 20)
    bar.advanced({"tasks_completed": 500})
    bar.advanced({"phase": "setup"})
    bar.finished(document["runs"][0])
    assert bar._progress.tasks[0].completed == 10
    assert "run 1/2, agents=" in bar._progress.tasks[0].description
    bar.close()
    assert "gate passed" in stream.getvalue()
    assert "run 1/2: completed in" in stream.getvalue()
