"""A first report spec for evidence that has none: rows from what varies, columns as usually asked for.

The text stays within 15 lines, so that it is read and made one's own rather than kept.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tallymark import check, schemas
from tallymark.check import CheckedExecution, CheckedRun
from tallymark.errors import NothingCheckedError, UsageError
from tallymark.evidence import canonical, documents
from tallymark.evidence.strict_json import JsonValue
from tallymark.stats import order
from tallymark.tables import spec

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec that nobody has read yet: its name and its TOML text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a kind of evidence starts with: default rows, title, scope sentences and columns."""

    rows: tuple[str, ...]
    title: str
    scope: Mapping[str, str | list[str]]
    columns: tuple[tuple[str, str, str], ...]
    """Name, title, and the rest in TOML."""


_QUEUE_P99 = (
    'source = "histograms.queue", aggregate = "pooled_percentile", percentile = "99/100", unit = "ms",'
    " significant = 3"
)
_RUNTIME = _Kind(
    rows=("tasks", "agents"),
    title="Throughput and queue latency of the C runtime",
    scope={
        "measured": ["Throughput, queue latency, peak queue and peak memory of the runtime on this machine"],
        "not_measured": ["Other machines and builds, and tasks that wait for a model or a tool"],
        "must_not_conclude": ["A number of users: one task here is no task of an agent system"],
        "completion": "One completion is a role lookup, a prompt, the probes of the context and one output",
    },
    columns=(
        ("runs", "Runs", 'aggregate = "run_count"'),
        ("elapsed", "Elapsed, median", 'source = "elapsed_ms", aggregate = "median_of_runs", places = 3'),
        ("rate", "Tasks/s, median", 'source = "tasks_per_second", aggregate = "median_of_runs", places = 0'),
        ("queue_p99", "Queue p99, pooled", _QUEUE_P99),
        ("queue_peak", "Peak queue, max", 'source = "queue_peak", aggregate = "max_of_runs", places = 0'),
        (
            "rss",
            "Peak RSS, max",
            'source = "peak_rss_bytes", aggregate = "max_of_runs", unit = "MiB", places = 2',
        ),
        ("failed", "Failed tasks", 'source = "tasks_failed", aggregate = "total", places = 0'),
    ),
)
# Times are shown in TIME, the unit that fits them.
_IMPORTED = _Kind(
    rows=("benchmark",),
    title="Elapsed time of commands",
    scope={
        "measured": ["The wall-clock time of each command, as the tool that measured recorded it"],
        "not_measured": ["The machine, as far as the tool does not record it"],
        "must_not_conclude": ["That one command is faster: no difference was tested"],
        "completion": "One completion is one run of the command that did not end with an error",
    },
    columns=(
        ("completed", "Completed runs", 'aggregate = "run_count"'),
        ("recorded", "All runs", 'aggregate = "run_count", include_failed = true'),
        ("median", "Median", 'source = "elapsed_s", aggregate = "median_of_runs", TIME'),
        ("min", "Fastest", 'source = "elapsed_s", aggregate = "min_of_runs", TIME'),
        ("max", "Slowest", 'source = "elapsed_s", aggregate = "max_of_runs", TIME'),
    ),
)
_MEMORY = (
    "memory",
    "Peak memory, max",
    'source = "memory_bytes", aggregate = "max_of_runs", unit = "MiB", places = 2',
)
_KINDS = {"runtime-execution": _RUNTIME, "imported-execution": _IMPORTED}


def draft(project: Path, data: Path, name: str | None = None) -> Draft:
    """A spec for the document or the folder ``data``, which must lie in the project.

    Raises FindingsError when the evidence does not pass its check, NothingCheckedError when there is
    none, UsageError when it is outside the project, of two kinds, from two machines or builds, or when
    the name cannot be that of a page.
    """
    pattern = _pattern(project, data)
    executions = _executions(project, data)
    kind = _kind(executions)
    rows = _rows(executions, kind)
    chosen = _name(data, name)
    lines = [
        'schema = "report-spec/1.0"',
        f"name = {_toml(chosen)}",
        "version = 1",
        f"title = {_toml(kind.title)}",
        f"data = {_toml([pattern])}",
        f"rows = {_toml(list(rows))}",
        f"repetitions = {_toml(_repetitions(executions, rows))}",
        f"scope = {_toml(kind.scope)}",
    ]
    columns = ",\n  ".join(_columns(kind, executions))
    text = "\n".join([*lines, f"columns = [{columns}]\n"])
    spec.from_value(tomllib.loads(text), f"{chosen}.toml")
    return Draft(chosen, text)


