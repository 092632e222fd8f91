"""A check's outcome as text, JSON, GitHub annotations, SARIF or JUnit; the formats only read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tallymark import __version__, schemas
from tallymark.check.finding import Finding
from tallymark.check.judge import COUNTED
from tallymark.check.junit import to_junit
from tallymark.check.outcome import CheckOutcome, FileResult
from tallymark.check.sarif import to_sarif
from tallymark.check.table import rules_sha256
from tallymark.errors import message_line
from tallymark.evidence import canonical
from tallymark.printable import printable

SCHEMA: Final = "findings/1.0"


def to_text(outcome: CheckOutcome) -> bytes:
    """One line a finding: ``file::$.pointer: problem. What to do.``; a warning says that it is one."""
    return "".join(f"{_line(finding)}\n" for finding in outcome.findings).encode("utf-8")


def _line(finding: Finding) -> str:
    if finding.severity == "error":
        return finding.line()
    return message_line(f"{finding.file}::{finding.pointer}", f"warning: {finding.problem}", finding.do)


def to_json(outcome: CheckOutcome) -> bytes:
    """A ``findings/1.0`` document: parser, every document with its digest and assertions, every finding."""
    return canonical.encode(
        {
            "schema": SCHEMA,
            "parser": {
                "name": "tallymark",
                "version": __version__,
                "rules_sha256": rules_sha256(),
                "schemas_sha256": canonical.sha256_hex((schemas.shipped().folder / "lock.json").read_bytes()),
            },
            "documents": [_document(result) for result in outcome.files],
            "findings": [_finding(finding) for finding in outcome.findings],
            "exit_code": outcome.exit_code,
        }
    )


def _document(result: FileResult) -> dict[str, Any]:
    document = result.document
    return {
        "path": result.path,
        "sha256": document.sha256 if document else None,
        "bytes": len(document.data) if document else None,
        "schema": (document.schema or None) if document else None,
        "verdict": result.verdict,
        "assertions": [
            {"rule": assertion.rule, "result": assertion.result, "findings": assertion.findings}
            for assertion in result.assertions
        ],
    }


def _finding(finding: Finding) -> dict[str, str]:
    return {
        "file": finding.file,
        "pointer": finding.pointer,
        "rule": finding.rule,
        "severity": finding.severity,
        "problem": finding.problem,
        "do": finding.do,
    }


def to_github(outcome: CheckOutcome) -> bytes:
    """Workflow commands, one a finding; nothing in a document can start a command of its own."""
    lines = []
    for finding in outcome.findings:
        properties = f"file={_property(finding.file)},title={_property(finding.rule)}"
        message = message_line(finding.pointer, finding.problem, finding.do)
        lines.append(f"::{finding.severity} {properties}::{_message(message)}\n")
    return "".join(lines).encode("utf-8")


def _message(text: str) -> str:
    return printable(text).replace("%", "%25")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _sarif(outcome: CheckOutcome) -> bytes:
    return canonical.encode(to_sarif(outcome, __version__))


# Text is for whoever called; the others are kept and uploaded, so they say nothing of folders elsewhere.
FORMATS: Mapping[str, Callable[[CheckOutcome], bytes]] = {
    "text": to_text,
    "json": lambda outcome: to_json(outcome.public()),
    "github": lambda outcome: to_github(outcome.public()),
    "sarif": lambda outcome: _sarif(outcome.public()),
    "junit": lambda outcome: to_junit(outcome.public()),
}


def summary(outcome: CheckOutcome) -> str:
    """One line of talk: how many documents, what became of them, how many findings."""
    verdicts = [result.verdict for result in outcome.files]
    counted = [
        f"{verdicts.count(verdict)} {verdict}"
        for verdict in ("passed", "warned", "failed", "unreadable")
        if verdict in verdicts
    ]
    numbers = [assertion.findings for result in outcome.files for assertion in result.assertions]
    at_least = "at least " if COUNTED in numbers else ""
    found = f"{at_least}{_plural(sum(numbers), 'finding')}"
    return f"{_plural(len(verdicts), 'document')}: {', '.join(counted)}; {found}"


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
