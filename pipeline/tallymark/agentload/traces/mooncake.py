"""Mooncake JSONL: one request a line, its prompt as hash ids of blocks of 512 tokens.

``timestamp`` (ms), ``input_length``, ``output_length``, ``hash_ids``; AIPerf adds ``session_id``, ``delay``
(ms before a later turn of a session, which then needs no ``timestamp``). The number of ids must fit the
length: a trace with blocks of another size would make every prompt longer or shorter with all counts right.
The ids are whole 64-bit numbers: 1 and 1 + 2^32 are two blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tallymark.agentload.traces.corpus import Block, Prefixes, Step, Task
from tallymark.agentload.traces.entry import MOST_NS, MOST_START_NS, Entry, kind
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.interface import MAX_GROUPED_ROWS, Tally, too_many_rows
from tallymark.evidence.strict_json import JsonValue

BLOCK_TOKENS = 512
_MS = 1_000_000
_KEYS = ("input_length", "output_length", "hash_ids")


@dataclass(frozen=True, slots=True)
class _Line:
    session: str | None
    at_ns: int | None
    step: Step


class Mooncake:
    """The importer of Mooncake traces, with the sessions that AIPerf adds."""

    name = "mooncake"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """A line with a length and hash ids."""
        return isinstance(value, dict) and "hash_ids" in value and "input_length" in value

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """A line without session is a task at once; a session is one at the end of the file."""
        prefixes = Prefixes(f"source {tally.source}", "tokens")
        sessions: dict[str, list[_Line]] = {}
        grouped = 0
        tally.lose("$", "the format records neither latencies, tool calls nor errors")
        for place, value in file.json_lines():
            tally.read()
            entry = Entry(value, place, "$")
            line = _line(entry, tally)
            tally.ignored("$", entry.unread())
            tally.use()
            if line.session is None:
                label = f"line {place.rpartition(':')[2]}"
                yield Task(label, tally.source, (line.step,), start_ns=line.at_ns, prefixes=prefixes)
                continue
            grouped += 1
            if grouped > MAX_GROUPED_ROWS:
                raise too_many_rows(file)
            sessions.setdefault(line.session, []).append(line)
        for session, lines in sessions.items():
            steps, start_ns = _session(lines)
            yield Task(session, tally.source, steps, start_ns=start_ns, prefixes=prefixes)


def _line(entry: Entry, tally: Tally) -> _Line:
    tokens = entry.whole("input_length")
    session = entry.optional_text("session_id")
    at_ns = entry.seconds_ns("timestamp", _MS, MOST_START_NS) if entry.has("timestamp") else None
    delay_ns = entry.seconds_ns("delay", _MS) if entry.has("delay") else None
    if at_ns is None and (session is None or delay_ns is None):
        raise entry.refusal(None, "the key 'timestamp' is missing")
    if delay_ns is not None:
        tally.lose("$.delay", "the pause before a turn is known, the end of the turn before it is not")
    step = Step(
        input_tokens=tokens, output_tokens=entry.whole("output_length"), blocks=_blocks(entry, tokens)
    )
    label = None if session is None else tally.name(session, entry.where("session_id"))
    return _Line(label, at_ns, step)


def _blocks(entry: Entry, tokens: int) -> tuple[Block, ...]:
    """The prompt's blocks; the last one is what is left. FindingsError: they do not fit its length."""
    ids = entry.array("hash_ids")
    due = -(-tokens // BLOCK_TOKENS)
    if len(ids) != due:
        problem = (
            f"{len(ids)} blocks of {BLOCK_TOKENS} tokens do not make input_length {tokens}, which takes {due}"
        )
        do = f"export it with blocks of {BLOCK_TOKENS} tokens, as Mooncake's traces have them"
        raise entry.refusal("hash_ids", problem, do)
    return tuple(
        Block(hash_id(entry, "hash_ids", index, found), min(BLOCK_TOKENS, tokens - index * BLOCK_TOKENS))
        for index, found in enumerate(ids)
    )


def hash_id(entry: Entry, key: str, index: int, found: JsonValue) -> str:
    """The id of a block as text. FindingsError: it is no integer of 64 bits."""
    if isinstance(found, bool) or not isinstance(found, int):
        raise entry.element(key, index, f"is {kind(found)}, not an integer")
    if not -(2**63) <= found < 2**64:
        raise entry.element(key, index, "does not fit into 64 bits")
    return str(found)


def _session(lines: list[_Line]) -> tuple[tuple[Step, ...], int | None]:
    """The steps of a session with their times from its first one, where every line has one."""
    times = [line.at_ns for line in lines]
    first = times[0]
    if first is None or any(at is None or not 0 <= at - first <= MOST_NS for at in times):
        return tuple(line.step for line in lines), first
    return tuple(
        replace(line.step, start_ns=None if line.at_ns is None else line.at_ns - first) for line in lines
    ), first
