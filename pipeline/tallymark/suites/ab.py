"""A/B: two built runtimes make the same runs alternately, in seeded blocks of A B B A or B A A B.

A machine that slows down in the middle of a comparison slows both sides alike: within a block each side is
once before and once after the other. Run n of A stands beside run n of B, so a report may pair them. Each
side becomes a document of its own, because a document tells of one build; each names the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tallymark.errors import UsageError
from tallymark.evidence.documents import shown_path
from tallymark.evidence.journal import Journal
from tallymark.suites import compose, execute, library, measure
from tallymark.suites.ab_plan import OTHER, SIDES, AbPlan, Side
from tallymark.suites.library import Library
from tallymark.suites.model import Json, Plan, PlannedRun
from tallymark.suites.progress import Reporter
from tallymark.suites.recover import close_lost
from tallymark.suites.session import Section, Session, fold, header, journal_path
from tallymark.suites.stamp import new_id, utc_now
from tallymark.suites.stop import Stop, StoppedError
from tallymark.suites.written import Written


@dataclass(frozen=True, slots=True)
class _Side:
    """One side: its runtime, its runs, and the journal that keeps them."""

    library: Library
    plan: Plan
    journal: Journal


def run(plan: AbPlan, directory: Path, reporter: Reporter, *, resume: bool = False) -> tuple[Written, ...]:
    """Make all runs and write ``directory/<name>-a.json`` and ``-b.json``; ``resume`` makes what is missing.

    Nothing runs before both libraries are known to be comparable.
    UsageError: a library is missing or no runtime, the workloads differ, or both sides are one file and the
    plan does not say that they may be. Otherwise as ``measure.run``.
    """
    libraries = {side: library.load(plan.libraries[side], plan.where(f"{side}.library")) for side in SIDES}
    refuse_incomparable(plan, libraries)
    plans = {side: plan.of_side(side, libraries[side].benchmark_version) for side in SIDES}
    targets = {side: directory / f"{plans[side].label}.json" for side in SIDES}
    for target in targets.values():
        measure.refuse_existing(target)
    identities = _identities(plan, libraries)
    with Stop() as stop, ExitStack() as held:
        sides = {}
        for side in SIDES:
            journal = _journal(plans[side], identities[side], directory, resume=resume)
            held.enter_context(measure.kept_if_measured(journal))
            sides[side] = _Side(libraries[side], plans[side], journal)
        for made in sides.values():
            reporter.say(f"side {made.plan.label}: library {made.library.sha256}")
            session = close_lost(made.journal)
            measure.admit(session, None, directory, stop, reporter, made.journal, made.library.command)
        try:
            _alternate(plan, sides, stop, reporter)
        finally:
            reporter.close()
        written = tuple(_write(made, targets[side]) for side, made in sides.items())
        for made in sides.values():
            made.journal.path.unlink()
    return written


def refuse_incomparable(plan: AbPlan, libraries: Mapping[Side, Library]) -> None:
    """UsageError when the two would not do the same work, or are one and nobody said that they may be."""
    one, two = libraries["a"], libraries["b"]
    if one.benchmark_version != two.benchmark_version:
        raise UsageError(
            plan.path,
            f"the libraries do other work: benchmark version {one.benchmark_version} and"
            f" {two.benchmark_version}",
            "compare two builds of one workload",
        )
    same = one.sha256 == two.sha256
    if same and not plan.same_library:
        raise UsageError(
            plan.path,
            f"both sides are the same library ({one.sha256[:16]}…)",
            "name another one, or set same_library = true to check the method with it",
        )
    if plan.same_library and not same:
        raise UsageError(
            plan.where("same_library"), "the two libraries are not the same", "leave same_library out"
        )


def _identities(plan: AbPlan, libraries: Mapping[Side, Library]) -> dict[Side, tuple[str, Json]]:
    """For each side its execution's id and what its document says of the comparison."""
    ids = {side: new_id() for side in SIDES}
    return {
        side: (
            ids[side],
            {
                "variant": side,
                "plan_sha256": plan.sha256,
                "plan": Path(plan.file).name,
                "partner": ids[OTHER[side]],
                "order": plan.order,
                "library_sha256": libraries[side].sha256,
                "partner_library_sha256": libraries[OTHER[side]].sha256,
                "same_library": plan.same_library,
            },
        )
        for side in SIDES
    }


def _journal(plan: Plan, identity: tuple[str, Json], directory: Path, *, resume: bool) -> Journal:
    """A new journal, or with ``resume`` the one that a killed comparison left."""
    path = journal_path(directory, plan.label)
    if not resume:
        if path.exists():
            raise measure.already_begun(path, plan)
        return Journal.create(path, header(plan, *identity))
    if not path.exists():
        raise UsageError(shown_path(path), "there is no journal to resume", "run without --resume")
    journal, content = Journal.resume(path)
    try:
        begun = fold(content, shown_path(path))
        if begun.plan != plan or _lasting(begun.execution.get("ab")) != _lasting(identity[1]):
            raise UsageError(
                shown_path(path),
                "the plan or a library is not what the comparison began with",
                "give them back, or recover what was measured and start again under another name",
            )
    except BaseException:
        journal.close()
        raise
    return journal


def _lasting(ab: object) -> Json:
    """What must be the same when a comparison goes on: everything but the id of the partner."""
    return {key: value for key, value in ab.items() if key != "partner"} if isinstance(ab, dict) else {}


def places(plan: AbPlan) -> Iterator[tuple[Section, Side, int]]:
    """Every run in its order: the warm-ups of both sides in turn, then the blocks."""
    for index in range(plan.warmups):
        for side in SIDES:
            yield "warmups", side, index
    counted = dict.fromkeys(SIDES, 0)
    for side in _letters(plan.order):
        yield "runs", side, counted[side]
        counted[side] += 1


def _letters(order: str) -> Iterator[Side]:
    for letter in order:
        yield "a" if letter == "a" else "b"


def _alternate(plan: AbPlan, sides: Mapping[Side, _Side], stop: Stop, reporter: Reporter) -> None:
    sessions = {side: measure.state(made.journal) for side, made in sides.items()}
    every = list(places(plan))
    todo = [place for place in every if (place[0], place[2]) not in sessions[place[1]].finished]
    before = len(every) - len(todo)
    reporter.begin(
        sum(_planned(sessions[side], section, index).configuration.tasks for section, side, index in todo)
    )
    for done, (section, side, index) in enumerate(todo):
        if stop.requested:
            raise _stopped(plan, before + done, len(every))
        made, planned = sides[side], _planned(sessions[side], section, index)
        verdict = execute.one(
            sessions[side], section, planned, made.journal, stop, reporter, made.library.command
        )
        reporter.finished(verdict.run)
        if verdict.error is not None:
            raise verdict.error
        if not verdict.counts:
            raise _stopped(plan, before + done, len(every))


def _planned(session: Session, section: Section, index: int) -> PlannedRun:
    return (session.plan.warmups if section == "warmups" else session.plan.runs)[index]


def _stopped(plan: AbPlan, done: int, planned: int) -> StoppedError:
    return StoppedError(
        plan.path,
        f"stopped by the user; {done} of {planned} runs are kept in the journals of both sides",
        f"continue with `tallymark ab {plan.file} --resume`, or write them out with `tallymark recover`",
    )


def _write(made: _Side, target: Path) -> Written:
    session = measure.state(made.journal)
    findings = compose.write(compose.document(session, utc_now()), target)
    return Written(target, compose.unexpected(session), findings)
