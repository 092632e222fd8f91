"""What generated a report: the version of the tool and the commit of the project."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from tallymark import __version__

_REVISION = re.compile(r"[0-9a-f]{40}\Z")
_SECONDS = 20


def generated(project: Path) -> dict[str, Any]:
    """``{"tool_version", "revision", "dirty"}``; both last are None where the project is in no repository."""
    revision = _git(project, "rev-parse", "HEAD")
    if revision is None or not _REVISION.match(revision.strip()):
        return {"tool_version": __version__, "revision": None, "dirty": None}
    status = _git(project, "status", "--porcelain", "--", ".")
    dirty = None if status is None else bool(status.strip())
    return {"tool_version": __version__, "revision": revision.strip(), "dirty": dirty}


def _git(project: Path, *arguments: str) -> str | None:
    """What git prints, or None when there is no git, no repository, or no answer in time."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-C", str(project), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return done.stdout if done.returncode == 0 else None
