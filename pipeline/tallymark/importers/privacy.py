"""Names of people and machines in foreign text: found before anything is written.

A benchmark name is a command line, and command lines hold home folders, addresses and credentials.
Evidence is published and never edited, so they are refused at the door, or replaced by a typed
placeholder when the user asks for it. A credential is refused even then: it must be changed, not hidden.
"""

from __future__ import annotations

import getpass
import re
import socket
from dataclasses import dataclass, replace
from pathlib import Path

from tallymark.errors import FindingsError
from tallymark.importers.interface import Imported, Loss, Reported

# Names that belong to a role, not to a person or a machine: they tell nothing.
_NOBODY = re.compile(
    r"root|users?|admin|runner|ubuntu|debian|build|builder|ci|test|bench|public|shared|linuxbrew"
    r"|localhost|localdomain|localhost\.localdomain",
    re.IGNORECASE,
)
_NAME_END = r"(?=$|[\s/\\:;,'\"`=()|&<>])"

# kind, placeholder and pattern; the named group "name" is exempt when it belongs to nobody.
_PATTERNS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("a credential in an address", "", re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)")),
    (
        "a credential",
        "",
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}"
            r"|xox[abprs]-[A-Za-z0-9-]{10,})"
        ),
    ),
    (
        "a home folder",
        "<home>",
        re.compile(
            r"(?:/(?:export/|data/)?home|/Users|/mnt/[a-z]/Users|/cygdrive/[a-z]/Users)/(?P<name>[^\s/:'\"]+)"
        ),
    ),
    ("a home folder", "<home>", re.compile(r"\b[A-Za-z]:[\\/]+Users[\\/]+(?P<name>[^\\/:'\"]+)")),
    ("a home folder", "<home>", re.compile(r"(?<![\w./-])/root" + _NAME_END)),
    ("a home folder", "<home>", re.compile(r"(?<![\w./-])~(?P<name>[A-Za-z_][\w.-]*)(?=/)")),
    ("an e-mail address", "<email>", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b(?!:)")),
    ("a user on a host", "<user>@<host>", re.compile(r"(?<![\w.])(?!git@)[\w.-]+@[\w.-]+(?=:[~/\w])")),
    (
        "an internal host",
        "<host>",
        re.compile(r"\b(?:[\w-]+\.)+(?:local|lan|internal|corp|home\.arpa|fritz\.box)\b(?!\.\w)"),
    ),
    (
        "an internal address",
        "<ip:private>",
        re.compile(
            r"(?<![\w.])(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})"
            r"(?![\w.]*\w)"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Exact words that identify this machine or its user; the only way to catch a bare name."""

    user: str | None
    host: str | None
    home: str | None


def known_here() -> KnownNames:
    """The names of the machine that imports; read, never written."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without an entry in the user table
        user = None
    return KnownNames(user, socket.gethostname() or None, str(Path("~").expanduser()))


@dataclass(frozen=True, slots=True)
class _Hit:
    kind: str
    placeholder: str


def clean(imported: Imported, known: KnownNames, name: str, redact: bool) -> Imported:
    """The same import without personal text in its benchmark names and parameters.

    With ``redact`` every hit becomes its placeholder and a loss; otherwise the first hit raises.
    Raises FindingsError: a hit without ``redact``, or a credential at all.
    """
    renamed: dict[str, str] = {}
    loss: list[Loss] = []
    for entry in imported.reported:
        for key in entry.parameters:
            verify_name(key, known, f"{name}::{entry.pointer}.parameters")
        for pointer, text in _texts(entry):
            cleaned, hits = _redacted(text, known)
            _refuse(hits, f"{name}::{pointer}", redact)
            renamed[text] = cleaned
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
        loss=imported.loss + tuple(loss),
    )


def verify_name(text: str, known: KnownNames, where: str) -> None:
    """Refuse a file, label or parameter name with personal text: these are chosen, so never replaced.

    Raises FindingsError.
    """
    _, hits = _redacted(text, known)
    if hits:
        raise FindingsError(where, f"holds {hits[0].kind}", "Rename it and try again")


def _texts(entry: Reported) -> list[tuple[str, str]]:
    """Every free text of an entry that is published, with its place in the source."""
    parameters = [(f"{entry.pointer}.parameters.{key}", text) for key, text in entry.parameters.items()]
    return [(f"{entry.pointer}.command", entry.benchmark), *parameters]


def _refuse(hits: list[_Hit], where: str, redact: bool) -> None:
    """Raise for the first hit that may not be replaced. The message never repeats the text."""
    for hit in hits:
        if not hit.placeholder:
            raise FindingsError(
                where, f"holds {hit.kind}", "Change the credential, it has leaked; then measure without it"
            )
        if not redact:
            raise FindingsError(
                where,
                f"holds {hit.kind}, and evidence is published",
                f"Measure with --command-name, or import with --redact to write {hit.placeholder} instead",
            )


def _redacted(text: str, known: KnownNames) -> tuple[str, list[_Hit]]:
    """The text with each hit replaced, and the hits, credentials first."""
    hits: list[_Hit] = []
    for kind, placeholder, pattern in (*_known_patterns(known), *_PATTERNS):

        def replaced(match: re.Match[str], kind: str = kind, placeholder: str = placeholder) -> str:
            if _NOBODY.fullmatch(match.groupdict().get("name") or ""):
                return match.group()
            hits.append(_Hit(kind, placeholder))
            return placeholder

        text = pattern.sub(replaced, text)
    return text, sorted(hits, key=lambda hit: bool(hit.placeholder))


def _known_patterns(known: KnownNames) -> list[tuple[str, str, re.Pattern[str]]]:
    """Exact home, host and user name as whole words, in any case; names of nobody are left alone."""
    patterns = []
    if known.home is not None and known.home not in ("/", "/root"):
        patterns.append(("a home folder", "<home>", re.compile(re.escape(known.home) + _NAME_END)))
    for kind, placeholder, word in (
        ("this machine's host name", "<host>", known.host),
        ("the user's name", "<user>", known.user),
    ):
        if word is not None and len(word) > 2 and not _NOBODY.fullmatch(word):
            whole = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
            patterns.append((kind, placeholder, re.compile(whole, re.IGNORECASE)))
    return patterns
