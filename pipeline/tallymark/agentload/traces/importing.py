"""Importing files of traces: which format each one is, its tasks, and the books that must balance.

A file that is refused leaves nothing behind, and the others are imported all the same. Tasks go to a spool
file as they are read, since the header of a corpus says what is in it and can only be written at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from tallymark.agentload.traces import corpus
from tallymark.agentload.traces.azure import Azure
from tallymark.agentload.traces.burstgpt import BurstGpt
from tallymark.agentload.traces.corpus import Source, Task
from tallymark.agentload.traces.entry import MOST_NS, MOST_START_NS
from tallymark.agentload.traces.files import MAX_LINE_BYTES, TraceFile, parsed_first_line
from tallymark.agentload.traces.flat_spans import FlatSpans
from tallymark.agentload.traces.interface import Identities, Names, Tally, TraceFormat
from tallymark.agentload.traces.mapped_csv import MappedCsv
from tallymark.agentload.traces.mooncake import Mooncake
from tallymark.agentload.traces.otlp import Otlp
from tallymark.agentload.traces.own import OwnCorpus
from tallymark.agentload.traces.sweagent import SweAgent
from tallymark.agentload.traces.weka import Weka
from tallymark.errors import FindingsError, TallymarkError
from tallymark.evidence import canonical
from tallymark.evidence.personal import KnownNames
from tallymark.evidence.strict_json import JsonValue

FORMATS: Final[tuple[TraceFormat, ...]] = (
    *(OwnCorpus(), Otlp(), FlatSpans(), Mooncake(), Weka(), SweAgent(), Azure(), BurstGpt()),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """One file that was not imported, and why."""

    name: str
    error: TallymarkError


class Import:
    """Imports files one after another and writes one corpus of them. Use it in a ``with`` statement."""

    def __init__(self, known: KnownNames, *, redact: bool = False, mapping: MappedCsv | None = None) -> None:
        self.sources: list[Source] = []
        self.refusals: list[Refusal] = []
        self._names = Names(known, redact=redact)
        self._identities = Identities()
        self._mapping = mapping
        self._spool: IO[bytes] = tempfile.TemporaryFile(prefix="tallymark-traces-")  # noqa: SIM115

    def __enter__(self) -> Import:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def add(self, path: Path) -> None:
        """Import one file, or note why it is refused; of a refused one nothing is kept."""
        mark = self._spool.tell()
        file = TraceFile(path)
        try:
            self.sources.append(self._imported(file))
        except TallymarkError as error:
            self._spool.seek(mark)
            self._spool.truncate()
            self.refusals.append(Refusal(file.shown, error))

    def write(self, path: Path) -> None:
        """Write the corpus of all files so far, which must not exist yet. ConflictError, UsageError."""
        canonical.write_new_pieces(path, self._pieces())

    def _pieces(self) -> Iterator[bytes]:
        yield corpus.header_line(self.sources)
        self._spool.seek(0)
        while piece := self._spool.read(1 << 20):
            yield piece

    def _imported(self, file: TraceFile) -> Source:
        tally = Tally(len(self.sources), self._names, self._identities)
        name = tally.name(file.name, f"{file.shown}::$")
        chosen, document = self._recognised(file)
        tasks = 0
        for task in chosen.tasks(file, document, tally):
            _require_times(task, file)
            line = corpus.task_line(task)
            if len(line) > MAX_LINE_BYTES:
                problem = f"the task {task.id!r} takes more than {MAX_LINE_BYTES >> 20} MiB"
                raise FindingsError(f"{file.shown}::$", problem, "split it, or leave its prefixes out")
            self._spool.write(line)
            tasks += 1
        rows = tally.rows
        if not tasks:
            why = "; ".join(f"{count} {reason}" for reason, count in rows.dropped.items())
            problem = f"no task is left of {rows.read} rows{f' ({why})' if why else ''}"
            raise FindingsError(f"{file.shown}::$", problem, "name a file that holds whole tasks")
        assert rows.read == rows.used + sum(rows.dropped.values())
        return Source(name, chosen.name, file.sha256(), tasks, rows, tally.clock_start, tally.loss)

    def _recognised(self, file: TraceFile) -> tuple[TraceFormat, JsonValue]:
        """The format of a file, and its value when it is one JSON document over several lines.

        TallymarkError: it is of no known format, or not readable.
        """
        first = file.first_line()
        if not first:
            raise FindingsError(f"{file.shown}::$", "the file is empty", "name a file of traces")
        if first.lstrip()[:1] not in (b"{", b"["):
            return self._csv(file), None
        value = parsed_first_line(file)
        document = file.document() if value is None else None
        chosen = _fitting(FORMATS, document if value is None else value, ())
        if chosen is None:
            raise _unknown(file, "these keys are of no known format")
        return chosen, document

    def _csv(self, file: TraceFile) -> TraceFormat:
        if self._mapping is not None and self._mapping.fits(None, file.columns(self._mapping.delimiter)):
            return self._mapping
        chosen = _fitting(FORMATS, None, file.columns())
        if chosen is None:
            raise _unknown(file, "its first line is neither JSON nor the header of a known CSV")
        return chosen


def _require_times(task: Task, file: TraceFile) -> None:
    """Every time within what a corpus holds. FindingsError: a clock was wrong."""
    times = [time for step in task.steps for call in step.calls for time in (call.start_ns, call.latency_ns)]
    times += [time for step in task.steps for time in (step.start_ns, step.latency_ns)]
    if any(time is not None and not 0 <= time <= MOST_NS for time in (*times, task.duration_ns)):
        problem = f"the task {task.id!r} takes more than 104 days, or less than nothing"
        raise FindingsError(f"{file.shown}::$", problem, "correct its times")
    if task.start_ns is not None and abs(task.start_ns) > MOST_START_NS:
        problem = f"the task {task.id!r} starts more than a century after the first"
        raise FindingsError(f"{file.shown}::$", problem, "correct its times")


def _fitting(formats: Iterable[TraceFormat], value: JsonValue, columns: Sequence[str]) -> TraceFormat | None:
    return next((one for one in formats if one.fits(value, columns)), None)


def _unknown(file: TraceFile, why: str) -> FindingsError:
    known = ", ".join(one.name for one in FORMATS)
    do = f"name a file of {known}, or a CSV with --mapping"
    return FindingsError(f"{file.shown}::$", f"not recognised: {why}", do)
