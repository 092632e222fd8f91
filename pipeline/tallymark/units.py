"""The unit table, unit conversion and rounding: nothing else in the package turns a number into text.

Rounding (one rule everywhere): an IEEE double is written as its shortest decimal that reads back
(``repr``), that decimal is rounded half up (away from zero) to the places asked for, and the result is
printed in fixed notation; zero has no sign and a non-finite number is refused. Halves are decided on the
shortest decimal because that is what the reader of the JSON sees: 2.675 rounds to 2.68.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from types import MappingProxyType

# Digits of the largest double (309) plus the places that a caller may ask for.
_EXACT = Context(prec=800, rounding=ROUND_HALF_UP, Emax=999_999, Emin=-999_999)
_MAX_PLACES = 400


class UnitError(ValueError):
    """An unknown unit, or two units of different quantities."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of the table: ``value * numerator / denominator`` is the value in the quantity's base unit."""

    name: str
    quantity: str
    numerator: int
    denominator: int
    title: str


def _table(*units: Unit) -> Mapping[str, Unit]:
    return MappingProxyType({unit.name: unit for unit in units})


UNITS: Mapping[str, Unit] = _table(
    Unit("1", "count", 1, 1, "count"),
    Unit("ns", "time", 1, 1, "nanoseconds"),
    Unit("us", "time", 1_000, 1, "microseconds"),
    Unit("ms", "time", 1_000_000, 1, "milliseconds"),
    Unit("s", "time", 1_000_000_000, 1, "seconds"),
    Unit("bytes", "size", 1, 1, "bytes"),
    Unit("KiB", "size", 1 << 10, 1, "kibibytes (1,024 bytes)"),
    Unit("MiB", "size", 1 << 20, 1, "mebibytes (1,048,576 bytes)"),
    Unit("GiB", "size", 1 << 30, 1, "gibibytes (1,073,741,824 bytes)"),
    Unit("1/s", "rate", 60, 1, "per second"),
    Unit("1/min", "rate", 1, 1, "per minute"),
    Unit("USD", "money", 1, 1, "US dollars"),
    Unit("ratio", "share", 1, 1, "ratio"),
    Unit("percent", "share", 1, 100, "percent"),
    Unit("permille", "share", 1, 1000, "per thousand"),
)


def unit(name: str) -> Unit:
    """The unit called ``name``. UnitError: the table has none; an unknown unit is never passed through."""
    if name not in UNITS:
        raise UnitError(f"unknown unit {name!r}; the units are {', '.join(UNITS)}")
    return UNITS[name]


def factor(source: str, shown: str) -> tuple[int, int]:
    """``(num, den)`` in lowest terms with ``shown = source * num / den``.

    UnitError: a unit is unknown, or the two measure different quantities.
    """
    from_, to = unit(source), unit(shown)
    if from_.quantity != to.quantity:
        raise UnitError(f"{source!r} measures {from_.quantity}, {shown!r} measures {to.quantity}")
    num, den = from_.numerator * to.denominator, from_.denominator * to.numerator
    common = math.gcd(num, den)
    return num // common, den // common


def scaled(value: int | float, num: int, den: int) -> int | float:
    """``value * num / den``: an integer that divides exactly stays one, else IEEE doubles in this order."""
    _require_number(value)
    if num == den:
        return value
    if isinstance(value, int):
        whole, rest = divmod(value * num, den)
        if rest == 0:
            return whole
    return float(value) * num / den


def fixed(value: int | float, places: int) -> str:
    """``value`` with exactly ``places`` decimals, rounded half up on its shortest decimal.

    ValueError: a non-finite number, a bool, or ``places`` outside 0..400.
    """
    if not 0 <= places <= _MAX_PLACES:
        raise ValueError(f"{places} decimal places; 0 to {_MAX_PLACES} are possible")
    return _text(_decimal(value).quantize(Decimal(1).scaleb(-places), context=_EXACT))


def significant(value: int | float, digits: int) -> str:
    """``value`` rounded half up to ``digits`` significant digits, in fixed notation; 0 is ``"0"``.

    ``significant(9.996, 3)`` is ``"10.0"``; ``significant(123456, 3)`` is ``"123000"``.
    ValueError: a non-finite number, a bool, or fewer than one digit.
    """
    if not 1 <= digits <= _MAX_PLACES:
        raise ValueError(f"{digits} significant digits; 1 to {_MAX_PLACES} are possible")
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP, Emax=999_999, Emin=-999_999).plus(_decimal(value))
    if rounded == 0:
        return "0"
    last_place = rounded.adjusted() - digits + 1
    return _text(rounded.quantize(Decimal(1).scaleb(min(last_place, 0)), context=_EXACT))


def _require_number(value: int | float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} cannot be published: it is not finite")


def _decimal(value: int | float) -> Decimal:
    _require_number(value)
    # float.__repr__, not repr(): a subclass such as numpy.float64 prints its own name.
    return Decimal(value) if isinstance(value, int) else Decimal(float.__repr__(value))


def _text(value: Decimal) -> str:
    return format(abs(value) if value == 0 else value, "f")
