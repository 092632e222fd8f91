"""The raw files that a spec names, checked, and each run with its place in the ledger.

Nothing is left out silently: a run is published, failed, excluded by declaration, or the report stops.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from tallymark import check, schemas
from tallymark.check import CheckedExecution, CheckedRun
from tallymark.errors import FindingsError, SpecError
from tallymark.evidence import canonical, documents
from tallymark.evidence.documents import Document
from tallymark.evidence.strict_json import JsonValue
from tallymark.tables.spec import Spec

_ONE_SCHEMA: Final = "report-spec/1.0"  # its published form has no place for the values of older documents


class State(StrEnum):
    """What the ledger counts a run as."""

    PUBLISHED = "published"
    FAILED = "failed"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the data: where it stands, its complete configuration (as spelled JSON) and its state."""

    document: Document
    pointer: str
    value: Mapping[str, Any]
    configuration: Mapping[str, JsonValue]
    spelled: Mapping[str, str]
    state: State

    @property
    def where(self) -> str:
        """``file::$.runs[3]`` for messages."""
        return f"{self.document.path}::{self.pointer}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """All documents and runs of a report, by path and index.

    ``older``: schemas of documents that are earlier minor versions of ``schema``; their runs have every
    configuration key of ``schema``, those that were added since with the value that it states for them.
    """

    schema: str
    documents: tuple[Document, ...]
    runs: tuple[Run, ...]
    warmups: int
    older: tuple[str, ...] = ()


def data_files(project: Path, spec: Spec) -> list[Path]:
    """The files that the spec's globs match, each once, sorted by path.

    SpecError: a glob is wrong or matches nothing.
    """
    found: set[Path] = set()
    for index, pattern in enumerate(spec.data):
        where = spec.where(f"$.data[{index}]")
        try:
            every = [path for path in project.glob(pattern) if path.is_file() or path.is_symlink()]
            matches = [path for path in every if not documents.is_aside(path, pattern)]
        except (ValueError, NotImplementedError) as error:
            raise SpecError(where, f"{pattern!r} is not a glob ({error})", "correct it") from None
        if not matches:
            raise SpecError(
                where, f"no file matches {pattern!r}", "make the evidence first, or correct the glob"
            )
        found.update(matches)
    return sorted(found, key=lambda path: documents.shown_path(path, project))


def read(project: Path, spec: Spec) -> Evidence:
    """Read, check and take the inventory of the data.

    UnreadableError, FindingsError: a file is refused by the reader or by a rule. SpecError: no file, mixed
    schemas, an unfinished execution, a duplicate, or an exclusion that matches no run.
    """
    loaded = [documents.load(path, project) for path in data_files(project, spec)]
    for document in loaded:
        _refuse_profile(document, spec)
    schema = _common_schema(loaded, spec)
    executions = [check.checked_execution(document) for document in loaded]
    for execution in executions:
        _refuse_unfinished(execution)
    _refuse_duplicates(executions)
    excluded = {(entry.sha256, entry.pointer) for entry in spec.exclude}
    runs = tuple(run for execution in executions for run in _runs(execution, excluded, schema))
    _refuse_idle_exclusions(spec, runs)
    older = tuple(sorted({document.schema for document in loaded} - {schema}))
    return Evidence(schema, tuple(loaded), runs, sum(_warmups(document) for document in loaded), older)


def _warmups(document: Document) -> int:
    recorded = document.value.get("warmups")
    return len(recorded) if isinstance(recorded, list) else 0


@functools.lru_cache(maxsize=4096, typed=True)
def _spelled_scalar(value: str | int | bool | None) -> str:
    return canonical.compact(value)


def spelled(value: JsonValue) -> str:
    """Canonical JSON of a configuration value: 1, 1.0, true and "1" stay apart, key order does not count."""
    if value is None or isinstance(value, (str, int)):
        return _spelled_scalar(value)
    return canonical.compact(value)


def _runs(execution: CheckedExecution, excluded: set[tuple[str, str]], schema: str) -> Iterable[Run]:
    document = execution.document
    keys = schemas.config_keys(schema)
    whole: dict[int, str] = {}  # compound values belong to the document and are spelled once
    for run in execution.runs:
        configuration = {key.name: run.configuration.get(key.name, key.default_before) for key in keys}
        texts = {}
        for name, value in configuration.items():
            if isinstance(value, (dict, list)) and id(value) not in whole:
                whole[id(value)] = spelled(value)
            texts[name] = whole[id(value)] if isinstance(value, (dict, list)) else spelled(value)
        yield Run(
            document=document,
            pointer=run.pointer,
            value=run.value,
            configuration=configuration,
            spelled=texts,
            state=_state(run, (document.sha256, run.pointer) in excluded),
        )


def _state(run: CheckedRun, excluded: bool) -> State:
    if excluded:
        return State.EXCLUDED
    return State.PUBLISHED if run.counted else State.FAILED


def _common_schema(loaded: Sequence[Document], spec: Spec) -> str:
    """The one schema of all documents, or the newest minor version where the spec is of one that knows of it.

    SpecError: the documents are of two kinds or major versions, or of two minor ones under an older spec.
    """
    newest = schemas.newest({document.schema for document in loaded})
    for document in loaded:
        if document.schema == (newest or loaded[0].schema):
            continue
        problem = f"{document.path} is {document.schema}, "
        if newest is None:
            problem += f"{loaded[0].path} is {loaded[0].schema}"
            raise SpecError(spec.where("$.data"), problem, "one report reads documents of one kind")
        if spec.declared["schema"] == _ONE_SCHEMA:
            problem += f"others are {newest}"
            do = "declare a newer report-spec: it reads older documents with the newer schema's defaults"
            raise SpecError(spec.where("$.data"), problem, do)
    return newest or loaded[0].schema


def _refuse_profile(document: Document, spec: Spec) -> None:
    if document.kind == "profile":
        raise SpecError(
            spec.where("$.data"),
            f"{document.path} is a profile: it is untimed and no evidence of anything in a table",
            "name the document beside it",
        )


def _refuse_unfinished(execution: CheckedExecution) -> None:
    header: Any = execution.document.value["execution"]
    if header["complete"] is not True:
        raise FindingsError(
            f"{execution.document.path}::$.execution.complete",
            "the execution was not finished",
            "finish it with tallymark run --resume, or take the file out of the data",
        )


def _refuse_duplicates(executions: Iterable[CheckedExecution]) -> None:
    """The same bytes, execution, foreign source or run twice would count twice."""
    seen: dict[str, str] = {}
    for execution in executions:
        document = execution.document
        header: Any = document.value["execution"]
        source: Any = document.value.get("source") or {}
        marks = [(document.path, "file", document.sha256), (document.path, "execution", header["id"])]
        marks.append((document.path, "source", source.get("sha256")))
        marks += [
            (f"{document.path}::{run.pointer}", "run", run.value.get("run_id")) for run in execution.runs
        ]
        for where, what, mark in marks:
            if mark is not None and mark in seen:
                problem = f"the same {what} as {seen[mark]} ({mark})"
                raise FindingsError(where, problem, "leave one of the two out of the data")
            if mark is not None:
                seen[mark] = where


def _refuse_idle_exclusions(spec: Spec, runs: Sequence[Run]) -> None:
    there = {(run.document.sha256, run.pointer) for run in runs}
    for index, entry in enumerate(spec.exclude):
        if (entry.sha256, entry.pointer) not in there:
            problem = f"no file with SHA-256 {entry.sha256} has a run {entry.pointer}"
            raise SpecError(spec.where(f"$.exclude[{index}]"), problem, "correct it or remove the entry")
