"""How a recounted value reads on a page. A second implementation on purpose: the pages have their own."""

from __future__ import annotations

import json
from typing import Any

from tallymark.printable import printable as visible
from tallymark.recount import recount as script
from tallymark.recount.reference import Reference, Unresolved

LABEL_LENGTH = 28


def value_text(value: Any) -> str:
    """A JSON value: text bare, numbers as JSON writes them, null and truth by name, the rest compact."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict | list):
        return visible(script.compact(value))
    return json.dumps(value)


def label(text: str) -> str:
    """``text`` cut to what fits beside an axis."""
    return text if len(text) <= LABEL_LENGTH else text[: LABEL_LENGTH - 1] + "…"


def formatted(value: Any, reference: Reference) -> str:
    """``value`` with the factor and rounding that the reference asks for."""
    options = dict(reference.options)
    numerator, _, denominator = options.pop("factor", "1").partition("/")
    places, digits = options.pop("places", None), options.pop("significant", None)
    if options or (places is not None and digits is not None):
        raise Unresolved(f"{reference.text!r} has options that do not go together")
    if not reference.options:
        return value_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unresolved(f"{reference.text!r} rounds {value_text(value)[:40]!r}, which is no number")
    number = script.scaled(value, int(numerator), int(denominator or 1))
    if places is not None:
        return script.fixed(number, int(places))
    return script.significant(number, int(digits)) if digits is not None else value_text(number)
