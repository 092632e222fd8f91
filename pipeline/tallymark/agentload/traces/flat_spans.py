"""Flat spans, as Exgentic and inference-perf write them: ``{trace_id, spans: [{span_id, start_time, …}]}``.

Times are ISO 8601, attributes a plain object, ids any text. One trace a file, or one a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tallymark.agentload.traces import spans
from tallymark.agentload.traces.corpus import Task
from tallymark.agentload.traces.entry import Entry
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.genai import Named
from tallymark.agentload.traces.interface import MAX_GROUPED_ROWS, Tally, too_many_rows
from tallymark.agentload.traces.numbers import clock_ns
from tallymark.agentload.traces.spans import Span
from tallymark.evidence.strict_json import JsonValue

_ERROR = (2, "ERROR", "STATUS_CODE_ERROR")


class FlatSpans:
    """The importer of flat GenAI spans."""

    name = "flat-spans"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """An object with spans that are not in OTLP's envelope."""
        return isinstance(value, dict) and isinstance(value.get("spans"), list)

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """A task for each trace id of the spans."""
        return spans.tasks(_spans(file, document), tally, file.shown)


def _spans(file: TraceFile, document: JsonValue) -> Iterator[Span]:
    values = [(file.shown, document)] if document is not None else file.json_lines()
    number = 0
    for place, value in values:
        top = Entry(value, place, "$")
        for entry in top.entries("spans"):
            number += 1
            if number > MAX_GROUPED_ROWS:
                raise too_many_rows(file)
            yield _span(entry, top)


def _span(entry: Entry, top: Entry) -> Span:
    start_ns = clock_ns(entry.text("start_time"), entry.where("start_time"))
    end_ns = clock_ns(entry.text("end_time"), entry.where("end_time"))
    if end_ns < start_ns:
        raise entry.refusal("end_time", "is before start_time", "correct the clock of the exporter")
    attributes = entry.take("attributes")
    if not isinstance(attributes, dict):
        raise entry.refusal("attributes", "is no object")
    status = (
        Entry(entry.take("status"), entry.file, f"{entry.pointer}.status") if entry.has("status") else None
    )
    code = status.take("code") if status is not None and status.has("code") else None
    return Span(
        trace=entry.text("trace_id") if entry.has("trace_id") else top.text("trace_id"),
        id=entry.text("span_id"),
        parent=entry.optional_text("parent_span_id"),
        start_ns=start_ns,
        end_ns=end_ns,
        failed=code in _ERROR,
        named=Named(attributes, entry.file, entry.pointer),
    )
