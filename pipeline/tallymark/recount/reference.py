"""The grammar of ``data-from``: where a number on a page says that it comes from.

``SCHEME:REST|option|option``. ``REST`` that starts with ``~`` continues the ``data-base`` of the nearest
enclosing element. A row id may hold any character, so a report name ends at the first ``/``, a column name
starts after the last ``:``, and the last part of a path after the last ``/``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_OPTION = re.compile(
    r"\|(exact|n|samples|reason|values|label|sha256|sha12|bytes|mib|path|name"
    r"|(?:factor=[1-9][0-9]{0,15}(?:/[1-9][0-9]{0,15})?)|(?:places=[0-9]{1,2})|(?:significant=[1-9][0-9]?))$"
)


class Unresolved(Exception):  # noqa: N818 - it is an outcome, reported as a difference
    """A reference leads to nothing. References with one ``cause`` are reported together."""

    def __init__(self, problem: str, cause: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Reference:
    """A parsed reference; ``options`` maps the name of an option to its value ("" without one)."""

    text: str
    scheme: str
    rest: str
    options: Mapping[str, str] = field(default_factory=dict)

    def first(self) -> tuple[str, str]:
        """(before, after) the first ``/``: a report or digest, and what is meant in it."""
        head, slash, tail = self.rest.partition("/")
        if not slash or not head or not tail:
            raise Unresolved(f"{self.text!r} lacks a part")
        return head, tail

    def cell(self) -> tuple[str, str, str]:
        """(report, row id, column) of ``REPORT/ROWID:COLUMN``."""
        report, rest = self.first()
        row, colon, column = rest.rpartition(":")
        if not colon:
            raise Unresolved(f"{self.text!r} names no column")
        return report, row, column

    def last(self) -> tuple[str, str, str]:
        """(report, row id, last part) of ``REPORT/ROWID/PART``."""
        report, rest = self.first()
        row, slash, part = rest.rpartition("/")
        if not slash:
            raise Unresolved(f"{self.text!r} lacks a part")
        return report, row, part

    def only(self, *allowed: str) -> str:
        """The one option, which must be among ``allowed``; "" when there is none."""
        if not self.options:
            return ""
        if len(self.options) > 1 or next(iter(self.options)) not in allowed:
            raise Unresolved(f"{self.text!r} has options that {self.scheme}: does not know")
        return next(iter(self.options))


def parse(text: str, base: str | None) -> Reference:
    """The reference in ``text``; ``base`` is what ``~`` stands for. Unresolved: it has no such form."""
    scheme, colon, rest = text.partition(":")
    if not colon:
        if text in ("illustration", "axis"):
            return Reference(text, text, "")
        raise Unresolved(f"{text!r} is no reference")
    if rest.startswith("~"):
        if base is None:
            raise Unresolved(f"{text!r} continues a data-base that is not there")
        rest = base + rest[1:]
    options: dict[str, str] = {}
    while match := _OPTION.search(rest):
        name, _, value = match.group(1).partition("=")
        if name in options:
            raise Unresolved(f"{text!r} has the option {name} twice")
        options[name] = value
        rest = rest[: match.start()]
    return Reference(f"{scheme}:{rest}" if "~" in text else text, scheme, rest, options)
