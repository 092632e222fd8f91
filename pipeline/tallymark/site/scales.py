"""Axes of the static charts: which range and ticks suit the values, and where a value lies in pixels.

``recount`` repeats ``position`` from the attributes of the SVG, so its order of operations is part of the
published grammar.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from tallymark.site.series import Number
from tallymark.site.shown import Shown

_LOG_FROM_RATIO = 50
_FITTED_BELOW_RATIO = 2
_STEPS = (Decimal(1), Decimal(2), Decimal(5), Decimal(10))
_SUFFIXES = ((Decimal(10**9), "G"), (Decimal(10**6), "M"), (Decimal(10**3), "k"))


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled value of an axis; ``label.source`` is ``axis`` or a ``row:`` reference."""

    value: Number | str
    label: Shown


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: ``kind`` is linear, log, nines (1/(1-q) for quantiles) or category (row ids)."""

    kind: str
    low: Number
    high: Number
    title: str
    ticks: tuple[Tick, ...]
    categories: tuple[str, ...] = ()

    @property
    def attribute(self) -> str:
        """``KIND,low,high``: what the SVG says about the axis."""
        return f"{self.kind},{self.low!r},{self.high!r}"


def position(axis: Axis, value: Number | str, start: float, end: float) -> float:
    """Where ``value`` lies between the pixels ``start`` and ``end``."""
    low: float
    high: float
    if axis.kind == "log":
        low, high, at = math.log10(axis.low), math.log10(axis.high), math.log10(float(value))
    elif axis.kind == "nines":
        low, high, at = axis.low, axis.high, nines(float(value), axis.high)
    elif axis.kind == "category":
        low, high, at = axis.low, axis.high, axis.categories.index(str(value)) + 0.5
    else:
        low, high, at = axis.low, axis.high, float(value)
    return start + (at - low) / (high - low) * (end - start)


def nines(quantile: float, high: Number) -> float:
    """-log10(1-q): 0.9 is 1, 0.99 is 2; the maximum (q = 1) stands at the end of the axis."""
    return float(high) if quantile == 1 else -math.log10(1 - quantile)


def linear_axis(values: Sequence[Number], title: str) -> Axis:
    """An axis from 0 to a round number at or above the largest value; never truncated."""
    top = max([0.0, *map(float, values)]) or 1.0
    step = _step(Decimal(repr(top)), 5)
    count = math.ceil(Decimal(repr(top)) / step)
    ticks = tuple(_tick(step * at) for at in range(count + 1))
    return Axis("linear", 0, float(step * count), title, ticks)


def log_axis(values: Sequence[Number], title: str) -> Axis:
    """A logarithmic axis over whole decades, marked in its title. ValueError: a value is not positive."""
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    within = (Decimal(1),) if high - low > 2 else (Decimal(1), Decimal(2), Decimal(5))
    stops = [at.scaleb(power) for power in range(low, high) for at in within] + [Decimal(1).scaleb(high)]
    return Axis(
        "log", float(f"1e{low}"), float(f"1e{high}"), f"{title} (log axis)", tuple(_tick(at) for at in stops)
    )


def fitted_axis(values: Sequence[Number], title: str) -> Axis:
    """A linear axis around the values that need not start at 0; marked as such when it does not.

    For dots and rings, which show by their place; a length (a bar from 0) must never be cut.
    """
    low, high = min(values), max(values)
    if low <= 0 or high / low >= _FITTED_BELOW_RATIO:
        return linear_axis(values, title)
    least, most = Decimal(repr(low)), Decimal(repr(high))
    spread = max(most - least, most / 50)
    step = _step(spread, 4)
    # a little room, so that no mark stands on the frame
    first = math.floor((least - spread / 20) / step)
    last = math.ceil((most + spread / 20) / step)
    if first <= 0:
        return linear_axis(values, title)
    ticks = tuple(_tick(step * at) for at in range(first, last + 1))
    return Axis("linear", ticks[0].value, ticks[-1].value, f"{title} (not from zero)", ticks)  # type: ignore[arg-type]


def value_axis(
    values: Sequence[Number], title: str, *, log: bool | None = None, fitted: bool = False
) -> Axis:
    """A linear axis, or a logarithmic one when asked for or when the values span a factor of 50."""
    possible = bool(values) and min(values) > 0
    wanted = log if log is not None else possible and max(values) / min(values) >= _LOG_FROM_RATIO
    if wanted and possible:
        return log_axis(values, title)
    return fitted_axis(values, title) if fitted and values else linear_axis(values, title)


def nines_axis(quantiles: Sequence[Number], of: str = "tasks") -> Axis:
    """The quantile axis of a percentile plot: each nine takes the same length, the end is the maximum.

    ``of`` names what is shared out.
    """
    last = max((float(q) for q in quantiles if q < 1), default=0.5)
    high = math.floor(nines(last, 0) + 1e-9) + 1
    labels = ["50%", "90%", "99%", *(f"99.{'9' * count}%" for count in range(1, high))][: high + 1]
    ticks = [Tick(float(Decimal(text[:-1]) / 100), Shown(text, "axis")) for text in labels]
    inside = [tick for tick in ticks if nines(float(tick.value), 0) < high - 1e-9]
    return Axis("nines", 0, high, f"share of {of} (log axis)", (*inside, Tick(1, Shown("max", "axis"))))


def category_axis(ids: Sequence[str], labels: Sequence[Shown], title: str) -> Axis:
    """One band for each row id, in table order."""
    ticks = tuple(Tick(row, label) for row, label in zip(ids, labels, strict=True))
    return Axis("category", 0, len(ids), title, ticks, tuple(ids))


def _step(top: Decimal, at_most: int) -> Decimal:
    """The smallest of 1, 2 or 5 times a power of ten that needs no more than ``at_most`` steps."""
    unit = Decimal(1).scaleb((top / at_most).adjusted())
    return next(unit * step for step in _STEPS if unit * step * at_most >= top)


def _tick(value: Decimal) -> Tick:
    plain = value.normalize()
    number = int(plain) if plain == plain.to_integral_value() else float(plain)
    return Tick(number, Shown(label(plain), "axis"))


def label(value: Decimal) -> str:
    """``1500000`` is ``1.5M``; the label always reads back as exactly the value."""
    for size, suffix in _SUFFIXES:
        if value >= size * (10 if suffix == "k" else 1):
            return f"{(value / size).normalize():f}{suffix}"
    return f"{value.normalize():f}"
