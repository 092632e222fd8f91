"""How a quantity is distributed, and its table of integers for the simulator.

Tables are computed with ``decimal``, whose results are the same on every machine; no float of a library of
mathematics gets into them. A scale turns the scenario's unit into the simulator's: 1,000,000 for milliseconds
into nanoseconds, 1 for tokens.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import Any, Final, Literal, ParamSpec, TypeVar

QUANTILES: Final = 1025  # points of the table of a continuous distribution, both ends included
CERTAIN: Final = 1 << 32
_CONTEXT: Final = Context(prec=50, rounding=ROUND_HALF_EVEN)
_Z99: Final = Decimal("2.326347874040841100885606163346911723369")  # 99 % quantile of the normal law
_SQRT_2PI: Final = Decimal("2.506628274631000502415765284811045253007")
_SMALL: Final = Decimal("1e-28")

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _exactly(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decimals of the function are ours, whatever context the caller has set."""

    @functools.wraps(function)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with localcontext(_CONTEXT):
            return function(*args, **kwargs)

    return called


Form = Literal["samples", "lognormal", "exponential", "weighted", "trace"]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A declared distribution: ``values`` in the scenario's unit.

    samples: the values, each as likely (one: a constant); lognormal: median and p99; exponential: the mean;
    weighted: the values, with ``weights``; trace: none, they are recorded under ``trace``.
    """

    form: Form
    values: tuple[float, ...]
    weights: tuple[float, ...] = ()
    trace: str | None = None

    @classmethod
    def declared(cls, value: int | float | Mapping[str, Any]) -> Distribution:
        """The distribution that a checked value of a scenario stands for."""
        if not isinstance(value, Mapping):
            return cls("samples", (value,))
        if "constant" in value:
            return cls("samples", (value["constant"],))
        if "samples" in value:
            return cls("samples", tuple(sorted(value["samples"])))
        if "lognormal" in value:
            return cls("lognormal", (value["lognormal"]["median"], value["lognormal"]["p99"]))
        if "exponential" in value:
            return cls("exponential", (value["exponential"]["mean"],))
        if "trace" in value:
            return cls("trace", (), trace=value["trace"])
        choices = tuple(value["choices"])
        return cls("weighted", choices, tuple(value.get("weights", (1,) * len(choices))))

    @property
    def constant(self) -> bool:
        """Whether every draw gives the same value."""
        return self.form in ("samples", "weighted") and len(set(self.values)) == 1

    @_exactly
    def mean(self) -> float:
        """The expected value; of a lognormal one, of its table (which ends at its outermost quantiles)."""
        if self.form == "weighted":
            total = sum(self.weights)
            return sum(v * w for v, w in zip(self.values, self.weights, strict=True)) / total
        if self.form == "lognormal":
            points = quantiles(*self.values)
            inner = sum(points[1:-1], Decimal(0)) + (points[0] + points[-1]) / 2
            return float(inner / (len(points) - 1))
        return sum(self.values) / len(self.values) if self.values else 0.0

    def least(self) -> float:
        """A value that no draw is below."""
        if self.form in ("samples", "weighted"):
            kept = [v for v, w in zip(self.values, self.weights or (1,) * len(self.values), strict=True) if w]
            return min(kept, default=0)
        return float(quantiles(*self.values)[0]) if self.form == "lognormal" else 0

    def most(self) -> float:
        """A value that no draw is above; the simulator cuts an exponential one off at 64 means."""
        if self.form == "exponential":
            return 64 * self.values[0]
        return float(quantiles(*self.values)[-1]) if self.form == "lognormal" else max(self.values, default=0)

    @_exactly
    def percentile(self, a: int, b: int) -> float:
        """The a/b quantile: the smallest value that at least that share of the draws does not exceed."""
        if self.form == "weighted":
            pairs = sorted(zip(self.values, self.weights, strict=True))
            wanted, reached = sum(self.weights) * a / b, 0.0
            for value, weight in pairs:
                reached += weight
                if reached >= wanted:
                    return value
            return pairs[-1][0]
        if self.form == "lognormal":
            return float(quantiles(*self.values)[-(-a * (QUANTILES - 1) // b)])
        if self.form == "exponential":
            share = Decimal(b - a) / b
            return float(-share.ln() * _exact(self.values[0])) if share else float("inf")
        return self.values[max(1, -(-a * len(self.values) // b)) - 1] if self.values else 0.0

    @_exactly
    def scaled(self, permille: int) -> Distribution:
        """The same with every value times ``permille`` / 1000."""
        if permille == 1000:
            return self
        return replace(self, values=tuple(float(_exact(v) * permille / 1000) for v in self.values))


@dataclass(frozen=True, slots=True)
class Table:
    """A distribution as the simulator takes it; ``thresholds`` only of a weighted one."""

    kind: Literal["samples", "quantiles", "exponential", "weighted"]
    values: tuple[int, ...]
    thresholds: tuple[int, ...] = ()


@_exactly
def table(distribution: Distribution, scale: int, least: int = 0) -> Table:
    """The integers of a distribution: each value times ``scale``, rounded half even, at least ``least``.

    ValueError: its values are recorded elsewhere (``trace``).
    """
    if distribution.form == "trace":
        raise ValueError(f"the values of {distribution.trace!r} are in the traces")
    if distribution.form == "lognormal":
        points = quantiles(*distribution.values)
        return Table("quantiles", tuple(max(least, _integer(point * scale)) for point in points))
    integers = tuple(max(least, _integer(_exact(value) * scale)) for value in distribution.values)
    if distribution.form == "exponential":
        return Table("exponential", integers)
    if distribution.form == "weighted":
        return Table("weighted", integers, cumulated(distribution.weights))
    return Table("samples", tuple(sorted(integers)))


@_exactly
def cumulated(weights: tuple[float, ...]) -> tuple[int, ...]:
    """Cumulated thresholds of 2^32; the last is 2^32."""
    exact = [_exact(weight) for weight in weights]
    total, reached, found = sum(exact, Decimal(0)), Decimal(0), []
    for weight in exact:
        reached += weight
        found.append(_integer(reached * CERTAIN / total))
    return (*found[:-1], CERTAIN)


@_exactly
def threshold(probability: float) -> int:
    """A probability as the simulator compares it: of 2^32."""
    return _integer(_exact(probability) * CERTAIN)


@_exactly
def integer(value: float, scale: int = 1) -> int:
    """``value`` times ``scale`` in exact decimals, rounded half even."""
    return _integer(_exact(value) * scale)


@functools.lru_cache(maxsize=256)
@_exactly
def quantiles(median: float, p99: float) -> tuple[Decimal, ...]:
    """The k/1024 quantiles of a lognormal law; the outermost ones are those of 1/4096 and 4095/4096."""
    middle = _exact(median)
    sigma = (_exact(p99) / middle).ln() / _Z99
    return tuple(middle * (sigma * z).exp() for z in _normal_quantiles())


@functools.cache
def _normal_quantiles() -> tuple[Decimal, ...]:
    last = QUANTILES - 1
    shares = [Decimal(k) / last for k in range(last // 2 + 1, last)] + [Decimal(4 * last - 1) / (4 * last)]
    upper = [Decimal(0)]
    for share in shares:
        upper.append(_normal_quantile(share, upper[-1]))
    return (*(-z for z in reversed(upper[1:])), *upper)


def _normal_quantile(p: Decimal, start: Decimal) -> Decimal:
    """Newton's method on the normal distribution function: z ← z - (Φ(z) - p) / φ(z).

    From a start between 0 and the quantile the function is concave, so that no step goes beyond it.
    """
    z = start
    for _ in range(100):
        step = (p - _normal(z)) / _density(z)
        z += step
        if abs(step) < _SMALL:
            return z
    raise AssertionError("Newton's method on a concave function converges")


def _density(z: Decimal) -> Decimal:
    return (-z * z / 2).exp() / _SQRT_2PI


def _normal(z: Decimal) -> Decimal:
    """Φ(z) = 1/2 + φ(z) · (z + z³/3 + z⁵/(3·5) + …), all terms positive for z ≥ 0."""
    term, total, k = z, z, 1
    while term > _SMALL:
        k += 2
        term = term * z * z / k
        total += term
    return Decimal("0.5") + _density(z) * total


def _exact(value: float) -> Decimal:
    """The shortest decimal that reads back as ``value``: what the scenario's file says."""
    return Decimal(value) if isinstance(value, int) else Decimal(float.__repr__(value))


def _integer(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_EVEN))
