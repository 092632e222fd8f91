"""BurstGPT (CSV), versions 1 to 3, read by the names of its columns.

``Timestamp`` (s), ``Model``, ``Request tokens``, ``Response tokens``, ``Total tokens``, ``Log Type``; version
3 puts ``Session ID`` and ``Elapsed time`` (s) in between. About one row in twelve has 0 response tokens: the
service failed there. Such rows are dropped by name, never averaged in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tallymark.agentload.traces.azure import NO_TOKENS
from tallymark.agentload.traces.corpus import Step, Task
from tallymark.agentload.traces.entry import MOST_START_NS
from tallymark.agentload.traces.files import Row, TraceFile
from tallymark.agentload.traces.interface import MAX_GROUPED_ROWS, Tally, span_of, too_many_rows
from tallymark.agentload.traces.numbers import duration_ns, whole
from tallymark.errors import FindingsError
from tallymark.evidence.strict_json import JsonValue

_COLUMNS = ("Timestamp", "Model", "Request tokens", "Response tokens", "Total tokens", "Log Type")
_LATER = ("Session ID", "Elapsed time")
_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Turn:
    at_ns: int
    kind: str
    step: Step


class BurstGpt:
    """The importer of BurstGPT's files."""

    name = "burstgpt"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """A header with the two columns of tokens."""
        return {"Request tokens", "Response tokens"} <= set(columns)

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """A row without session is a task at once; a session is one at the end of the file."""
        columns = file.columns()
        tally.lose("$", "the format records neither tool calls, prefixes nor errors")
        tally.ignored("$", [name for name in columns if name not in (*_COLUMNS, *_LATER)])
        sessions: dict[str, list[_Turn]] = {}
        grouped = 0
        for row in file.rows(_COLUMNS):
            tally.read()
            turn = _turn(row, tally)
            if turn is None:
                continue
            tally.use()
            session = row.values.get("Session ID", "").strip()
            if not session:
                yield _task(f"line {row.line}", [turn], tally)
                continue
            grouped += 1
            if grouped > MAX_GROUPED_ROWS:
                raise too_many_rows(file)
            sessions.setdefault(tally.name(session, row.where("Session ID")), []).append(turn)
        for session, turns in sessions.items():
            yield _task(session, turns, tally)


def _turn(row: Row, tally: Tally) -> _Turn | None:
    """One row; None when it is dropped. FindingsError: a value is wrong, or the tokens do not add up."""
    at_ns = duration_ns(row.values["Timestamp"], row.where("Timestamp"), _S, MOST_START_NS)
    tokens, output, total = (
        whole(row.values[name], row.where(name))
        for name in ("Request tokens", "Response tokens", "Total tokens")
    )
    if tokens + output != total:
        problem = f"{total} is not {tokens} + {output}"
        raise FindingsError(row.where("Total tokens"), problem, "correct or remove the row")
    elapsed = row.values.get("Elapsed time", "").strip()
    latency_ns = duration_ns(elapsed, row.where("Elapsed time"), _S) if elapsed else None
    if not tokens or not output:
        tally.drop(NO_TOKENS)
        return None
    step = Step(
        model=tally.name(row.values["Model"], row.where("Model")),
        latency_ns=latency_ns,
        input_tokens=tokens,
        output_tokens=output,
    )
    return _Turn(at_ns, tally.name(row.values["Log Type"], row.where("Log Type")), step)


def _task(label: str, turns: list[_Turn], tally: Tally) -> Task:
    turns = sorted(turns, key=lambda turn: turn.at_ns)
    start = turns[0].at_ns
    steps = tuple(replace(turn.step, start_ns=turn.at_ns - start) for turn in turns)
    return Task(label, tally.source, steps, kind=turns[0].kind, start_ns=start, duration_ns=span_of(steps))
