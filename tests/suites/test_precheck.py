"""The pre-check: a unit off by a thousand, a sign, a path that cannot be written, found at 1,000 tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.evidence import configuration_of, gate
from support.suites import today

from tallymark.suites import precheck
from tallymark.suites.child import Finished
from tallymark.suites.model import Configuration, PlannedRun, fixture
from tallymark.suites.plan import Request, build
from tallymark.suites.precheck import Trial
from tallymark.suites.scale import SCALE
from tallymark.suites.settings import parse
from tallymark.suites.stop import Stop

UNITS = [
    "precheck.elapsed_ms",
    "precheck.execution_ns",
    "precheck.latency_ms",
    "precheck.tasks_per_second",
    "precheck.signs",
    "precheck.bytes",
]


def record(**changes: Any) -> dict[str, Any]:
    """A run of 1,000 tasks in 2 to 2.5 ms, consistent in every number but ``changes``."""
    run: dict[str, Any] = today(tasks=1000)["runs"][0]
    run.update(elapsed_ms=2.0, tasks_per_second=500_000.0)
    return run | changes


def failed(run: dict[str, Any], wall_ms: float = 100.0) -> list[str]:
    return [assertion.id for assertion in precheck.record_holds(run, wall_ms) if not assertion.passed]


def test_a_consistent_record_holds() -> None:
    assert [assertion.id for assertion in precheck.record_holds(record(), 100.0)] == UNITS
    assert failed(record()) == []


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        # microseconds called milliseconds: longer than the process lived
        ({"elapsed_ms": 2000.0, "tasks_per_second": 500.0}, ["precheck.elapsed_ms"]),
        # seconds called milliseconds: shorter than the longest task, and than the work in it
        (
            {"elapsed_ms": 0.002, "tasks_per_second": 5e8},
            ["precheck.execution_ns", "precheck.latency_ms"],
        ),
        # per millisecond called per second
        ({"tasks_per_second": 500.0}, ["precheck.tasks_per_second"]),
        ({"end_to_end_max_ms": 900.0}, ["precheck.latency_ms"]),
        ({"queue_peak": -1}, ["precheck.signs"]),
        # KiB called bytes
        ({"peak_rss_bytes": 17 << 10}, ["precheck.bytes"]),
        ({"elapsed_ms": None}, ["precheck.record"]),
        ({"tasks_per_second": "500000"}, ["precheck.record"]),
    ],
)
def test_a_wrong_unit_or_sign_is_named(changes: dict[str, Any], names: list[str]) -> None:
    assert failed(record(**changes)) == names


def test_a_record_that_lacks_its_histograms_is_named() -> None:
    run = record()
    del run["histograms"]
    assert failed(run) == ["precheck.record"]


def test_tasks_that_are_suspended_are_in_execution_beside_those_of_the_workers() -> None:
    work_ms = 8 * 2.0 + 1.0  # more than 8 workers do in the 2 ms of the run
    histograms = record()["histograms"]
    histograms["execution"]["sum_ns"] = str(int(work_ms * 1e6))
    assert failed(record(histograms=histograms)) == ["precheck.execution_ns"]
    assert failed(record(histograms=histograms, suspended_peak=1)) == []


def test_a_workload_without_a_scheduler_has_no_latencies_to_hold() -> None:
    run = record(workload="lookup")
    del run["histograms"], run["end_to_end_max_ms"]
    assert failed(run) == []
    names = [assertion.id for assertion in precheck.record_holds(run, 100.0)]
    assert "precheck.elapsed_ms" in names and "precheck.latency_ms" not in names


def test_the_trial_of_a_configuration_is_small_whole_and_does_not_end_its_process() -> None:
    faulty = fixture(
        "faults",
        tasks=1_000_000,
        batches=40,
        context_bytes=1 << 30,
        wait_us=3_600_000_000,
        slow_us=5_000_000,
        rollbacks=1000,
        memory_limit_bytes=1,
        kill_after_tasks=5,
    )
    first, other = precheck.reduced(faulty, 1000), precheck.reduced(faulty, 1)
    assert (first.tasks, first.batches) == (1000, 40)
    assert (other.tasks, other.batches) == (1, 1)
    for made in (first, other):
        assert (made.memory_limit_bytes, made.kill_after_tasks) == (0, 0)
        assert (made.wait_us, made.slow_us, made.rollbacks) == (1000, 1000, 2)
        assert made.context_bytes == 16 << 20
    assert precheck.reduced(fixture("scale", tasks=300), 1000) == fixture("scale", tasks=300)


def trial(run: dict[str, Any], document: dict[str, Any]) -> Trial:
    planned = PlannedRun(0, 1, Configuration.from_json(configuration_of(run)))
    return Trial(planned, Finished(document["manifest"], run), 100.0)


def outcome(folder: Path, **changes: Any) -> dict[str, str]:
    document = today(tasks=1000)
    run = {**document["runs"][0], "index": 0, "repetition": 1, **changes}
    made = trial(run, document)
    plan = build(Request(SCALE, settings=parse(["tasks=1000"], SCALE)))
    found = precheck.judge(made, plan, gate(), folder)
    return {assertion.id: assertion.detail for assertion in found if not assertion.passed}


def test_a_record_that_the_schema_refuses_stops_the_suite(tmp_path: Path) -> None:
    assert outcome(tmp_path) == {}
    found = outcome(tmp_path, surprise=1)
    assert list(found) == ["precheck.schema"]
    assert "surprise" in found["precheck.schema"]


def test_a_record_that_a_rule_refuses_stops_the_suite(tmp_path: Path) -> None:
    found = outcome(tmp_path, tasks_rejected=5)
    assert list(found) == ["precheck.schema"]


def test_a_folder_that_cannot_take_the_document_stops_the_suite(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    found = outcome(tmp_path / "file")
    assert list(found) == ["precheck.output"]
    assert str(tmp_path) not in found["precheck.output"]


def test_the_runtime_that_is_installed_passes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    plan = build(Request(SCALE, settings=parse(["tasks=300", "context_bytes=65536"], SCALE)))
    with Stop() as stop:
        made = precheck.trial(plan, stop)
    assertions = precheck.judge(made, plan, gate(), tmp_path)
    assert {assertion.id: assertion.passed for assertion in assertions} == dict.fromkeys(
        [*UNITS, "precheck.schema", "precheck.output"], True
    )
    assert list(tmp_path.iterdir()) == []
