"""A killed suite's journal becomes a document: nothing finished is lost, the dead run is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.evidence import died
from support.suites import Recorder, today

from tallymark.errors import ConflictError, UnreadableError, UsageError
from tallymark.suites import host
from tallymark.suites.recover import recover


def document(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


def two_done_one_dead(folder: Path) -> Recorder:
    recorder = Recorder(folder).gate().finished("warmups", 0).finished("runs", 0).finished("runs", 1)
    return recorder.started("runs", 2).progress(phase="submit", tasks_submitted=600, tasks_admitted=600)


def test_finished_runs_are_all_there_byte_for_byte_in_value(tmp_path: Path) -> None:
    recorder = two_done_one_dead(tmp_path)
    written = recover(recorder.killed())
    value = document(written.path)
    assert value["runs"][:2] == recorder.document["runs"][:2]
    assert value["warmups"] == recorder.document["warmups"]
    assert value["execution"]["complete"] is False
    assert value["execution"]["plan"] == recorder.document["execution"]["plan"]
    assert written.findings == ()


def test_the_dead_run_is_named_with_its_cause_and_last_counts(tmp_path: Path) -> None:
    recorder = two_done_one_dead(tmp_path)
    written = recover(recorder.killed())
    dead = document(written.path)["runs"][2]
    assert dead["run_id"] == recorder.document["runs"][2]["run_id"]
    assert (dead["recorded_by"], dead["outcome"], dead["phase"]) == ("parent", "killed", "submit")
    assert dead["cause"] == "the suite's process was killed while the run was in progress"
    assert (dead["tasks_submitted"], dead["tasks_admitted"]) == (600, 600)
    assert "tasks_completed" not in dead
    assert written.unexpected == (
        "run 2: killed in phase submit: the suite's process was killed while the run was in progress",
    )


def expecting(folder: Path, *outcomes: str) -> Recorder:
    """A suite of one run that is meant to end in one of the outcomes."""
    value = today(tasks=10, agents=(100,), repetitions=1, warmup_runs=0)
    value["execution"]["plan"][0]["expected_outcomes"] = list(outcomes)
    return Recorder(folder, value).gate()


@pytest.mark.parametrize(
    ("outcomes", "surprise"),
    [
        (("failed",), ("run 0: completed in phase finished, expected failed",)),
        (("killed", "failed"), ("run 0: completed in phase finished, expected killed or failed",)),
        (("completed", "overloaded"), ()),
    ],
)
def test_a_failure_that_was_meant_and_did_not_come_is_a_surprise(
    tmp_path: Path, outcomes: tuple[str, ...], surprise: tuple[str, ...]
) -> None:
    written = recover(expecting(tmp_path, *outcomes).finished("runs", 0).killed())
    assert written.unexpected == surprise
    assert document(written.path)["execution"]["plan"][0]["expected_outcomes"] == list(outcomes)


def test_a_run_that_died_with_its_suite_is_a_surprise_even_if_it_was_to_die(tmp_path: Path) -> None:
    written = recover(expecting(tmp_path, "killed").started("runs", 0).killed())
    assert [line.partition(":")[0] for line in written.unexpected] == ["run 0"]


def test_a_run_that_never_reported_died_in_setup_and_has_no_counts(tmp_path: Path) -> None:
    path = Recorder(tmp_path).gate().finished("warmups", 0).finished("runs", 0).started("runs", 1).killed()
    dead = document(recover(path).path)["runs"][1]
    assert dead["phase"] == "setup"
    assert not [key for key in dead if key.startswith("tasks_")]


def test_a_restart_of_the_machine_is_told_apart_from_a_kill(tmp_path: Path) -> None:
    other_boot = {"boot_id": "00000000-0000-0000-0000-000000000000", "oom_kills": 0}
    path = Recorder(tmp_path).gate().finished("warmups", 0).started("runs", 0, other_boot).killed()
    cause = document(recover(path).path)["runs"][0]["cause"]
    assert cause == "the machine was restarted while the run was in progress"


def test_a_kill_for_want_of_memory_is_suspected_when_the_kernel_counted_one(tmp_path: Path) -> None:
    state = host.state()
    now = state["oom_kills"]
    assert isinstance(now, int)
    path = (
        Recorder(tmp_path).gate().finished("warmups", 0).started("runs", 0, {**state, "oom_kills": now - 1})
    ).killed()
    cause = document(recover(path).path)["runs"][0]["cause"]
    assert cause.endswith("; the kernel killed 1 for want of memory meanwhile")


def test_recovering_twice_gives_the_same_bytes_and_is_no_error(tmp_path: Path) -> None:
    path = two_done_one_dead(tmp_path).killed()
    first = recover(path)
    data = first.path.read_bytes()
    assert recover(path) == first
    assert first.path.read_bytes() == data
    assert recover(path, tmp_path / "elsewhere").path.read_bytes() == data


def test_another_document_in_its_place_is_never_overwritten(tmp_path: Path) -> None:
    path = two_done_one_dead(tmp_path).killed()
    target = tmp_path / "broken.json"
    target.write_bytes(b"{}")
    with pytest.raises(ConflictError):
        recover(path)
    assert target.read_bytes() == b"{}"


def test_the_journal_stays_so_that_the_plan_can_still_be_completed(tmp_path: Path) -> None:
    path = two_done_one_dead(tmp_path).killed()
    recover(path)
    assert path.exists()


def test_a_half_written_last_line_is_left_out_and_costs_nothing_else(tmp_path: Path) -> None:
    recorder = two_done_one_dead(tmp_path).torn(b'{"kind":"finished","run":{"ind')
    value = document(recover(recorder.killed()).path)
    assert [run["index"] for run in value["runs"]] == [0, 1, 2]


def test_a_suite_that_died_after_its_last_run_is_complete(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path).gate().finished("warmups", 0)
    for index in range(4):
        recorder.finished("runs", index)
    written = recover(recorder.killed())
    assert document(written.path)["execution"]["complete"] is True
    assert (written.unexpected, written.findings) == ((), ())


def test_a_run_that_the_user_stopped_keeps_its_own_record(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path).gate().finished("warmups", 0)
    stopped = died(recorder.document["runs"][0])
    path = recorder.interrupted("runs", 0, stopped).killed()
    assert document(recover(path).path)["runs"] == [stopped]


def test_a_suite_that_still_runs_is_not_recovered(tmp_path: Path) -> None:
    recorder = two_done_one_dead(tmp_path)
    with pytest.raises(ConflictError, match="another process is writing this journal"):
        recover(recorder.path)
    assert not (tmp_path / "broken.json").exists()


@pytest.mark.parametrize("gated", [False, True])
def test_a_suite_that_died_before_its_first_run_has_nothing_to_recover(tmp_path: Path, gated: bool) -> None:
    recorder = Recorder(tmp_path)
    if gated:
        recorder.gate()
    with pytest.raises(UsageError, match="nothing was measured"):
        recover(recorder.killed())


def test_a_document_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(today(tasks=10), indent=1), "utf-8")
    with pytest.raises(UnreadableError):
        recover(path)
