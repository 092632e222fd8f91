"""The journal of a suite that runs: one line a finished run, on disk before the next run starts.

A killed suite loses at most the line that it was writing. The first line is the header, each further line
one entry. A last line without its newline (or one that is not JSON) was torn by the kill and is left out.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallymark.errors import ConflictError, UnreadableError, UsageError
from tallymark.evidence import strict_json
from tallymark.evidence.canonical import compact
from tallymark.evidence.documents import read_bytes, shown_path
from tallymark.evidence.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What a journal holds. ``torn`` says that a last, half-written line was left out."""

    header: dict[str, JsonValue]
    entries: tuple[dict[str, JsonValue], ...]
    torn: bool


class Journal:
    """An open journal, held by one process at a time. Use it as a context manager or call ``close``."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def create(cls, path: Path, header: dict[str, Any]) -> Journal:
        """Start a journal. ConflictError: the file is there. UsageError: the folder cannot be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(
                path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666
            )
        except FileExistsError as error:
            if error.filename != str(path):  # a parent is a file
                raise _unwritable(path, error) from None
            raise ConflictError(
                shown_path(path), "a journal is already there", "continue with --resume, or recover it first"
            ) from None
        except OSError as error:
            raise _unwritable(path, error) from None
        journal = cls._held(path, descriptor)
        journal.append(header)
        return journal

    @classmethod
    def resume(cls, path: Path) -> tuple[Journal, JournalContent]:
        """Open a journal again behind its last whole line; a torn line is cut off.

        ConflictError: another process is still writing it. Errors of ``read`` otherwise.
        """
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(
                shown_path(path), f"cannot be opened ({error.strerror})", "check the path"
            ) from None
        journal = cls._held(path, descriptor)
        try:
            content, whole = _read(path)
            os.ftruncate(descriptor, whole)
        except BaseException:
            journal.close()
            raise
        return journal, content

    @classmethod
    def _held(cls, path: Path, descriptor: int) -> Journal:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise ConflictError(
                shown_path(path), "another process is writing this journal", "wait for it, or stop it"
            ) from None
        return cls(path, descriptor)

    def append(self, entry: dict[str, Any]) -> None:
        """Add one line and wait until it is on disk."""
        line = (compact(entry) + "\n").encode("utf-8")
        written = 0
        while written < len(line):
            written += os.write(self._descriptor, line[written:])
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Let the file go; calling it twice does no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        shown_path(path), f"cannot be written ({error.strerror})", "Choose a folder that can be written"
    )


def read(path: Path) -> JournalContent:
    """Everything whole in a journal.

    UnreadableError: there is no whole header, or a line before the last is damaged (a torn write can only
    be the last line; anything else was changed afterwards).
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[JournalContent, int]:
    """The content, and the number of bytes up to the end of the last whole line."""
    shown = shown_path(path)
    data = read_bytes(path, shown, follow=True)
    *lines, tail = data.split(b"\n")
    torn = bool(tail)
    parsed: list[dict[str, JsonValue]] = []
    for number, line in enumerate(lines, start=1):
        try:
            parsed.append(_entry(line, f"{shown}:{number}"))
        except UnreadableError:
            if number < len(lines) or torn or number == 1:
                raise
            torn = True
            lines = lines[:-1]
    if not parsed:
        raise UnreadableError(f"{shown}::$", "no header line was finished", "start the suite again")
    whole = sum(len(line) + 1 for line in lines)
    return JournalContent(parsed[0], tuple(parsed[1:]), torn), whole


def _entry(line: bytes, shown: str) -> dict[str, JsonValue]:
    value = strict_json.parse(line, shown)
    if not isinstance(value, dict):
        raise UnreadableError(f"{shown}::$", "the line is not a JSON object", "recover from an intact copy")
    return value
