"""What a check says: one finding, one place, one thing to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tallymark.errors import message_line

Severity: TypeAlias = Literal["error", "warning"]

SHAPE = "schema"
UNREADABLE = "unreadable"
MORE = "more"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem in one file. ``rule`` is a rule's id, or ``schema``, ``unreadable``, ``more``.

    A warning is printed and leaves the exit code alone.
    """

    file: str
    pointer: str
    rule: str
    problem: str
    do: str
    severity: Severity = "error"

    def line(self) -> str:
        """``file::$.pointer: problem. What to do.``"""
        return message_line(f"{self.file}::{self.pointer}", self.problem, self.do)
