"""Reading a corpus back: ``agent-traces/1.0``, a task at a time, every value checked.

It is also a format to import: a simulation keeps its slowest tasks so, and several corpora become one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tallymark.agentload.traces.corpus import (
    MAX_BLOCKS,
    SCHEMA,
    Agent,
    Block,
    Call,
    Loss,
    Prefixes,
    Rows,
    Source,
    Step,
    Task,
)
from tallymark.agentload.traces.entry import MOST_NS, MOST_START_NS, Entry, shown
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.interface import Tally
from tallymark.errors import FindingsError, child
from tallymark.evidence.strict_json import JsonValue

_MOST_SOURCES = 10_000
_MOST_ROWS = 2**53 - 1
_LONGEST_NAME = 1_000
_CUT = "import the traces again, the corpus may be cut off"


class OwnCorpus:
    """The importer of a corpus that was imported or simulated before."""

    name = "agent-traces"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """A header of the schema, in any version."""
        return isinstance(value, dict) and str(value.get("schema")).startswith("agent-traces/")

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """Its tasks, under the number that this import has for the file. A row is a task."""
        _, found = _read(file)
        tally.lose("$", "the rows of the corpus are its tasks: those of its own sources are in its header")
        for task in found:
            tally.read()
            tally.use()
            scope = task.prefixes
            if scope is not None and scope.scope != "weka":
                scope = replace(scope, scope=f"source {tally.source}: {scope.scope}")
            yield _named(replace(task, source=tally.source, prefixes=scope), file, tally)


def _named(task: Task, file: TraceFile, tally: Tally) -> Task:
    """The task with its names as this import keeps names."""
    where = f"{file.shown}::$"

    def kept(text: str | None) -> str | None:
        return tally.optional_name(text, where)

    steps = tuple(
        replace(
            step,
            agent=kept(step.agent),
            model=kept(step.model),
            error=kept(step.error),
            calls=tuple(
                replace(call, tool=tally.name(call.tool, where), error=kept(call.error))
                for call in step.calls
            ),
        )
        for step in task.steps
    )
    agents = tuple(Agent(tally.name(agent.id, where), kept(agent.kind)) for agent in task.agents)
    return replace(task, id=tally.name(task.id, where), kind=kept(task.kind), steps=steps, agents=agents)


def read(path: Path) -> tuple[tuple[Source, ...], Iterator[Task]]:
    """The sources of a corpus and its tasks, read as they are asked for.

    TallymarkError: it cannot be read, is no corpus, or holds another number of tasks than its header says
    (raised at its end).
    """
    return _read(TraceFile(path))


def _read(file: TraceFile) -> tuple[tuple[Source, ...], Iterator[Task]]:
    lines = file.json_lines()
    place, value = next(lines, (f"{file.shown}:1", None))
    top = Entry(value, place, "$")
    schema = top.text("schema")
    if schema != SCHEMA:
        raise top.refusal(
            "schema", f"is {shown(schema)}, not '{SCHEMA}'", "import the traces with this version"
        )
    due = top.whole("tasks", 0, _MOST_ROWS)
    sources = tuple(_source(entry) for entry in top.entries("sources"))
    if len(sources) > _MOST_SOURCES:
        raise top.refusal("sources", f"has more than {_MOST_SOURCES} files")
    _nothing_else(top)
    return sources, _tasks(file, lines, due, len(sources))


def _tasks(file: TraceFile, lines: Iterator[tuple[str, JsonValue]], due: int, sources: int) -> Iterator[Task]:
    found = 0
    for place, value in lines:
        found += 1
        yield _task(Entry(value, place, "$"), sources)
    if found != due:
        raise FindingsError(f"{file.shown}:1::$.tasks", f"says {due}, but there are {found} tasks", _CUT)


def _source(entry: Entry) -> Source:
    rows = Entry(entry.take("rows"), entry.file, child(entry.pointer, "rows"))
    dropped = Entry(rows.take("dropped"), rows.file, child(rows.pointer, "dropped"))
    counts = {key: dropped.whole(key, 0, _MOST_ROWS) for key in dropped.unread()}
    read_rows, used = rows.whole("read", 0, _MOST_ROWS), rows.whole("used", 0, _MOST_ROWS)
    if read_rows != used + sum(counts.values()):
        raise rows.refusal("read", f"is {read_rows}, not {used} used + {sum(counts.values())} dropped", _CUT)
    source = Source(
        name=_text(entry, "name"),
        format=_text(entry, "format"),
        sha256=_text(entry, "sha256"),
        tasks=entry.whole("tasks", 0, _MOST_ROWS),
        rows=Rows(read_rows, used, counts),
        clock_start=_optional_text(entry, "clock_start"),
        loss=tuple(
            Loss(_text(loss, "pointer"), _text(loss, "reason"), loss.whole("places", 1, _MOST_ROWS))
            for loss in entry.entries("loss")
        ),
    )
    _nothing_else(rows)
    _nothing_else(entry)
    return source


def _task(entry: Entry, sources: int) -> Task:
    steps: list[Step] = []
    blocks = 0
    for value in entry.entries("steps"):
        steps.append(_step(value, steps[-1].blocks if steps else ()))
        blocks += len(steps[-1].blocks)
        if blocks > MAX_BLOCKS:
            raise entry.refusal("steps", f"have more than {MAX_BLOCKS} blocks in all", "split the task")
    if not steps:
        raise entry.refusal("steps", "is empty: a task has at least one model call", _CUT)
    task = Task(
        id=_text(entry, "id"),
        source=entry.whole("source", 0, sources - 1),
        steps=tuple(steps),
        kind=_optional_text(entry, "kind"),
        start_ns=_start(entry),
        duration_ns=entry.optional_whole("duration_ns", 0, MOST_NS),
        succeeded=_truth(entry, "succeeded"),
        system_tokens=entry.optional_whole("system_tokens"),
        tools_tokens=entry.optional_whole("tools_tokens"),
        prefixes=_prefixes(entry),
        agents=tuple(
            Agent(_text(agent, "id"), _optional_text(agent, "kind"))
            for agent in (entry.entries("agents") if entry.has("agents") else ())
        ),
    )
    _nothing_else(entry)
    return task


def _start(entry: Entry) -> int | None:
    if not entry.has("start_s"):
        return None
    most_s = MOST_START_NS // 10**9
    return entry.whole("start_s", -most_s, most_s) * 10**9 + entry.whole("start_ns", 0, 10**9 - 1)


def _prefixes(entry: Entry) -> Prefixes | None:
    if not entry.has("prefixes"):
        return None
    inner = Entry(entry.take("prefixes"), entry.file, child(entry.pointer, "prefixes"))
    unit = inner.text("unit")
    if unit not in ("tokens", "characters"):
        raise inner.refusal("unit", "is neither 'tokens' nor 'characters'")
    return Prefixes(_text(inner, "scope"), unit)


def _step(entry: Entry, before: tuple[Block, ...]) -> Step:
    kept = entry.whole("kept_blocks", 0, len(before)) if entry.has("kept_blocks") else 0
    step = Step(
        agent=_optional_text(entry, "agent"),
        model=_optional_text(entry, "model"),
        start_ns=entry.optional_whole("start_ns", 0, MOST_NS),
        latency_ns=entry.optional_whole("latency_ns", 0, MOST_NS),
        input_tokens=entry.optional_whole("input_tokens"),
        cached_tokens=entry.optional_whole("cached_tokens"),
        output_tokens=entry.optional_whole("output_tokens"),
        input_characters=entry.optional_whole("input_characters"),
        output_characters=entry.optional_whole("output_characters"),
        error=_optional_text(entry, "error"),
        blocks=before[:kept] + tuple(_blocks(entry)),
        calls=tuple(_call(call) for call in (entry.entries("calls") if entry.has("calls") else ())),
    )
    if step.cached_tokens is not None and step.cached_tokens > (step.input_tokens or 0):
        raise entry.refusal("cached_tokens", f"is {step.cached_tokens}, more than the input tokens")
    _nothing_else(entry)
    return step


def _blocks(entry: Entry) -> Iterator[Block]:
    for index, found in enumerate(entry.array("blocks") if entry.has("blocks") else ()):
        if not isinstance(found, list) or len(found) != 2:
            raise entry.element("blocks", index, "is not [id, length]")
        block = Entry({"id": found[0], "length": found[1]}, entry.file, entry.pointer)
        yield Block(_text(block, "id"), block.whole("length"))


def _call(entry: Entry) -> Call:
    call = Call(
        tool=_text(entry, "tool"),
        start_ns=entry.optional_whole("start_ns", 0, MOST_NS),
        latency_ns=entry.optional_whole("latency_ns", 0, MOST_NS),
        result_tokens=entry.optional_whole("result_tokens"),
        result_characters=entry.optional_whole("result_characters"),
        error=_optional_text(entry, "error"),
    )
    _nothing_else(entry)
    return call


def _text(entry: Entry, key: str) -> str:
    text = entry.text(key)
    if not text or len(text) > _LONGEST_NAME:
        raise entry.refusal(key, "is empty" if not text else f"is longer than {_LONGEST_NAME} characters")
    return text


def _optional_text(entry: Entry, key: str) -> str | None:
    return _text(entry, key) if entry.has(key) else None


def _truth(entry: Entry, key: str) -> bool | None:
    if not entry.has(key):
        return None
    value = entry.take(key)
    if not isinstance(value, bool):
        raise entry.refusal(key, "is neither true nor false")
    return value


def _nothing_else(entry: Entry) -> None:
    unknown = next(iter(entry.unread()), None)
    if unknown is not None:
        raise entry.refusal(unknown, f"is no key of {SCHEMA}", "remove it, or read it with a newer version")
