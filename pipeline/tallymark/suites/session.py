"""A suite's journal, written and read back: what was planned, what is done, what a kill cut short.

The journal ``<label>.journal`` lies beside the document it will become. Its lines:

    header      the execution, the warm-ups and the plan
    gate        the manifest and the assertions that passed; the execution starts here
    started     a run begins: whatever happens now, its name is known
    progress    the last counts of a long run, now and then
    finished    the whole record of a run
    interrupted the record of a run that the user stopped
    lost        the record of a run whose suite died under it (written by ``--resume`` or ``recover``)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tallymark import __version__
from tallymark.errors import UnreadableError, UsageError
from tallymark.evidence.documents import shown_path
from tallymark.evidence.journal import Journal, JournalContent
from tallymark.suites.model import SCHEMA, Json, Plan, PlannedRun
from tallymark.suites.stamp import new_id, utc_now

Section: TypeAlias = Literal["warmups", "runs"]
FORMAT = "tallymark-journal/1"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run that was begun: its place in the plan, its id, when, the host's state then, its last counts."""

    section: Section
    planned: PlannedRun
    run_id: str
    at: str
    host: Json
    progress: Json


@dataclass(frozen=True, slots=True)
class Session:
    """Everything a journal says, folded.

    ``cut_short`` holds the record of each run that has only been stopped so far, ``superseded`` those of
    attempts that were made again since. ``open_attempt`` is a run that began and has no record.
    """

    execution: Json
    plan: Plan
    manifest: Json | None
    gate: Json | None
    finished: Mapping[tuple[Section, int], Json]
    cut_short: Mapping[tuple[Section, int], Json]
    superseded: tuple[tuple[Section, Json], ...]
    open_attempt: Attempt | None
    last_at: str

    def remaining(self) -> tuple[tuple[Section, PlannedRun], ...]:
        """What is still to be run, in its order: warm-ups first."""
        return tuple(item for item in entries(self.plan) if (item[0], item[1].index) not in self.finished)

    @property
    def complete(self) -> bool:
        """Whether every planned run, warm-ups too, has its record."""
        return not self.remaining()


def entries(plan: Plan) -> Iterator[tuple[Section, PlannedRun]]:
    """Every run of the plan in the order in which it is made."""
    for planned in plan.warmups:
        yield "warmups", planned
    for planned in plan.runs:
        yield "runs", planned


def journal_path(directory: Path, label: str) -> Path:
    """Where the journal of ``directory/label.json`` lies. Not ``*.json``: ``check`` passes it by."""
    return directory / f"{label}.journal"


def header(plan: Plan, execution_id: str | None = None, ab: Json | None = None) -> Json:
    """The first line of a new journal: all that is decided before the first process starts.

    ``execution_id``: drawn unless given. ``ab``: what the document says of the other side of an A/B.
    """
    return {
        "journal": FORMAT,
        "execution": {
            "id": execution_id or new_id(),
            "suite": plan.suite,
            "label": plan.label,
            "started_at": utc_now(),
            "seed": plan.seed,
            "command": plan.command,
            "tool_version": __version__,
            "warmup_runs": len(plan.warmups),
            "repetitions": plan.repetitions,
            **({} if ab is None else {"ab": ab}),
        },
        "schema": SCHEMA,
        "warmups": [planned.to_json() for planned in plan.warmups],
        "plan": [planned.to_json() for planned in plan.runs],
    }


def append(journal: Journal, kind: str, **content: Any) -> None:
    """Add one line of a kind, with the time, and wait until it is on disk.

    UsageError: it cannot be written (a full disk); what was written before is safe.
    """
    try:
        journal.append({"kind": kind, "at": utc_now(), **content})
    except OSError as error:
        raise UsageError(
            shown_path(journal.path),
            f"cannot be written ({error.strerror}); the runs before are safe",
            "make room and run again, with --resume if the journal is still there",
        ) from None


def fold(content: JournalContent, where: str) -> Session:
    """The state that the lines add up to. UnreadableError: the journal is not one of ours."""
    try:
        return _fold(content)
    except (KeyError, TypeError, ValueError, AssertionError, StopIteration) as error:
        raise UnreadableError(
            f"{where}::$",
            f"not a suite's journal ({type(error).__name__}: {error})",
            "name DIR/<label>.journal",
        ) from None


def _fold(content: JournalContent) -> Session:
    head: dict[str, Any] = content.header
    if head["journal"] != FORMAT or head["schema"] != SCHEMA:
        raise ValueError(f"written as {head['journal']} for {head['schema']}")
    session = Session(
        execution=head["execution"],
        plan=_plan(head),
        manifest=None,
        gate=None,
        finished={},
        cut_short={},
        superseded=(),
        open_attempt=None,
        last_at=head["execution"]["started_at"],
    )
    for entry in content.entries:
        session = replace(_after(session, entry), last_at=str(entry["at"]))
    return session


def _after(session: Session, entry: dict[str, Any]) -> Session:
    """The state after one more line."""
    match entry["kind"]:
        case "gate":
            execution = {**session.execution, "started_at": entry["started_at"]}
            return replace(session, execution=execution, manifest=entry["manifest"], gate=entry["gate"])
        case "started":
            return replace(session, open_attempt=_attempt(session.plan, entry))
        case "progress" if session.open_attempt is not None:
            return replace(session, open_attempt=replace(session.open_attempt, progress=entry["progress"]))
        case "finished":
            place = (entry["section"], entry["run"]["index"])
            known = _superseding(session, place)
            return replace(known, finished={**known.finished, place: entry["run"]}, open_attempt=None)
        case "interrupted" | "lost":
            place = (entry["section"], entry["run"]["index"])
            known = _superseding(session, place)
            return replace(known, cut_short={**known.cut_short, place: entry["run"]}, open_attempt=None)
        case kind:
            raise ValueError(f"a line of kind {kind!r} has no place here")


def _superseding(session: Session, place: tuple[Section, int]) -> Session:
    """The session in which the attempt at ``place`` that was cut short, if any, gives way to a new one."""
    if place not in session.cut_short:
        return session
    left = {other: run for other, run in session.cut_short.items() if other != place}
    given_way = (*session.superseded, (place[0], session.cut_short[place]))
    return replace(session, cut_short=left, superseded=given_way)


def _attempt(plan: Plan, entry: dict[str, Any]) -> Attempt:
    section: Section = entry["section"]
    planned = {(part, item.index): item for part, item in entries(plan)}[section, entry["index"]]
    return Attempt(section, planned, entry["run_id"], entry["at"], entry["host"], progress={})


def _plan(head: Mapping[str, Any]) -> Plan:
    execution = head["execution"]
    return Plan(
        suite=execution["suite"],
        label=execution["label"],
        seed=execution["seed"],
        repetitions=execution["repetitions"],
        command=execution["command"],
        warmups=tuple(PlannedRun.from_json(entry) for entry in head["warmups"]),
        runs=tuple(PlannedRun.from_json(entry) for entry in head["plan"]),
    )
