"""A built runtime that is not necessarily the installed one: which file, and what it says about itself."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallymark.errors import UsageError
from tallymark.suites.child import COMMAND
from tallymark.suites.model import Json

_DESCRIBE_S = 60


@dataclass(frozen=True, slots=True)
class Library:
    """A runtime that loads. ``command`` starts its child; ``sha256`` is that of its file."""

    command: tuple[str, ...]
    sha256: str
    benchmark_version: str
    build: Json


def load(path: Path | None, where: str) -> Library:
    """What the runtime in the file (None: the installed one) says about itself, in a process of its own.

    UsageError: there is no such file, or it is no runtime; ``where`` says who named it.
    """
    if path is not None and not path.is_file():
        raise UsageError(where, f"{path} is not there", "build it first, or name another file")
    command = COMMAND if path is None else (*COMMAND, "--library", str(path.resolve()))
    said = _said(command, where)
    if "error" in said:
        raise UsageError(
            where, f"it is no runtime that runs here: {said['error']['message']}", "name another"
        )
    file = Path(said["library"])
    return Library(
        command, hashlib.sha256(file.read_bytes()).hexdigest(), said["benchmark_version"], said["build"]
    )


def _said(command: tuple[str, ...], where: str) -> dict[str, Any]:
    try:
        ended = subprocess.run(
            (*command, "--describe"), capture_output=True, text=True, timeout=_DESCRIBE_S, check=False
        )
        said = json.loads(ended.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        said = None
    if not isinstance(said, dict):  # a file that crashes whoever loads it says nothing
        raise UsageError(
            where, "it is no runtime: the process that loaded it ended without a word", "name another"
        )
    return said
