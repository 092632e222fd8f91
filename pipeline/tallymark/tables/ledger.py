"""The ledger: every run that was found or declared is accounted for, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tallymark.tables.evidence import Evidence, Run, State
from tallymark.tables.groups import Row
from tallymark.tables.spec import SCHEMAS, Exclusion, Spec

_COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class Ledger:
    """found = published + failed + excluded + duplicate, and expected = found + missing.

    ``missing`` runs belong to declared rows that were not measured; a row with some of its runs stops the
    report. A duplicate stops it too, so the count is 0 in every report that exists. Warm-ups are recorded
    in the evidence, are no runs of the table, and are counted beside it. ``failed_as_planned`` are those of
    the failed whose outcome the plan had announced; None under a spec of 1.0, which does not tell them apart.
    """

    found: int
    published: int
    failed: int
    failed_as_planned: int | None
    excluded: tuple[Exclusion, ...]
    duplicate: int
    expected: int
    missing: int
    warmups: int

    @property
    def closes(self) -> bool:
        """Whether both sums hold."""
        accounted = self.published + self.failed + len(self.excluded) + self.duplicate
        return self.found == accounted and self.expected == self.found + self.missing

    def to_json(self) -> dict[str, Any]:
        """The ledger of ``report/1.1``, or of 1.0 without what that does not know."""
        planned = self.failed_as_planned
        return {
            "found": self.found,
            "published": self.published,
            "failed": self.failed,
            **({} if planned is None else {"failed_as_planned": planned}),
            "excluded": [
                {"sha256": entry.sha256, "pointer": entry.pointer, "reason": entry.reason}
                for entry in self.excluded
            ],
            "duplicate": self.duplicate,
            "expected": self.expected,
            "missing": self.missing,
            "warmups": self.warmups,
            "closes": self.closes,
        }


def close(evidence: Evidence, rows: Sequence[Row], spec: Spec) -> Ledger:
    """Count the runs by what became of them, from the evidence on one side and the rows on the other."""
    states = Counter(run.state for run in evidence.runs)
    return Ledger(
        found=len(evidence.runs),
        published=states[State.PUBLISHED],
        failed=states[State.FAILED],
        failed_as_planned=None if spec.declared["schema"] == SCHEMAS[0] else _planned(evidence.runs),
        excluded=spec.exclude,
        duplicate=0,
        expected=sum(row.declared for row in rows),
        missing=sum(row.declared for row in rows if not row.runs),
        warmups=evidence.warmups,
    )


def _planned(runs: Sequence[Run]) -> int:
    """How many failed runs ended as the plan of their execution had announced."""
    return sum(run.state is State.FAILED and run.value["outcome"] in announced(run) for run in runs)


def announced(run: Run) -> Sequence[str]:
    """The outcomes that the plan expects of a run; of one that nobody planned, that it completes."""
    execution: Any = run.document.value["execution"]
    for entry in execution.get("plan", ()):
        if entry["index"] == run.value.get("index"):
            outcomes: Sequence[str] = entry.get("expected_outcomes", (_COMPLETED,))
            return outcomes
    return (_COMPLETED,)
