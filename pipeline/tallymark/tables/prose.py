"""Sentences whose numbers come from the data: placeholders in, text with a source for each number out.

A placeholder is ``{ROW:COLUMN}`` (the shown text of a cell), ``{key:ROW/KEY}``, ``{constant:KEY}`` (or
``{constant:machine/cores}``, or with a unit and a rounding
``{constant:context_bytes|factor=1/1048576|places=0}``), ``{ledger:FIELD}`` or ``{target:CLAIM}`` (the number
that the test of a claim compares with). Its source is the same words with the report's name in front, as the
``data-from`` attribute of a page has it: ``cell:REPORT/ROW:COLUMN``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tallymark import units
from tallymark.evidence import canonical

# A row id may itself hold braces (a compound key), so one level of them is part of a placeholder.
_PLACEHOLDER = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")
_KINDS = ("key", "constant", "ledger", "target", "spec")
# A word that a letter leads is a name, whatever digits it holds: p99, x86-64, SHA-256.
_NAME = re.compile(r"[^\W\d][\w-]*(?:\.\w+)*")
_NUMBER = re.compile(r"[-+−]?\d[\d.,:/T×-]*")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A place in a sentence that the data fills.

    ``kind`` is cell, key, constant, ledger or target, and in notes spec (a text of the published spec).
    """

    kind: str
    target: str

    @property
    def reference(self) -> str:
        """The placeholder as ``kind:target``."""
        return f"{self.kind}:{self.target}"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence; ``source`` is the ``data-from`` reference of a number, empty for words."""

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A filled sentence, in pieces, so that a page can mark every number with its source."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The sentence as it reads."""
        return "".join(part.text for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """``{"text", "parts": [{"text", "from"?}]}``."""
        parts = [
            {"text": part.text, "from": part.source} if part.source else {"text": part.text}
            for part in self.parts
        ]
        return {"text": self.text, "parts": parts}


def placeholders(template: str) -> Iterator[Placeholder]:
    """The placeholders of a template in order."""
    for match in _PLACEHOLDER.finditer(template):
        yield _placeholder(match[1])


def outside_placeholders(template: str) -> str:
    """The words of a template without its placeholders."""
    return _PLACEHOLDER.sub(" ", template)


def bare_numbers(text: str) -> list[str]:
    """The numbers in running text; a word that starts with a letter is a name, not a number."""
    return [match.rstrip(".,:/-") for match in _NUMBER.findall(_NAME.sub(" ", text))]


def fill(template: str, report: str, shown: Callable[[Placeholder], str]) -> Sentence:
    """The sentence of a template. ``shown`` gives the text of a placeholder, or raises LookupError."""
    parts: list[Part] = []
    at = 0
    for match in _PLACEHOLDER.finditer(template):
        placeholder = _placeholder(match[1])
        parts.append(Part(template[at : match.start()]))
        parts.append(Part(shown(placeholder), f"{placeholder.kind}:{report}/{placeholder.target}"))
        at = match.end()
    parts.append(Part(template[at:]))
    return Sentence(tuple(part for part in parts if part.text))


def value_text(value: Any) -> str:
    """A configuration value or ledger field in a sentence: strings bare, lists as their length."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return str(len(value))
    return canonical.compact(value) if isinstance(value, dict) else json.dumps(value)


def _placeholder(inside: str) -> Placeholder:
    kind, colon, target = inside.partition(":")
    if colon and kind in _KINDS:
        return Placeholder(kind, target)
    return Placeholder("cell", inside)


def rounded(value: Any, options: list[str]) -> str:
    """A number with ``factor=N/D`` and ``places=N`` or ``significant=N``. ValueError: not such a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("only a number can be rounded")
    chosen = dict(option.partition("=")[::2] for option in options)
    num, _, den = chosen.pop("factor", "1").partition("/")
    value = units.scaled(value, int(num), int(den or "1"))
    if "places" in chosen and len(chosen) == 1:
        return units.fixed(value, int(chosen["places"]))
    if "significant" in chosen and len(chosen) == 1:
        return units.significant(value, int(chosen["significant"]))
    raise ValueError(f"{options} is no rounding; write |factor=1/1024|places=0")
