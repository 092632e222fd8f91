"""OTLP/JSON: ``resourceSpans[].scopeSpans[].spans[]``, one document or one export a line.

Ids are hexadecimal in either case, 64-bit numbers are text or numbers, ``instrumentationLibrarySpans`` is the
old name of ``scopeSpans``. Unknown fields are what newer senders add: the protocol says to ignore them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tallymark.agentload.traces import spans
from tallymark.agentload.traces.corpus import Task
from tallymark.agentload.traces.entry import Entry, kind, shown
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.genai import Named
from tallymark.agentload.traces.interface import MAX_GROUPED_ROWS, Tally, too_many_rows
from tallymark.agentload.traces.spans import Span
from tallymark.evidence.strict_json import JsonValue

_HEX: Final = {"traceId": re.compile(r"[0-9a-f]{32}"), "spanId": re.compile(r"[0-9a-f]{16}")}
_NUMBER: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_ERROR: Final = (2, "STATUS_CODE_ERROR")
_DEPTH: Final = 32


class Otlp:
    """The importer of traces in OTLP/JSON."""

    name = "otlp"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """An object with resourceSpans."""
        return isinstance(value, dict) and "resourceSpans" in value

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """A task for each trace; spans of one trace may be in different exports."""
        return spans.tasks(_spans(file, document), tally, file.shown)


def _spans(file: TraceFile, document: JsonValue) -> Iterator[Span]:
    values = [(file.shown, document)] if document is not None else file.json_lines()
    number = 0
    for place, value in values:
        for resource in Entry(value, place, "$").entries("resourceSpans"):
            key = "scopeSpans" if resource.has("scopeSpans") else "instrumentationLibrarySpans"
            for scope in resource.entries(key) if resource.has(key) else ():
                for entry in scope.entries("spans") if scope.has("spans") else ():
                    number += 1
                    if number > MAX_GROUPED_ROWS:
                        raise too_many_rows(file)
                    yield _span(entry)


def _span(entry: Entry) -> Span:
    start_ns, end_ns = _time(entry, "startTimeUnixNano"), _time(entry, "endTimeUnixNano")
    if end_ns < start_ns:
        raise entry.refusal(
            "endTimeUnixNano", "is before startTimeUnixNano", "correct the clock of the exporter"
        )
    parent = entry.optional_text("parentSpanId") or None
    status = (
        Entry(entry.take("status"), entry.file, f"{entry.pointer}.status") if entry.has("status") else None
    )
    code = status.take("code") if status is not None and status.has("code") else None
    return Span(
        trace=_id(entry, "traceId", "traceId"),
        id=_id(entry, "spanId", "spanId"),
        parent=None if parent is None else _id(entry, "parentSpanId", "spanId"),
        start_ns=start_ns,
        end_ns=end_ns,
        failed=code in _ERROR,
        named=Named(_attributes(entry), entry.file, entry.pointer),
    )


def _id(entry: Entry, key: str, form: str) -> str:
    text = entry.text(key).lower()
    if not _HEX[form].fullmatch(text):
        length = 32 if form == "traceId" else 16
        raise entry.refusal(key, f"{shown(text)} is not {length} hexadecimal digits")
    return text


def _time(entry: Entry, key: str) -> int:
    value = entry.take(key)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise entry.refusal(key, f"is {kind(value)} that is no whole number of nanoseconds")
    if not 0 <= value < 2**63:
        raise entry.refusal(key, "is negative" if value < 0 else "is above 2^63 - 1")
    return value


def _attributes(entry: Entry) -> dict[str, JsonValue]:
    """The attributes as a map. FindingsError: one is no key with a value."""
    if not entry.has("attributes"):
        return {}
    return {
        attribute.text("key"): _any(attribute.take("value"), attribute, 0)
        for attribute in entry.entries("attributes")
    }


def _any(value: JsonValue, owner: Entry, depth: int) -> JsonValue:
    """An AnyValue as the value that it stands for; None where it is empty. FindingsError: nested too deep."""
    if depth > _DEPTH:
        raise owner.refusal("value", f"is nested more than {_DEPTH} deep")
    inner = Entry(value, owner.file, f"{owner.pointer}.value")
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if inner.has(key):
            return inner.take(key)
    if inner.has("intValue"):
        return _integer(inner)
    if inner.has("arrayValue"):
        values = Entry(inner.take("arrayValue"), inner.file, f"{inner.pointer}.arrayValue")
        members = values.array("values") if values.has("values") else []
        return [_any(member, values, depth + 1) for member in members]
    if inner.has("kvlistValue"):
        pairs = Entry(inner.take("kvlistValue"), inner.file, f"{inner.pointer}.kvlistValue")
        found = pairs.entries("values") if pairs.has("values") else iter(())
        return {pair.text("key"): _any(pair.take("value"), pair, depth + 1) for pair in found}
    return None


def _integer(inner: Entry) -> int:
    value = inner.take("intValue")
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise inner.refusal("intValue", f"is {kind(value)} that is no whole number")
    return value
