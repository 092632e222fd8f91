"""Each statement of the smoke gate fails on a record that contradicts it, and only then."""

from __future__ import annotations

from typing import Any

import pytest
from support.evidence import configuration_of
from support.suites import smallest

from tallymark.suites.model import KEYS, Configuration
from tallymark.suites.smoke import BASE, VARIANTS
from tallymark.suites.statements import STATEMENTS, Sample, judge, rejected, repeated


def rolled_back(**changes: Any) -> dict[str, Any]:
    return {"cycles": 2, "mismatches": 0, "checksum_before": "a" * 16, "checksum_after": "a" * 16} | changes


def passed_through(**changes: Any) -> dict[str, Any]:
    names = ("checksum", "checksum_expected", "checksum_after_rollback", "checksum_restored")
    return {"canonical_bytes": 8 << 20, **dict.fromkeys(names, "a" * 16)} | changes


def looked_up(**changes: Any) -> dict[str, Any]:
    """Of ten lookups every other one is of a role that is there."""
    return {"roles": 100, "found": 5, "not_found": 5, "wrong": 0} | changes


def sample(**changes: Any) -> Sample:
    """A run of ten tasks that is consistent in every number, with ``changes`` (``a.b``: inside ``a``)."""
    run = smallest()["runs"][0]
    keys = {key: changes.pop(key) for key in KEYS if key in changes and key != "workers"}
    run.update(keys)
    configuration = Configuration.from_json(configuration_of(run))
    for path, value in changes.items():
        *outer, name = path.split("__")
        place = run
        for key in outer:
            place = place[key]
        place[name] = value
    return Sample("changed", configuration, run)


def failed(*samples: Sample) -> dict[str, str]:
    return {assertion.id: assertion.detail for assertion in judge(samples) if not assertion.passed}


def test_a_consistent_record_passes_every_statement() -> None:
    assert failed(sample()) == {}
    assert [assertion.id for assertion in judge([sample()])] == [f"smoke.{name}" for name in STATEMENTS]


@pytest.mark.parametrize(
    ("changes", "statement", "detail"),
    [
        ({"outcome": "failed"}, "ended", "changed: outcome = failed, expected completed"),
        ({"recorded_by": "parent"}, "ended", "changed: recorded_by = parent, expected runtime"),
        ({"cause": "no reason"}, "ended", "changed: outcome = completed, cause = no reason"),
        ({"workers": 4}, "configured", "changed: workers = 4, expected 8"),
        ({"queue_at_end": 3}, "drained", "changed: queue_at_end = 3, expected 0"),
        ({"active_at_end": 1}, "drained", "changed: active_at_end = 1, expected 0"),
        ({"tasks_submitted": 9}, "conserved", "changed: tasks_submitted = 9 of 10"),
        ({"tasks_admitted": 9}, "conserved", "changed: submitted 10, admitted 9, rejected 0"),
        ({"tasks_failed": 1}, "conserved", "changed: admitted 10, ended [10, 1, 0, 0]"),
        (
            {"checks__probe_checksum": "0" * 16},
            "checksums",
            "changed: checks.probe_checksum = 0000000000000000",
        ),
        ({"checks__context_checksum_expected": None}, "checksums", "changed: a checksum is missing"),
        ({"checks__tasks_seen_twice": 1}, "seen_once", "changed: checks.tasks_seen_twice = 1, expected 0"),
        ({"checks__tasks_seen_never": 1}, "seen_once", "changed: checks.tasks_seen_never = 1, expected 0"),
        ({"checks__tasks_seen_once": 9}, "seen_once", "changed: checks.tasks_seen_once = 9, expected 10"),
        ({"role_lookups": 9}, "worked", "changed: role_lookups = 9, expected 10"),
        ({"checks__lookups_failed": 1}, "worked", "changed: checks.lookups_failed = 1, expected 0"),
        ({"prompt_bytes": 1}, "worked", "changed: prompt_bytes = 1, expected 3000"),
        ({"probes_done": 639}, "worked", "changed: probes_done = 639, expected 640"),
        ({"output_bytes_written": 0}, "worked", "changed: output_bytes_written = 0, expected 2560"),
        (
            {"histograms__execution__count": 9},
            "timed",
            "changed: histograms.execution.count = 9, expected 10",
        ),
        ({"retained_tasks": 65}, "history", "changed: retained 65 tasks and 5120 bytes"),
        ({"retained_bytes": 65537}, "history", "changed: retained 10 tasks and 65537 bytes"),
        ({"retained_tasks": 0}, "history", "changed: nothing was retained"),
        ({"retained_tasks": None}, "history", "changed: retained -1 tasks and 5120 bytes"),
        ({"queue_at_end": False}, "drained", "changed: queue_at_end = False, expected 0"),
        (
            {"submission": "held", "queue_at_release": 9},
            "released",
            "changed: queue_at_release = 9, expected 10",
        ),
        ({"yields": 3, "yields_done": 29}, "yielded", "changed: yields_done = 29, expected 30"),
        (
            {"batches": 2, "batch_memory": {"rows": [[1, 5], [2, 9]]}},
            "batched",
            "changed: batches end at [5, 9] tasks, expected [5, 10]",
        ),
        ({"batches": 2}, "batched", "changed: batches end at [] tasks, expected [5, 10]"),
        ({"fail_permille": 1}, "disturbed", "changed: failed_chosen None, cancels_asked None"),
        (
            {"fail_permille": 1, "faults": {"failed_chosen": 0, "cancels_asked": 0}},
            "disturbed",
            "changed: 0 tasks chosen to fail, 0 to be cancelled",
        ),
        (
            {"snapshot": "running", "rollbacks": 2, "rollback": rolled_back(cycles=1)},
            "rolled_back",
            "changed: rollback.cycles = 1, expected 2",
        ),
        (
            {"snapshot": "running", "rollbacks": 2, "rollback": rolled_back(mismatches=1)},
            "rolled_back",
            "changed: rollback.mismatches = 1, expected 0",
        ),
        (
            {"snapshot": "running", "rollbacks": 2, "rollback": rolled_back(checksum_after="0" * 16)},
            "rolled_back",
            "changed: rollback.checksum_after = 0000000000000000, expected aaaaaaaaaaaaaaaa",
        ),
        (
            {"workload": "context", "context": passed_through(checksum_restored="0" * 16)},
            "passed_through",
            "changed: context.checksum_restored = 0000000000000000, expected aaaaaaaaaaaaaaaa",
        ),
        ({"workload": "context"}, "passed_through", "changed: there is no checksum"),
        (
            {"workload": "lookup", "lookup": looked_up(wrong=1)},
            "looked_up",
            "changed: lookup.wrong = 1, expected 0",
        ),
        (
            {"workload": "lookup", "lookup": looked_up(found=4)},
            "looked_up",
            "changed: lookup.found = 4, expected 5",
        ),
        # two tasks were chosen to fail, and none failed
        (
            {"fail_permille": 1, "faults": {"failed_chosen": 2, "cancels_asked": 0}},
            "disturbed",
            "changed: 0 of 2 failed, 0 of 0 were cancelled",
        ),
    ],
)
def test_a_contradiction_fails_its_own_statement_alone(
    changes: dict[str, Any], statement: str, detail: str
) -> None:
    found = failed(sample(), sample(**changes))
    assert list(found) == [f"smoke.{statement}"]
    assert found[f"smoke.{statement}"].startswith(detail)


