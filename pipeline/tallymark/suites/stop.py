"""Ctrl-C, SIGTERM or a closed terminal in mid-suite: the run ends early and its record is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from tallymark.errors import TallymarkError
from tallymark.suites.child import Child


class StoppedError(TallymarkError):
    """The user stopped the suite; what was finished is kept in its journal."""

    exit_code = 130


class Stop:
    """Passes the user's wish to stop on to the child that runs. Use it as a context manager.

    The first signal asks the child to end its run and to write its record, a second one kills it.
    """

    def __init__(self) -> None:
        self.requested = 0
        self._child: Child | None = None
        self._before: dict[int, Any] = {}

    @contextmanager
    def watching(self, child: Child) -> Iterator[None]:
        """For as long as ``child`` runs, a signal is passed on to it (one that came before, at once)."""
        self._child = child
        if self.requested:
            child.interrupt()
        try:
            yield
        finally:
            self._child = None

    def check(self, where: str) -> None:
        """StoppedError when the user asked to stop before anything was measured."""
        if self.requested:
            raise StoppedError(where, "stopped by the user before anything was measured", "run it again")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested += 1
        if self._child is not None:
            if self.requested == 1:
                self._child.interrupt()
            else:
                self._child.kill()

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
