"""One run in one child process: options in, progress out, then the record, or how the child ended.

The child is ``python -I -m tallymark.runtime``: it imports the compiled module and nothing of the pipeline,
so the memory of one run is its own. It gets one JSON object on its standard input and answers on its
standard output, one JSON object a line: any number of ``{"progress": …}``, then either
``{"manifest": …, "run": …}`` or ``{"error": {"status", "message"}}`` (with an exit status of 1).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeAlias

from tallymark.errors import UnreadableError
from tallymark.evidence import canonical, strict_json
from tallymark.suites import host
from tallymark.suites.model import Json

Command: TypeAlias = tuple[str, ...]
COMMAND: Command = (sys.executable, "-I", "-m", "tallymark.runtime")
_STDERR_KEPT = 4096
_CHUNK = 1 << 16
_GRACE_S = 10.0  # for a run that is told to end: it stops its tasks, verifies and writes its record
_LONGEST_WAIT_S = 3600.0  # the system call counts milliseconds in an int: a deadline of 25 days would not fit


@dataclass(frozen=True, slots=True)
class Finished:
    """The child wrote its record: the manifest of build and machine, and the run, both as written."""

    manifest: Json
    run: Json


@dataclass(frozen=True, slots=True)
class Refused:
    """The runtime would not run these options: its status name and its message."""

    status: str
    message: str


@dataclass(frozen=True, slots=True)
class Died:
    """The child ended without a record.

    ``outcome`` is the run's (killed, failed, timed_out). ``cause`` is fit for evidence: no path, no user.
    ``last`` is its last progress, empty when there was none. ``said`` is the end of its standard error,
    for the screen only.
    """

    outcome: str
    cause: str
    last: Json
    said: str


End: TypeAlias = Finished | Refused | Died


def describe(end: End) -> str:
    """How the child ended, in a clause for the screen."""
    match end:
        case Refused():
            return f"refused, {end.status}: {end.message}"
        case Died():
            return f"{end.outcome}, {end.cause}{f' ({end.said})' if end.said else ''}"
        case _:
            return "gave a record"


class Child:
    """A running child. Use it as a context manager: leaving it leaves no process behind."""

    def __init__(self, options: Json, command: Command = COMMAND) -> None:
        self._oom_kills = host.oom_kills()
        # a session of its own: Ctrl-C on the terminal reaches the suite alone, which passes it on once
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._last: Json = {}
        self._end: Finished | Refused | None = None
        self._broken: str | None = None
        self._said = b""
        self._rest = b""
        self._send(options)

    @property
    def pid(self) -> int:
        """The process id, for messages and for whoever must stop it."""
        return self._process.pid

    def interrupt(self) -> None:
        """Ask the child to stop its run and to write the record of what it did."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """End the child at once; its record is then written from its last progress."""
        self._signal(signal.SIGKILL)

    def wait(self, deadline_s: float, on_progress: Callable[[Json], None]) -> End:
        """Read the child to its end.

        After ``deadline_s`` seconds it is told (by SIGALRM) to end its run, with a record that says
        ``timed_out``; one that does not answer is killed, and that is its outcome too.
        """
        timed_out = not self._read_all(time.monotonic() + deadline_s, on_progress)
        if timed_out:
            self._signal(signal.SIGALRM)
            if not self._read_all(time.monotonic() + _GRACE_S, on_progress):
                self.kill()
                self._read_all(None, on_progress)
        code = self._process.wait()
        # a refusal is an exit status of its own; a record counts only when the process then ended well
        ended_well = code == 0 or (code > 0 and isinstance(self._end, Refused))
        if self._end is not None and self._broken is None and ended_well:
            return self._end
        outcome, cause = self._verdict(code, deadline_s if timed_out else None)
        return Died(outcome, cause, self._last, self._said.decode("utf-8", "backslashreplace").strip())

    def _verdict(self, code: int, deadline_s: float | None) -> tuple[str, str]:
        if deadline_s is not None:
            return "timed_out", f"no record after {int(deadline_s)} s, the deadline of the run"
        if self._broken is not None:
            return "failed", self._broken
        if code < 0:
            return "killed", f"ended by {signal_name(-code)}{host.oom_hint(self._oom_kills)}"
        if code > 0:
            return "failed", f"the process ended with exit status {code}"
        return "failed", "the process ended without a record"

    def _send(self, options: Json) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # a child that died at once is told apart in wait()
            self._process.stdin.write((canonical.compact(options) + "\n").encode("utf-8"))
            self._process.stdin.close()

    def _read_all(self, until: float | None, on_progress: Callable[[Json], None]) -> bool:
        """Read both pipes until the child closed them. False: the time ``until`` came first."""
        assert self._process.stdout is not None and self._process.stderr is not None
        with selectors.DefaultSelector() as ready:
            for pipe in (self._process.stdout, self._process.stderr):
                if not pipe.closed:
                    ready.register(pipe, selectors.EVENT_READ)
            while ready.get_map():
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return False
                for key, _ in ready.select(left if left is None else min(left, _LONGEST_WAIT_S)):
                    data = os.read(key.fd, _CHUNK)
                    if key.fileobj is self._process.stdout:
                        self._take(data, on_progress)
                    else:
                        self._said = (self._said + data)[-_STDERR_KEPT:]
                    if not data:
                        ready.unregister(key.fileobj)
        return True

    def _take(self, data: bytes, on_progress: Callable[[Json], None]) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                self._line(strict_json.parse(line, "the run's process"), on_progress)
            except (UnreadableError, KeyError, TypeError) as error:
                self._broken = f"the process wrote a line outside its protocol ({type(error).__name__})"

    def _line(self, value: Any, on_progress: Callable[[Json], None]) -> None:
        if "progress" in value:
            self._last = _object(value, "progress")
            on_progress(self._last)
        elif "error" in value:
            error = _object(value, "error")
            self._end = Refused(str(error["status"]), str(error["message"]))
        else:
            self._end = Finished(_object(value, "manifest"), _object(value, "run"))

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._process.wait()


def _object(value: Any, key: str) -> Json:
    """The member ``key``, an object. KeyError, TypeError: it is not there, or is something else."""
    found = value[key]
    if not isinstance(found, dict):
        raise TypeError(key)
    return found


def signal_name(number: int) -> str:
    """``SIGKILL`` for 9; a number that has no name keeps its number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
