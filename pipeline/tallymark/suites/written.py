"""What a suite, or the recovery of one, leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tallymark.check import Finding


@dataclass(frozen=True, slots=True)
class Written:
    """A document that is on disk: where, which of its runs did not complete, what ``check`` says of it."""

    path: Path
    unexpected: tuple[str, ...]
    findings: tuple[Finding, ...]
