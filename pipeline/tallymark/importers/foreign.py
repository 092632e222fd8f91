"""Reading foreign JSON key by key: every key is either read or reported, and every refusal has a pointer.

The strict reader has already refused NaN, duplicate keys and broken text; here the *shape* is
untrusted. Names from the file are shown through :func:`shown`, so no control byte reaches a terminal.
"""

from __future__ import annotations

from tallymark.errors import FindingsError, child
from tallymark.evidence.strict_json import JsonValue

_SHOWN_LENGTH = 60
_LARGEST = 1e15  # far above any time in seconds; an integer of 400 digits is no number to compute with


def shown(text: str) -> str:
    """Untrusted text for a message: quoted, non-printing characters escaped, cut at 60 characters."""
    return repr(text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + "…")


class Entry:
    """One object of a foreign file. Remembers which keys were read, so that the rest can be reported."""

    def __init__(self, value: JsonValue, file: str, pointer: str) -> None:
        self.file = file
        self.pointer = pointer
        if not isinstance(value, dict):
            raise self.refusal(None, f"is {_kind(value)}, not an object")
        self._members: dict[str, JsonValue] = value
        self._read: set[str] = set()

    def at(self, key: str) -> str:
        """Pointer of one key of this object."""
        return child(self.pointer, key)

    def refusal(
        self, key: str | None, problem: str, do: str | None = None, index: int | None = None
    ) -> FindingsError:
        """The error for the object itself, one key, or one element of a key's array; the caller raises it."""
        where = self.pointer if key is None else self.at(key)
        where = where if index is None else child(where, index)
        return FindingsError(
            f"{self.file}::{where}", problem, do or "export the file again with the tool that measured"
        )

    def take(self, key: str) -> JsonValue:
        """The value of a key that must be there. Raises FindingsError."""
        if key not in self._members:
            raise self.refusal(None, f"the key {shown(key)} is missing")
        self._read.add(key)
        return self._members[key]

    def has(self, key: str) -> bool:
        """Whether the key is there and not null. A null counts as read."""
        if self._members.get(key) is None:
            self._read.add(key)
            return False
        return True

    def text(self, key: str) -> str:
        """A string that must be there. Raises FindingsError."""
        value = self.take(key)
        if not isinstance(value, str):
            raise self.refusal(key, f"is {_kind(value)}, not a string")
        return value

    def array(self, key: str) -> list[JsonValue]:
        """An array that must be there. Raises FindingsError."""
        value = self.take(key)
        if not isinstance(value, list):
            raise self.refusal(key, f"is {_kind(value)}, not an array")
        return value

    def number(self, key: str) -> float:
        """A number from 0 to 1e15 that must be there. Raises FindingsError."""
        value = self.take(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refusal(key, f"is {_kind(value)}, not a number")
        if not 0 <= value <= _LARGEST:
            raise self.refusal(key, "is below 0" if value < 0 else "is above 1e15")
        return value

    def whole(self, key: str, least: int = 0, most: int = 2**53 - 1) -> int:
        """An integer within its limits that must be there. Raises FindingsError."""
        value = self.take(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refusal(key, f"is {_kind(value)}, not an integer")
        if not least <= value <= most:
            raise self.refusal(key, f"is not between {least} and {most}")
        return value

    def optional_number(self, key: str) -> float | None:
        """A number, or None when the key is absent or null. Raises FindingsError."""
        return self.number(key) if self.has(key) else None

    def peek(self, key: str) -> JsonValue:
        """The value of a key, which stays unread; None when it is absent."""
        return self._members.get(key)

    def unread(self) -> list[str]:
        """Keys nobody asked for, in file order."""
        return [key for key in self._members if key not in self._read]


def _kind(value: JsonValue) -> str:
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
