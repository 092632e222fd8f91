"""Little's law and the tail, against the numbers of the article that asks for them."""

from __future__ import annotations

import pytest

from tallymark.agentload import sizing
from tallymark.agentload.distributions import Distribution
from tallymark.agentload.scenario import Arrival


def arrival(process: str, **members: object) -> Arrival:
    fields: dict[str, object] = {
        "process": process,
        "rate_per_min": None,
        "times_s": (),
        "burst_tasks": None,
        "burst_every_s": None,
        "in_flight": None,
        "think_s": Distribution.declared(0),
    }
    return Arrival(**{**fields, **members})  # type: ignore[arg-type]


def test_ten_a_minute_of_four_minutes_are_forty_in_flight() -> None:
    found = sizing.size(10, sizing.durations([240.0] * 5))
    assert found.in_flight.value == pytest.approx(40)
    assert found.smoke_below == 40
    assert found.in_flight.low is None  # five durations say nothing about an interval


def test_the_tail_holds_a_share_of_the_slots() -> None:
    """990 tasks of a minute and ten of twenty: 200 of 1,190 minutes belong to the ten longest."""
    found = sizing.durations([60.0] * 990 + [1200.0] * 10)
    assert found.p99_s == 60
    assert found.tail_share == pytest.approx(200 / 1190)
    size = sizing.size(10, found)
    assert size.in_flight.value == pytest.approx(11.9)
    assert size.tail_in_flight == pytest.approx(2.0)
    assert (size.ramp_s, size.ramp_tasks) == (60, 10)


def test_a_percentile_needs_its_number_of_tasks() -> None:
    """1,000 values for p99: below that it is hardly more than the maximum."""
    found = sizing.durations([1.0] * 999)
    assert (found.p99_s, found.tail_share) == (None, None)
    assert found.p95_s == 1.0


def test_the_interval_is_that_of_the_mean() -> None:
    """1 … 100: mean 50.5, s = 29.0115, so 1.95996 · s / 10 on either side."""
    found = sizing.mean([float(one) for one in range(1, 101)])
    assert (found.value, found.low, found.high) == pytest.approx((50.5, 44.8139, 56.1861), abs=1e-4)


@pytest.mark.parametrize(
    ("process", "rate"),
    [
        (arrival("poisson", rate_per_min=7.0), 7),
        (arrival("burst", burst_tasks=25, burst_every_s=45.0), 25 * 60 / 45),
        (arrival("recorded", times_s=(0.0, 10.0, 20.0, 30.0)), 6),
        # 130 in flight at 0.112 s and 0.75 s of thinking are 151 a second, not "1,000 users"
        (arrival("closed", in_flight=1000, think_s=Distribution.declared(0.75)), 1000 * 60 / 0.862),
        (arrival("recorded", times_s=(5.0,)), None),
    ],
)
def test_every_process_has_its_rate(process: Arrival, rate: float | None) -> None:
    assert sizing.rate_per_min(process, 0.112) == (None if rate is None else pytest.approx(rate))


def test_no_durations_are_no_size() -> None:
    with pytest.raises(ValueError, match="no durations"):
        sizing.durations([])