@pytest.mark.parametrize(
    "changes",
    [
        {"submission": "held", "queue_at_release": 10},
        {"yields": 3, "yields_done": 30},
        {"batches": 2, "batch_memory": {"rows": [[1, 5], [2, 10]]}},
        {"snapshot": "running", "rollbacks": 2, "rollback": rolled_back()},
        {"workload": "context", "context": passed_through()},
        {"workload": "lookup", "lookup": looked_up(), "histograms": {}, "checks": {}, "retained_tasks": None},
        {"rate_per_s": 9, "outcome": "overloaded", "cause": "the submitter fell behind"},
        # one of two that were to fail was cancelled before
        {
            "fail_permille": 1,
            "cancel_permille": 1,
            "faults": {"failed_chosen": 2, "cancels_asked": 3},
            "tasks_completed": 7,
            "tasks_failed": 1,
            "tasks_cancelled": 2,
        },
    ],
)
def test_what_only_some_runs_have_is_judged_where_it_is(changes: dict[str, Any]) -> None:
    assert failed(sample(), sample(**changes)) == {}


def test_every_kind_of_run_is_in_the_gate() -> None:
    made = [BASE.with_values(values) for values in VARIANTS.values()]
    assert {run.submission for run in made} == {"closed", "held", "poisson"}
    assert any(run.batches > 1 for run in made) and any(run.yields for run in made)
    assert any(run.fail_permille and run.cancel_permille and run.slow_permille for run in made)
    assert any(run.wait_mode == "yielding" for run in made)
    assert any(run.snapshot == "running" for run in made)
    assert {run.workload for run in made} == {"tasks", "context", "lookup"}


def test_nothing_is_proved_by_no_run() -> None:
    assert len(failed()) == len(STATEMENTS)


@pytest.mark.parametrize(("count", "passed"), [(0, False), (3, True), (10, False), (None, False)])
def test_a_queue_that_must_reject_rejects_some_and_not_all(count: int | None, passed: bool) -> None:
    assert rejected(sample(tasks_rejected=count)).passed is passed


def test_equal_runs_must_read_the_same() -> None:
    assert repeated(sample(), sample()).passed
    assert not repeated(sample(), sample(checks__probe_checksum="0" * 16)).passed
    assert not repeated(sample(checks__probe_checksum=None), sample(checks__probe_checksum=None)).passed
