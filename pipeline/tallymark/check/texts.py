"""Rules about text: nothing that tells who or where, nothing that prints as something else."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from tallymark.check.rule import PUBLISHED, Problem, Subject, document_rule
from tallymark.errors import child
from tallymark.evidence.personal import KnownNames, personal
from tallymark.printable import invisible

# No names of this machine: a verdict must be the same wherever it is given.
_NOBODY_HERE: Final = KnownNames(user=None, host=None, home=None)
# What Unicode gives no name to, by its category.
_NAMELESS: Final = {
    "Cc": "a control character",
    "Cs": "half a character",
    "Co": "a private character",
    "Cn": "no character",
}


@document_rule(
    "no-identity",
    "Nothing in the document tells who or where",
    why="Evidence is published for good: user names, home folders, hosts and addresses do not belong there.",
    kinds=PUBLISHED,
)
def no_identity(subject: Subject) -> Iterator[Problem]:
    """No home folder, address, host or credential in any key or text; the finding does not repeat it."""
    for pointer, text in _texts(subject.value, "$"):
        for hit in personal(text, _NOBODY_HERE):
            do = (
                "Revoke it, then make the document again"
                if hit.secret
                else "Make the document again without it"
            )
            yield Problem(pointer, f"the text holds {hit.kind}", do)


@document_rule(
    "no-unprintable",
    "No text holds characters that cannot be seen",
    why="Control and direction characters make a name print as another one, or drive the terminal.",
    kinds=PUBLISHED,
)
def no_unprintable(subject: Subject) -> Iterator[Problem]:
    """No control, bidirectional, zero-width, separator or private character in any key or text."""
    data = subject.document.data
    if data.isascii() and b"\\" not in data and b"\x7f" not in data:
        return
    for pointer, text in _texts(subject.value, "$"):
        bad = next((c for c in text if invisible(c)), None)
        if bad is not None:
            name = unicodedata.name(bad, None) or _NAMELESS[unicodedata.category(bad)]
            yield Problem(pointer, f"the text holds U+{ord(bad):04X} ({name})", "Write the text without it")


_NUMBERS = frozenset([int, float, bool, type(None)])


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """(pointer, text) of every different text and key below ``value``, where it stands first."""
    seen: set[str] = set()
    for place, text in _all_texts(value, pointer):
        if text not in seen:
            seen.add(text)
            yield place, text


def _all_texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield child(pointer, key), key
            yield from _all_texts(member, child(pointer, key))
    elif isinstance(value, list):
        for position, member in enumerate(value):
            # rows of plain numbers (buckets, timelines) are most of a document and hold no text
            if type(member) in _NUMBERS or (type(member) is list and _NUMBERS.issuperset(map(type, member))):
                continue
            yield from _all_texts(member, f"{pointer}[{position}]")
