"""The two commands of a report and what the second one costs."""

from __future__ import annotations

import math
import shlex
from datetime import datetime
from typing import Any

from tallymark import units
from tallymark.site.report_data import RawFile, ReportData

_BYTES_PER_MIB = 1_048_576


def recount_command(report: ReportData) -> str:
    """Recount the table in the folder of the site, with nothing but Python installed."""
    name = report.name
    words = ["python3", "recount.py", "--report", f"reports/{name}.json", f"reports/{name}.spec.json"]
    return shlex.join([*words, *(file.published for file in report.files)])


def rerun_command(report: ReportData) -> str:
    """The commands that made the data, one a line."""
    executions: list[Any] = [file.document.value["execution"] for file in report.files]
    return "\n".join(dict.fromkeys(execution["command"] for execution in executions))


def minutes(report: ReportData) -> int:
    """How long the executions took together, in minutes rounded up."""
    return max(1, math.ceil(sum(_seconds(file) for file in report.files) / 60))


def peak_mib(report: ReportData) -> str | None:
    """The largest peak RSS of any run in MiB; None when no run recorded one."""
    found = [run.value.get("peak_rss_bytes", run.value.get("memory_bytes")) for run in report.runs]
    peaks = [value for value in found if isinstance(value, int)]
    return units.fixed(units.scaled(max(peaks), 1, _BYTES_PER_MIB), 0) if peaks else None


def _seconds(file: RawFile) -> float:
    execution: Any = file.document.value["execution"]
    if "started_at" in execution and "finished_at" in execution:
        return (_time(execution["finished_at"]) - _time(execution["started_at"])).total_seconds()
    return math.fsum(run.get("elapsed_s", 0) for run in file.runs)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
