"""The rule about the two sides of an A/B comparison."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from tallymark.check.rule import RERUN, RUNTIME, Problem, Subject, document_rule

_BLOCKS: Final = re.compile(r"(?:abba|baab)+\Z")


@document_rule(
    "sides-alternate",
    "The sides of a comparison ran alternately, and this is one of them",
    why="A machine that slows down in mid-comparison slows both sides alike only if they took turns; and a "
    "side is its library, not its name.",
    kinds=(RUNTIME,),
)
def sides_alternate(subject: Subject) -> Iterator[Problem]:
    """order is blocks abba or baab, a letter for each planned run; variant and library are this side's."""
    execution: dict[str, Any] = subject.value["execution"]
    side: dict[str, Any] | None = execution.get("ab")
    if side is None:
        return
    own, order = side["variant"], side["order"]
    if not _BLOCKS.match(order):
        yield Problem("$.execution.ab.order", "is not made of blocks abba or baab", RERUN)
    elif order.count(own) != len(execution["plan"]):
        problem = f"{order.count(own)} runs of side {own}, {len(execution['plan'])} are planned"
        yield Problem("$.execution.ab.order", problem, RERUN)
    for run in subject.all_runs:
        if run.value["variant"] != own:
            yield run.found("variant", f"{run.value['variant']!r} in the document of side {own}", RERUN)
    library = subject.value["manifest"]["library_sha256"]
    if library is not None and library != side["library_sha256"]:
        yield Problem("$.execution.ab.library_sha256", "is not the library of the manifest", RERUN)
    if (side["library_sha256"] == side["partner_library_sha256"]) != side["same_library"]:
        yield Problem("$.execution.ab.same_library", "does not fit the two libraries", RERUN)
    if side["partner"] == execution["id"]:
        yield Problem("$.execution.ab.partner", "is this execution itself", RERUN)
