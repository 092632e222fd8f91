"""A killed suite's journal becomes a document: nothing finished is lost, and the dead run has a name."""

from __future__ import annotations

from pathlib import Path

from tallymark.check import check_document
from tallymark.errors import UsageError
from tallymark.evidence import canonical, documents
from tallymark.evidence.documents import shown_path
from tallymark.evidence.journal import Journal
from tallymark.evidence.journal import read as read_journal
from tallymark.suites import compose, records
from tallymark.suites.session import Session, append, fold
from tallymark.suites.written import Written


def recover(path: Path, directory: Path | None = None) -> Written:
    """Write the document that the journal at ``path`` adds up to, beside it or into ``directory``.

    The document says ``complete: false`` unless every planned run had its record. The journal stays, so that
    ``--resume`` is still open. Recovering again writes the same bytes, so a document that is already there
    with these bytes is the answer, and any other is never overwritten.
    UnreadableError: not a journal. UsageError: nothing was measured yet. ConflictError: the suite still runs,
    or another document is there.
    """
    journal, _ = Journal.resume(path)
    with journal:
        session = close_lost(journal)
    if session.manifest is None or not (session.finished or session.cut_short):
        raise UsageError(
            shown_path(path),
            "nothing was measured before the suite ended",
            "delete the journal and run again",
        )
    target = (path.parent if directory is None else directory) / f"{session.plan.label}.json"
    value = compose.document(session, finished_at=session.last_at)
    data = canonical.encode(value)
    if target.is_file() and documents.load(target).data == data:
        findings = check_document(documents.load(target))
    else:
        findings = compose.write(value, target)
    return Written(target, compose.unexpected(session), findings)


def close_lost(journal: Journal) -> Session:
    """The state of a journal that is open again; a run that its suite took down with it gets its record now.

    The record is written to the journal first: whoever asks later reads the same cause.
    """
    where = shown_path(journal.path)
    session = fold(read_journal(journal.path), where)
    if session.open_attempt is None:
        return session
    append(journal, "lost", section=session.open_attempt.section, run=records.of_loss(session.open_attempt))
    return fold(read_journal(journal.path), where)
