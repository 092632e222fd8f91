"""Every rule has files that it lets pass and files that it alone refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallymark.check import RULES, check_document
from tallymark.evidence import documents

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.json"))
IDS = [f"{path.parent.name}/{path.stem}" for path in FILES]


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_every_rule_has_a_passing_and_a_failing_file(rule: str) -> None:
    assert list((HERE / rule).glob("pass*.json"))
    assert list((HERE / rule).glob("fail*.json"))


def test_every_folder_belongs_to_a_rule() -> None:
    assert {path.parent.name for path in FILES} == {rule.id for rule in RULES}


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_a_failing_file_is_refused_by_its_rule_alone_and_a_passing_one_by_none(path: Path) -> None:
    findings = check_document(documents.load(path, HERE))
    expected = {path.parent.name} if path.name.startswith("fail") else set()
    assert {finding.rule for finding in findings} == expected, [finding.line() for finding in findings]


def test_every_rule_says_what_and_why_in_a_sentence() -> None:
    for rule in RULES:
        assert rule.title and not rule.title.endswith("."), rule.id
        assert rule.why.endswith("."), rule.id
        assert rule.check.__doc__, rule.id


def test_rule_ids_are_unique() -> None:
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
