"""What a suite, or the recovery of one, leaves behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tallymark.check import Finding
from tallymark.errors import message_line


@dataclass(frozen=True, slots=True)
class Written:
    """A document that is on disk: where, which of its runs did not complete, what ``check`` says of it."""

    path: Path
    unexpected: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def refused(self) -> bool:
        """Whether ``check`` refuses the document; a warning alone does not."""
        return bool(errors_of(self.findings))


def shown(finding: Finding) -> str:
    """The finding on one line; a warning says that it is one."""
    if finding.severity == "error":
        return finding.line()
    return message_line(f"{finding.file}::{finding.pointer}", f"warning: {finding.problem}", finding.do)


def errors_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are no mere warnings."""
    return tuple(finding for finding in findings if finding.severity == "error")
