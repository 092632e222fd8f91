"""An import as an ``imported-execution`` document: the runs, where they came from, what is unknown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from tallymark import __version__
from tallymark.errors import UsageError
from tallymark.evidence import canonical
from tallymark.evidence.strict_json import JsonValue
from tallymark.importers.interface import Imported, ImportedRun, Loss, Measured, Reported

SCHEMA = "imported-execution/1.0"
SCHEMA_WITH_LATENCY = "imported-execution/1.1"
_MACHINE = ("cpu_model", "cores", "memory_bytes", "os_build", "virtualisation", "platform")
_ID_DIGITS = 16
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Source:
    """The foreign file."""

    name: str
    """Its name without folders, as the document records it."""

    shown: str
    """What messages call it: the path as the user gave it."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that the person who imports vouches for: the one of an execution of the runtime."""

    shown: str
    """The document's file name, as the recorded command has it."""

    execution_id: str
    values: Mapping[str, JsonValue]
    unavailable: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for: where the evidence belongs and when it was imported (UTC).

    Suite and label become a folder and a file name: both are ``chosen_name``.
    """

    suite: str
    label: str
    imported_at: datetime
    redact: bool = False
    machine: Machine | None = None


def chosen_name(text: str, option: str) -> str:
    """The text of a suite or label, unchanged. It is refused when it cannot be a file name everywhere:
    changing it here could make two names one.

    Raises UsageError that proposes a name.
    """
    if _NAME.fullmatch(text):
        return text
    proposal = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("._-")[:64] or "imported"
    raise UsageError(
        option,
        f"{text!r} is no name for evidence (a-z, 0-9, '.', '_', '-', at most 64, a letter or digit first)",
        f"give {option} {proposal}",
    )


def document(imported: Imported, source: Source, request: Request) -> dict[str, JsonValue]:
    """The whole document, keys in the order of the schema.

    The id follows from the source alone, so the same file imported twice is seen to be the same.
    """
    digest = canonical.sha256_hex(source.data)
    has_latency = any(run.latency_p50_s or run.latency_p99_s for run in imported.runs)
    return {
        "schema": SCHEMA_WITH_LATENCY if has_latency else SCHEMA,
        "execution": {
            "id": digest[:_ID_DIGITS],
            "suite": request.suite,
            "label": request.label,
            **_times(imported.measured),
            "imported_at": request.imported_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            **({} if imported.measured is None else {"seed": imported.measured.seed}),
            "tool_version": __version__,
            "command": _command(imported, source, request),
            "complete": True,
            "repetitions": _repetitions(imported),
        },
        "source": {
            "format": imported.format,
            "format_version": imported.format_version,
            "sha256": digest,
            "bytes": len(source.data),
            "name": source.name,
        },
        "manifest": _manifest(imported, request.machine),
        "loss": [
            {"pointer": loss.pointer, "reason": loss.reason}
            for loss in (*imported.loss, *_vouched(request.machine))
        ],
        "reported": [_reported(entry) for entry in imported.reported if entry.mean_s is not None],
        "runs": [_run(index, run) for index, run in enumerate(imported.runs)],
    }


def _command(imported: Imported, source: Source, request: Request) -> str:
    """The command line with bare file names: the importing person's folders belong on nobody's page.

    ``data/SUITE`` is where evidence of the suite lies in a project, whatever folder was written to.
    """
    words = ["tallymark", "import", imported.format, source.name, "--out", f"data/{request.suite}"]
    words += ["--label", request.label]
    words += ["--machine", request.machine.shown] if request.machine is not None else []
    words += ["--redact"] if request.redact else []
    return shlex.join(words)


def _repetitions(imported: Imported) -> int | None:
    """The number of runs of each benchmark when it is the same for all, else None."""
    counts: dict[tuple[str, str], int] = {}
    for run in imported.runs:
        key = (run.benchmark, canonical.compact(dict(run.parameters)))
        counts[key] = counts.get(key, 0) + 1
    distinct = set(counts.values())
    return distinct.pop() if len(distinct) == 1 else None


def _times(measured: Measured | None) -> dict[str, JsonValue]:
    """When it was measured, where the file says so."""
    if measured is None:
        return {}
    return {"started_at": measured.started_at, "finished_at": measured.finished_at}


def _manifest(imported: Imported, machine: Machine | None) -> dict[str, JsonValue]:
    """The file's own machine, or the one that was vouched for; what is unknown is null with the reason.

    Raises UsageError when there are both.
    """
    recorded = imported.measured.machine if imported.measured is not None else {}
    if machine is None:
        values = {key: recorded.get(key) for key in _MACHINE}
        reason = f"{imported.format} does not record it"
        unknown: dict[str, JsonValue] = {key: reason for key in _MACHINE if values[key] is None}
        return {"machine": values, "unavailable": unknown}
    if recorded:
        raise UsageError("--machine", "the file says itself where it was measured", "leave --machine out")
    return {
        "machine": {key: machine.values[key] for key in _MACHINE},
        "unavailable": {key: machine.unavailable[key] for key in _MACHINE if key in machine.unavailable},
    }


def _vouched(machine: Machine | None) -> Iterator[Loss]:
    """The machine is not the source's own statement, and the document says whose it is."""
    if machine is not None:
        reason = f"the machine is that of execution {machine.execution_id}, as the importing person says"
        yield Loss("$", reason)


def _reported(entry: Reported) -> dict[str, JsonValue]:
    """The tool's own figures; one that it did not write is left out."""
    figures: dict[str, float | None] = {
        "mean_s": entry.mean_s,
        "stddev_s": entry.stddev_s,
        "median_s": entry.median_s,
        "min_s": entry.min_s,
        "max_s": entry.max_s,
        "user_mean_s": entry.user_mean_s,
        "system_mean_s": entry.system_mean_s,
    }
    known: dict[str, JsonValue] = {key: value for key, value in figures.items() if value is not None}
    return {"benchmark": entry.benchmark, "parameters": dict(entry.parameters), **known}


def _run(index: int, run: ImportedRun) -> dict[str, JsonValue]:
    """One run; the exit code and every measure that the file does not have are left out."""
    record: dict[str, JsonValue] = {
        "index": index,
        "repetition": run.repetition,
        **({} if run.round is None else {"round": run.round}),
        "benchmark": run.benchmark,
        "parameters": dict(run.parameters),
        "outcome": run.outcome,
    }
    if run.exit_code_recorded:
        record["exit_code"] = run.exit_code
    record["elapsed_s"] = run.elapsed_s
    measures: dict[str, JsonValue] = {
        "cpu_s": run.cpu_s,
        "operations": run.operations,
        "voluntary_switches": run.voluntary_switches,
        "involuntary_switches": run.involuntary_switches,
        "memory_bytes": run.memory_bytes,
        "queued_bytes": run.queued_bytes,
        "drained_bytes": run.drained_bytes,
        "latency_p50_s": run.latency_p50_s,
        "latency_p99_s": run.latency_p99_s,
    }
    return record | {key: value for key, value in measures.items() if value is not None}
