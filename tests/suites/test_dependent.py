"""Keys that nobody chose follow those that somebody chose; a choice itself is never changed."""

from __future__ import annotations

import pytest

from tallymark.suites.dependent import RULES, consistent
from tallymark.suites.model import KEYS, Configuration, Scalar, fixture


def settled(**chosen: Scalar) -> Configuration:
    return consistent(fixture("sweep", **chosen), chosen)


def test_the_fixture_is_consistent() -> None:
    assert consistent(fixture("scale"), ()) == fixture("scale")


def test_every_rule_is_about_a_configuration_key() -> None:
    assert {rule.key for rule in RULES} <= set(KEYS)


@pytest.mark.parametrize("submission", ["paced", "poisson", "held"])
def test_only_a_closed_loop_has_a_window(submission: str) -> None:
    assert settled(submission=submission).window == 0


def test_a_base_in_an_open_loop_that_is_closed_loses_rate_and_phases_and_gets_a_window() -> None:
    base = fixture(
        "stability", submission="paced", window=0, rate_per_s=9, steady_ms=9, burst_ms=9, burst_factor=4
    )
    closed = consistent(base.with_values({"submission": "closed"}), ("submission",))
    assert (closed.window, closed.rate_per_s, closed.steady_ms) == (1024, 0, 0)
    assert (closed.burst_ms, closed.burst_factor) == (0, 1)


@pytest.mark.parametrize("values", [{"yields": 1}, {"wait_mode": "yielding"}, {"task_stack": "pooled"}])
def test_what_needs_a_stack_of_its_own_gets_one(values: dict[str, Scalar]) -> None:
    made = settled(**values)
    assert (made.task_stack, made.stack_bytes) == ("pooled", 65536)


def test_a_wait_has_a_length_and_no_wait_has_none() -> None:
    assert settled(wait_mode="blocking").wait_us == 1000
    base = fixture("waits", wait_mode="blocking", wait_us=5, wait_distribution="exponential", outage_ms=5)
    none = consistent(base.with_values({"wait_mode": "none"}), ("wait_mode",))
    assert (none.wait_us, none.wait_distribution, none.outage_ms) == (0, "constant", 0)


@pytest.mark.parametrize(
    ("policy", "attempts", "delay"), [("none", 0, 0), ("immediate", 3, 0), ("backoff", 3, 1000)]
)
def test_a_retry_policy_brings_its_attempts_and_its_delay(policy: str, attempts: int, delay: int) -> None:
    made = settled(wait_mode="blocking", retry_policy=policy)
    assert (made.retry_attempts, made.retry_delay_us) == (attempts, delay)


def test_slow_tasks_have_a_length_and_a_snapshot_has_cycles() -> None:
    assert (settled(slow_permille=5).slow_us, settled().slow_us) == (10_000, 0)
    assert (settled(snapshot="at_rest").rollbacks, settled().rollbacks) == (10, 0)


def test_a_choice_is_never_changed_even_when_it_contradicts_another() -> None:
    made = settled(submission="paced", window=64, yields=1, task_stack="inline", wait_us=7)
    assert (made.window, made.task_stack, made.wait_us) == (64, "inline", 7)
