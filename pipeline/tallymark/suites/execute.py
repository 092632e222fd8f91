"""The runs of a plan, one after the other: a child each, a journal line each, nothing else in between."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tallymark.errors import BrokenRuntimeError, TallymarkError, UsageError
from tallymark.evidence.canonical import compact
from tallymark.evidence.journal import Journal
from tallymark.suites import host, records
from tallymark.suites.child import COMMAND, Command, Died, End, Finished, Refused
from tallymark.suites.launch import run_once
from tallymark.suites.model import Json, PlannedRun
from tallymark.suites.progress import Reporter
from tallymark.suites.session import Attempt, Section, Session, append
from tallymark.suites.stamp import new_id, utc_now
from tallymark.suites.stop import Stop, StoppedError

# A long run's counts are kept now and then; a short run is not disturbed by a single write.
PROGRESS_EVERY_S = 5.0

# Readings that change from run to run on one and the same machine.
VOLATILE = ("frequency_khz", "temperature_c")


def remaining(session: Session, journal: Journal, stop: Stop, reporter: Reporter) -> None:
    """Make every run that has no record yet.

    StoppedError: the user stopped it. BrokenRuntimeError: build or machine changed in mid-suite.
    UsageError: the runtime refuses a configuration. In each case the journal holds all that was finished.
    """
    todo = session.remaining()
    reporter.begin(sum(planned.configuration.tasks for _, planned in todo))
    for done, (section, planned) in enumerate(todo):
        if stop.requested:
            raise stopped(session, journal, done)
        verdict = one(session, section, planned, journal, stop, reporter)
        reporter.finished(verdict.run)
        if verdict.error is not None:
            raise verdict.error
        if not verdict.counts:
            raise stopped(session, journal, done)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The record of a run, whether it counts as made (or must be made again), and what stops the suite."""

    run: Json
    counts: bool
    error: TallymarkError | None


def one(
    session: Session,
    section: Section,
    planned: PlannedRun,
    journal: Journal,
    stop: Stop,
    reporter: Reporter,
    command: Command = COMMAND,
) -> Verdict:
    """Make one run. Whatever comes of it, its journal line is written before this returns."""
    attempt = Attempt(section, planned, new_id(), utc_now(), host.state(), progress={})
    append(journal, "started", section=section, index=planned.index, run_id=attempt.run_id, host=attempt.host)
    end = run_once(planned, attempt.run_id, stop, _Watch(session, attempt, journal, reporter), command)
    verdict = _judged(session, attempt, end, stopped=stop.requested > 0)
    append(journal, "finished" if verdict.counts else "interrupted", section=section, run=verdict.run)
    return verdict


def _judged(session: Session, attempt: Attempt, end: End, *, stopped: bool) -> Verdict:
    match end:
        case Finished():
            error = other_manifest(session.manifest or {}, end.manifest, _where(attempt))
            run = end.run if error is None else records.of_failure(attempt, error.problem)
        case Refused("invalid"):
            error = refused(end)
            run = records.of_failure(attempt, f"refused: {end.message}")
        case Refused():
            error, run = None, records.of_failure(attempt, f"refused, {end.status}: {end.message}")
        case Died():
            error, run = None, records.of_death(attempt, end)
    return Verdict(run, error is None and (not stopped or run["outcome"] == "completed"), error)


def refused(end: Refused) -> UsageError:
    """The error of a configuration that the runtime will not run; its message says what and what to do."""
    problem, _, do = end.message.partition("; ")
    return UsageError("--set", f"the runtime refuses this run: {problem}", do or "choose another value")


def other_manifest(expected: Json, found: Json, where: str) -> TallymarkError | None:
    """The error when build or machine are not those that the suite began with; None when they are."""
    for key in dict.fromkeys((*expected, *found)):
        if key not in VOLATILE and compact(_steady(expected.get(key))) != compact(_steady(found.get(key))):
            return BrokenRuntimeError(
                where,
                f"manifest.{key} is not what the suite began with",
                "recover what was measured before, then start the suite again under another label",
            )
    return None


def _steady(value: object) -> object:
    """``unavailable`` without the reasons of volatile readings; everything else as it is."""
    if isinstance(value, dict):
        return {key: part for key, part in value.items() if key not in VOLATILE}
    return value


def _where(attempt: Attempt) -> str:
    return f"$.{attempt.section}[{attempt.planned.index}]"


class _Watch:
    """Shows a run as it goes on, and keeps its counts in the journal every few seconds."""

    def __init__(self, session: Session, attempt: Attempt, journal: Journal, reporter: Reporter) -> None:
        self._name = _name(attempt.section, attempt.planned, session)
        self._planned = attempt.planned
        self._journal = journal
        self._reporter = reporter
        self._kept_at = time.monotonic()

    def started(self, pid: int) -> None:
        self._reporter.started(self._planned, self._name, pid)

    def advanced(self, progress: Json) -> None:
        self._reporter.advanced(progress)
        now = time.monotonic()
        if now - self._kept_at >= PROGRESS_EVERY_S:
            append(self._journal, "progress", progress=progress)
            self._kept_at = now


def _name(section: Section, planned: PlannedRun, session: Session) -> str:
    several = session.plan.warmups if section == "warmups" else session.plan.runs
    return f"{'warm-up' if section == 'warmups' else 'run'} {planned.index + 1}/{len(several)}"


def stopped(session: Session, journal: Journal, done: int) -> StoppedError:
    finished = len(session.finished) + done
    planned = len(session.plan.warmups) + len(session.plan.runs)
    return StoppedError(
        journal.path.name,
        f"stopped by the user; {finished} of {planned} runs are kept in the journal",
        f"continue with `{session.plan.command} --resume`, or write them out with `tallymark recover`",
    )
