"""A check's outcome as SARIF 2.1.0, within what code hosts take."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from tallymark.check.finding import MORE, SHAPE, UNREADABLE, Finding
from tallymark.check.outcome import CheckOutcome
from tallymark.check.table import RULES
from tallymark.errors import CLEAN, FINDINGS, message_line
from tallymark.evidence.canonical import compact, sha256_hex

# GitHub refuses a run with more results
MAX_RESULTS: Final = 25_000
_BUILT_IN: Final = (
    (SHAPE, "The document fits its schema", "A missing key, a wrong unit or an unknown key stops the road."),
    (UNREADABLE, "The file is strict JSON", "What two readers could read differently is refused."),
    (MORE, "Every finding is listed", "After a hundred findings of one document the rest is only counted."),
)


def to_sarif(outcome: CheckOutcome, version: str) -> dict[str, Any]:
    """One run; results are told apart by rule, file and pointer, never by line numbers."""
    dropped = max(0, len(outcome.findings) - MAX_RESULTS)
    invocation: dict[str, Any] = {
        "executionSuccessful": outcome.exit_code in (CLEAN, FINDINGS),
        "exitCode": outcome.exit_code,
    }
    if dropped:
        text = f"{dropped} more findings are not listed."
        invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": text}}]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "tallymark", "version": version, "rules": _rules()}},
                "invocations": [invocation],
                "artifacts": [
                    {
                        "location": {"uri": _uri(document.path)},
                        "length": len(document.data),
                        "hashes": {"sha-256": document.sha256},
                    }
                    for document in outcome.checked
                ],
                "results": [_result(finding) for finding in outcome.findings[:MAX_RESULTS]],
            }
        ],
    }


def _rules() -> list[dict[str, Any]]:
    built_in = [(id, title, why, "error") for id, title, why in _BUILT_IN]
    own = [(rule.id, rule.title, rule.why, str(rule.severity)) for rule in RULES]
    return [
        {
            "id": id,
            "shortDescription": {"text": title},
            "fullDescription": {"text": why},
            "defaultConfiguration": {"level": severity},
        }
        for id, title, why, severity in built_in + own
    ]


def _result(finding: Finding) -> dict[str, Any]:
    identity = compact([finding.rule, finding.file, finding.pointer])
    return {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": message_line(finding.pointer, finding.problem, finding.do)},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": _uri(finding.file)}},
                "logicalLocations": [{"fullyQualifiedName": finding.pointer}],
            }
        ],
        "partialFingerprints": {"tallymark/v1": sha256_hex(identity.encode("utf-8"))},
    }


def _uri(path: str) -> str:
    """A relative URI reference; quoting leaves no colon that would make a scheme of its start."""
    return quote(path)
