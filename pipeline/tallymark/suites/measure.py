"""A whole suite, from what was asked to the document on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tallymark import runtime
from tallymark.errors import ConflictError, UnreadableError, UsageError
from tallymark.evidence.documents import shown_path
from tallymark.evidence.journal import Journal
from tallymark.evidence.journal import read as read_journal
from tallymark.suites import compose, execute, precheck, smoke
from tallymark.suites.assertion import require_all
from tallymark.suites.child import COMMAND, Command
from tallymark.suites.model import Plan
from tallymark.suites.plan import Request, build
from tallymark.suites.progress import Reporter
from tallymark.suites.recover import close_lost
from tallymark.suites.session import Session, append, fold, header, journal_path
from tallymark.suites.smoke import Proof
from tallymark.suites.stamp import utc_now
from tallymark.suites.stop import Stop
from tallymark.suites.written import Written


def run(
    request: Request,
    directory: Path,
    reporter: Reporter,
    *,
    resume: bool = False,
    proof: Proof | None = None,
) -> Written:
    """Run the suite and write ``directory/<label>.json``; with ``resume``, make only what its journal lacks.

    ``proof``: the smoke gate that has just passed; without it the gate runs first.
    Nothing runs before request, label and paths are known to be good.
    UsageError, ConflictError: they are not. FindingsError: the smoke gate or the pre-check failed.
    StoppedError: the user stopped it; the journal stays. BrokenRuntimeError: the runtime is missing, or build
    or machine changed.
    """
    require_runtime()
    plan = build(request)
    target = directory / f"{plan.label}.json"
    refuse_existing(target)
    if directory.exists() and not directory.is_dir():
        raise UsageError(shown_path(directory), "it is not a folder", "choose a folder for --out")
    open_journal = _reopened if resume else _begun
    with Stop() as stop, kept_if_measured(open_journal(request, plan, directory)) as journal:
        session = close_lost(journal)
        admit(session, proof, directory, stop, reporter, journal)
        try:
            execute.remaining(state(journal), journal, stop, reporter)
        finally:
            reporter.close()
        session = state(journal)
        findings = compose.write(compose.document(session, utc_now()), target)
        journal.path.unlink()
    return Written(target, compose.unexpected(session), findings)


def require_runtime() -> None:
    """BrokenRuntimeError, with what to install, when the compiled runtime is missing or does not load."""
    runtime.build_information()


def refuse_existing(target: Path) -> None:
    """ConflictError when the document is there already: said before an hour of runs."""
    if target.exists() or target.is_symlink():
        raise ConflictError(
            shown_path(target), "the document is already there", "choose another --label or --out"
        )


def _begun(request: Request, plan: Plan, directory: Path) -> Journal:
    path = journal_path(directory, plan.label)
    if path.exists():
        raise already_begun(path, plan)
    return Journal.create(path, header(plan))


def already_begun(path: Path, plan: Plan) -> ConflictError:
    """Say which of two it is: a suite that still runs (then this raises), or one that was killed."""
    try:
        journal, content = Journal.resume(path)
        with journal:
            session = fold(content, shown_path(path))
    except UnreadableError as error:
        return ConflictError(error.where, f"it is in the way: {error.problem}", "delete it and run again")
    planned = len(session.plan.warmups) + len(session.plan.runs)
    return ConflictError(
        shown_path(path),
        f"a suite that was killed left its journal with {len(session.finished)} of {planned} runs",
        f"continue it with `{session.plan.command} --resume`, or write it out with `tallymark recover`",
    )


def _reopened(request: Request, plan: Plan, directory: Path) -> Journal:
    """The journal of a killed suite, held again. UsageError: there is none, or it is of another plan."""
    path = journal_path(directory, plan.label)
    if not path.exists():
        raise UsageError(shown_path(path), "there is no journal to resume", "run without --resume")
    journal, content = Journal.resume(path)
    try:
        begun = fold(content, shown_path(path)).plan
        asked = build(replace(request, seed=begun.seed))
        if request.decides_runs and asked.runs != begun.runs:
            raise UsageError(
                shown_path(path),
                f"the journal is of another plan, begun as `{begun.command}`",
                "resume without other options, or choose another --label",
            )
    except BaseException:
        journal.close()
        raise
    return journal


@contextmanager
def kept_if_measured(journal: Journal) -> Iterator[Journal]:
    """Hold the journal; on an error, one that has no record of any run is removed: it would only block."""
    with journal:
        try:
            yield journal
        except BaseException:
            session = state(journal)
            if not session.finished and not session.cut_short:
                journal.path.unlink()
            raise


def state(journal: Journal) -> Session:
    return fold(read_journal(journal.path), shown_path(journal.path))


def admit(
    session: Session,
    proof: Proof | None,
    directory: Path,
    stop: Stop,
    reporter: Reporter,
    journal: Journal,
    command: Command = COMMAND,
) -> None:
    """Let the runs begin: the smoke gate and the pre-check for a new suite, the same build for a resumed one.

    ``command`` starts the runtime that is measured.
    FindingsError: a statement does not hold. BrokenRuntimeError: a resumed suite met another build.
    """
    if session.complete:
        return
    # first of all, so that a configuration which only the runtime can refuse costs no gate
    trial = precheck.trial(session.plan, stop, command)
    manifest = trial.end.manifest
    if session.manifest is not None:
        error = execute.other_manifest(session.manifest, manifest, "--resume")
        if error is not None:
            raise error
    gate = session.gate or (proof or smoke.prove(stop, reporter, command)).to_json()
    assertions = precheck.judge(trial, session.plan, gate, directory)
    require_all(assertions, reporter)
    if session.gate is None:
        gate["precheck"] = [assertion.to_json() for assertion in assertions]
        append(journal, "gate", manifest=manifest, gate=gate, started_at=utc_now())
