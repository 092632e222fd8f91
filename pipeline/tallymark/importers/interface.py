"""What an importer returns, and the one protocol that every importer follows.

An importer reads one foreign format and says what it could not carry over. It never guesses: what
the file does not say is None, and a :class:`Loss` says so. It never computes: a sample becomes a run
as it stands, a mean becomes a :class:`Reported` value, and only samples are ever tabulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tallymark.evidence.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One sample of the foreign file."""

    benchmark: str
    """Name of what was measured, as the file has it: untrusted text."""

    parameters: Mapping[str, str]
    """Parameter name to value; empty when there are none."""

    repetition: int
    """1, 2, 3 … within one benchmark and its parameters, in the order of the file."""

    outcome: str
    """``completed``, ``failed`` (exit code other than 0) or ``killed`` (no exit code, but one was due)."""

    elapsed_s: float
    """Wall-clock seconds, greater than 0."""

    exit_code: int | None
    """None when the process was killed, or when the file records no exit codes at all."""

    exit_code_recorded: bool
    """False when the file has no exit codes: then the document leaves the key out."""

    memory_bytes: int | None
    """Peak memory as the tool read it; None when the file has none."""

    cpu_s: float | None = None
    """User and kernel time of the sample; this and all below are None when the file has none."""

    operations: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    queued_bytes: int | None = None
    drained_bytes: int | None = None
    latency_p50_s: float | None = None
    latency_p99_s: float | None = None
    round: int | None = None
    """Round of an interleaved measurement, from 1; None when every sample is a round of its own."""


@dataclass(frozen=True, slots=True)
class Reported:
    """One series and the figures that the foreign tool computed of it: for comparison, never tabulated.

    Without a mean the tool computed none, and the entry only names the series.
    """

    pointer: str
    """Place of the entry in the source file."""

    benchmark: str
    parameters: Mapping[str, str]
    mean_s: float | None = None
    stddev_s: float | None = None
    median_s: float | None = None
    min_s: float | None = None
    max_s: float | None = None
    user_mean_s: float | None = None
    system_mean_s: float | None = None

    places: Mapping[str, str] = field(default_factory=dict)
    """Parameter name → its place in the source file, where that is not in the entry."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the source has and the runs do not, or that the source never had, and why."""

    pointer: str
    """Place in the source file, ``$`` for the whole file."""

    reason: str


@dataclass(frozen=True, slots=True)
class Measured:
    """When and where, of a file that says so. ``machine`` has the keys of the manifest; None is unknown."""

    machine: Mapping[str, JsonValue]
    started_at: str
    finished_at: str
    seed: int


@dataclass(frozen=True, slots=True)
class Imported:
    """One foreign file, read: its runs in file order, its own figures, and what was lost on the way."""

    format: str
    format_version: str | None
    runs: tuple[ImportedRun, ...]
    reported: tuple[Reported, ...]
    loss: tuple[Loss, ...]
    measured: Measured | None = None


class Importer(Protocol):
    """Reads one format. Implementations hold no state."""

    @property
    def name(self) -> str:
        """The FORMAT of the command line, also ``source.format`` of the document."""

    @property
    def made_by(self) -> str:
        """How a user makes such a file, for messages: ``hyperfine --export-json``."""

    def detect(self, data: JsonValue) -> bool:
        """True when the parsed file looks like this format, whether or not it is valid."""

    def read(self, data: JsonValue, name: str) -> Imported:
        """Read the parsed file; ``name`` is the file name that messages show.

        Raises FindingsError with the pointer of the first thing that is missing, wrong or absurd.
        """
