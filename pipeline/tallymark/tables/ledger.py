"""The ledger: every run that was found or declared is accounted for, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tallymark.tables.evidence import Evidence, State
from tallymark.tables.groups import Row
from tallymark.tables.spec import Exclusion


@dataclass(frozen=True, slots=True)
class Ledger:
    """found = published + failed + excluded + duplicate, and expected = found + missing.

    ``missing`` runs belong to declared rows that were not measured; a row with some of its runs stops the
    report. A duplicate stops it too, so the count is 0 in every report that exists. Warm-ups are recorded
    in the evidence, are no runs of the table, and are counted beside it.
    """

    found: int
    published: int
    failed: int
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
        """The ledger of ``report/1.0``."""
        return {
            "found": self.found,
            "published": self.published,
            "failed": self.failed,
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


def close(evidence: Evidence, rows: Sequence[Row], excluded: tuple[Exclusion, ...]) -> Ledger:
    """Count the runs by what became of them, from the evidence on one side and the rows on the other."""
    states = Counter(run.state for run in evidence.runs)
    return Ledger(
        found=len(evidence.runs),
        published=states[State.PUBLISHED],
        failed=states[State.FAILED],
        excluded=excluded,
        duplicate=0,
        expected=sum(row.declared for row in rows),
        missing=sum(row.declared for row in rows if not row.runs),
        warmups=evidence.warmups,
    )
