"""Rules about text: nothing that tells who or where, nothing that prints as something else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from tallymark.check.printable import INVISIBLE
from tallymark.check.rule import PUBLISHED, Problem, Subject, document_rule
from tallymark.errors import child

_IDENTITY: Final = (
    (re.compile(r"(?<![\w.~-])/(?:home|Users)/[^/\s]"), "a path below somebody's home folder"),
    (re.compile(r"(?<![\w.~-])/root(?![\w-])"), "a path below root's home folder"),
    (re.compile(r"[A-Za-z]:[\\/]+Users[\\/]"), "a path below somebody's home folder"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}"), "an e-mail address"),
    (re.compile(r"(?<![\w@/])[A-Za-z_][\w.-]*@[A-Za-z][\w-]*"), "a user at a host"),
)
# If none of these bytes occurs, no pattern above can match; an escape may hide any of them.
_IDENTITY_BYTES: Final = (b"@", b"/home", b"/root", b"Users", b"\\")


@document_rule(
    "no-identity",
    "Nothing in the document tells who or where",
    why="Evidence is published for good: user names, home folders, hosts and addresses do not belong there.",
    kinds=PUBLISHED,
)
def no_identity(subject: Subject) -> Iterator[Problem]:
    """No home path, e-mail address or user@host in any key or text; the finding does not repeat it."""
    if not any(token in subject.document.data for token in _IDENTITY_BYTES):
        return
    for pointer, text in _texts(subject.value, "$"):
        for pattern, what in _IDENTITY:
            if pattern.search(text):
                yield Problem(pointer, f"the text holds {what}", "Make the document again without it")
                break


@document_rule(
    "no-unprintable",
    "No text holds characters that cannot be seen",
    why="Control and direction characters make a name print as another one, or drive the terminal.",
    kinds=PUBLISHED,
)
def no_unprintable(subject: Subject) -> Iterator[Problem]:
    """No control, bidirectional, zero-width, or separator character in any key or text."""
    data = subject.document.data
    if data.isascii() and b"\\" not in data and b"\x7f" not in data:
        return
    for pointer, text in _texts(subject.value, "$"):
        bad = next((c for c in text if unicodedata.category(c) in INVISIBLE), None)
        if bad is not None:
            name = unicodedata.name(bad, "a control character")
            yield Problem(pointer, f"the text holds U+{ord(bad):04X} ({name})", "Write the text without it")


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """(pointer, text) of every text and every key below ``value``."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield child(pointer, key), key
            yield from _texts(member, child(pointer, key))
    elif isinstance(value, list):
        for position, member in enumerate(value):
            if not isinstance(member, (int, float)):
                yield from _texts(member, f"{pointer}[{position}]")
