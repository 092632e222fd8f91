"""Reading one foreign object key by key: every refusal has its place, and unread keys can be named.

The strict reader has refused NaN, duplicate keys and broken text before; here the shape is untrusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from tallymark.errors import FindingsError, child
from tallymark.evidence.strict_json import JsonValue

MOST_TOKENS: Final = 2**32 - 1
"""What the simulator holds in a step; also the limit of characters."""

MOST_NS: Final = 2**53 - 1
MOST_START_NS: Final = 4 * 10**18
"""Traces go over months: a start may be beyond 2^53 ns (104 days)."""

_SHOWN: Final = 60


def shown(text: str) -> str:
    """Untrusted text for a message: quoted, escaped, cut at 60 characters."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def kind(value: JsonValue) -> str:
    """The JSON type of a value in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"


class Entry:
    """One object of a foreign file. ``file`` is ``name`` or ``name:line``."""

    def __init__(self, value: JsonValue, file: str, pointer: str) -> None:
        self.file = file
        self.pointer = pointer
        if not isinstance(value, dict):
            raise self.refusal(None, f"is {kind(value)}, not an object")
        self._members: dict[str, JsonValue] = value
        self._read: set[str] = set()

    def refusal(
        self, key: str | None, problem: str, do: str = "correct the file or export it again"
    ) -> FindingsError:
        """The error for the object or one of its keys; the caller raises it."""
        where = self.pointer if key is None else child(self.pointer, key)
        return FindingsError(f"{self.file}::{where}", problem, do)

    def element(self, key: str, index: int, problem: str) -> FindingsError:
        """The error for one element of an array of the object; the caller raises it."""
        where = child(child(self.pointer, key), index)
        return FindingsError(f"{self.file}::{where}", problem, "correct the file or export it again")

    def where(self, key: str) -> str:
        """``file:line::$.pointer`` of a key."""
        return f"{self.file}::{child(self.pointer, key)}"

    def has(self, key: str) -> bool:
        """Whether the key is there and not null; counts as read."""
        self._read.add(key)
        return self._members.get(key) is not None

    def take(self, key: str) -> JsonValue:
        """The value of a key that must be there. FindingsError: it is not."""
        if key not in self._members:
            raise self.refusal(None, f"the key {shown(key)} is missing")
        self._read.add(key)
        return self._members[key]

    def text(self, key: str) -> str:
        """A string that must be there. FindingsError: it is not."""
        value = self.take(key)
        if not isinstance(value, str):
            raise self.refusal(key, f"is {kind(value)}, not a string")
        return value

    def array(self, key: str) -> list[JsonValue]:
        """An array that must be there. FindingsError: it is not."""
        value = self.take(key)
        if not isinstance(value, list):
            raise self.refusal(key, f"is {kind(value)}, not an array")
        return value

    def entries(self, key: str) -> Iterator[Entry]:
        """The objects of an array that must be there. FindingsError: one is no object."""
        for index, value in enumerate(self.array(key)):
            yield Entry(value, self.file, child(child(self.pointer, key), index))

    def whole(self, key: str, least: int = 0, most: int = MOST_TOKENS) -> int:
        """An integer within its limits. FindingsError: it is none."""
        value = self.take(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refusal(key, f"is {self._what(value)}, not an integer")
        if not least <= value <= most:
            raise self.refusal(key, _outside(value, least, most))
        return value

    def seconds_ns(self, key: str, unit_ns: int = 1_000_000_000, most_ns: int = MOST_NS) -> int:
        """A number of seconds (or of ``unit_ns``) as whole nanoseconds. FindingsError: none, or below 0."""
        value = self.take(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refusal(key, f"is {kind(value)}, not a number")
        if not 0 <= value <= most_ns // unit_ns:
            raise self.refusal(key, _outside(value, 0, most_ns // unit_ns))
        return int((Decimal(repr(value)) * unit_ns).to_integral_value())

    def optional_text(self, key: str) -> str | None:
        """A string, or None when absent or null. FindingsError: something else."""
        return self.text(key) if self.has(key) else None

    def optional_whole(self, key: str, least: int = 0, most: int = MOST_TOKENS) -> int | None:
        """An integer, or None when absent or null. FindingsError: something else."""
        return self.whole(key, least, most) if self.has(key) else None

    def unread(self) -> list[str]:
        """Keys that nobody asked for, in file order."""
        return [key for key in self._members if key not in self._read]

    def _what(self, value: JsonValue) -> str:
        return "a number with a fraction" if isinstance(value, float) else kind(value)


def _outside(value: float, least: int, most: int) -> str:
    if value < least:
        return "is negative" if least == 0 else f"is below {least}"
    return f"is above {most}"
