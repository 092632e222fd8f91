"""Executions that passed: what tables may read. Only the checker makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tallymark import schemas
from tallymark.check.judge import judge
from tallymark.check.rule import EXECUTIONS
from tallymark.errors import FindingsError
from tallymark.evidence.documents import Document
from tallymark.evidence.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """One counted run of a document without findings.

    ``configuration`` is the complete configuration: every key that the schema marks as such, compound ones
    (``build``, ``machine``) whole. ``counted`` is False for a run that did not complete: it is shown and
    never aggregated.
    """

    pointer: str
    value: dict[str, Any]
    configuration: dict[str, JsonValue]
    counted: bool


@dataclass(frozen=True, slots=True)
class CheckedExecution:
    """An execution that passed its schema and every rule (warnings apart)."""

    document: Document
    runs: tuple[CheckedRun, ...]


def checked_execution(document: Document) -> CheckedExecution:
    """Check an execution and give its runs. FindingsError: it is none, or has findings (says the first)."""
    if document.kind not in EXECUTIONS:
        raise FindingsError(
            f"{document.path}::$.schema",
            f"{schemas.shown(document.value.get('schema'))} is not an execution",
            f"Use a document of {' or '.join(EXECUTIONS)}",
        )
    errors = [finding for finding in judge(document).findings if finding.severity == "error"]
    if errors:
        first, *rest = errors
        problem = first.problem + (f" (and {len(rest)} more findings)" if rest else "")
        raise FindingsError(f"{first.file}::{first.pointer}", problem, first.do)
    return CheckedExecution(document, _runs(document))


def _runs(document: Document) -> tuple[CheckedRun, ...]:
    value: dict[str, Any] = document.value
    shared: dict[str, JsonValue] = {}
    own: list[str] = []
    for key in schemas.config_keys(document.schema):
        if key.pointer.startswith("$.runs[]."):
            own.append(key.name)
        else:
            shared[key.name] = _at(value, key.pointer)
    return tuple(
        CheckedRun(
            pointer=f"$.runs[{position}]",
            value=run,
            configuration={name: run[name] for name in own} | shared,
            counted=run["outcome"] == "completed",
        )
        for position, run in enumerate(value["runs"])
    )


def _at(value: Any, pointer: str) -> JsonValue:
    """The value at a plain pointer ``$.manifest.build``."""
    for name in pointer.removeprefix("$.").split("."):
        value = value[name]
    return value  # type: ignore[no-any-return]
