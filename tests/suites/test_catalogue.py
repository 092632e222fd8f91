"""What each suite plans at each preset: sizes of the issue, configurations, expected outcomes."""

from __future__ import annotations

from collections import Counter

import pytest

from tallymark.errors import UsageError
from tallymark.suites.backlog import BACKLOG
from tallymark.suites.batches import BATCHES
from tallymark.suites.catalogue import SMOKE, SUITES, asks
from tallymark.suites.context import CONTEXT
from tallymark.suites.dependent import consistent
from tallymark.suites.faults import FAULTS
from tallymark.suites.lookup import LOOKUP
from tallymark.suites.model import COMPLETED, Configuration, Plan, SuiteDefinition
from tallymark.suites.plan import Request, build
from tallymark.suites.rollback import ROLLBACK
from tallymark.suites.scale import SCALE
from tallymark.suites.settings import parse
from tallymark.suites.stability import STABILITY
from tallymark.suites.sweep import SWEEP
from tallymark.suites.waits import WAITS

# in the order of the road that a reader walks
ALL = (SCALE, BACKLOG, ROLLBACK, SWEEP, BATCHES, STABILITY, CONTEXT, FAULTS, WAITS, LOOKUP)
MIB = 1 << 20


def planned(suite: SuiteDefinition, preset: str, *settings: str) -> Plan:
    return build(Request(suite, preset=preset, settings=parse(settings, suite), seed=1))


def configurations(plan: Plan) -> list[Configuration]:
    return [run.configuration for run in plan.runs]


def by_name(plan: Plan) -> dict[str, Configuration]:
    return {made.variant: made for made in configurations(plan)}


def seconds(made: Configuration) -> float:
    """How long an open loop submits, from its phases."""
    cycle_ms = made.steady_ms + made.pause_ms + made.burst_ms
    cycle_tasks = made.rate_per_s * (made.steady_ms + made.burst_ms * made.burst_factor) / 1000
    return made.tasks / cycle_tasks * cycle_ms / 1000


