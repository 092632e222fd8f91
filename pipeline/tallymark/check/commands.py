"""The rule about the command that a page offers to be run again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from tallymark.check.rule import EXECUTIONS, Problem, Subject, document_rule

_MAKERS: Final = ("run", "ab", "load", "import", "recover", "demo")


@document_rule(
    "safe-command",
    "The command to run again is one plain call of Tallymark",
    why="Readers paste it into a shell; a document of somebody else must not decide what else runs there.",
    kinds=EXECUTIONS,
)
def safe_command(subject: Subject) -> Iterator[Problem]:
    """tallymark run, ab, load, import, recover or demo; words quoted for a shell; no path leads out."""
    problem = _unsafe(subject.value["execution"]["command"])
    if problem is not None:
        do = "Write the command as tallymark run and tallymark import write it"
        yield Problem("$.execution.command", problem, do)


def _unsafe(command: str) -> str | None:
    """What is wrong with the command, without repeating any of it. Line breaks: see ``no-unprintable``."""
    try:
        words = shlex.split(command)
    except ValueError:
        return "a quote of the command is never closed"
    if words[:1] != ["tallymark"] or words[1:2] not in [[maker] for maker in _MAKERS]:
        return f"the command does not start with tallymark {', '.join(_MAKERS[:-1])} or {_MAKERS[-1]}"
    if shlex.join(words) != command:
        return "a shell may read more in the command than plain words"
    if any(map(_leads_out, words)):
        return "the command names a path outside of the project"
    return None


def _leads_out(word: str) -> bool:
    """Whether the word, or the value of an option (``--out=DIR``), is a path that leaves the project."""
    path = PurePosixPath(word.partition("=")[2] if word.startswith("-") else word)
    return path.is_absolute() or ".." in path.parts