def _pattern(project: Path, data: Path) -> str:
    """The path pattern of the evidence, relative to the project. Raises UsageError when it is outside."""
    base, whole = Path(os.path.normpath(project.absolute())), Path(os.path.normpath(data.absolute()))
    if not whole.is_relative_to(base):
        raise UsageError(
            documents.shown_path(data, project),
            "the evidence is outside the project",
            "put it under data/, or name its project with --project",
        )
    inside = whole.relative_to(base)
    return (inside / "**" / "*.json").as_posix() if data.is_dir() else inside.as_posix()


def _executions(project: Path, data: Path) -> list[CheckedExecution]:
    """The documents, each passed by the check."""
    found = [
        check.checked_execution(documents.load(path, project, follow=path == data))
        for path in documents.find([data])
    ]
    if not found:
        raise NothingCheckedError(
            documents.shown_path(data, project), "holds no evidence", "name a document or a folder of them"
        )
    return found


def _kind(executions: Sequence[CheckedExecution]) -> _Kind:
    """What the evidence starts with. Raises UsageError for two kinds."""
    first = executions[0].document
    for execution in executions:
        document = execution.document
        if document.schema != first.schema:
            raise UsageError(
                document.path,
                f"is {document.schema}, {first.path} is {first.schema}",
                "start a report for each kind",
            )
    return _KINDS[first.kind]


def _rows(executions: Sequence[CheckedExecution], kind: _Kind) -> tuple[str, ...]:
    """The configuration keys that vary, in the order of the schema; the kind's own when none does.

    Raises UsageError when the machine or the build varies: that is another report, not another row.
    """
    varying = []
    for key in schemas.config_keys(executions[0].document.schema):
        first, where = None, ""
        for execution in executions:
            for run in execution.runs:
                spelled = canonical.compact(run.configuration[key.name])
                if first is None:
                    first, where = spelled, execution.document.path
                elif spelled != first and key.name not in varying:
                    varying.append(key.name)
                    _require_one(key.pointer, execution.document.path, where)
    return tuple(varying) or kind.rows


def _require_one(pointer: str, path: str, other: str) -> None:
    if pointer.startswith("$.manifest."):
        raise UsageError(
            f"{path}::{pointer}", f"is not the same as in {other}", "start a report for each of the two"
        )


def _repetitions(executions: Sequence[CheckedExecution], rows: Sequence[str]) -> int | dict[str, int]:
    """The runs that each row has: one number when it is the same for all, else one for each row."""
    counts: dict[str, int] = {}
    for run in _all_runs(executions):
        row = ",".join(f"{key}={canonical.compact(run.configuration[key])}" for key in rows)
        counts[row] = counts.get(row, 0) + 1
    return counts if len(set(counts.values())) > 1 else next(iter(counts.values()))


def _columns(kind: _Kind, executions: Sequence[CheckedExecution]) -> list[str]:
    """The columns of the kind as TOML; memory only where every run has it."""
    runs = _all_runs(executions)
    columns = list(kind.columns)
    if kind is _IMPORTED:
        shown = [run for run in runs if run.counted] or runs
        time = f'unit = "{_time_unit([run.value["elapsed_s"] for run in shown])}", significant = 4'
        columns = [(name, title, rest.replace("TIME", time)) for name, title, rest in columns]
        if all("memory_bytes" in run.value for run in runs):
            columns.append(_MEMORY)
    return [f'{{name = "{name}", title = "{title}", {rest}}}' for name, title, rest in columns]


def _time_unit(seconds: Sequence[JsonValue]) -> str:
    middle = order.median([value for value in seconds if isinstance(value, int | float)])
    return "s" if middle >= 1 else "ms" if middle >= 1e-3 else "us"


def _all_runs(executions: Sequence[CheckedExecution]) -> list[CheckedRun]:
    return [run for execution in executions for run in execution.runs]


def _name(data: Path, given: str | None) -> str:
    """The name given, else the folder's, else that of folder and file. Raises UsageError for no name."""
    whole = Path(os.path.normpath(data.absolute()))
    own = whole.name if data.is_dir() else f"{whole.parent.name}-{whole.stem}"
    name = own if given is None else given
    if not _NAME.fullmatch(name):
        raise UsageError(
            "--name",
            f"{name!r} cannot name a report (a-z, 0-9, '_' and '-', at most 64, a letter first)",
            "give --name another one",
        )
    return name


def _toml(value: object) -> str:
    """A value as TOML on one line. A JSON string is a TOML string, once DEL is escaped."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_toml(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if key.replace("_", "").isascii() and key.replace("_", "").isalnum() else _toml(key)
