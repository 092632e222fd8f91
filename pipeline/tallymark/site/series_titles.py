"""What the series and histograms of a run are called in charts."""

from __future__ import annotations

from tallymark import schemas
from tallymark.errors import SpecError
from tallymark.site.report_data import ReportData

_TITLES = {
    "queue": "Queue length",
    "active": "Active tasks",
    "rss_bytes": "Resident memory (RSS)",
    "rss_anon_bytes": "Anonymous resident memory (RssAnon)",
    "allocated_bytes": "Allocated memory of the runtime",
    "log_bytes": "Size of the record so far",
    "threads": "Threads",
    "cpu_ms": "Process CPU time",
    "submitted": "Tasks submitted in a period",
    "completed": "Tasks completed in a period",
    "failed": "Tasks failed in a period",
    "cancelled": "Tasks cancelled in a period",
    "timed_out": "Tasks timed out in a period",
    "p50_ms": "Queue latency p50 of a period",
    "p95_ms": "Queue latency p95 of a period",
    "p99_ms": "Queue latency p99 of a period",
}
_UNITS = {"threads": "threads"}
_SUFFIXES = {"_bytes": "MiB", "_ms": "ms"}
_AXES = {
    "t_ms": ("time", "ms since the start of the run"),
    "batch": ("batches", "batch"),
    "tasks_done": ("tasks", "tasks done"),
}
_STAGES = {
    "queue": "Queue latency",
    "execution": "Execution latency",
    "finalisation": "Finalisation latency",
    "end_to_end": "End to end latency",
    "lateness": "Lateness of the submitter",
    "provider_wait": "Wait for the provider",
    "snapshot": "Time of a snapshot",
    "rollback": "Time of a rollback",
    "lookup_hit": "Time of a lookup that finds",
    "lookup_miss": "Time of a lookup that does not find",
}
_POPULATIONS = {
    "snapshot": "snapshots",
    "rollback": "rollbacks",
    "lookup_hit": "lookups",
    "lookup_miss": "lookups",
}


def series_title(report: ReportData, name: str, column: str) -> tuple[str, str]:
    """Title and unit of a column of a series. SpecError: the evidence has no such series or column."""
    known = schemas.series_columns(report.spec["evidence_schema"])
    if column not in known.get(name, ())[1:]:
        choice = ", ".join(known[name][1:]) if name in known else ", ".join(known)
        what = f"the {name} column {column!r}" if name in known else f"the series {name!r}"
        raise SpecError(f"report {report.name}", f"a chart names {what}", f"choose from {choice or 'none'}")
    unit = next((unit for end, unit in _SUFFIXES.items() if column.endswith(end)), "tasks")
    return _TITLES.get(column, column.replace("_", " ").capitalize()), _UNITS.get(column, unit)


def series_axis(report: ReportData, name: str) -> tuple[str, str]:
    """What a series runs over, in a title and on the axis: its first column."""
    column = schemas.series_columns(report.spec["evidence_schema"])[name][0]
    return _AXES.get(column, (column.replace("_", " "), column.replace("_", " ")))


def stage_title(stage: str) -> str:
    """What a histogram holds; of one that lies deeper in a run, with where it lies."""
    *owners, name = stage.split(".")
    title = _STAGES.get(name, f"{name.replace('_', ' ').capitalize()} latency")
    owners = [owner for owner in owners if owner not in ("histograms", "phases", "faults", "tenants")]
    return f"{title} ({', '.join(owner.replace('_', ' ') for owner in owners)})" if owners else title


def stage_population(stage: str) -> str:
    """What a histogram has one sample of."""
    name = stage.rpartition(".")[2]
    return "lock acquisitions" if name.startswith("lock_") else _POPULATIONS.get(name, "tasks")