@pytest.mark.parametrize(
    ("suite", "preset"),
    [(suite, preset) for suite in ALL for preset in suite.presets],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_suite_has_a_plan_that_the_schema_accepts(suite: SuiteDefinition, preset: str) -> None:
    plan = planned(suite, preset)  # UsageError when the schema refuses a value of it
    assert {made.suite for made in configurations(plan)} == {suite.name}
    assert len({made.tasks for made in configurations(plan)}) == 1
    points = Counter(configurations(plan))
    assert set(points.values()) == {suite.presets[preset].repetitions}
    assert all(consistent(made, ()) == made for made in points)
    assert len(plan.warmups) == suite.warmup_runs


@pytest.mark.parametrize("suite", ALL, ids=lambda suite: suite.name)
def test_every_suite_has_three_sizes_and_says_in_a_line_what_it_asks(suite: SuiteDefinition) -> None:
    assert list(suite.presets)[:3] == ["smoke", "quick", "full"]
    assert suite.presets["full"].repetitions >= 3
    assert 20 < len(suite.asks) <= 70 and suite.asks[-1] in ".?"


def test_the_command_knows_every_suite_and_what_it_asks() -> None:
    assert tuple(SUITES.values()) == ALL
    assert list(asks()) == [*SUITES, SMOKE]


@pytest.mark.parametrize(("preset", "tasks"), [("quick", 100_000), ("full", 1_000_000)])
def test_a_backlog_is_held_and_fits_into_the_queue(preset: str, tasks: int) -> None:
    for made in configurations(planned(BACKLOG, preset)):
        assert (made.submission, made.window, made.tasks) == ("held", 0, tasks)
        assert made.queue_limit >= made.tasks


def test_a_rollback_is_made_at_rest_and_while_tasks_run() -> None:
    made = {run.snapshot: run for run in configurations(planned(ROLLBACK, "quick"))}
    assert set(made) == {"at_rest", "running"}
    assert all(run.rollbacks > 0 and run.rewrite_permille > 0 for run in made.values())


@pytest.mark.parametrize("preset", list(BATCHES.presets))
def test_batches_are_equal(preset: str) -> None:
    for made in configurations(planned(BATCHES, preset)):
        assert made.batches >= 10 and made.tasks % made.batches == 0


@pytest.mark.parametrize(
    ("preset", "at_least_s", "at_most_s"),
    [("smoke", 1, 3), ("quick", 50, 90), ("full", 180, 600), ("nightly", 2 * 3600, 12 * 3600)],
)
def test_stability_takes_seconds_a_minute_minutes_or_hours(
    preset: str, at_least_s: float, at_most_s: float
) -> None:
    plan = planned(STABILITY, preset)
    for made in configurations(plan):
        assert at_least_s <= seconds(made) <= at_most_s
        assert made.steady_ms and made.pause_ms and made.burst_ms and made.burst_factor > 1
        assert made.fault_ramp == "linear"
        assert made.fail_permille and made.slow_permille and made.cancel_permille


def test_only_stability_has_a_preset_of_hours() -> None:
    assert [suite.name for suite in ALL if "nightly" in suite.presets] == ["stability"]
    with pytest.raises(UsageError, match="--preset nightly: there is no such preset"):
        planned(SCALE, "nightly")


def test_a_context_reaches_1_gib_in_one_pass_a_run() -> None:
    made = configurations(planned(CONTEXT, "full"))
    assert sorted({run.context_bytes for run in made}) == [64 * MIB, 256 * MIB, 1024 * MIB]
    assert {(run.workload, run.tasks, run.rewrite_permille) for run in made} == {("context", 1, 10)}


def test_lookup_reaches_a_million_roles() -> None:
    made = configurations(planned(LOOKUP, "full"))
    assert {run.workload for run in made} == {"lookup"}
    assert max(run.agents for run in made) == 1_000_000


def test_waits_block_and_yield_at_each_number_of_workers() -> None:
    made = {(run.variant, run.workers): run for run in configurations(planned(WAITS, "quick"))}
    assert set(made) == {(name, workers) for name in ("blocking", "yielding") for workers in (1, 2, 4, 8)}
    assert {run.wait_mode for (name, _), run in made.items() if name == "blocking"} == {"blocking"}
    yielding = [run for (name, _), run in made.items() if name == "yielding"]
    assert {(run.wait_mode, run.task_stack, run.max_suspended) for run in yielding} == {
        ("yielding", "pooled", 64)
    }
    assert len({run.wait_us for run in made.values()}) == 1


# --- faults ---


def test_every_kind_of_failure_has_its_case() -> None:
    made = by_name(planned(FAULTS, "quick"))
    assert made["failing-tasks"].fail_permille and made["cancelled-tasks"].cancel_permille
    assert made["slow-tasks"].slow_us and not made["slow-tasks"].timeout_us
    assert made["timed-out-tasks"].slow_us > made["timed-out-tasks"].timeout_us > 0
    assert made["rejected"].queue_limit < made["rejected"].window
    setup, running = made["memory-at-setup"], made["memory-in-the-run"]
    assert 0 < setup.memory_limit_bytes < setup.context_bytes
    assert running.context_bytes < running.memory_limit_bytes < 2 * running.context_bytes
    assert (running.snapshot, running.rewrite_permille) == ("running", 1000)
    assert made["killed"].kill_after_tasks == made["killed"].tasks // 2
    assert made["no-end"].wait_us / 1e6 > 60


def test_an_outage_is_met_by_each_policy_and_concerns_one_of_two_tenants() -> None:
    made = by_name(planned(FAULTS, "quick"))
    for policy in ("none", "immediate", "backoff"):
        run = made[f"outage-{policy}"]
        assert (run.retry_policy, run.tenants, run.outage_ms > 0) == (policy, 2, True)
        # it is over long before the last task is due, so that a recovery can be seen
        assert (run.outage_start_ms + run.outage_ms) * 1.3 < run.tasks / run.rate_per_s * 1000


def test_the_plan_says_which_runs_are_meant_to_fail_and_how() -> None:
    plan = planned(FAULTS, "smoke")
    expected = {
        run.configuration.variant: run.expected for run in plan.runs if "completed" not in run.expected
    }
    assert expected == {
        "rejected": ("overloaded",),
        "memory-at-setup": ("failed",),
        "memory-in-the-run": ("failed",),
        "killed": ("killed",),
        "no-end": ("timed_out",),
    }
    assert {run.configuration.variant for run in plan.runs if run.deadline_ms} == {"no-end"}


def test_the_cases_keep_their_keys_and_the_rest_can_be_set() -> None:
    assert {made.probes for made in configurations(planned(FAULTS, "smoke", "probes=3"))} == {3}
    assert by_name(planned(FAULTS, "smoke", "tasks=500"))["killed"].kill_after_tasks == 250
    with pytest.raises(UsageError) as refused:
        parse(["kill_after_tasks=7"], FAULTS)
    assert refused.value.problem == "kill_after_tasks is what the cases of suite faults differ in (killed)"
    with pytest.raises(UsageError, match="suite faults takes one value of each key"):
        parse(["workers=1,2"], FAULTS)


def test_steps_of_a_rate_may_end_overloaded_and_nothing_else_may() -> None:
    steps = planned(SWEEP, "smoke", "submission=poisson", "rate_per_s=1000,2000")
    assert {run.expected for run in steps.runs} == {("completed", "overloaded")}
    for plan in (planned(SWEEP, "quick", "queue_limit=1,2"), planned(STABILITY, "quick")):
        assert {run.expected for run in plan.runs} == {COMPLETED}


def test_smoke_asks_no_speed_of_an_open_loop() -> None:
    assert {run.expected for run in planned(STABILITY, "smoke").runs} == {("completed", "overloaded")}
    for run in planned(FAULTS, "smoke").runs:
        assert ("overloaded" in run.expected) == (
            run.configuration.variant == "rejected"
            or (run.configuration.rate_per_s > 0 and run.configuration.variant != "killed")
        )
    assert {run.expected for run in planned(SCALE, "smoke").runs} == {COMPLETED}
