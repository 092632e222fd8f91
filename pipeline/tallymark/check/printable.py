"""Text that can be printed anywhere: what cannot be seen is shown as its escape."""

from __future__ import annotations

import unicodedata
from typing import Final

# Controls, format characters (bidi overrides, zero-width), half surrogates, private use, line separators.
INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def printable(text: str) -> str:
    """``text`` with every invisible character as ``\\uXXXX``: safe for a terminal, a CI log and XML."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if unicodedata.category(c) in INVISIBLE else c for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
