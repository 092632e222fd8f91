"""Foreign text in our output: what cannot be seen is shown as its escape, and nothing of it is an order."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Controls, format characters (bidi overrides, zero-width), half surrogates, private use, line separators.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
# What CI services obey wherever it stands in a line of a log: ``##[error]``, ``##vso[…]``, ``##teamcity[…]``.
_ORDER: Final = re.compile(r"(##[A-Za-z]*)\[")
# What GitHub obeys at the start of a line, after any white space.
_FIRST_ORDER: Final = re.compile(r"(\s*):(?=:)")


def invisible(character: str) -> bool:
    """Whether the character cannot be seen, or is none at all: XML has no U+FFFE."""
    return unicodedata.category(character) in _INVISIBLE or _no_character(ord(character))


def _no_character(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def printable(text: str) -> str:
    """``text`` with every invisible character as ``\\uXXXX``: safe in a terminal and in XML, one line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if invisible(c) else c for c in text)


def log_line(text: str) -> str:
    """``text`` as one printable line that no CI service takes for a command of its log."""
    shown = _ORDER.sub(lambda match: match.group(1) + _escaped("["), printable(text))
    start = _FIRST_ORDER.match(shown)
    return shown if start is None else start.group(1) + _escaped(":") + shown[start.end() :]


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
