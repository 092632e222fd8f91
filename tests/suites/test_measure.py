"""Whole suites with real runs: the document, its gate, its order, and what is left when something dies."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tallymark.check import check_paths
from tallymark.errors import BrokenRuntimeError, ConflictError, FindingsError, UsageError
from tallymark.evidence.journal import Journal
from tallymark.evidence.journal import read as read_journal
from tallymark.suites import execute, measure, smoke
from tallymark.suites.assertion import Assertion, require_all
from tallymark.suites.model import Json, PlannedRun
from tallymark.suites.plan import Request, build
from tallymark.suites.recover import recover
from tallymark.suites.scale import SCALE
from tallymark.suites.session import fold, header, journal_path
from tallymark.suites.settings import parse
from tallymark.suites.smoke import Proof
from tallymark.suites.stop import Stop, StoppedError
from tallymark.suites.written import Written

# The smoke gate has its own tests; here it is taken as passed.
PROOF = Proof("2026-11-29T09:00:00Z", (Assertion("smoke.drained", True, "queue_at_end = 0"),))
SMALL = ("tasks=300", "context_bytes=65536", "probes=4")
# 300 tasks at 1000 a second keep a run alive for 0.3 s: long enough to be met while it runs
PACED = (*SMALL, "submission=paced", "rate_per_s=1000")
# one configuration whose runs take a second: enough to be met after its first counts came
SLOW = ("agents=100", "tasks=1000", *PACED[1:])


class Listener:
    """A reporter that remembers, and that may act when a run reports its counts."""

    def __init__(self, on_advance: Callable[[int, PlannedRun, Json], None] | None = None) -> None:
        self.said: list[str] = []
        self.names: list[str] = []
        self._on_advance = on_advance
        self._run: tuple[int, PlannedRun] | None = None

    def say(self, text: str) -> None:
        self.said.append(text)

    def begin(self, tasks: int) -> None:
        self.tasks = tasks

    def started(self, planned: PlannedRun, name: str, pid: int) -> None:
        self.names.append(name)
        self._run = (pid, planned)

    def advanced(self, progress: Json) -> None:
        if self._on_advance is not None and self._run is not None:
            self._on_advance(*self._run, progress)

    def finished(self, run: Json) -> None:
        self.last = run

    def close(self) -> None:
        self.closed = True


def request(*settings: str, label: str = "test", repetitions: int = 2, seed: int = 3) -> Request:
    return Request(
        SCALE, settings=parse(settings or SMALL, SCALE), label=label, repetitions=repetitions, seed=seed
    )


def run(folder: Path, asked: Request, listener: Listener | None = None, **options: Any) -> Written:
    return measure.run(asked, folder, listener or Listener(), proof=PROOF, **options)


def document(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


def agents(value: dict[str, Any]) -> list[int]:
    return [entry["agents"] for entry in value["runs"]]


def test_a_suite_leaves_one_document_that_check_accepts_and_no_journal(tmp_path: Path) -> None:
    listener = Listener()
    written = run(tmp_path, request(), listener)
    assert (written.unexpected, written.refused) == ((), False)
    assert [path.name for path in tmp_path.iterdir()] == ["test.json"]
    assert check_paths([written.path], tmp_path).exit_code == 0
    value = document(written.path)
    execution = value["execution"]
    assert (execution["complete"], execution["seed"], execution["label"]) == (True, 3, "test")
    assert "interruptions" not in execution
    assert (len(value["warmups"]), len(value["runs"])) == (1, 4)
    assert value["gate"]["assertions"] == [PROOF.assertions[0].to_json()]
    assert all(assertion["passed"] for assertion in value["gate"]["precheck"])
    assert listener.names == ["warm-up 1/1", "run 1/4", "run 2/4", "run 3/4", "run 4/4"]
    assert listener.tasks == 5 * 300


def test_the_plan_is_recorded_with_every_scalar_key_and_the_runs_follow_it(tmp_path: Path) -> None:
    asked = request()
    value = document(run(tmp_path, asked).path)
    assert value["execution"]["plan"] == [planned.to_json() for planned in build(asked).runs]
    for entry, made in zip(value["execution"]["plan"], value["runs"], strict=True):
        assert made["recorded_by"] == "runtime"
        assert {key: made[key] for key in entry["configuration"]} == entry["configuration"]
        assert (made["index"], made["repetition"]) == (entry["index"], entry["repetition"])


def test_two_suites_of_one_seed_run_in_one_order(tmp_path: Path) -> None:
    first = document(run(tmp_path, request(label="first", repetitions=3)).path)
    second = document(run(tmp_path, request(label="second", repetitions=3)).path)
    assert agents(first) == agents(second)
    assert {entry["run_id"] for entry in first["runs"]}.isdisjoint(
        entry["run_id"] for entry in second["runs"]
    )


def test_the_command_in_the_document_names_no_folder(tmp_path: Path) -> None:
    value = document(run(tmp_path / "somewhere", request()).path)
    assert value["execution"]["command"] == (
        "tallymark run scale --set tasks=300 --set probes=4 --set context_bytes=65536"
        " --repetitions 2 --seed 3 --label test"
    )
    assert "somewhere" not in (tmp_path / "somewhere" / "test.json").read_text("utf-8")


def test_an_auditor_can_sum_a_document_up_with_nothing_but_json(tmp_path: Path) -> None:
    """The checks that a reader would write from the published field names alone."""
    runs = document(run(tmp_path, request(repetitions=3)).path)["runs"]
    for roles in (100, 1000):
        group = [row for row in runs if row["agents"] == roles]
        assert len(group) == 3
        for row in group:
            counts = {row[f"tasks_{word}"] for word in ("submitted", "admitted", "completed")}
            assert counts == {300}
            assert {row["tasks_failed"], row["tasks_rejected"]} == {0}
            assert {row["active_at_end"], row["queue_at_end"]} == {0}
            assert row["retained_tasks"] <= 64
            seconds = row["elapsed_ms"] / 1000
            assert row["tasks_per_second"] == pytest.approx(row["tasks_completed"] / seconds, abs=1)
        columns = ("elapsed_ms", "tasks_per_second", "scheduler_latency_p99_ms")
        assert all(median(row[column] for row in group) > 0 for column in columns)
        assert max(row["peak_rss_bytes"] for row in group) > 2**20


def test_a_document_that_is_there_is_not_touched_and_nothing_runs(tmp_path: Path) -> None:
    (tmp_path / "test.json").write_text("precious", "utf-8")
    listener = Listener()
    with pytest.raises(ConflictError, match="already there"):
        run(tmp_path, request(), listener)
    assert (tmp_path / "test.json").read_text("utf-8") == "precious"
    assert listener.said == []


@pytest.mark.parametrize(("inside", "problem"), [("", "it is not a folder"), ("deeper", "cannot be written")])
def test_a_folder_that_cannot_be_one_is_refused_before_anything_runs(
    tmp_path: Path, inside: str, problem: str
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    listener = Listener()
    with pytest.raises(UsageError, match=problem):
        run(tmp_path / "file" / inside, request(), listener)
    assert listener.said == []


def test_what_only_the_runtime_can_refuse_is_misuse_and_leaves_nothing(tmp_path: Path) -> None:
    listener = Listener()
    with pytest.raises(UsageError, match="the runtime refuses this run: rate_per_s"):
        measure.run(request("submission=paced"), tmp_path, listener)  # a pace of 0 tasks a second
    assert list(tmp_path.iterdir()) == []
    assert listener.said == []  # not even the gate ran


def test_two_suites_on_one_label_at_once_are_refused(tmp_path: Path) -> None:
    asked = request()
    with (
        Journal.create(journal_path(tmp_path, "test"), header(build(asked))),
        pytest.raises(ConflictError, match="another process is writing this journal"),
    ):
        run(tmp_path, asked)


def test_a_journal_that_a_killed_suite_left_is_pointed_at_and_not_overwritten(tmp_path: Path) -> None:
    asked = request()
    path = journal_path(tmp_path, "test")
    Journal.create(path, header(build(asked))).close()
    data = path.read_bytes()
    with pytest.raises(ConflictError, match="with 0 of 5 runs") as refused:
        run(tmp_path, asked)
    assert "--resume" in refused.value.do
    assert "tallymark recover" in refused.value.do
    assert path.read_bytes() == data


def test_a_child_killed_in_mid_run_is_recorded_with_its_last_counts_and_the_suite_goes_on(
    tmp_path: Path,
) -> None:
    killed: list[Any] = []

    def kill_the_first_run(pid: int, planned: PlannedRun, progress: Json) -> None:
        submitted = progress["tasks_submitted"]
        assert isinstance(submitted, int)
        if listener.names[-1] == "run 1/2" and submitted > 0 and not killed:
            killed.append(progress)
            os.kill(pid, signal.SIGKILL)

    listener = Listener(kill_the_first_run)
    written = run(tmp_path, request(*SLOW), listener)
    value = document(written.path)
    dead = value["runs"][0]
    assert (dead["outcome"], dead["recorded_by"], dead["cause"]) == ("killed", "parent", "ended by SIGKILL")
    assert dead["phase"] == killed[0]["phase"]
    assert dead["tasks_submitted"] >= killed[0]["tasks_submitted"] > 0
    assert "elapsed_ms" not in dead
    assert [row["outcome"] for row in value["runs"]] == ["killed", "completed"]
    assert value["execution"]["complete"] is True
    assert written.unexpected == (f"run 0: killed in phase {dead['phase']}: ended by SIGKILL",)
    assert not written.refused


def test_ctrl_c_keeps_the_record_of_the_run_that_it_met(tmp_path: Path) -> None:
    def stop_the_second_run(pid: int, planned: PlannedRun, progress: Json) -> None:
        if listener.names[-1] == "run 2/2" and progress["tasks_submitted"] and len(signals) == 0:
            signals.append(progress)
            os.kill(os.getpid(), signal.SIGINT)

    signals: list[Json] = []
    listener = Listener(stop_the_second_run)
    with pytest.raises(StoppedError) as stopped:
        run(tmp_path, request(*SLOW), listener)
    assert stopped.value.exit_code == 130
    assert stopped.value.problem == "stopped by the user; 2 of 3 runs are kept in the journal"
    assert not (tmp_path / "test.json").exists()
    value = document(recover(journal_path(tmp_path, "test"), tmp_path / "recovered").path)
    met = value["runs"][1]
    assert met["recorded_by"] == "runtime"
    assert met["outcome"] == "killed"
    assert 0 < met["tasks_submitted"] < 1000
    assert [row["outcome"] for row in value["runs"]] == ["completed", "killed"]
    assert value["execution"]["complete"] is False
    # signals are the user's again
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_a_run_that_does_not_end_by_itself(tmp_path: Path) -> None:
    def stop_twice(pid: int, planned: PlannedRun, progress: Json) -> None:
        os.kill(pid, signal.SIGSTOP)  # it will not hear the first signal
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(StoppedError):
        run(tmp_path, request(*PACED), Listener(stop_twice))
    session = fold(read_journal(journal_path(tmp_path, "test")), "j")
    assert session.cut_short["warmups", 0]["cause"] == "ended by SIGKILL"


def stopped_after(folder: Path, name: str, asked: Request) -> None:
    """A suite that the user stopped while run ``name`` was made."""

    def stop(pid: int, planned: PlannedRun, progress: Json) -> None:
        if listener.names[-1] == name:
            os.kill(os.getpid(), signal.SIGTERM)

    listener = Listener(stop)
    with pytest.raises(StoppedError):
        run(folder, asked, listener)


def test_resume_makes_only_what_is_missing_and_the_document_is_complete(tmp_path: Path) -> None:
    asked = request(*PACED)
    stopped_after(tmp_path, "run 3/4", asked)
    before = fold(read_journal(journal_path(tmp_path, "test")), "j")
    assert len(before.finished) == 3
    assert before.cut_short["runs", 2]["outcome"] == "killed"
    listener = Listener()
    written = run(tmp_path, replace(asked, seed=None), listener, resume=True)
    assert listener.names == ["run 3/4", "run 4/4"]
    value = document(written.path)
    assert value["runs"][:2] == [before.finished["runs", 0], before.finished["runs", 1]]
    assert value["execution"]["complete"] is True
    assert value["execution"]["id"] == before.execution["id"]
    stopped = before.cut_short["runs", 2]
    assert value["execution"]["interruptions"] == [
        {
            "section": "runs",
            **{key: stopped[key] for key in ("index", "run_id", "started_at", "outcome", "phase", "cause")},
        }
    ]
    assert value["runs"][2]["run_id"] != stopped["run_id"]
    assert value["execution"]["plan"] == [planned.to_json() for planned in build(asked).runs]
    assert check_paths([written.path], tmp_path).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["test.json"]


def test_resume_needs_no_option_but_the_label(tmp_path: Path) -> None:
    stopped_after(tmp_path, "run 2/2", request(*PACED, repetitions=1))
    written = run(tmp_path, Request(SCALE, label="test"), resume=True)
    assert document(written.path)["execution"]["complete"] is True


def test_resume_refuses_another_plan(tmp_path: Path) -> None:
    stopped_after(tmp_path, "run 2/2", request(*PACED, repetitions=1))
    with pytest.raises(UsageError, match="of another plan, begun as `tallymark run scale --set tasks=300"):
        run(tmp_path, request("tasks=301", repetitions=1), resume=True)
    assert journal_path(tmp_path, "test").exists()


def test_the_counts_of_a_long_run_are_kept_in_the_journal_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execute, "PROGRESS_EVERY_S", 0.0)
    path = journal_path(tmp_path, "test")
    seen: list[Any] = []

    def read_last(pid: int, planned: PlannedRun, progress: Json) -> None:
        seen.append(read_journal(path).entries[-1])

    run(tmp_path, request(*PACED, repetitions=1), Listener(read_last))
    counts = [entry["progress"]["tasks_submitted"] for entry in seen if entry["kind"] == "progress"]
    assert counts
    assert all(0 <= count <= 300 for count in counts)


def test_a_journal_without_a_whole_header_is_in_the_way_and_said_so(tmp_path: Path) -> None:
    journal_path(tmp_path, "test").write_bytes(b'{"journal": "tally')
    with pytest.raises(ConflictError, match="Delete it and run again"):
        run(tmp_path, request())


def test_resume_without_a_journal_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no journal to resume"):
        run(tmp_path, request(), resume=True)


def test_resume_refuses_another_build(tmp_path: Path) -> None:
    stopped_after(tmp_path, "run 2/2", request(*PACED, repetitions=1))
    path = journal_path(tmp_path, "test")
    content = read_journal(path)
    path.unlink()
    with Journal.create(path, content.header) as journal:
        for entry in content.entries:
            if entry["kind"] == "gate":
                manifest: Any = entry["manifest"]
                manifest["build"]["source_digest"] = "0" * 64
            journal.append(entry)
    with pytest.raises(BrokenRuntimeError, match=r"manifest\.build is not what the suite began with"):
        run(tmp_path, Request(SCALE, label="test"), resume=True)
    assert path.exists()


def test_the_smoke_gate_passes_on_the_runtime_that_is_installed() -> None:
    listener = Listener()
    with Stop() as stop:
        proof = smoke.prove(stop, listener)
    assert all(assertion.passed for assertion in proof.assertions)
    assert len(proof.assertions) == len(listener.said) == 22
    assert len({assertion.id for assertion in proof.assertions}) == 22


def test_an_assertion_that_fails_stops_the_suite_and_is_named() -> None:
    failed = Assertion("smoke.drained", False, "queue_at_end = 3")
    with pytest.raises(FindingsError, match=r"smoke\.drained: does not hold: queue_at_end = 3"):
        require_all([PROOF.assertions[0], failed], Listener())
