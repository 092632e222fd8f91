"""A check's outcome as JUnit XML: one test case a file and rule, so that green ones show too."""

from __future__ import annotations

from collections import defaultdict
from xml.etree import ElementTree

from tallymark.check.finding import Finding
from tallymark.check.judge import Assertion
from tallymark.check.outcome import CheckOutcome
from tallymark.errors import message_line
from tallymark.printable import printable


def to_junit(outcome: CheckOutcome) -> bytes:
    """A suite a file. A check over nothing is a suite with one error, never an empty green report."""
    root = ElementTree.Element("testsuites", name="tallymark check")
    by_place: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in outcome.findings:
        by_place[finding.file, finding.rule].append(finding)
    for result in outcome.files:
        suite = ElementTree.SubElement(root, "testsuite", name=printable(result.path))
        for assertion in result.assertions:
            _case(suite, result.path, assertion, by_place[result.path, assertion.rule])
        suite.set("tests", str(len(result.assertions)))
        suite.set("failures", str(sum(a.result == "failed" for a in result.assertions)))
        suite.set("errors", "0")
        suite.set("skipped", str(sum(a.result == "not_run" for a in result.assertions)))
    for folder in outcome.empty:
        _nothing(root, folder)
    xml: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _case(suite: ElementTree.Element, path: str, assertion: Assertion, listed: list[Finding]) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=printable(path), name=assertion.rule)
    lines = [message_line(f.pointer, f.problem, f.do) for f in listed]
    if len(lines) < assertion.findings:
        lines.append(f"{assertion.findings - len(lines)} more findings are not listed.")
    if assertion.result == "failed":
        failure = ElementTree.SubElement(case, "failure", message=lines[0], type=assertion.rule)
        failure.text = "\n".join(lines)
    elif assertion.result == "warned":
        ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
    elif assertion.result == "not_run":
        ElementTree.SubElement(case, "skipped", message="the shape of the document is wrong")


def _nothing(root: ElementTree.Element, folder: str) -> None:
    suite = ElementTree.SubElement(
        root, "testsuite", name=printable(folder), tests="1", failures="0", errors="1", skipped="0"
    )
    case = ElementTree.SubElement(suite, "testcase", classname=printable(folder), name="something to check")
    ElementTree.SubElement(case, "error", message="nothing was checked", type="nothing-checked")
