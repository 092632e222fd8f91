"""Standard output as commands need it: UTF-8 in any locale, and never lost in silence."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import Final, TextIO

from tallymark import errors
from tallymark.cli.talk import talk
from tallymark.errors import UsageError

# What a shell says of a program that wrote to a pipe which nobody reads any more.
CUT_OFF: Final = 128 + signal.SIGPIPE


def prepare() -> None:
    """Results are UTF-8 wherever they go; a stream that the caller closed swallows what is written."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def finished(code: int) -> int:
    """Write out what is buffered. The exit code is ``code``, or tells that the result did not arrive."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
        code = CUT_OFF
    except OSError as error:
        _drop(sys.stdout)
        talk(refusal(error).line())
        code = code or errors.MISUSE
    _let_talk_go()
    return code


def tell(error: OSError) -> None:
    """Say what the system refused, once: output that takes nothing is emptied, not tried again at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        _drop(sys.stdout)
    talk(refusal(error).line())


def _let_talk_go() -> None:
    """Standard error that takes nothing must not decide the exit code (else it is 120)."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def refusal(error: OSError) -> UsageError:
    """What the operating system refused, as an error of the user: it is no bug of ours."""
    place = error.filename if error.filename is not None else "the output"
    problem = error.strerror or str(error)
    return UsageError(str(place), problem, "check the path, its permissions and the disk")


def _drop(stream: TextIO) -> None:
    """Give the interpreter's own last flush a place, or it would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
