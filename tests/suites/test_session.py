"""A journal read back: what is done, what was cut short, what remains."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from support.evidence import died
from support.suites import Recorder

from tallymark.errors import UnreadableError, UsageError
from tallymark.evidence.journal import Journal, read
from tallymark.suites.session import append, fold


def test_a_new_journal_has_everything_still_to_do_warm_ups_first(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    session = fold(read(recorder.killed()), "j")
    assert session.plan == recorder.plan
    assert [section for section, _ in session.remaining()] == ["warmups"] + ["runs"] * 4
    assert session.manifest is None
    assert not session.complete


def test_finished_runs_are_done_and_the_rest_remains_in_its_order(tmp_path: Path) -> None:
    path = Recorder(tmp_path).gate().finished("warmups", 0).finished("runs", 0).finished("runs", 1).killed()
    session = fold(read(path), "j")
    assert [planned.index for _, planned in session.remaining()] == [2, 3]
    assert session.open_attempt is None


def test_a_run_that_began_and_never_ended_is_open_with_its_last_counts(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path).gate().finished("warmups", 0).started("runs", 0)
    path = recorder.progress(phase="submit", tasks_submitted=10).progress(tasks_submitted=20).killed()
    session = fold(read(path), "j")
    assert session.open_attempt is not None
    assert session.open_attempt.planned == recorder.plan.runs[0]
    assert session.open_attempt.progress == {"tasks_submitted": 20}


def test_a_run_that_was_cut_short_is_still_to_do(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path).gate().finished("warmups", 0)
    stopped = died(recorder.document["runs"][0])
    session = fold(read(recorder.interrupted("runs", 0, stopped).killed()), "j")
    assert session.cut_short == {("runs", 0): stopped}
    assert [planned.index for _, planned in session.remaining()] == [0, 1, 2, 3]


def test_a_run_made_again_after_it_was_cut_short_is_done(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path).gate().finished("warmups", 0)
    recorder.interrupted("runs", 0, died(recorder.document["runs"][0])).finished("runs", 0)
    session = fold(read(recorder.killed()), "j")
    assert session.finished["runs", 0]["outcome"] == "completed"
    assert session.cut_short == {}
    assert [(section, run["outcome"]) for section, run in session.superseded] == [("runs", "killed")]
    assert [planned.index for _, planned in session.remaining()] == [1, 2, 3]


def test_the_last_time_in_the_journal_is_known(tmp_path: Path) -> None:
    path = Recorder(tmp_path).gate().killed()
    content = read(path)
    assert fold(content, "j").last_at == content.entries[-1]["at"]


def test_a_full_disk_is_said_and_what_was_written_before_is_safe(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path).gate().finished("warmups", 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (recorder.path.stat().st_size + 50, hard))
        with pytest.raises(UsageError, match="cannot be written"):
            recorder.finished("runs", 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    content = read(recorder.killed())
    assert content.torn
    assert list(fold(content, "j").finished) == [("warmups", 0)]


def test_a_file_that_is_no_suite_journal_is_refused_as_unreadable(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "other.journal", {"anything": 1}):
        pass
    with pytest.raises(UnreadableError, match="not a suite's journal"):
        fold(read(tmp_path / "other.journal"), "other.journal")


def test_a_line_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    append(recorder.journal, "dreamt")
    with pytest.raises(UnreadableError, match="a line of kind 'dreamt' has no place here"):
        fold(read(recorder.killed()), "j")
