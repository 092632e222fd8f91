"""A sweep in words: the table of its runs, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tallymark.agentload import sweep as sweeps
from tallymark.agentload.arithmetic import shown
from tallymark.agentload.sweep import Outcome, Sweep
from tallymark.units import fixed

_ALARM: Final = 1.3  # attempts for each logical operation
HEADINGS: Final = (
    "load",
    "caches",
    "success",
    "against idle (points)",
    "p",
    "verdict",
    "p50 s",
    "p99 s",
    "oldest waiter s",
    "tasks/min",
    "in flight",
    "retries",
    "USD/task",
    "USD/success",
    "429s",
    "degraded",
    "first ceiling",
)


def rows(made: Sweep) -> list[tuple[str, ...]]:
    """A row for each run; idle first. What is not known is a dash."""
    over = {one.cache: one.overloaded for one in made.outcomes}
    return [_row(_load(load, over.get(one["cache"])), one) for load, one in made.runs]


def _load(load: float | None, over: float | None) -> str:
    if load is None:
        return "idle"
    return f"{shown(load)} (overloaded)" if over is not None and load >= over else shown(load)


def _row(load: str, one: Mapping[str, Any]) -> tuple[str, ...]:
    quality = one["quality"]
    difference, p, verdict = "-", "-", "-"
    if quality is not None:
        points = [_signed(quality[key] * 100) for key in ("difference", "difference_low", "difference_high")]
        difference = f"{points[0]} [{points[1]}, {points[2]}]"
        p, verdict = fixed(quality["p_value"], 4), quality["verdict"]
    return (
        load,
        one["cache"],
        _percent(one["evaluated_success_share"]),
        difference,
        p,
        verdict,
        _seconds(one["duration_p50_ms"]),
        _seconds(one["duration_p99_ms"]),
        _seconds(one["queue_age_max_ms"]),
        "-" if one["tasks_per_min"] is None else fixed(one["tasks_per_min"], 2),
        "-" if one["in_flight_mean"] is None else fixed(one["in_flight_mean"], 1),
        _ratio(one),
        _money(one, "usd_per_task"),
        _money(one, "usd_per_success"),
        _throttled(one),
        _degraded(one),
        one["first_ceiling"] or "-",
    )


def lines(made: Sweep) -> Iterator[str]:
    """What the table means."""
    yield sweeps.ranking(made)
    for outcome in made.outcomes:
        yield f"{outcome.cache} caches: {outcome.advice.sentence}"
        yield from _in_flight(outcome)
    loud = ", ".join(
        shown(load) for load in sorted({load for load, one in made.runs if load and _alarming(one)})
    )
    if loud:
        where = f"{loud} {made.unit} (whole interval)"
        yield f"Retries: more than {_ALARM} attempts for each operation at {where}."
    yield sweeps.documented(made)
    yield "Simulated in virtual time. Assumptions: " + " ".join(made.plan.scenario.assumptions)


def _alarming(one: Mapping[str, Any]) -> bool:
    """Whether the whole interval of the amplification is above the alarm."""
    low = one["retry_amplification_low"]
    return low is not None and low > _ALARM


def _in_flight(outcome: Outcome) -> Iterator[str]:
    if outcome.in_flight is not None:
        low, high = (fixed(end, 1) for end in outcome.in_flight)
        yield (
            f"{outcome.cache} caches: that is {low} to {high} tasks in flight, by the mean measured at "
            f"{shown(outcome.knee.good or 0.0)}; how sure: {outcome.advice.certainty}."
        )


def _degraded(one: Mapping[str, Any]) -> str:
    seen = [
        f"{name} {_percent(value['share'])}" for name, value in one["degradations"].items() if value["tasks"]
    ]
    return ", ".join(seen) or "-"


def _money(one: Mapping[str, Any], key: str) -> str:
    """A price that nobody knows is no 0, and no success has no price either."""
    if one[key] is not None:
        return fixed(one[key], 4)
    return "unpriced" if one["usd_total"] is None else "-"


def _ratio(one: Mapping[str, Any]) -> str:
    """Attempts for each logical operation, marked where it is surely above the alarm."""
    ratio = one["retry_amplification"]
    return "-" if ratio is None else f"{fixed(ratio, 2)}{' !' if _alarming(one) else ''}"


def _throttled(one: Mapping[str, Any]) -> str:
    """The 429s of each provider and tool, never added up: the sum would hide which ceiling it was."""
    dependencies = {**one["providers"], **one["tools"]}
    seen = [
        f"{name} {value['throttled_429']:,}" for name, value in dependencies.items() if value["throttled_429"]
    ]
    return ", ".join(seen) or "-"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{fixed(share * 100, 1)} %"


def _signed(points: float) -> str:
    return fixed(points, 1)


def _seconds(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else fixed(milliseconds / 1000, 1)
