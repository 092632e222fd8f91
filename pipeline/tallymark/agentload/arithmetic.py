"""How a number stands in a line of arithmetic: with so many digits that a reader gets the same result."""

from __future__ import annotations

from typing import Final

from tallymark.units import fixed, significant

_DIGITS: Final = 6


def shown(value: float) -> str:
    """Thousands grouped; a whole number as it is, any other with six significant digits and no empty ones.

    ``shown(1234.5)`` is ``"1,234.5"``. ValueError: the value is negative or not finite.
    """
    if value < 0:
        raise ValueError(f"{value!r} is negative: it is no amount")
    if isinstance(value, int):
        text = fixed(value, 0)
    else:
        text = fixed(value, 0) if value >= 10**_DIGITS else significant(value, _DIGITS)
    whole, _, rest = text.partition(".")
    rest = rest.rstrip("0")
    return f"{int(whole):,}" + (f".{rest}" if rest else "")
