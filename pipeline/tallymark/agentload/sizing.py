"""How large a load test must be: Little's law, the share that the tail holds, and what is only a smoke test.

Tasks in flight = arrival rate × mean duration, whatever the distribution. The mean is that of independent
tasks at idle; its interval is mean ± z·s/√n of the normal law, which the mean of so many tasks follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tallymark.agentload.scenario import Arrival
from tallymark.stats import order
from tallymark.stats.slopes import NORMAL_975

# Below so many durations nothing is said about how far their mean may be from the true one.
MINIMUM_FOR_INTERVAL: Final = 30


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the ends of its 95 % interval; the ends are None when there are too few values for one."""

    value: float
    low: float | None
    high: float | None

    def times(self, factor: float) -> Interval:
        """The same in another unit."""
        ends = (None if end is None else end * factor for end in (self.low, self.high))
        return Interval(self.value * factor, *ends)


@dataclass(frozen=True, slots=True)
class Durations:
    """Of single tasks at idle, in seconds; a percentile is None when there are too few for it."""

    count: int
    mean_s: Interval
    p50_s: float
    p95_s: float | None
    p99_s: float | None
    tail_share: float | None  # of all task time: that of the tasks longer than p99


@dataclass(frozen=True, slots=True)
class Sizing:
    """``smoke_below`` tasks in flight a test is only a smoke test; the load has built up after ``ramp_s``."""

    rate_per_min: float
    in_flight: Interval
    tail_in_flight: float | None
    smoke_below: int
    ramp_s: float | None
    ramp_tasks: int | None


def durations(values_s: Sequence[float]) -> Durations:
    """What is known of the durations. ValueError: there are none."""
    if not values_s:
        raise ValueError("no durations")
    tail = None
    p99 = _percentile(values_s, 99)
    total = math.fsum(values_s)
    if p99 is not None and total > 0:
        tail = math.fsum(value for value in values_s if value > p99) / total
    middle = float(order.median(values_s))
    return Durations(len(values_s), mean(values_s), middle, _percentile(values_s, 95), p99, tail)


def mean(values: Sequence[float]) -> Interval:
    """The mean of independent values with its 95 % interval."""
    count = len(values)
    centre = math.fsum(values) / count
    if count < MINIMUM_FOR_INTERVAL:
        return Interval(centre, None, None)
    variance = math.fsum((value - centre) ** 2 for value in values) / (count - 1)
    reach = NORMAL_975 * math.sqrt(variance / count)
    return Interval(centre, max(0.0, centre - reach), centre + reach)


def size(rate_per_min: float, of: Durations) -> Sizing:
    """Little's law: tasks in flight = tasks a minute × minutes a task."""
    in_flight = of.mean_s.times(rate_per_min / 60)
    return Sizing(
        rate_per_min=rate_per_min,
        in_flight=in_flight,
        tail_in_flight=None if of.tail_share is None else of.tail_share * in_flight.value,
        smoke_below=max(1, math.ceil(in_flight.value - 1e-9)),
        ramp_s=of.p99_s,
        ramp_tasks=None if of.p99_s is None else math.ceil(of.p99_s * rate_per_min / 60),
    )


def rate_per_min(arrival: Arrival, mean_s: float) -> float | None:
    """Arrivals a minute in the long run; None when the recorded times span no time.

    In a closed loop each of so many tasks is followed by the next after its duration and a pause.
    """
    if arrival.process == "burst":
        assert arrival.burst_tasks is not None and arrival.burst_every_s is not None
        return arrival.burst_tasks * 60 / arrival.burst_every_s
    if arrival.process == "recorded":
        span = arrival.times_s[-1] - arrival.times_s[0]
        return (len(arrival.times_s) - 1) * 60 / span if span > 0 else None
    if arrival.process == "closed":
        assert arrival.in_flight is not None
        turn_s = mean_s + arrival.think_s.mean()
        return arrival.in_flight * 60 / turn_s if turn_s > 0 else None
    return arrival.rate_per_min


def _percentile(values: Sequence[float], percent: int) -> float | None:
    if len(values) < order.minimum_samples(percent, 100):
        return None
    return float(order.nearest_rank(values, percent, 100))
