"""Personal text in a foreign file: refused at the door, or replaced when the user asks for it.

A benchmark name is a command line, and command lines hold home folders, addresses and credentials.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tallymark.errors import FindingsError
from tallymark.evidence.personal import Hit, KnownNames, personal, replaced
from tallymark.importers.foreign import shown
from tallymark.importers.interface import Imported, Loss, Reported


def clean(imported: Imported, known: KnownNames, name: str, redact: bool) -> Imported:
    """The same import without personal text in its benchmark names and parameters.

    With ``redact`` every hit becomes its placeholder, and a loss says so. Raises FindingsError: a hit
    without ``redact``, a credential at all, or a parameter *name* with personal text.
    """
    renamed: dict[str, str] = {}
    loss: list[Loss] = []
    for entry in imported.reported:
        for key in entry.parameters:
            verify_name(key, known, f"{name}::{entry.pointer}.parameters")
        for pointer, text in _texts(entry):
            hits = personal(text, known)
            _refuse(hits, f"{name}::{pointer}", redact)
            renamed[text] = replaced(text, hits)
            loss.extend(Loss(pointer, f"{hit.kind} was replaced by {hit.placeholder}") for hit in hits)
    return replace(
        imported,
        runs=tuple(
            replace(
                run,
                benchmark=renamed[run.benchmark],
                parameters={key: renamed[value] for key, value in run.parameters.items()},
            )
            for run in imported.runs
        ),
        reported=tuple(
            replace(
                entry,
                benchmark=renamed[entry.benchmark],
                parameters={key: renamed[value] for key, value in entry.parameters.items()},
            )
            for entry in imported.reported
        ),
        loss=imported.loss + tuple(dict.fromkeys(loss)),
    )


def verify_name(text: str, known: KnownNames, where: str) -> None:
    """Refuse a file, label or parameter name with personal text: these are chosen, so never replaced.

    Raises FindingsError, also for a name with a character that does not print.
    """
    if not text.isprintable():
        raise FindingsError(
            where, f"the name {shown(text)} holds a character that does not print", "rename it and try again"
        )
    hits = personal(text, known)
    if hits:
        raise FindingsError(where, f"the name holds {hits[0].kind}", "rename it and try again")


def _texts(entry: Reported) -> list[tuple[str, str]]:
    """Every free text of an entry that is published, with its place in the source."""
    parameters = [
        (entry.places.get(key, f"{entry.pointer}.parameters.{key}"), text)
        for key, text in entry.parameters.items()
    ]
    named = entry.pointer if entry.places else f"{entry.pointer}.command"
    return [(named, entry.benchmark), *parameters]


def _refuse(hits: Iterable[Hit], where: str, redact: bool) -> None:
    """Raise for the first hit that may not be replaced. The message never repeats the text."""
    for hit in hits:
        if hit.secret:
            raise FindingsError(
                where, f"holds {hit.kind}", "change the credential, it has leaked; then measure without it"
            )
        if not redact:
            raise FindingsError(
                where,
                f"holds {hit.kind}, and evidence is published",
                f"measure with --command-name, or import with --redact to write {hit.placeholder} instead",
            )
