"""The C runtime as Python sees it: the only importer of the compiled module ``tallymark._runtime``.

The module is loaded when it is first needed, so that everything but running works without it. The run's
record and its manifest are texts written by the runtime; nothing here adds to them or changes them.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from tallymark.errors import BrokenRuntimeError
from tallymark.runtime.options import RunOptions

if TYPE_CHECKING:
    from tallymark._runtime import Ffi, Lib

__all__ = ["Progress", "Run", "RunOptions", "RunRefusedError", "build_information", "source_digest_of_build"]

_MESSAGE_BYTES = 256
_BUILD_BYTES = 8192


class RunRefusedError(BrokenRuntimeError):
    """The runtime would not set up or finish a run; ``status`` is its word for why ("invalid")."""

    def __init__(self, status: str, message: str) -> None:
        problem, _, do = message.partition("; ")
        super().__init__("run", problem, do or "change the options or free resources, and run again")
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Progress:
    """A consistent view of a run in progress; times in milliseconds since the first submission."""

    phase: str
    tasks_submitted: int
    tasks_admitted: int
    tasks_completed: int
    tasks_failed: int
    tasks_cancelled: int
    tasks_timed_out: int
    tasks_rejected: int
    queue: int
    active: int
    elapsed_ms: float


class Run:
    """One run: made ready by the constructor, then executed once. Use it as a context manager.

    ``execute`` blocks and releases the GIL; ``interrupt`` and ``progress`` may be called meanwhile from any
    other thread. RunRefusedError: the options are out of range, or a resource is missing.
    """

    def __init__(self, options: RunOptions) -> None:
        self._ffi, self._lib = load_module()
        given, texts = _to_c(self._ffi, self._lib, options)
        handle = self._ffi.new("rt_run **")
        message = self._ffi.new("char[]", _MESSAGE_BYTES)
        status = self._lib.rt_run_create(given, handle, message, _MESSAGE_BYTES)
        del texts  # the runtime has its own copies from here on
        self._raise_for(status, message)
        self._run: Any = handle[0]

    def execute(self) -> None:
        """Run, verify, and write the record; a failed or interrupted run has a record too."""
        message = self._ffi.new("char[]", _MESSAGE_BYTES)
        self._raise_for(self._lib.rt_run_execute(self._run, message, _MESSAGE_BYTES), message)

    def interrupt(self, signal_number: int) -> None:
        """Ask the run to end early; what has not started is cancelled."""
        self._lib.rt_run_interrupt(self._run, signal_number)

    def progress(self) -> Progress:
        """The counts of this moment."""
        seen = self._ffi.new("rt_run_progress *")
        self._lib.rt_run_progress_read(self._run, seen)
        counts = {name: getattr(seen, name) for name in Progress.__slots__ if name != "phase"}
        return Progress(phase=text_of(self._ffi, seen.phase), **counts)

    def record(self) -> str:
        """The run record, one line of JSON as the runtime wrote it. Only after ``execute``."""
        return text_of(self._ffi, self._lib.rt_run_record(self._run))

    def manifest(self) -> str:
        """The manifest, one line of JSON as the runtime wrote it."""
        return text_of(self._ffi, self._lib.rt_run_manifest(self._run))

    def close(self) -> None:
        """Give everything back. Not while ``execute`` runs."""
        run, self._run = self._run, self._ffi.NULL
        self._lib.rt_run_destroy(run)

    def _raise_for(self, status: int, message: Any) -> None:
        if status != 0:
            name = text_of(self._ffi, self._lib.rt_run_status_name(status))
            raise RunRefusedError(name, text_of(self._ffi, message))

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def build_information() -> dict[str, Any]:
    """The ``build`` part of the manifest of the library installed here.

    BrokenRuntimeError: the compiled module is missing or does not load.
    """
    ffi, lib = load_module()
    text = ffi.new("char[]", _BUILD_BYTES)
    status = lib.rt_run_build(text, _BUILD_BYTES)
    if status != 0:
        name = text_of(ffi, lib.rt_run_status_name(status))
        raise BrokenRuntimeError("tallymark._runtime", f"it does not tell its build ({name})", "report this")
    return cast("dict[str, Any]", json.loads(text_of(ffi, text)))


def source_digest_of_build() -> str | None:
    """The source digest of the library installed here; None where there is none.

    A result whose manifest has the same digest is "current", any other is "historical".
    """
    try:
        return str(build_information()["source_digest"])
    except BrokenRuntimeError:
        return None


def use_library(path: str) -> None:
    """Load the compiled module of this process from a file, in the place of the installed one.

    BrokenRuntimeError: the file is no such module. Before anything else of this package is called.
    """
    name = "tallymark._runtime"
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        _ = module.ffi, module.lib.rt_run_options_init
    except (ImportError, AttributeError):
        raise BrokenRuntimeError("--library", "the file is no runtime", "name _runtime.abi3.so") from None
    sys.modules[name] = module


def description() -> dict[str, Any]:
    """What the loaded library says about itself: its file, its build, the version of its workload."""
    ffi, lib = load_module()
    defaults = ffi.new("rt_run_options *")
    lib.rt_run_options_init(defaults)
    return {
        "library": sys.modules["tallymark._runtime"].__file__,
        "benchmark_version": text_of(ffi, defaults.benchmark_version),
        "build": build_information(),
    }


def load_module() -> tuple[Ffi, Lib]:
    """The compiled module, loaded when first asked for. BrokenRuntimeError: it is missing, and why."""
    try:
        from tallymark._runtime import ffi, lib
    except ImportError as error:
        if error.name == "_cffi_backend":
            raise BrokenRuntimeError(
                "tallymark._runtime", "it needs cffi, which is not installed", "pip install 'tallymark[run]'"
            ) from None
        raise BrokenRuntimeError(
            "tallymark._runtime",
            "the compiled runtime is missing: there was no C compiler, or no Python.h, at installation",
            "install gcc (and python3-dev), then pip install .",
        ) from None
    return ffi, lib


def text_of(ffi: Ffi, pointer: Any) -> str:
    """A C text as a Python one."""
    return ffi.string(pointer).decode("utf-8")


def _to_c(ffi: Ffi, lib: Lib, options: RunOptions) -> tuple[Any, list[Any]]:
    """The C struct, and the texts that it points to, which must live as long as it is used."""
    given = ffi.new("rt_run_options *")
    lib.rt_run_options_init(given)
    texts = []
    for name, value in options.to_json().items():
        if isinstance(value, str):
            texts.append(ffi.new("char[]", value.encode("utf-8")))
            setattr(given, name, texts[-1])
        elif value is not None:
            setattr(given, name, value)
    return given, texts
