"""What counts as a number in running text.

A number is a digit that no Latin letter leads: ``15 000``, ``-0.5``, ``12ms``, ``2026-11-29``, ``½``.
A word that starts with a Latin letter is a name, whatever digits it holds: ``p99``, ``SHA-256``, ``x86-64``.
"""

from __future__ import annotations

import re

# \d covers the decimal digits of every script; the rest are fractions, super- and subscripts, Roman and
# circled numbers, which print like numbers and are none to \d.
_DIGIT = r"[\d²³¹¼-¾⁰-₉⅐-↉①-⓿❶-➓]"
# A full stop belongs to a name only between digits (p99.9); elsewhere it ends a sentence.
_NAME = rf"[A-Za-z_](?:[A-Za-z_-]|{_DIGIT}|(?<=\d)\.(?=\d))*"
_TOKEN = re.compile(rf"(?P<name>{_NAME})|(?P<number>{_DIGIT}(?:[\w.,:×-]|{_DIGIT})*)")


def numbers(text: str) -> list[str]:
    """The number tokens of ``text`` in order, as they are written, without a sign."""
    return [match["number"].rstrip(".,:-") for match in _TOKEN.finditer(text) if match["number"]]


def holds_number(text: str) -> bool:
    """Whether ``text`` has a number token."""
    return any(match["number"] for match in _TOKEN.finditer(text))
