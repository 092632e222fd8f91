"""``recount-status.json``: what the page says about its own recount, and whether that is so."""

from __future__ import annotations

from typing import Any

from tallymark.errors import TallymarkError
from tallymark.evidence import strict_json
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.published import Published
from tallymark.recount.reference import Unresolved
from tallymark.recount.shown import value_text

FILE = "recount-status.json"
SCRIPT = "recount.py"
_TIMES = ("started_at", "finished_at", "imported_at")
# Facts of the build that no raw file holds.
_STATED = ("tool_version", "recounted_at")


def read(published: Published) -> dict[str, Any]:
    """The published status. Unresolved: there is none, or it is no JSON object."""
    try:
        value = strict_json.parse(published.files.read(FILE), FILE)
    except TallymarkError as error:
        raise Unresolved(f"{FILE} {error.problem}", FILE) from None
    if not isinstance(value, dict):
        raise Unresolved(f"{FILE} is not a JSON object", FILE)
    return value


def expected(published: Published) -> dict[str, Any]:
    """The status as it must be, except for what only the build can state."""
    executions: list[Any] = [document.value["execution"] for document in published.raw.values()]
    times = [str(execution[key]) for execution in executions for key in _TIMES if execution.get(key)]
    return {
        "by": SCRIPT,
        "sha256": published.files.sha256(SCRIPT) if SCRIPT in published.files else None,
        "evidence_until": max(times, default=None),
        "reports": {
            name: {"cells": sum(len(row["cells"]) for row in report.table["rows"]), "differences": 0}
            for name, report in sorted(published.reports.items())
        },
    }


def field(published: Published, name: str) -> Any:
    """The value of ``status:NAME`` or ``status:REPORT/NAME``. Unresolved: there is no such field."""
    known: dict[str, Any] = expected(published)
    known.update({key: value for key, value in read(published).items() if key in _STATED})
    report, _, inner = name.rpartition("/")
    if report:
        published.report(report)
    holder = known["reports"].get(report, {}) if report else known
    if inner not in holder or inner == "reports":
        raise Unresolved(f"the status has no {name!r}")
    return holder[inner]


def compare(published: Published) -> list[Difference]:
    """What the published status says differently; nothing when a site publishes none."""
    if FILE not in published.files:
        return []
    try:
        shown = read(published)
    except Unresolved as error:
        return [Difference(FILE, "", error.problem, "Build the site again")]
    wanted = expected(published)
    found = [
        mismatch(
            FILE, f"$.{key}", value_text(shown.get(key)), value_text(wanted[key]), "Build the site again"
        )
        for key in wanted
        if value_text(shown.get(key)) != value_text(wanted[key])
    ]
    unknown = sorted(set(shown) - set(wanted) - set(_STATED))
    return found + [Difference(FILE, f"$.{key}", "is unknown", "Build the site again") for key in unknown]
