"""Ctrl-C ends every kind of run, whatever it is doing, and keeps its record; each of these takes long."""

from __future__ import annotations

import pytest

from tallymark.suites.child import Child, Finished
from tallymark.suites.dependent import consistent
from tallymark.suites.launch import options
from tallymark.suites.model import Configuration, Json, PlannedRun, Scalar, fixture

HOUR_US = 3_600_000_000
DAY_MS = 86_400_000
MANY = 50_000_000  # a minute of tasks; the runtime keeps a byte for each, to see that it ran once
# a hung run fails here and not in whatever watches the tests
DEADLINE_S = 120.0

RUNS: dict[str, dict[str, Scalar]] = {
    "workers blocked by waits": {"wait_mode": "blocking", "wait_us": HOUR_US},
    "tasks suspended in waits": {"wait_mode": "yielding", "wait_us": HOUR_US},
    "slow tasks": {"slow_permille": 1000, "slow_us": HOUR_US},
    "a pause": {
        "submission": "paced",
        "rate_per_s": 10_000,
        "steady_ms": 10,
        "pause_ms": DAY_MS,
        "tasks": 1000,
    },
    "an open loop of one task in an hour": {"submission": "poisson", "rate_per_s": 1, "tasks": 1_000_000},
    "an outage without end": {
        "submission": "paced",
        "rate_per_s": 10_000,
        "wait_mode": "yielding",
        "wait_us": 100,
        "outage_ms": DAY_MS,
        "retry_policy": "backoff",
        "retry_attempts": 100,
        "retry_delay_us": HOUR_US,
    },
    "an outage with immediate retries": {
        "wait_mode": "blocking",
        "wait_us": HOUR_US,
        "outage_ms": DAY_MS,
        "retry_policy": "immediate",
        "retry_attempts": 100,
    },
    "batches": {"tasks": MANY, "batches": 10},
    "rollbacks at rest": {"snapshot": "at_rest", "rollbacks": 1_000_000, "rewrite_permille": 1000},
    "rollbacks while tasks run": {
        "tasks": MANY,
        "snapshot": "running",
        "rollbacks": 1_000_000,
        "rewrite_permille": 1000,
    },
    "lookups": {"workload": "lookup", "tasks": 1_000_000_000_000, "workers": 1, "aux_workers": 0},
}


def configured(values: dict[str, Scalar]) -> Configuration:
    return consistent(fixture("test", **{"tasks": 2000, "workers": 2, **values}), values)


@pytest.mark.parametrize("name", list(RUNS))
def test_an_interruption_ends_a_run_and_keeps_its_record(name: str) -> None:
    interruptions: list[Json] = []

    def interrupt(progress: Json) -> None:
        if progress["phase"] != "setup" and not interruptions:
            interruptions.append(progress)
            child.interrupt()

    with Child(options(PlannedRun(0, 1, configured(RUNS[name])), "0" * 16)) as child:
        end = child.wait(DEADLINE_S, interrupt)
    assert isinstance(end, Finished), end
    assert end.run["outcome"] == "killed"
    assert str(end.run["cause"]).startswith("interrupted by signal 2")
    assert end.run["recorded_by"] == "runtime"
