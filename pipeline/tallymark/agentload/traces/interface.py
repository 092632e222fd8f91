"""What an importer of traces follows, and the books that it keeps: rows, losses, names and identities.

An importer never guesses: what its file does not say is None, and a loss says so. It never keeps content: of
a prompt or a tool's result it takes the length and an identity.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from tallymark.agentload.traces.corpus import Block, Loss, Rows, Step, Task
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.numbers import clock_text
from tallymark.errors import FindingsError
from tallymark.evidence.personal import KnownNames, personal, replaced
from tallymark.evidence.strict_json import JsonValue
from tallymark.printable import printable

MAX_GROUPED_ROWS: Final = 2_000_000
"""Rows of tasks that may continue anywhere in their file: these are held until its end."""

_LONGEST_NAME: Final = 200
_MOST_LOSSES: Final = 1_000
_INDEX: Final = re.compile(r"\[\d+\]")


class Names:
    """What names of a source may be kept: printable, of bounded length, and nobody's."""

    def __init__(self, known: KnownNames, *, redact: bool) -> None:
        self._known = known
        self._redact = redact
        self._seen: dict[str, str] = {}

    def kept(self, text: str, where: str, tally: Tally) -> str:
        """The name as the corpus holds it: what does not print as its escape, personal text as placeholder.

        FindingsError: it holds a credential, or personal text without the wish to replace it.
        """
        if text in self._seen:
            return self._seen[text]
        name = printable(text[:_LONGEST_NAME]).strip() or "(empty)"
        hits = personal(name, self._known)
        for hit in hits:
            if hit.secret:
                raise FindingsError(where, f"holds {hit.kind}", "change the credential, it has leaked")
            if not self._redact:
                do = f"import with --redact to write {hit.placeholder} instead"
                raise FindingsError(where, f"holds {hit.kind}, and names are kept", do)
        name = replaced(name, hits)
        if name != text:
            tally.lose(where.partition("::")[2] or "$", "a name was shortened, escaped or replaced")
        if len(self._seen) < 100_000:
            self._seen[text] = name
        return name


class Identities:
    """Identities of prompts by content: a number for each different beginning, in order of appearance.

    The text itself is only hashed, and the hash is not kept either: it could be tried out.
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def blocks(self, pieces: Sequence[str]) -> tuple[Block, ...]:
        """A block for each piece of one prompt; lengths in characters."""
        prompt = Prompt(self)
        for piece in pieces:
            prompt.add(piece)
        return tuple(prompt.blocks)

    def number(self, digest: bytes) -> int:
        """The number of a beginning."""
        return self._numbers.setdefault(digest, len(self._numbers) + 1)


class Prompt:
    """A prompt that grows by pieces; each is hashed once, however long the conversation becomes."""

    def __init__(self, identities: Identities) -> None:
        self.blocks: list[Block] = []
        self.characters = 0
        self._identities = identities
        self._beginning = hashlib.sha256()

    def add(self, piece: str) -> None:
        """One more message."""
        data = piece.encode("utf-8", "surrogatepass")
        self._beginning.update(b"%d:" % len(data) + data)
        self.blocks.append(Block(str(self._identities.number(self._beginning.digest()[:16])), len(piece)))
        self.characters += len(piece)


class Tally:
    """The books of one file: every row that is read is used or dropped for a reason."""

    def __init__(self, source: int, names: Names, identities: Identities) -> None:
        self.source = source
        self.identities = identities
        self.tasks = 0
        self._names = names
        self._read = 0
        self._used = 0
        self._dropped: Counter[str] = Counter()
        self._losses: Counter[tuple[str, str]] = Counter()
        self._clock_ns: int | None = None

    def read(self) -> None:
        """One more row was read."""
        self._read += 1

    def use(self, rows: int = 1) -> None:
        """Rows that became part of a task."""
        self._used += rows

    def drop(self, reason: str, rows: int = 1) -> None:
        """Rows that did not, and why."""
        self._dropped[reason] += rows

    def lose(self, pointer: str, reason: str, places: int = 1) -> None:
        """Something is not carried over; pointers that differ in an index only are counted together."""
        key = (_INDEX.sub("[*]", pointer), reason)
        if key in self._losses or len(self._losses) < _MOST_LOSSES:
            self._losses[key] += places

    def ignored(self, pointer: str, keys: Sequence[str]) -> None:
        """Keys or columns that the format does not know: ignored by name."""
        for key in keys:
            self.lose(pointer, f"{printable(key[:_LONGEST_NAME])!r} is unknown and was ignored")

    def name(self, text: str, where: str) -> str:
        """A name of the file as the corpus may hold it. FindingsError: see Names.kept."""
        return self._names.kept(text, where, self)

    def optional_name(self, text: str | None, where: str) -> str | None:
        """A name, or None where there is none."""
        return None if text is None else self.name(text, where)

    def since_start(self, clock_ns: int) -> int:
        """A wall clock as nanoseconds since the first one of this file."""
        if self._clock_ns is None:
            self._clock_ns = clock_ns
        return clock_ns - self._clock_ns

    @property
    def clock_start(self) -> str | None:
        """The wall clock of ``start_ns`` 0."""
        return None if self._clock_ns is None else clock_text(self._clock_ns)

    @property
    def rows(self) -> Rows:
        """The rows so far."""
        return Rows(self._read, self._used, dict(self._dropped))

    @property
    def loss(self) -> tuple[Loss, ...]:
        """The losses so far, in order of appearance."""
        return tuple(Loss(pointer, reason, n) for (pointer, reason), n in self._losses.items())


class TraceFormat(Protocol):
    """Reads one format. Implementations hold no state of a file."""

    @property
    def name(self) -> str:
        """Name of the format in reports."""

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """Whether a file looks like this format: its first (or only) JSON value, or its CSV columns."""

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """The tasks of a file in order; ``document`` is its value where it is one document, else None.

        TallymarkError: the file is refused as a whole, at the first thing that is wrong.
        """


def span_of(steps: Sequence[Step]) -> int | None:
    """From 0 to the end of the last call of ``steps``; None where a time is unknown."""
    times = [(step.start_ns, step.latency_ns) for step in steps]
    times += [(call.start_ns, call.latency_ns) for step in steps for call in step.calls]
    ends = [start + took for start, took in times if start is not None and took is not None]
    return max(ends, default=0) if len(ends) == len(times) else None


def too_many_rows(file: TraceFile) -> FindingsError:
    """The refusal of a file whose tasks cannot be held together."""
    problem = f"more than {MAX_GROUPED_ROWS} rows of tasks that go over several rows"
    return FindingsError(f"{file.shown}::$", problem, "split the file by task, not by row")
