"""Shape errors by schema, then the rule table: which documents may be published, and why others may not."""

from __future__ import annotations

from tallymark.check.checked import CheckedExecution, CheckedRun, checked_execution
from tallymark.check.finding import Finding
from tallymark.check.judge import judge
from tallymark.check.outcome import CheckOutcome, check_paths
from tallymark.check.rule import Rule
from tallymark.check.table import RULES
from tallymark.evidence.documents import Document

__all__ = [
    "RULES",
    "CheckOutcome",
    "CheckedExecution",
    "CheckedRun",
    "Finding",
    "Rule",
    "check_document",
    "check_paths",
    "checked_execution",
]


def check_document(document: Document) -> tuple[Finding, ...]:
    """All findings of one document, errors and warnings, at most a hundred and a line for the rest."""
    return judge(document).findings
