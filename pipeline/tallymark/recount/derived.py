"""References to what follows from several documents: counts, commands, costs, claims, files, jq lines."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from tallymark.recount import claims, jq, status
from tallymark.recount import recount as script
from tallymark.recount.published import Published, Report
from tallymark.recount.reference import Reference, Unresolved
from tallymark.recount.shown import value_text

_PEAKS = ("peak_rss_bytes", "memory_bytes")


def _count(published: Published, reference: Reference) -> str:
    name, slash, field = reference.rest.rpartition("/")
    reports = [published.report(name)] if slash else list(published.reports.values())
    if published.broken and not slash:
        raise Unresolved("not every report could be recounted", "site counts")
    counts: dict[str, Callable[[], int]] = {
        "cells": lambda: sum(cells_in(report) for report in reports),
        "runs": lambda: sum(report.table["ledger"]["published"] for report in reports),
        "raw-files": lambda: len({document.sha256 for report in reports for document in report.data}),
        "reports": lambda: len(reports),
    }
    if field not in counts:
        raise Unresolved(f"{reference.text!r} counts what recount does not know")
    return value_text(counts[field]())


def cells_in(report: Report) -> int:
    """The number of cells of a recounted table."""
    return sum(len(row["cells"]) for row in report.table["rows"])


def _file(published: Published, reference: Reference) -> str:
    path = reference.rest
    option = reference.only("sha256", "sha12", "bytes", "mib", "path", "name")
    if path not in published.files:
        raise Unresolved(f"{path} is not published")
    if option == "path":
        return path
    if option == "name":
        return path.rpartition("/")[2]
    if option in ("sha256", "sha12"):
        return published.files.sha256(path)[: 64 if option == "sha256" else 12]
    size = len(published.files.read(path))
    if option == "bytes":
        return value_text(size)
    if option == "mib":
        return script.fixed(script.scaled(size, 1, 1 << 20), 2)
    raise Unresolved(f"{reference.text!r} does not say what of the file is meant")


def _command(published: Published, reference: Reference) -> str:
    name, what = reference.first()
    report = published.report(name)
    if what == "recount":
        paths = [document.path for document in report.data]
        spec, value = f"reports/{name}.spec.json", f"reports/{name}.json"
        return shlex.join(["python3", "recount.py", "--report", value, spec, *paths])
    if what == "rerun":
        return "\n".join(dict.fromkeys(value_text(_execution(one)["command"]) for one in _values(report)))
    raise Unresolved(f"no command is called {what!r}")


def _values(report: Report) -> list[dict[str, Any]]:
    return [document.value for document in report.data]


def _execution(value: dict[str, Any]) -> dict[str, Any]:
    execution: dict[str, Any] = value["execution"]
    return execution


def _duration(published: Published, reference: Reference) -> str:
    name, what = reference.first()
    if what != "minutes":
        raise Unresolved(f"no duration is called {what!r}")
    seconds = math.fsum(_seconds(value) for value in _values(published.report(name)))
    return value_text(max(1, math.ceil(seconds / 60)))


def _seconds(value: dict[str, Any]) -> float:
    execution = _execution(value)
    if "started_at" in execution and "finished_at" in execution:
        return (_time(execution["finished_at"]) - _time(execution["started_at"])).total_seconds()
    return math.fsum(run["elapsed_s"] for run in value["runs"])


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _memory(published: Published, reference: Reference) -> str:
    name, what = reference.first()
    if what != "mib":
        raise Unresolved(f"no amount of memory is called {what!r}")
    runs = [run for value in _values(published.report(name)) for run in value["runs"]]
    peaks = [run[key] for run in runs for key in _PEAKS if run.get(key) is not None]
    if not peaks:
        raise Unresolved(f"no run of {name} records its memory")
    return script.fixed(script.scaled(max(peaks), 1, 1 << 20), 0)


def _claim(published: Published, reference: Reference) -> str:
    name, identifier = reference.first()
    report = published.report(name)
    return claims.WORDS[claims.judge(report, claims.claim_of(report, identifier))]


def _target(published: Published, reference: Reference) -> str:
    name, identifier = reference.first()
    return value_text(claims.target(published.report(name), identifier))


def _claims(published: Published, reference: Reference) -> str:
    name, what = reference.first()
    verdicts = claims.verdicts(published.report(name))
    if what == "holds":
        return value_text(sum(verdict is True for verdict in verdicts))
    if what == "total":
        return value_text(len(verdicts))
    raise Unresolved(f"claims have no {what!r}")


def _status(published: Published, reference: Reference) -> str:
    return value_text(status.field(published, reference.rest))


def _jq(published: Published, reference: Reference) -> str:
    name, row, column = reference.cell()
    return jq.of_cell(published.report(name), row, column)


HANDLERS: Mapping[str, Callable[[Published, Reference], str]] = {
    "count": _count,
    "file": _file,
    "command": _command,
    "duration": _duration,
    "memory": _memory,
    "claim": _claim,
    "claims": _claims,
    "target": _target,
    "status": _status,
    "jq": _jq,
}
