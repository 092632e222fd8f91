"""One document, judged: shape first, then every rule for its kind, each with its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from tallymark.check.finding import MORE, SHAPE, Finding
from tallymark.check.rule import Rule, Subject
from tallymark.check.shape import shape_findings
from tallymark.check.table import rules_for
from tallymark.evidence.documents import Document

Result: TypeAlias = Literal["passed", "failed", "warned", "not_run"]

# A broken document of a million runs has millions of findings: so many are listed of a document, and so
# many counted of an assertion before it is given up.
LISTED: Final = 100
COUNTED: Final = 1000


@dataclass(frozen=True, slots=True)
class Assertion:
    """The result of one rule (or of the shape) for one document: its findings, counted up to 1000."""

    rule: str
    result: Result
    findings: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything that was asserted about one document.

    ``findings`` holds at most 100 and then one of rule ``more`` that says how many are not listed.
    """

    document: Document
    assertions: tuple[Assertion, ...]
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether any assertion failed (warnings do not count)."""
        return any(assertion.result == "failed" for assertion in self.assertions)


def judge(document: Document) -> Judgement:
    """Judge a document by the schema that it declares and by every rule for its kind.

    Rules see only documents of the right shape; they are ``not_run`` when the shape is wrong.
    """
    listed: list[Finding] = []
    total, shape = _collect(shape_findings(document), listed, 0, SHAPE, "failed")
    assertions = [shape]
    subject = Subject(document)
    for rule in rules_for(document.kind):
        if shape.findings:
            assertions.append(Assertion(rule.id, "not_run", 0))
            continue
        worse: Result = "failed" if rule.severity == "error" else "warned"
        total, assertion = _collect(_found(rule, subject), listed, total, rule.id, worse)
        assertions.append(assertion)
    if total > LISTED:
        listed.append(_more(document, total - LISTED, assertions))
    return Judgement(document, tuple(assertions), tuple(listed))


def _found(rule: Rule, subject: Subject) -> Iterator[Finding]:
    for problem in rule.check(subject):
        yield Finding(
            subject.document.path, problem.pointer, rule.id, problem.problem, problem.do, rule.severity
        )


def _collect(
    found: Iterable[Finding], listed: list[Finding], before: int, rule: str, worse: Result
) -> tuple[int, Assertion]:
    """Count up to a thousand, keep the first hundred of the document."""
    count = 0
    for finding in islice(found, COUNTED):
        count += 1
        if before + count <= LISTED:
            listed.append(finding)
    return before + count, Assertion(rule, worse if count else "passed", count)


def _more(document: Document, count: int, assertions: list[Assertion]) -> Finding:
    failed = any(assertion.result == "failed" for assertion in assertions)
    at_least = "at least " if any(assertion.findings == COUNTED for assertion in assertions) else ""
    problem = f"{at_least}{count} more findings are not listed"
    return Finding(
        document.path, "$", MORE, problem, "Correct the ones above first", "error" if failed else "warning"
    )
