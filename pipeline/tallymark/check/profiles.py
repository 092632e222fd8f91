"""Rules about profiles: shares that follow from counts, and counts that add up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from tallymark.check.rule import PROFILE, Problem, Subject, document_rule
from tallymark.errors import child

_AGAIN: Final = "Make the profile again; it is never corrected by hand"
_ROUNDED: Final = 0.005000001  # perf tells the share of a function with its callees with two places


@document_rule(
    "profile-adds-up",
    "The counts of a profile add up to its total, and shares follow from them",
    why="A profile that lists a part as if it were the whole points at the wrong function.",
    kinds=(PROFILE,),
)
def profile_adds_up(subject: Subject) -> Iterator[Problem]:
    """Sum of objects = sum of functions + left out = total; self_percent = 100 × self / total; most first."""
    value = subject.value
    total: int = value["tool"]["total"]
    listed = sum(entry["self"] for entry in value["functions"]) + value["self_left_out"]
    if listed != total:
        yield Problem("$.functions", f"the counts add up to {listed}, the total is {total}", _AGAIN)
    objects = sum(entry["self"] for entry in value["objects"])
    if objects != total:
        yield Problem("$.objects", f"the counts add up to {objects}, the total is {total}", _AGAIN)
    for part in ("objects", "functions"):
        yield from _shares(part, value[part], total)


def _shares(part: str, entries: list[dict[str, float]], total: int) -> Iterator[Problem]:
    before = math.inf
    for index, entry in enumerate(entries):
        pointer = f"$.{part}[{index}]"
        share = 100 * entry["self"] / total
        if not math.isclose(entry["self_percent"], share, rel_tol=1e-9, abs_tol=1e-12):
            problem = f"the share is {entry['self_percent']}, its count makes it {share}"
            yield Problem(child(pointer, "self_percent"), problem, _AGAIN)
        whole = entry.get("total_percent")
        if whole is not None and whole + _ROUNDED < share:
            yield Problem(
                child(pointer, "total_percent"), "it is below the share of the function alone", _AGAIN
            )
        if entry["self"] > before:
            yield Problem(pointer, "it has more counts than the one before", _AGAIN)
        before = entry["self"]
