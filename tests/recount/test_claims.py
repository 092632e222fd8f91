"""Claims are judged again on the recounted cells."""

from __future__ import annotations

from typing import Any

import pytest

from tallymark.recount import claims
from tallymark.recount.published import Published, Report
from tallymark.recount.reference import Unresolved
from tallymark.recount.resolver import resolve

SMALL, LARGE = "tasks=1000,agents=100:runs", "tasks=1000,agents=100:elapsed"


@pytest.fixture
def report(read: Published) -> Report:
    return read.reports["runtime-scale"]


def judged(report: Report, op: str, value: float, tolerance: float = 0) -> bool | None:
    return claims.judge(report, {"test": {"cell": SMALL, "op": op, "value": value}, "tolerance": tolerance})


@pytest.mark.parametrize(
    ("op", "value", "tolerance", "verdict"),
    [
        # the cell is 3: three runs
        ("==", 3, 0, True),
        ("==", 3.1, 0, False),
        ("==", 3.1, 0.05, True),
        ("<", 4, 0, True),
        ("<", 3, 0, False),
        ("<=", 3, 0, True),
        (">=", 3, 0, True),
        (">", 2, 0, True),
        (">", 2.99, 0.01, None),
        ("<", 4, 0.5, None),
        (">", 2, 0.4, True),
    ],
)
def test_a_test_holds_fails_or_cannot_tell_within_its_tolerance(
    report: Report, op: str, value: float, tolerance: float, verdict: bool | None
) -> None:
    assert judged(report, op, value, tolerance) is verdict


def test_a_claim_without_a_test_cannot_tell(report: Report) -> None:
    assert claims.judge(report, {}) is None


def test_a_comparison_of_two_cells(report: Report) -> None:
    test: dict[str, Any] = {"test": {"cell": SMALL, "op": ">", "than": LARGE}}
    # 3 runs are more than about 2 ms
    assert claims.judge(report, test) is True


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    # the cell is 3 and the claim is "< 10": peak_rss is 17, elapsed about 2
    [(LARGE, SMALL, True), (LARGE, "tasks=1000,agents=100:peak_rss", None), (SMALL, SMALL, True)],
)
def test_a_claim_with_a_range_holds_only_where_all_of_it_does(
    report: Report, low: str, high: str, verdict: bool | None
) -> None:
    test = {"cell": SMALL, "op": "<", "value": 10, "low": low, "high": high}
    assert claims.judge(report, {"test": test}) is verdict


def test_the_number_that_a_claim_compares_with_can_be_quoted(report: Report) -> None:
    assert claims.target(report, "quick") == 1
    with pytest.raises(Unresolved, match="makes no claim"):
        claims.target(report, "other")


def test_an_unknown_comparison_or_cell_is_unresolved(report: Report) -> None:
    with pytest.raises(Unresolved, match="no comparison"):
        judged(report, "!=", 3)
    with pytest.raises(Unresolved, match="compares with nothing"):
        claims.judge(report, {"test": {"cell": SMALL, "op": "<"}})
    with pytest.raises(Unresolved, match="no row"):
        claims.judge(report, {"test": {"cell": "tasks=1:runs", "op": "<", "value": 1}})


def test_placeholders_are_filled_by_what_they_name(report: Report, read: Published) -> None:
    sentence = (
        "{tasks=1000,agents=100:runs} runs, {key:tasks=1000,agents=100/agents} roles, {constant:workers} on"
        " {constant:machine/cores} cores, {ledger:found} in all,"
        " {constant:context_bytes|factor=1/1048576|places=0} MiB"
    )
    filled = claims.filled(report, sentence, lambda one: resolve(read, one).text)
    assert filled == "3 runs, 100 roles, 8 on 2 cores, 6 in all, 8 MiB"
