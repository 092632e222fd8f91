"""Any CSV by a mapping: a TOML file that says which column is what.

::

    [columns]              # our name = the file's column; at least input_tokens and output_tokens
    task = "Run ID"        # rows of one task, in order; without it every row is a task
    input_tokens = "prompt"
    output_tokens = "completion"
    [units]                # start, latency, tool_latency: ns, us, ms, s; start also "clock" (ISO 8601)
    start = "clock"
    [csv]
    delimiter = ";"

A row with a tool and without input tokens is a further call of its task's last step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tallymark.agentload.traces.corpus import Call, Step, Task
from tallymark.agentload.traces.entry import MOST_NS, MOST_START_NS, Entry, shown
from tallymark.agentload.traces.files import Row, TraceFile
from tallymark.agentload.traces.interface import MAX_GROUPED_ROWS, Tally, span_of, too_many_rows
from tallymark.agentload.traces.numbers import clock_ns, duration_ns, whole
from tallymark.errors import FindingsError
from tallymark.evidence import documents
from tallymark.evidence.strict_json import JsonValue

UNITS: Final = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_NAMES: Final = (
    *("task", "kind", "start", "model", "input_tokens", "cached_tokens", "output_tokens", "latency", "error"),
    *("tool", "tool_latency", "result_tokens", "tool_error"),
)
_TIMES: Final = ("start", "latency", "tool_latency")
NO_TOKENS: Final = "no tokens: neither a model call nor a tool call"


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Our name → column, the unit of each time, and the delimiter."""

    columns: Mapping[str, str]
    units: Mapping[str, str]
    delimiter: str


def read_mapping(path: Path) -> ColumnMapping:
    """The mapping in a TOML file. TallymarkError: it cannot be read, or a key or value is wrong."""
    document = documents.from_toml(
        documents.read_bytes(path, documents.shown_path(path), follow=True), documents.shown_path(path)
    )
    top = Entry(document.value, document.path, "$")
    columns = _texts(top, "columns", _NAMES)
    for name in ("input_tokens", "output_tokens"):
        if name not in columns:
            raise top.refusal("columns", f"does not map {name}", f'add {name} = "its column"')
    units = {"start": "s", "latency": "s", "tool_latency": "s"} | _texts(top, "units", _TIMES)
    for name, unit in units.items():
        if unit not in UNITS and not (name == "start" and unit == "clock"):
            problem = f"{name} is {shown(unit)}, no unit"
            raise top.refusal("units", problem, f"use one of {', '.join(UNITS)}, or clock for start")
    delimiter = _texts(top, "csv", ("delimiter",)).get("delimiter", ",")
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise top.refusal("csv", "the delimiter is not one character", 'write delimiter = ";"')
    if unknown := top.unread():
        raise top.refusal(unknown[0], "is no table of a mapping", "use [columns], [units] and [csv]")
    return ColumnMapping(columns, units, delimiter)


def _texts(top: Entry, key: str, allowed: Sequence[str]) -> dict[str, str]:
    if not top.has(key):
        return {}
    table = Entry(top.take(key), top.file, f"$.{key}")
    found = {name: table.text(name) for name in table.unread() if name in allowed}
    if unknown := table.unread():
        raise table.refusal(unknown[0], "is unknown", f"use {', '.join(allowed)}")
    return found


class MappedCsv:
    """The importer of one mapping."""

    name = "mapped-csv"

    def __init__(self, mapping: ColumnMapping) -> None:
        self._mapping = mapping

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """A file with every mapped column; ``columns`` must be cut at this mapping's delimiter."""
        return set(self._mapping.columns.values()) <= set(columns)

    @property
    def delimiter(self) -> str:
        """What separates the columns."""
        return self._mapping.delimiter

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """A row without task is one at once; the others are grouped by their task to the end of the file."""
        mapped = set(self._mapping.columns.values())
        columns = file.columns(self._mapping.delimiter)
        tally.ignored("$", [name for name in columns if name not in mapped])
        groups: dict[str, _Group] = {}
        grouped = 0
        for row in file.rows(sorted(mapped), self._mapping.delimiter):
            tally.read()
            key = _Reader(row, self._mapping).text("task")
            label = (
                f"line {row.line}"
                if key is None
                else tally.name(key, row.where(self._mapping.columns["task"]))
            )
            group = groups.get(label) or _Group(label, tally, self._mapping)
            if not group.add(row):
                tally.drop(NO_TOKENS)
                continue
            tally.use()
            if key is None:
                yield group.task()
                continue
            groups[label] = group
            grouped += 1
            if grouped > MAX_GROUPED_ROWS:
                raise too_many_rows(file)
        for group in groups.values():
            yield group.task()


