"""Builds the programs of the benchmarks from the runtime's sources, with the flags of the released build."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "benchmarks"
HERE = ROOT / "benchmarks"
RUNTIME = ROOT / "runtime_c" / "src"
COMMON_FLAGS = ("-O2", "-DNDEBUG", "-fPIC", "-pthread", "-fstack-clash-protection")
INCLUDES = (f"-I{RUNTIME}", f"-I{RUNTIME.parent / 'include'}", f"-I{HERE / 'common'}")
C_FLAGS = (*COMMON_FLAGS, "-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden", *INCLUDES)
CXX_FLAGS = (*COMMON_FLAGS, "-std=c++20", *INCLUDES)
NEED_GENERATED_HEADERS = ("rt_build.c",)


class BenchmarkError(Exception):
    """What is missing or wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of ``benchmarks/<folder>/*.c`` and ``*.cpp``, linked with what it needs of the runtime."""

    folder: str
    libraries: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """More flags for its own files."""

    left_out: tuple[str, ...] = ()
    """Names of files that are not built: a peer that is not at hand."""

    borrowed: tuple[str, ...] = ()
    """More sources, relative to ``benchmarks/``: those of another program."""


@dataclass(frozen=True, slots=True)
class Script:
    """A program in Python, run by the interpreter that runs the benchmark; its path in ``benchmarks/``."""

    path: str


def call(*command: str) -> str:
    """Run a command; its standard output. Raises BenchmarkError with what it printed when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BenchmarkError(f"{command[0]} is missing. Install the Debian package {command[0]}.") from error
    if done.returncode != 0:
        shown = " ".join(command[:4])
        raise BenchmarkError(f"{shown} … failed ({done.returncode}):\n{done.stderr.strip()}")
    return done.stdout


def _switch_flags(source: Path) -> tuple[str, ...]:
    """The flags that runtime_c/CMakeLists.txt gives this file beside the common ones."""
    is_switch = source.name == "rt_coroutine.c" and platform.machine() == "x86_64"
    return ("-fcf-protection=none",) if is_switch else ()


def _compile(source: Path, output: Path, flags: Sequence[str], newest_header: float) -> Path:
    """Compile one file, unless its object is newer than it and than every header."""
    if output.exists() and output.stat().st_mtime > max(source.stat().st_mtime, newest_header):
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    compiler, common = ("g++", CXX_FLAGS) if source.suffix == ".cpp" else ("gcc", C_FLAGS)
    call(compiler, *common, *flags, *_switch_flags(source), "-c", str(source), "-o", str(output))
    return output


def _launcher(script: Script) -> Path:
    """A program that starts it."""
    source = HERE / script.path
    target = FOLDER / f"{source.stem}-bench"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(
        f'#!/bin/sh\nexec {quote(sys.executable)} {quote(str(source))} "$@"\n', encoding="utf-8"
    )
    target.chmod(0o755)
    return target


def build(program: Program | Script) -> Path:
    """Compile and link it; the path of the program. Raises BenchmarkError."""
    if isinstance(program, Script):
        return _launcher(program)
    headers = [*RUNTIME.glob("*.h"), *HERE.glob("*/*.h"), Path(__file__)]
    newest_header = max(path.stat().st_mtime for path in headers)
    runtime = [path for path in sorted(RUNTIME.glob("rt_*.c")) if path.name not in NEED_GENERATED_HEADERS]
    folder = HERE / program.folder
    own = [*sorted(folder.glob("*.c")), *sorted(folder.glob("*.cpp"))]
    own = [path for path in own if path.name not in program.left_out]
    own += [HERE / name for name in program.borrowed]
    objects = FOLDER / "objects"
    mine = [(path, objects / program.folder / f"{path.stem}.o", program.flags) for path in own]
    mine.append((HERE / "common" / "measure.c", objects / "common" / "measure.o", ()))
    jobs = [*mine, *((path, objects / "runtime" / f"{path.stem}.o", ()) for path in runtime)]
    with ThreadPoolExecutor(max_workers=2) as pool:
        built = list(pool.map(lambda job: _compile(job[0], job[1], job[2], newest_header), jobs))
    archive, target = objects / "libruntime.a", FOLDER / f"{program.folder}-bench"
    archive.unlink(missing_ok=True)
    call("ar", "rcs", str(archive), *map(str, built[len(mine) :]))
    libraries = [f"-l{name}" for name in (*program.libraries, "m")]
    call("g++", "-pthread", *map(str, built[: len(mine)]), str(archive), *libraries, "-o", str(target))
    return target
