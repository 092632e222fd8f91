"""One difference between what a site shows and what its raw files say: where, what, and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from tallymark.errors import message_line
from tallymark.printable import printable


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where recounting does not agree.

    ``file`` is relative to the site root; ``place`` names the cell, the line or the pointer inside it.
    ``shown`` and ``recomputed`` are None where the difference is not between two texts.
    """

    file: str
    place: str
    problem: str
    do: str
    shown: str | None = None
    recomputed: str | None = None

    def line(self) -> str:
        """One unwrapped, printable line: ``file::place: problem. What to do.``"""
        return message_line(f"{self.file}::{self.place}" if self.place else self.file, self.problem, self.do)

    def to_json(self) -> dict[str, str | None]:
        """The difference as ``recount --format json`` prints it."""
        texts = {
            "file": self.file,
            "place": self.place,
            "problem": self.problem,
            "do": self.do,
            "shown": self.shown,
            "recomputed": self.recomputed,
        }
        return {key: text if text is None else printable(text) for key, text in texts.items()}


def mismatch(file: str, place: str, shown: str, recomputed: str, do: str) -> Difference:
    """Two texts that should be one."""
    problem = f'shown "{shown}", recomputed "{recomputed}"'
    return Difference(file, place, problem, do, shown, recomputed)