class _Group:
    """The rows of one task so far."""

    def __init__(self, label: str, tally: Tally, mapping: ColumnMapping) -> None:
        self._label = label
        self._tally = tally
        self._mapping = mapping
        self._start_ns: int | None = None
        self._kind: str | None = None
        self._steps: list[Step] = []

    def add(self, row: Row) -> bool:
        """Add a row; False when it holds no call. FindingsError: a value is wrong."""
        reader = _Reader(row, self._mapping)
        start_ns = reader.start(self._tally)
        if self._start_ns is None:
            self._start_ns = start_ns
        offset = None if start_ns is None or self._start_ns is None else start_ns - self._start_ns
        if offset is not None and offset < 0:
            where = row.where(self._mapping.columns["start"])
            raise FindingsError(
                where, "is before the first row of its task", "sort the rows of a task by time"
            )
        if reader.text("input_tokens") is None:
            call = reader.call(self._tally, offset)
            if call is None or not self._steps:
                return False
            self._steps[-1] = replace(self._steps[-1], calls=(*self._steps[-1].calls, call))
            return True
        if not self._steps:
            self._kind = reader.name("kind", self._tally)
        step = reader.step(self._tally, offset)
        if not step.input_tokens or not step.output_tokens:
            return False
        self._steps.append(step)
        return True

    def task(self) -> Task:
        """The whole task."""
        steps = tuple(self._steps)
        return Task(
            self._label,
            self._tally.source,
            steps,
            kind=self._kind,
            start_ns=self._start_ns,
            duration_ns=span_of(steps),
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row by our names."""

    row: Row
    mapping: ColumnMapping

    def text(self, name: str) -> str | None:
        """The value of a mapped column; None when it is not mapped or empty."""
        column = self.mapping.columns.get(name)
        return (self.row.values[column].strip() or None) if column is not None else None

    def name(self, name: str, tally: Tally) -> str | None:
        """A name as the corpus may hold it."""
        return tally.optional_name(self.text(name), self._where(name))

    def count(self, name: str) -> int | None:
        """A number of tokens."""
        text = self.text(name)
        return None if text is None else whole(text, self._where(name))

    def time(self, name: str) -> int | None:
        """A time in the unit of its column."""
        text = self.text(name)
        if text is None:
            return None
        most_ns = MOST_START_NS if name == "start" else MOST_NS
        return duration_ns(text, self._where(name), UNITS[self.mapping.units[name]], most_ns)

    def start(self, tally: Tally) -> int | None:
        """When the row began, since the first row of the file where it is a clock."""
        text = self.text("start")
        if text is None or self.mapping.units["start"] != "clock":
            return self.time("start") if text is not None else None
        return tally.since_start(clock_ns(text, self._where("start")))

    def step(self, tally: Tally, offset_ns: int | None) -> Step:
        """The model call of the row and the tool call in it, if there is one."""
        tokens, cached = self.count("input_tokens"), self.count("cached_tokens")
        if cached is not None and cached > (tokens or 0):
            problem = f"{cached} cached of {tokens} input tokens"
            raise FindingsError(self._where("cached_tokens"), problem, "count cached tokens as input, too")
        call = self.call(tally, None)
        return Step(
            model=self.name("model", tally),
            start_ns=offset_ns,
            latency_ns=self.time("latency"),
            input_tokens=tokens,
            cached_tokens=cached,
            output_tokens=self.count("output_tokens"),
            error=self.name("error", tally),
            calls=() if call is None else (call,),
        )

    def call(self, tally: Tally, offset_ns: int | None) -> Call | None:
        """The tool call of the row; None when it names no tool."""
        tool = self.name("tool", tally)
        if tool is None:
            return None
        latency_ns, error = self.time("tool_latency"), self.name("tool_error", tally)
        return Call(tool, offset_ns, latency_ns, self.count("result_tokens"), None, error)

    def _where(self, name: str) -> str:
        return self.row.where(self.mapping.columns.get(name, name))
