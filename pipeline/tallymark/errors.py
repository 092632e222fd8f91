"""The errors that a user can cause, and the exit code of each.

TallymarkError          where, problem, do
├── UnreadableError     exit 5    the strict reader refused the bytes
├── FindingsError       exit 1    readable, but a rule or a schema refuses it
├── SpecError           exit 2    a report spec that cannot be computed
├── UsageError          exit 2    a command asked for something that does not exist
├── ConflictError       exit 2    a file is already there and is never overwritten
├── NothingCheckedError exit 4    a check over nothing is never green
└── BrokenRuntimeError  exit 2    the compiled runtime is missing or refused the run
"""

from __future__ import annotations

import json
import re

CLEAN = 0
FINDINGS = 1
MISUSE = 2
UNDECIDED = 3
NOTHING_CHECKED = 4
UNREADABLE = 5
INTERNAL = 70

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


class TallymarkError(Exception):
    """Root of every error a user can cause: says where, what is wrong and what to do.

    ``where`` is ``file::$.pointer``, a file, or the option concerned. ``problem`` and ``do`` are
    clauses without a final full stop.
    """

    exit_code = MISUSE

    def __init__(self, where: str, problem: str, do: str) -> None:
        self.where = where
        self.problem = problem
        self.do = do
        super().__init__(self.line())

    def line(self) -> str:
        """One unwrapped line: ``where: problem. What to do.``"""
        return message_line(self.where, self.problem, self.do)


def message_line(where: str, problem: str, do: str) -> str:
    """The one shape of every message: ``where: problem. What to do.``, safe to print (see ``log_line``)."""
    from tallymark.printable import log_line  # here, so that a measured run does not carry its tables

    return log_line(f"{where}: {problem.rstrip('.')}. {do[:1].upper()}{do[1:].rstrip('.')}.")


class UnreadableError(TallymarkError):
    """The bytes are not strict JSON (or not a readable file): nothing can be said about their content."""

    exit_code = UNREADABLE


class FindingsError(TallymarkError):
    """The document is readable and is refused by its schema or by a rule."""

    exit_code = FINDINGS


class SpecError(TallymarkError):
    """A report spec is wrong or does not fit its data."""


class UsageError(TallymarkError):
    """A command was asked for something that does not exist or makes no sense."""


class ConflictError(TallymarkError):
    """A file is already there; evidence is never overwritten."""


class NothingCheckedError(TallymarkError):
    """Nothing was found to check; silence would read as success."""

    exit_code = NOTHING_CHECKED


class BrokenRuntimeError(TallymarkError):
    """The compiled runtime is missing, does not load, or refused to run."""


def child(pointer: str, key: str | int) -> str:
    """The place of a member of the value at ``pointer``: ``$.runs[3].agents``, ``$["odd key"]``."""
    if isinstance(key, int):
        return f"{pointer}[{key}]"
    return f"{pointer}.{key}" if _PLAIN_NAME.match(key) else f"{pointer}[{json.dumps(key)}]"
