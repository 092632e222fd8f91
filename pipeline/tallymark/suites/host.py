"""The little that a suite asks of the machine itself: load, which boot this is, kills for want of memory."""

from __future__ import annotations

import os
from pathlib import Path

from tallymark.suites.model import Json

_VMSTAT = Path("/proc/vmstat")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def load_average() -> float | None:
    """The load average of the last minute; None where the system does not tell."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def oom_kills() -> int | None:
    """How many processes the kernel has killed for want of memory since boot; None when unknown."""
    try:
        lines = _VMSTAT.read_text("ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def state() -> Json:
    """What a journal keeps to tell later why a run was lost."""
    return {"boot_id": _boot_id(), "oom_kills": oom_kills()}


def oom_hint(before: int | None) -> str:
    """A clause for a cause of death: empty unless the kernel's count rose since ``before``."""
    now = oom_kills()
    if before is None or now is None or now <= before:
        return ""
    return f"; the kernel killed {now - before} for want of memory meanwhile"


def why_lost(then: Json) -> str:
    """Why the suite that wrote ``state()`` then no longer runs, as far as the machine can tell now."""
    if then.get("boot_id") != _boot_id():
        return "the machine was restarted while the run was in progress"
    before = then.get("oom_kills")
    hint = oom_hint(before if isinstance(before, int) else None)
    return f"the suite's process was killed while the run was in progress{hint}"


def _boot_id() -> str | None:
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return None
