"""The tools that can say where a run spends its time: how each is started, and how its answer is read.

``perf`` samples the run as it is; where the kernel does not allow it, ``callgrind`` executes every
instruction itself, some fifty times slower. Neither is a measurement of time: their answer is shares.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from tallymark.errors import BrokenRuntimeError, UsageError
from tallymark.suites.child import Command

SAMPLES_PER_S = 499  # not a divisor of anything that runs by the clock
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+~-]{0,39}")
_ADDRESS = re.compile(r"0x[0-9a-f]+\Z")
_RECURSION = re.compile(r"'[0-9]+\Z")
_UNKNOWN = "(unknown)"


@dataclass(frozen=True, slots=True)
class Function:
    """What was counted in one function itself, and its share with all that it called (None: not known)."""

    name: str
    object: str
    self_count: int
    total_percent: float | None


@dataclass(frozen=True, slots=True)
class Profile:
    """Every function in which something was counted, in no order, and the sum of all counts."""

    total: int
    functions: tuple[Function, ...]


class Tool(Protocol):
    """One tool. ``start`` is put before the command of a run; ``read`` gives its answer afterwards."""

    name: str
    package: str
    event: str
    counted: str
    tasks_at_most: int

    def version(self) -> str | None:
        """Its version; None when it is not installed."""

    def refusal(self) -> str | None:
        """Why this machine does not let it work; None when it works."""

    def start(self, output: Path) -> Command:
        """The words that stand before the command of the run."""

    def read(self, output: Path) -> Profile:
        """What it found. BrokenRuntimeError: it left nothing that can be read."""


class Perf:
    """``perf record`` with a clock of CPU time, user mode only, and stacks that are unwound afterwards."""

    name = "perf"
    package = "linux-perf"
    event = "cpu-clock:u"
    counted = "samples"
    tasks_at_most = 1_000_000

    def version(self) -> str | None:
        """As ``perf --version`` says it."""
        return _version(("perf", "--version"))

    def refusal(self) -> str | None:
        """Tried on a process that does nothing: whether the kernel allows it cannot be known otherwise."""
        with tempfile.TemporaryDirectory() as folder:
            tried = _call((*self.start(Path(folder, "perf")), "true"))
        if tried is not None and tried.returncode == 0:
            return None
        try:
            level = _PARANOID.read_text("ascii").strip()
        except OSError:
            return "it does not work on this kernel"
        return f"the kernel does not allow it (perf_event_paranoid is {level})"

    def start(self, output: Path) -> Command:
        """Into a file; the run keeps its own standard streams."""
        words = ("perf", "record", "-q", "-e", self.event, "-F", str(SAMPLES_PER_S))
        return (*words, "--call-graph", "dwarf,8192", "-o", str(output), "--")

    def read(self, output: Path) -> Profile:
        """By ``perf report``: a line a function, with fields."""
        fields = "overhead_children,overhead,sample,dso,symbol"
        words = ("perf", "report", "--stdio", "-i", str(output), "--children", "--no-inline", "-g", "none")
        told = _call((*words, "-t", "|", "-F", fields, "--percent-limit", "0"))
        if told is None or told.returncode != 0:
            raise _unread(self.name)
        return _whole(self.name, parse_perf(told.stdout))


class Callgrind:
    """``valgrind --tool=callgrind``: counts the instructions of every function; threads take turns."""

    name = "callgrind"
    package = "valgrind"
    event = "Ir"
    counted = "instructions"
    tasks_at_most = 5_000

    def version(self) -> str | None:
        """As ``valgrind --version`` says it."""
        return _version(("valgrind", "--version"))

    def refusal(self) -> str | None:
        """It needs nothing of the kernel."""
        return None

    def start(self, output: Path) -> Command:
        """Names and positions are written in full, so that a line can be read alone."""
        words = ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={output}")
        return (*words, "--compress-strings=no", "--compress-pos=no")

    def read(self, output: Path) -> Profile:
        """From the file that it wrote."""
        try:
            text = output.read_text("utf-8", "replace")
        except OSError:
            raise _unread(self.name) from None
        return _whole(self.name, parse_callgrind(text.splitlines()))


TOOLS: tuple[Tool, ...] = (Perf(), Callgrind())


def choose(tools: Iterable[Tool] = TOOLS) -> tuple[Tool, str, Mapping[str, str]]:
    """The first tool that works here, its version, and why those before it do not.

    UsageError: none does.
    """
    rejected: dict[str, str] = {}
    packages = []
    for tool in tools:
        version = tool.version()
        reason = "it is not installed" if version is None else tool.refusal()
        if version is not None and reason is None:
            return tool, version, rejected
        rejected[tool.name] = reason or _UNKNOWN
        packages.append(tool.package)
    told = "; ".join(f"{name}: {reason}" for name, reason in rejected.items())
    raise UsageError(
        "--profile", f"no profiler works here ({told})", f"install {' or '.join(packages)}, or leave it out"
    )


def parse_perf(text: str) -> Iterator[Function]:
    """The functions of a ``perf report`` with fields parted by ``|``."""
    for line in text.splitlines():
        parts = [part.strip() for part in line.split("|", 4)]
        if len(parts) == 5 and parts[0].endswith("%"):
            name = parts[4].partition("] ")[2] or parts[4]
            yield Function(
                name=_UNKNOWN if _ADDRESS.match(name) else name,
                object=_object(parts[3]),
                self_count=int(parts[2]),
                total_percent=float(parts[0].rstrip("%")),
            )


def parse_callgrind(lines: Iterable[str]) -> Iterator[Function]:
    """The functions of a callgrind file (its format: the manual of valgrind, "Callgrind Format").

    A line of two numbers is a position and what was counted there; after ``calls=`` it is what the called
    function counted in all. Recursion would count itself again: a share is never more than everything.
    """
    own: dict[tuple[str, str], int] = {}
    called: dict[tuple[str, str], int] = {}
    where, function, callee, is_call = "", ("", ""), "", False
    for line in lines:
        key, _, value = line.partition("=")
        if key == "ob":
            where = value
        elif key == "fn":
            function = (_RECURSION.sub("", value), where)
        elif key == "cfn":
            callee = _RECURSION.sub("", value)
        elif key == "calls":
            is_call = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            words = line.split()
            if len(words) != 2:
                continue
            counts = called if is_call else own
            if not is_call or callee != function[0]:
                counts[function] = counts.get(function, 0) + int(words[1])
            is_call = False
    total = sum(own.values())
    for name, place in dict.fromkeys((*own, *called)):
        count = own.get((name, place), 0)
        whole = min(total, count + called.get((name, place), 0))
        known = _UNKNOWN if _ADDRESS.match(name) else name
        yield Function(known, _object(place), count, 100 * whole / total if total else None)


def _whole(tool: str, found: Iterable[Function]) -> Profile:
    """The same name in the same object is one function; unknown ones have no common share."""
    merged: dict[tuple[str, str], Function] = {}
    for one in found:
        key = (one.name, one.object)
        before = merged.get(key)
        if before is not None:
            one = Function(one.name, one.object, one.self_count + before.self_count, None)
        merged[key] = one
    total = sum(one.self_count for one in merged.values())
    if total == 0:
        raise _unread(tool)
    return Profile(total, tuple(merged.values()))


def _object(path: str) -> str:
    """The file's name; a path would tell where somebody keeps it."""
    name = PurePosixPath(path).name
    return name if name and name not in ("???", "[unknown]") else _UNKNOWN


def _version(command: Command) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    told = _call(command)
    found = _VERSION.search(told.stdout) if told is not None and told.returncode == 0 else None
    return found.group() if found else None


def _call(command: Command) -> subprocess.CompletedProcess[str] | None:
    """Run a tool with messages of one language and no look-up on the network; None when it is not there."""
    environment = {**os.environ, "LC_ALL": "C", "DEBUGINFOD_URLS": ""}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, env=environment
        )
    except OSError:
        return None


def _unread(tool: str) -> BrokenRuntimeError:
    return BrokenRuntimeError("--profile", f"{tool} left no profile that can be read", "run it again")
