"""A computed report beside its raw files, as the page views read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallymark.errors import SpecError
from tallymark.evidence import canonical
from tallymark.evidence.documents import Document
from tallymark.evidence.strict_json import JsonValue
from tallymark.site.shown import Format

_RUN = re.compile(r"\$\.runs\[(\d+)\]")
_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class RawFile:
    """One raw file of a report: the document, its entry in the report and where it is published."""

    document: Document
    published: str
    current: bool | None

    @property
    def sha256(self) -> str:
        """The digest of the file, as published."""
        return self.document.sha256

    @property
    def name(self) -> str:
        """The last part of the published path."""
        return self.published.rsplit("/", 1)[-1]

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The counted part of the document: its run records."""
        runs: list[dict[str, Any]] = self.document.value["runs"]  # type: ignore[assignment]
        return runs


@dataclass(frozen=True, slots=True)
class Run:
    """One run record: where it stands, and the table row that its configuration belongs to."""

    file: RawFile
    index: int
    value: Mapping[str, Any]
    row: int | None

    @property
    def pointer(self) -> str:
        """The JSON pointer of the record in its file."""
        return f"$.runs[{self.index}]"

    @property
    def base(self) -> str:
        """What every ``raw:`` reference into this record starts with."""
        return f"{self.file.sha256}/{self.pointer}"


@dataclass(frozen=True)
class ReportData:
    """A computed report (``report/1.0``) with the raw files that it was computed from."""

    value: Mapping[str, Any]
    spec: Mapping[str, Any]
    files: tuple[RawFile, ...]

    @property
    def name(self) -> str:
        """The name of the report, also of its page and files."""
        return str(self.value["name"])

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The resolved columns in table order."""
        columns: list[dict[str, Any]] = self.spec["columns"]
        return columns

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The computed rows in table order."""
        rows: list[dict[str, Any]] = self.value["rows"]
        return rows

    @cached_property
    def by_digest(self) -> dict[str, RawFile]:
        """The raw files by SHA-256."""
        return {file.sha256: file for file in self.files}

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Every run of every file: in table order, then as they stand in the files; rowless ones last."""
        rows = {canonical.compact(row["key"]): at for at, row in enumerate(self.rows)}
        found = [
            Run(file, index, value, rows.get(canonical.compact(self._key(file, value))))
            for file in self.files
            for index, value in enumerate(file.runs)
        ]
        return tuple(sorted(found, key=lambda run: len(rows) if run.row is None else run.row))

    @cached_property
    def excluded(self) -> frozenset[tuple[str, str]]:
        """(SHA-256, pointer) of the runs that the spec leaves out."""
        return frozenset((one["sha256"], one["pointer"]) for one in self.value["ledger"]["excluded"])

    def counts(self, run: Run) -> bool:
        """Whether a run is in the aggregates: completed and not excluded."""
        return run.value["outcome"] == "completed" and (run.file.sha256, run.pointer) not in self.excluded

    def row_runs(self, row: int) -> list[Run]:
        """The runs of one row, failed ones too."""
        return [run for run in self.runs if run.row == row]

    def holds_words(self, key: str) -> bool:
        """Whether any row has something else than a number under a row key."""
        values = [row["key"][key] for row in self.rows]
        return any(isinstance(value, bool) or not isinstance(value, int | float) for value in values)

    def column(self, name: str) -> dict[str, Any]:
        """The column called ``name``. SpecError: the report has none."""
        for column in self.columns:
            if column["name"] == name:
                return column
        raise SpecError(
            f"report {self.name}", f"a chart names the column {name!r}, which is not there", "name a column"
        )

    def column_index(self, name: str) -> int:
        """The place of the column called ``name``."""
        return self.columns.index(self.column(name))

    def sources(self, row: int, column: str) -> list[Run]:
        """The runs that a cell was computed from, in the order of its lineage."""
        at = {(run.file.sha256, run.index): run for run in self.runs}
        sources = self.rows[row]["cells"][column]["sources"]
        places = dict.fromkeys((one["sha256"], run_index(one["pointer"])) for one in sources)
        return [at[place] for place in places]

    def _key(self, file: RawFile, run: Mapping[str, Any]) -> dict[str, JsonValue]:
        keys = {key["name"]: key for key in self.spec["config_keys"]}
        return {name: config_value(file, run, keys[name]) for name in self.spec["rows"]}


def config_value(file: RawFile, run: Mapping[str, Any], key: Mapping[str, Any]) -> JsonValue:
    """The value of a key of the published spec: ``$.runs[].x`` reads the run, ``$.x`` the document.

    What an older document lacks has the default that stands beside the key.
    """
    pointer = key["pointer"]
    inside = pointer.startswith("$.runs[]")
    holder: Any = run if inside else file.document.value
    value: JsonValue = resolve(holder, pointer.replace("$.runs[]", "$", 1))
    return key["default_before"] if value is None and "default_before" in key else value


def resolve(value: Any, pointer: str) -> Any:
    """The value at a pointer such as ``$.manifest.machine.cores``; None when there is nothing."""
    for name, index in _steps(pointer):
        if name and isinstance(value, Mapping):
            value = value.get(name)
        elif index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return None
    return value


def _steps(pointer: str) -> Iterator[tuple[str, str]]:
    for match in _STEP.finditer(pointer.removeprefix("$")):
        yield match.group(1) or "", match.group(2) or ""


def run_index(pointer: str) -> int:
    """The run that a lineage pointer such as ``$.runs[3]`` or ``$.runs[3].elapsed_ms`` names."""
    match = _RUN.match(pointer)
    if match is None:
        raise SpecError(pointer, "a lineage pointer names no run", "report this: it is a bug of tallymark")
    return int(match.group(1))


def column_format(column: Mapping[str, Any]) -> Format:
    """The unit factor and the rounding of a column."""
    numerator, denominator = column.get("factor") or (1, 1)
    return Format(numerator, denominator, column.get("places"), column.get("significant"))
