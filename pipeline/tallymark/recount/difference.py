"""One difference between what a site shows and what its raw files say: where, what, and what to do."""

from __future__ import annotations

from dataclasses import dataclass


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
        where = f"{self.file}::{self.place}" if self.place else self.file
        return printable(f"{where}: {self.problem.rstrip('.')}. {self.do.rstrip('.')}.")

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


def printable(text: str) -> str:
    """``text`` without control characters: a page is foreign text and may not steer the terminal."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )
