"""The manifest of every execution: who measured what, on which machine, with which build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tallymark.printable import printable as visible
from tallymark.site.report_data import RawFile, ReportData, resolve
from tallymark.site.shown import ABSENT_MARK, Shown, sourced, value_text

_EXECUTION = (
    "id",
    "suite",
    "label",
    "command",
    "started_at",
    "finished_at",
    "imported_at",
    "seed",
    "warmup_runs",
    "repetitions",
    "tool_version",
)
_HOST = "$.execution.host.manifest"
_NOT_SCALAR = ("unavailable", "timestamps", "intervals")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of one execution; an absent one shows the reason that its document gives."""

    shown: Shown
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One field over all executions."""

    label: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Fields under one heading."""

    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class FileHead:
    """The column header of an execution: its file, and whether today's sources would give its build."""

    name: Shown
    href: str
    mark: str


@dataclass(frozen=True, slots=True)
class Loss:
    """What an import could not carry over, and why."""

    file: Shown
    pointer: Shown
    reason: Shown


@dataclass(frozen=True, slots=True)
class ManifestView:
    """All executions side by side, and what imports lost."""

    heads: tuple[FileHead, ...]
    groups: tuple[Group, ...]
    losses: tuple[Loss, ...]

    @property
    def columns(self) -> str:
        """How many columns the table has, for headings that span them."""
        return str(len(self.heads) + 1)


def manifest_view(report: ReportData) -> ManifestView:
    """The executions of a report, one column each."""
    files = report.files
    groups = [
        Group("Execution", tuple(_entries(files, [f"$.execution.{key}" for key in _EXECUTION]))),
        Group("Source of the import", tuple(_entries(files, _pointers(files, "$.source")))),
        Group("Smoke gate", tuple(_entries(files, ["$.gate.passed", "$.gate.started_at"]))),
        Group("Build", tuple(_entries(files, _pointers(files, "$.manifest.build")))),
        Group("Machine", tuple(_entries(files, _pointers(files, "$.manifest.machine")))),
        Group("Circumstances", tuple(_entries(files, _pointers(files, "$.manifest")))),
        Group("Simulator", tuple(_entries(files, _pointers(files, "$.execution.host")))),
        Group("Machine of the simulation", tuple(_entries(files, _pointers(files, f"{_HOST}.machine")))),
        Group("Build of the simulation", tuple(_entries(files, _pointers(files, f"{_HOST}.build")))),
    ]
    return ManifestView(
        heads=tuple(_head(file) for file in files),
        groups=tuple(group for group in groups if group.entries),
        losses=tuple(_losses(files)),
    )


def _head(file: RawFile) -> FileHead:
    marks = {True: "current", False: "historical", None: ""}
    name = Shown(visible(file.name), f"file:{file.published}|name")
    return FileHead(name, f"../{file.published}", marks[file.current])


def _pointers(files: tuple[RawFile, ...], parent: str) -> list[str]:
    """Pointers of the plain fields below ``parent`` in any of the documents, in their order."""
    found: dict[str, None] = {}
    for file in files:
        value = resolve(file.document.value, parent)
        for key, inner in value.items() if isinstance(value, Mapping) else ():
            if key not in _NOT_SCALAR and not isinstance(inner, Mapping | list):
                found[f"{parent}.{key}"] = None
    return list(found)


def _entries(files: tuple[RawFile, ...], pointers: list[str]) -> Iterator[Entry]:
    for pointer in pointers:
        values = tuple(_value(file, pointer) for file in files)
        if any(value.shown.text != ABSENT_MARK for value in values):
            yield Entry(pointer.rpartition(".")[2].replace("_", " "), values)


def _value(file: RawFile, pointer: str) -> Value:
    value = resolve(file.document.value, pointer)
    if value is not None:
        return Value(Shown(value_text(value), f"raw:{file.sha256}/{pointer}"))
    reason, where = _reason(file.document.value, pointer)
    if reason is None:
        return Value(Shown(ABSENT_MARK), absent=True)
    return Value(sourced(visible(reason), f"raw:{file.sha256}/{where}"), absent=True)


def _reason(document: Any, pointer: str) -> tuple[str | None, str]:
    """The nearest ``unavailable`` entry for a null: in its own object, or in the manifest under its path."""
    parent, _, key = pointer.rpartition(".")
    for where in (
        f"{parent}.unavailable.{key}",
        f"$.manifest.unavailable.{key}",
        f"{_HOST}.unavailable.{key}",
    ):
        reason = resolve(document, where)
        if isinstance(reason, str):
            return reason, where
    return None, ""


def _losses(files: tuple[RawFile, ...]) -> Iterator[Loss]:
    for file in files:
        entries: Any = file.document.value.get("loss", [])
        for at, entry in enumerate(entries):
            base = f"raw:{file.sha256}/$.loss[{at}]"
            yield Loss(
                Shown(visible(file.name), f"file:{file.published}|name"),
                Shown(visible(entry["pointer"]), f"{base}.pointer"),
                sourced(visible(entry["reason"]), f"{base}.reason"),
            )
