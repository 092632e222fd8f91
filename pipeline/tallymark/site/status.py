"""The status of a site: what recounted it, when the evidence ends, and how many cells agree.

The clock is never read, so that two builds of the same input are equal to the byte. The time of the recount
is stated only when the publisher gives one in ``SOURCE_DATE_EPOCH``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tallymark import __version__
from tallymark.site.report_data import ReportData
from tallymark.site.shown import Sentence, Shown, words

SCRIPT = "recount.py"
FILE = "recount-status.json"
_TIMES = ("started_at", "finished_at", "imported_at")


@dataclass(frozen=True, slots=True)
class Status:
    """``cells`` by report name; times are UTC as evidence writes them."""

    script_sha256: str
    evidence_until: str
    recounted_at: str | None
    cells: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The published ``recount-status.json``."""
        return {
            "by": SCRIPT,
            "sha256": self.script_sha256,
            "tool_version": __version__,
            "evidence_until": self.evidence_until,
            "recounted_at": self.recounted_at,
            "reports": {name: {"cells": count, "differences": 0} for name, count in self.cells.items()},
        }


def status_of(reports: Sequence[ReportData], script_sha256: str, epoch: int | None) -> Status:
    """The status of a site of these reports. ``epoch`` is the publisher's SOURCE_DATE_EPOCH, if given."""
    times = [
        execution[key]
        for report in reports
        for execution in [file.document.value["execution"] for file in report.files]
        if isinstance(execution, Mapping)
        for key in _TIMES
        if isinstance(execution.get(key), str)
    ]
    given = None if epoch is None else datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    cells = {report.name: sum(len(row["cells"]) for row in report.rows) for report in reports}
    return Status(script_sha256, max(map(str, times)), given, dict(sorted(cells.items())))


def seconds(time: str) -> int:
    """A time of the evidence as seconds since 1970, for tools that take SOURCE_DATE_EPOCH."""
    return int(datetime.fromisoformat(time).timestamp())


def status_lines(report: ReportData, status: Status) -> tuple[Sentence, ...]:
    """The status line of a report page: recounted when and by what, from which evidence."""
    name = report.name
    recounted: list[Shown] = [
        words("Recounted when this page was built: "),
        Shown(str(status.cells[name]), f"status:{name}/cells"),
        words(" cells, "),
        Shown("0", f"status:{name}/differences"),
        words(" differences, by "),
        Shown(SCRIPT, "status:by"),
        words(" (SHA-256 "),
        Shown(status.script_sha256[:12], f"file:{SCRIPT}|sha12"),
        words(")"),
    ]
    if status.recounted_at is not None:
        recounted += [words(" at "), Shown(status.recounted_at, "status:recounted_at")]
    evidence: list[Shown] = [
        words("Evidence until "),
        Shown(status.evidence_until, "status:evidence_until"),
        words("; report digest "),
        Shown(str(report.value["digest"])[:12], f"report:{name}/$.digest|sha12"),
        words("; made by tallymark "),
        Shown(__version__, "status:tool_version"),
    ]
    revision = report.value["generated"].get("revision")
    if revision:
        evidence += [
            words(" at revision "),
            Shown(revision[:12], f"report:{name}/$.generated.revision|sha12"),
        ]
    return ((*recounted, words(".")), (*evidence, words(".")))
