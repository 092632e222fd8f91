"""What our scheduler is compared with: where the headers of oneTBB and Taskflow are, and their versions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from programs import BenchmarkError, call

TBB_HEADER = Path("/usr/include/tbb/task_arena.h")
TASKFLOW_HEADER = Path("taskflow/taskflow.hpp")


def onetbb_version() -> str:
    """The version macros of the installed oneTBB header. Raises BenchmarkError without one."""
    if not TBB_HEADER.exists():
        raise BenchmarkError("oneTBB is missing. Install the Debian package libtbb-dev.")
    text = Path("/usr/include/oneapi/tbb/version.h").read_text(encoding="utf-8")
    words = [line.split() for line in text.splitlines() if line.startswith("#define TBB_VERSION_M")]
    return ".".join(word[2] for word in words)


def taskflow_folder() -> Path | None:
    """The folder that holds ``taskflow/``: $TASKFLOW_INCLUDE, else that of the system; None: not at hand."""
    folders = [Path(os.environ["TASKFLOW_INCLUDE"])] if "TASKFLOW_INCLUDE" in os.environ else []
    folders += [Path("/usr/include"), Path("/usr/local/include")]
    return next((folder for folder in folders if (folder / TASKFLOW_HEADER).exists()), None)


def taskflow_version(folder: Path | None) -> str:
    """Such as 4.1.0; "not at hand" without a folder."""
    if folder is None:
        return "not at hand"
    found = re.search(r"TF_VERSION +(\d+)", (folder / TASKFLOW_HEADER).read_text(encoding="utf-8"))
    number = int(found[1]) if found else 0
    return f"{number // 100000}.{number // 100 % 1000}.{number % 100}"


def core_distance(*arguments: str) -> Callable[[Path], Mapping[str, int]]:
    """What measures, in nanoseconds, how long a cache line takes to the other core and back; 0 with one core.

    The arguments are those that the program wants behind the name of its executor.
    """

    def measure(program: Path) -> Mapping[str, int]:
        printed = json.loads(call(str(program), "core-distance", *arguments))
        return {"core_round_trip_ns": int(printed["latency_p50_ns"])}

    return measure
