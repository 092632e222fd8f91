"""``tallymark run … --profile``: where the first configuration of a suite spends its time, as a record apart.

The profiled run is one more, after all measured ones and outside of their document; what a tool makes slower
is no evidence of speed, so the record holds shares and no time.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tallymark import __version__
from tallymark.check import Finding, check_document
from tallymark.errors import BrokenRuntimeError
from tallymark.evidence import canonical, documents
from tallymark.evidence.documents import PROFILE_SUFFIX, Document
from tallymark.suites.child import COMMAND, Finished, describe
from tallymark.suites.launch import run_once
from tallymark.suites.model import COMPLETED, Json, PlannedRun
from tallymark.suites.profilers import Function, Profile, Tool, choose
from tallymark.suites.stamp import new_id, utc_now
from tallymark.suites.stop import Stop, StoppedError

SCHEMA = "profile/1.0"
STATEMENT = "Untimed: the tool slows the run down, and the run may be smaller. It is no evidence of speed."
LISTED = 100  # functions in the record; the rest is one number


@dataclass(frozen=True, slots=True)
class Profiler:
    """A tool that works here, chosen before anything runs."""

    tool: Tool
    version: str
    rejected: Json

    @classmethod
    def of_this_machine(cls) -> Profiler:
        """UsageError: there is none."""
        tool, version, rejected = choose()
        return cls(tool, version, dict(rejected))


@dataclass(frozen=True, slots=True)
class Profiled:
    """The record on disk: where, what check says of it, and the profile for the screen."""

    path: Path
    findings: tuple[Finding, ...]
    tool: str
    counted: str
    total: int
    functions: tuple[Function, ...]
    objects: Counter[str]


def target(directory: Path, label: str) -> Path:
    """Where the profile of a document stands."""
    return directory / f"{label}{PROFILE_SUFFIX}"


def add(document_path: Path, profiler: Profiler) -> Profiled:
    """Profile the first planned configuration of a document and write the record beside it.

    BrokenRuntimeError: the run has no record, or the tool left nothing. ConflictError: the file is there.
    """
    document = documents.load(document_path)
    planned = _planned(document, profiler.tool.tasks_at_most)
    started_at = utc_now()
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "profile")
        with Stop() as stop:
            end = run_once(planned, new_id(), stop, command=(*profiler.tool.start(output), *COMMAND))
            if stop.requested:
                raise StoppedError("--profile", "stopped by the user", "the measured document is complete")
        if not isinstance(end, Finished):
            raise BrokenRuntimeError(
                "--profile", f"the profiled run has no record: {describe(end)}", "run it again"
            )
        profile = profiler.tool.read(output)
    functions = _sorted(profile)
    objects: Counter[str] = Counter()
    for one in functions:
        objects[one.object] += one.self_count
    value = _record(document, profiler, planned, end, profile, functions, objects, started_at)
    path = target(document_path.parent, document_path.stem)
    canonical.write_new(path, canonical.encode(value))
    findings = check_document(documents.load(path))
    return Profiled(
        path, findings, profiler.tool.name, profiler.tool.counted, profile.total, functions, objects
    )


def _planned(document: Document, tasks_at_most: int) -> PlannedRun:
    """The first run that is meant to complete, with no more tasks than the tool can bear."""
    execution: Any = document.value["execution"]
    every = [PlannedRun.from_json(entry) for entry in execution["plan"]]
    chosen = next((one for one in every if one.expected == COMPLETED), every[0])
    configuration = chosen.configuration
    batches = max(1, min(configuration.batches, tasks_at_most))
    tasks = min(configuration.tasks, max(1, tasks_at_most // batches) * batches)
    return replace(chosen, configuration=configuration.with_values({"tasks": tasks}), deadline_ms=None)


def _sorted(profile: Profile) -> tuple[Function, ...]:
    def order(one: Function) -> tuple[int, float, str, str]:
        return -one.self_count, -(one.total_percent or 0.0), one.object, one.name

    return tuple(sorted(profile.functions, key=order))


def _record(
    document: Document,
    profiler: Profiler,
    planned: PlannedRun,
    end: Finished,
    profile: Profile,
    functions: tuple[Function, ...],
    objects: Counter[str],
    started_at: str,
) -> Json:
    execution: Any = document.value["execution"]
    tool = profiler.tool
    listed = functions[:LISTED]
    return {
        "schema": SCHEMA,
        "profile": {
            "execution_id": execution["id"],
            "suite": execution["suite"],
            "label": execution["label"],
            "document_sha256": document.sha256,
            "command": f"{execution['command']} --profile",
            "started_at": started_at,
            "finished_at": utc_now(),
            "tool_version": __version__,
            "timed": False,
            "statement": STATEMENT,
        },
        "tool": {
            "name": tool.name,
            "version": profiler.version,
            "event": tool.event,
            "counted": tool.counted,
            "total": profile.total,
            "rejected": profiler.rejected,
        },
        "configuration": planned.configuration.to_json(),
        "outcome": end.run["outcome"],
        "build": end.manifest["build"],
        "objects": [
            {"name": name, "self": count, "self_percent": 100 * count / profile.total}
            for name, count in sorted(objects.items(), key=lambda item: (-item[1], item[0]))
            if count
        ],
        "functions": [_function(one, profile.total) for one in listed],
        "functions_left_out": len(functions) - len(listed),
        "self_left_out": sum(one.self_count for one in functions[LISTED:]),
    }


def _function(one: Function, total: int) -> Json:
    return {
        "name": one.name[:200],
        "object": one.object,
        "self": one.self_count,
        "self_percent": 100 * one.self_count / total,
        "total_percent": one.total_percent,
    }
