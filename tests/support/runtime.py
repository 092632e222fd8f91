"""Real runs in real child processes, as the suites make them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from tallymark.evidence import strict_json

COMMAND = (sys.executable, "-I", "-m", "tallymark.runtime")


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a child said: its lines as JSON values, its exit status, its standard error."""

    lines: tuple[Any, ...]
    code: int
    stderr: str

    @property
    def last(self) -> Any:
        return self.lines[-1]


def start(**options: object) -> subprocess.Popen[str]:
    """A child that has got its options and is on its way."""
    child = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    child.stdin.write(json.dumps(options))
    child.stdin.close()
    return child


def spoken(text: str) -> Spoken:
    """Give a child ``text`` as its options and hear it to its end."""
    done = subprocess.run(COMMAND, input=text.encode("utf-8"), capture_output=True, check=False)
    lines = tuple(strict_json.parse(line, "child") for line in done.stdout.splitlines())
    return Spoken(lines, done.returncode, done.stderr.decode("utf-8"))


def run(**options: object) -> dict[str, Any]:
    """The record of one run that came to its end."""
    heard = spoken(json.dumps(options))
    assert heard.code == 0, heard
    record: dict[str, Any] = heard.last["run"]
    return record
