"""What a page shows: ready text, and beside each number the reference that says where it comes from.

A reference is the value of a ``data-from`` attribute; its grammar is in the design page ("How a number
says where it comes from"). ``tallymark recount`` resolves every one of them again from the raw files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from tallymark import units
from tallymark.evidence import canonical
from tallymark.evidence.strict_json import JsonValue
from tallymark.printable import printable as visible

_GROUPED = re.compile(r"([^\d]*)(\d{5,16})((?:\.\d+)?)\Z")
ABSENT_MARK = "–"


@dataclass(frozen=True, slots=True)
class Shown:
    """Text on a page. ``source`` is its ``data-from`` reference; empty for words without a number."""

    text: str
    source: str = ""

    @property
    def groups(self) -> tuple[str, ...]:
        """The text cut into groups of three digits; one group when it is no number of five or more digits.

        The template sets the groups apart with CSS, so that the text itself, and what the reader copies,
        stays the plain number.
        """
        match = _GROUPED.match(self.text)
        if match is None:
            return (self.text,)
        lead, digits, decimals = match.groups()
        first = len(digits) % 3 or 3
        parts = [digits[:first], *(digits[at : at + 3] for at in range(first, len(digits), 3))]
        parts[0] = lead + parts[0]
        parts[-1] += decimals
        return tuple(parts)


Sentence = tuple[Shown, ...]


def plain(sentence: Iterable[Shown]) -> str:
    """The text of a sentence as it reads on the page."""
    return "".join(part.text for part in sentence)


def words(text: str) -> Shown:
    """Text of ours without a number. ValueError: it holds a digit, which would have no source."""
    if any(character.isdigit() for character in re.sub(r"[A-Za-z_][\w-]*", "", text)):
        raise ValueError(f"a number without a source: {text!r}")
    return Shown(text)


def sourced(text: str, source: str) -> Shown:
    """Text with its reference when it holds a digit; bare words need none."""
    return Shown(text, source if any(character.isdigit() for character in text) else "")


def value_text(value: JsonValue) -> str:
    """A JSON value as a page shows it: strings bare, numbers as JSON has them, the rest as compact JSON."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict | list):
        return visible(canonical.compact(value))
    return json.dumps(value)


@dataclass(frozen=True, slots=True)
class Format:
    """How a column turns a source value into text: a unit factor, then places or significant digits."""

    numerator: int = 1
    denominator: int = 1
    places: int | None = None
    significant: int | None = None

    def scaled(self, value: int | float) -> int | float:
        """The value in the unit shown."""
        return units.scaled(value, self.numerator, self.denominator)

    def text(self, value: int | float) -> str:
        """The value as the column prints it."""
        shown = self.scaled(value)
        if self.places is not None:
            return units.fixed(shown, self.places)
        if self.significant is not None:
            return units.significant(shown, self.significant)
        return value_text(shown)

    def options(self) -> str:
        """The same as options of a ``raw:`` reference, empty when nothing is converted or rounded."""
        parts = []
        if (self.numerator, self.denominator) != (1, 1):
            below = "" if self.denominator == 1 else f"/{self.denominator}"
            parts.append(f"factor={self.numerator}{below}")
        if self.places is not None:
            parts.append(f"places={self.places}")
        elif self.significant is not None:
            parts.append(f"significant={self.significant}")
        return "".join(f"|{part}" for part in parts)
