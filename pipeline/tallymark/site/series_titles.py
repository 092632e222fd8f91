"""What the series and histograms of a run are called in charts."""

from __future__ import annotations

from collections.abc import Mapping

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
    "in_flight": "In flight",
    "queue_age_ms": "Age of the oldest waiter",
    "slots_free": "Free worker slots",
    "waiting": "Waiting",
    "kv_tokens": "Tokens in KV memory",
    "tokens_headroom_permille": "Headroom under the quota of tokens",
    "requests_headroom_permille": "Headroom under the quota of requests",
    "rate_headroom_permille": "Headroom under the rate limit",
    "tool_headroom_permille": "Least headroom of any tool",
    "model_calls": "Model calls in flight",
    "model_calls_waiting": "Model calls that wait",
    "tool_calls": "Tool calls in flight",
    "tool_calls_waiting": "Tool calls that wait",
    "p50_ms": "Queue latency p50 of a period",
    "p95_ms": "Queue latency p95 of a period",
    "p99_ms": "Queue latency p99 of a period",
}
_UNITS = {"threads": "threads", "slots_free": "slots"}
_SUFFIXES = {"_bytes": "MiB", "_ms": "ms", "_permille": "‰", "_tokens": "tokens", "_calls": "calls"}
_AXES = {
    "t_ms": ("time", "ms since the start of the run"),
    "batch": ("batches", "batch"),
    "tasks_done": ("tasks", "tasks done"),
}
_STAGES = {
    "duration": "Duration of a task",
    "queue_wait": "Wait for a worker slot",
    "model_wait": "Wait before a model call",
    "tool_wait": "Wait before a tool call",
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
    "model_wait": "model calls",
    "tool_wait": "tool calls",
    "latency": "calls",
    "snapshot": "snapshots",
    "rollback": "rollbacks",
    "lookup_hit": "lookups",
    "lookup_miss": "lookups",
}


def series_title(report: ReportData, name: str, column: str) -> tuple[str, str]:
    """Title and unit of a column of a series. SpecError: the evidence has no such series or column."""
    known = dict(schemas.series_columns(report.spec["evidence_schema"]))
    if name not in known and (named := _recorded(report, name)):
        known[name] = named
    if column not in known.get(name, ())[1:]:
        choice = ", ".join(known[name][1:]) if name in known else ", ".join(known)
        what = f"the {name} column {column!r}" if name in known else f"the series {name!r}"
        raise SpecError(f"report {report.name}", f"a chart names {what}", f"choose from {choice or 'none'}")
    of, _, what = column.rpartition(":")
    unit = next((unit for end, unit in _SUFFIXES.items() if column.endswith(end)), "calls" if of else "tasks")
    title = _TITLES.get(what, what.replace("_", " ").capitalize())
    return f"{title} ({of.replace(':', ' ')})" if of else title, _UNITS.get(what, unit)


def _recorded(report: ReportData, name: str) -> tuple[str, ...]:
    """The columns of a series whose schema leaves their names to the run: those that some run has."""
    held = (run.value.get(name) for run in report.runs)
    found = (one["columns"] for one in held if isinstance(one, Mapping) and "rows" in one)
    return tuple(dict.fromkeys(column for columns in found for column in columns))


def series_axis(report: ReportData, name: str) -> tuple[str, str]:
    """What a series runs over, in a title and on the axis: its first column."""
    column = (schemas.series_columns(report.spec["evidence_schema"]).get(name) or _recorded(report, name))[0]
    return _AXES.get(column, (column.replace("_", " "), column.replace("_", " ")))


def stage_title(stage: str) -> str:
    """What a histogram holds; of one that lies deeper in a run, with where it lies."""
    *owners, name = stage.split(".")
    title = _STAGES.get(name, f"{name.replace('_', ' ').capitalize()} latency")
    owners = [
        owner
        for owner in owners
        if owner not in ("histograms", "phases", "faults", "tenants", "tools", "providers", "classes")
    ]
    return f"{title} ({', '.join(owner.replace('_', ' ') for owner in owners)})" if owners else title


def stage_population(stage: str) -> str:
    """What a histogram has one sample of."""
    name = stage.rpartition(".")[2]
    return "lock acquisitions" if name.startswith("lock_") else _POPULATIONS.get(name, "tasks")
