"""The child that makes one run: ``python -I -m tallymark.runtime``.

One JSON object of options on standard input; on standard output one JSON object a line: progress about ten
times a second, then ``{"manifest": …, "run": …}`` as the runtime wrote them, exit status 0 whatever the
outcome of the run. ``{"error": {"status", "message"}}`` and exit status 1 when there is no record.
SIGINT and SIGTERM end the run early and keep its record; so does SIGALRM, which means that its time is over.

``--library FILE`` runs the compiled module of that file in the place of the installed one. ``--describe``
makes no run: one JSON object says which library it is, its build and the version of its workload.

It imports the compiled module and the standard library alone, so that the memory of a run is its own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

from tallymark.errors import BrokenRuntimeError, TallymarkError, UsageError
from tallymark.runtime import Progress, Run, RunOptions, RunRefusedError, description, use_library

POLL_S = 0.1
_NOTHING_YET = Progress("setup", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0)


class _Interruption:
    """The first SIGINT or SIGTERM, passed on to the run as soon as there is one."""

    def __init__(self) -> None:
        self._run: Run | None = None
        self._number = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, self._handle)

    def watch(self, run: Run | None) -> None:
        self._run = run
        if run is not None and self._number:
            run.interrupt(self._number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._number = self._number or number
        if self._run is not None:
            self._run.interrupt(self._number)


class _Execution(threading.Thread):
    """The blocking call, in a thread of its own; what it raised is kept for the main thread."""

    def __init__(self, run: Run) -> None:
        super().__init__(name="run")
        self._execute = run.execute
        self.error: RunRefusedError | None = None

    def run(self) -> None:
        try:
            self._execute()
        except RunRefusedError as error:
            self.error = error


def main() -> int:
    """Read the options, make the run, print its lines; the exit status."""
    interruption = _Interruption()
    try:
        arguments = sys.argv[1:]
        if arguments[:1] == ["--library"]:
            use_library(arguments[1])
        if arguments[-1:] == ["--describe"]:
            _print(json.dumps(description()))
            return 0
        options = RunOptions.from_json(_read_options(sys.stdin.read()))
        _print_progress(_NOTHING_YET)
        with Run(options) as run:
            interruption.watch(run)
            _execute(run)
            interruption.watch(None)
            _print(f'{{"manifest":{run.manifest()},"run":{run.record()}}}')
    except RunRefusedError as error:
        return _refuse(error.status, error.message)
    except BrokenRuntimeError as error:
        return _refuse("unavailable", error.line())
    except TallymarkError as error:
        return _refuse("invalid", error.line())
    except BrokenPipeError:  # nobody listens any more, not even to an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the last flush has a place
        return 1
    return 0


def _read_options(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise UsageError("options", f"they are not JSON ({error})", "send one JSON object") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key is given twice")
    return dict(pairs)


def _execute(run: Run) -> None:
    """Run to the end, telling the progress; when nobody listens any more, stop the run first."""
    execution = _Execution(run)
    try:
        execution.start()
    except RuntimeError:  # all that Python says of it
        raise RunRefusedError(
            "no_thread", "the thread of the run could not start; raise the limits of threads and memory"
        ) from None
    try:
        while execution.is_alive():
            _print_progress(run.progress())
            execution.join(POLL_S)
        _print_progress(run.progress())  # the last counts, also of a run shorter than one poll
    except BrokenPipeError:
        run.interrupt(signal.SIGPIPE)
        raise
    finally:
        execution.join()
    if execution.error is not None:
        raise execution.error


def _print_progress(progress: Progress) -> None:
    values = {name: getattr(progress, name) for name in Progress.__slots__}
    _print(json.dumps({"progress": values}, separators=(",", ":")))


def _refuse(status: str, message: str) -> int:
    _print(json.dumps({"error": {"status": status, "message": message}}))
    return 1


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
