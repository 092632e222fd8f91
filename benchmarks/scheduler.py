"""The runtime's scheduler beside oneTBB and beside the plain loop over the same task body.

    python benchmarks/scheduler.py [--out FILE] [--rounds N] [--tasks N] [--seed N]

Builds ``benchmarks/scheduler/`` with the runtime's sources and release flags, then runs all executors in
rounds, each executor in a process of its own and in an order drawn anew for each round from the seed. A ratio
is taken within a round, so that what disturbs the machine for longer than a round disturbs both sides. All
executors must arrive at the same checksum over all tasks. Writes one JSON file with every raw value, which
``tallymark import benchmark FILE`` makes evidence of.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "benchmarks"
SOURCES = ROOT / "benchmarks" / "scheduler"
RUNTIME = ROOT / "runtime_c" / "src"
MODULES = (
    *("status", "allocator", "clock", "random", "histogram", "agent_pool", "history"),
    *("access_pattern", "chunk_pool", "context_formula", "context_snapshot", "context_spill"),
    *("context_store", "context_tiers", "resident", "task_pool", "task_body"),
    *("scheduler", "scheduler_worker", "scheduler_report"),
    *("memory_account", "workload", "workload_submit", "workload_report"),
)
COMMON_FLAGS = ("-O2", "-DNDEBUG", "-fPIC", "-pthread")  # those of the released build
C_FLAGS = (*COMMON_FLAGS, "-std=c11", "-D_GNU_SOURCE", "-fvisibility=hidden", f"-I{RUNTIME}")
CXX_FLAGS = (*COMMON_FLAGS, "-std=c++17")
TBB_HEADER = Path("/usr/include/tbb/task_arena.h")

WORKERS, WINDOW = 8, 1024
SECONDS_AT_MOST = 600
FORMAT = "tallymark-benchmark/1"
# Executor, body and number of processes in a round. A figure of a round is the median of its processes.
CASES = (
    ("plain-one", "probes", 3),
    ("plain-all", "probes", 3),
    ("tallymark", "probes", 3),
    ("onetbb", "probes", 3),
    ("tallymark-backlog", "probes", 1),
    ("onetbb-backlog", "probes", 1),
    ("tallymark", "null", 1),
    ("onetbb", "null", 1),
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure of one round: a quantity of one case over a quantity of another (or over nothing)."""

    name: str
    quantity: str
    case: str
    over: str | None
    target: float
    higher_is_better: bool


RATIOS = (
    Ratio("cpu_ratio_to_limit", "cpu_s", "tallymark:probes", "plain-one:probes", 1.6, False),
    Ratio("cpu_ratio_to_limit_all_cores", "cpu_s", "tallymark:probes", "plain-all:probes", 1.6, False),
    Ratio("cpu_ratio_to_onetbb", "cpu_s", "tallymark:probes", "onetbb:probes", 0.85, False),
    Ratio("throughput_ratio_to_onetbb", "tasks_per_s", "tallymark:probes", "onetbb:probes", 1.2, True),
    Ratio("throughput_ratio_to_limit", "tasks_per_s", "tallymark:probes", "plain-all:probes", 0.44, True),
    Ratio("bytes_per_queued_task", "queued_bytes", "tallymark-backlog:probes", None, 128.0, False),
)

Values = Mapping[str, int | float | str]


class BenchmarkError(Exception):
    """What is missing or wrong, and what to do."""


def compile_all(target: Path) -> None:
    """Build the benchmark program from the runtime's sources and the executors."""
    if not TBB_HEADER.exists():
        raise BenchmarkError("oneTBB is missing. Install the Debian package libtbb-dev.")
    objects = target.with_suffix(".objects")
    objects.mkdir(parents=True, exist_ok=True)
    sources = [*sorted(SOURCES.glob("*.c")), *(RUNTIME / f"rt_{name}.c" for name in MODULES)]
    built = [objects / f"{source.stem}.o" for source in (*sources, SOURCES / "onetbb.cpp")]
    for source, output in zip(sources, built[:-1], strict=True):
        call("gcc", *C_FLAGS, "-c", str(source), "-o", str(output))
    call("g++", *CXX_FLAGS, "-c", str(SOURCES / "onetbb.cpp"), "-o", str(built[-1]))
    call("g++", "-pthread", *map(str, built), "-ltbb", "-o", str(target))


def call(*command: str) -> str:
    """Run a command; its standard output. Raises BenchmarkError with what it printed when it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BenchmarkError(f"{command[0]} is missing. Install the Debian package {command[0]}.") from error
    if done.returncode != 0:
        raise BenchmarkError(f"{Path(command[0]).name} {command[1]} failed:\n{done.stderr.strip()}")
    return done.stdout


def run_case(program: Path, name: str, tasks: int) -> Values:
    """One process: its raw values, and the derived ones in seconds and tasks."""
    raw = json.loads(call(str(program), *name.split(":"), str(tasks), str(WORKERS), str(WINDOW)))
    if raw["tasks"] != tasks:
        raise BenchmarkError(f"{name} did {raw['tasks']} of {tasks} tasks. Do not trust this run.")
    queued = max(raw["backlog_bytes"], raw["drained_bytes"])
    return {
        **raw,
        "elapsed_s": raw["elapsed_ns"] / 1e9,
        "cpu_s": raw["cpu_ns"] / 1e9,
        "tasks_per_s": tasks / (raw["elapsed_ns"] / 1e9),
        "queued_bytes": queued / tasks,
    }


def core_distance(program: Path) -> int:
    """Nanoseconds that a cache line takes to the other core and back; 0 with one core."""
    return int(json.loads(call(str(program), "core-distance", "null", "1", "1", "1"))["round_trip_ns"])


def run_round(program: Path, tasks: int, order: random.Random) -> dict[str, object]:
    """All processes of a round in a random order; the checksums of those with a body must be equal."""
    names = [f"{executor}:{body}" for executor, body, processes in CASES for _ in range(processes)]
    order.shuffle(names)
    load_before = os.getloadavg()[0]
    distances = [core_distance(program)]
    runs: dict[str, list[Values]] = {}
    for name in names:
        runs.setdefault(name, []).append(run_case(program, name, tasks))
    distances.append(core_distance(program))
    checksums = {
        run["probe_checksum"] for name, same in runs.items() if name.endswith(":probes") for run in same
    }
    if len(checksums) != 1:
        raise BenchmarkError(f"the executors read different bytes: {sorted(map(str, checksums))}.")
    return {
        "order": names,
        "load_average_before": load_before,
        "core_round_trip_ns": distances,
        "runs": runs,
    }


def values_of(ratio: Ratio, rounds: Sequence[Mapping[str, object]]) -> list[float]:
    """The ratio in each round."""
    values = []
    for one in rounds:
        value = value_of(one, ratio.case, ratio.quantity)
        values.append(value / value_of(one, ratio.over, ratio.quantity) if ratio.over else value)
    return values


def value_of(one: Mapping[str, object], case: str, quantity: str) -> float:
    """A quantity of a case in one round: the median of its processes."""
    runs = one["runs"]
    assert isinstance(runs, dict)
    return statistics.median(float(run[quantity]) for run in runs[case])


def summary(ratio: Ratio, rounds: Sequence[Mapping[str, object]]) -> dict[str, float | str | None]:
    """Median and range over the rounds; the target inside the range is "cannot tell"."""
    values = values_of(ratio, rounds)
    low, high = min(values), max(values)
    met = low >= ratio.target if ratio.higher_is_better else high <= ratio.target
    missed = high < ratio.target if ratio.higher_is_better else low > ratio.target
    verdict = "met" if met else "missed" if missed else "cannot tell"
    return {
        "median": statistics.median(values),
        "low": low,
        "high": high,
        "target": ratio.target,
        "verdict": verdict,
        "quantity": ratio.quantity,
        "case": ratio.case,
        "over": ratio.over,
    }


def first_line(path: str, key: str) -> str | None:
    """The value of the first line of a /proc file that starts with the key; None without one."""
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def machine() -> dict[str, object]:
    """What the figures depend on; nothing that names the host or its user."""
    memory_kib = (first_line("/proc/meminfo", "MemTotal") or "0 kB").split()[0]
    return {
        "cpu_model": first_line("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory_bytes": int(memory_kib) * 1024,
        "kernel": platform.release(),
        "architecture": platform.machine(),
    }


def tbb_version() -> str:
    """The version macros of the installed oneTBB header."""
    text = Path("/usr/include/oneapi/tbb/version.h").read_text(encoding="utf-8")
    words = [line.split() for line in text.splitlines() if line.startswith("#define TBB_VERSION_M")]
    return ".".join(word[2] for word in words)


def measured_tree() -> dict[str, object]:
    """The commit whose runtime was measured, and whether its sources were changed; None outside of git."""
    try:
        revision = call("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
        changes = call("git", "-C", str(ROOT), "status", "--porcelain", "--", "runtime_c", "benchmarks")
    except BenchmarkError:
        return {"revision": None, "dirty": None}
    return {"revision": revision, "dirty": bool(changes.strip())}


def run_rounds(program: Path, options: argparse.Namespace) -> list[dict[str, object]]:
    """The rounds, with a line of progress each. Raises BenchmarkError when they would take too long."""
    order = random.Random(options.seed)
    started = time.monotonic()
    rounds = []
    for number in range(1, options.rounds + 1):
        rounds.append(run_round(program, options.tasks, order))
        passed = time.monotonic() - started
        left = passed / number * (options.rounds - number)
        print(f"round {number} of {options.rounds}, about {left:.0f} s left", file=sys.stderr, flush=True)
        if passed + left > SECONDS_AT_MOST and number >= 3:
            raise BenchmarkError(
                f"{options.rounds} rounds would take {passed + left:.0f} s on this machine now, more than "
                f"{SECONDS_AT_MOST} s. Run it when the machine is quieter, or with fewer --tasks."
            )
    return rounds


def document(options: argparse.Namespace, rounds: list[dict[str, object]], started: str) -> dict[str, object]:
    """The file that is written: figures first, each with what it is a ratio of, then what they rest on."""
    return {
        "format": FORMAT,
        **{ratio.name: summary(ratio, rounds) for ratio in RATIOS},
        "started_at": started,
        "finished_at": now(),
        "seed": options.seed,
        "workload": {
            "tasks": options.tasks,
            "agents": 1000,
            "workers": WORKERS,
            "probes": 64,
            "context_bytes": 8 << 20,
            "output_bytes": 64,
            "window": WINDOW,
            "submission": "closed",
            "history_limit_tasks": 64,
        },
        "definitions": {
            "plain-one": "the task body in a loop on one thread, two clock reads and one histogram a task",
            "plain-all": "the same on one thread a core",
            "tallymark": "the whole run: six timestamps, four histograms, history, admission, verification",
            "onetbb": "task_arena::enqueue of each task, one timestamp and one histogram, after a warm-up",
            "null": "the same executor with an empty task body",
            "backlog": "all tasks queued before one may run; bytes are the growth of RssAnon, the larger of "
            "all queued and all done",
            "cpu_ratio_to_limit": "CPU seconds of tallymark over those of plain-one; beside it over those of "
            "plain-all, since two cores that read the same bytes pay for it when they share no cache",
            "core_round_trip_ns": "a cache line to the other core and back, before and after the round",
            "round": "a figure of a round is the median of its processes of one kind",
            "range": "low and high are the least and the greatest ratio of any round",
        },
        "machine": machine(),
        "compiler": {
            "gcc": call("gcc", "-dumpfullversion").strip(),
            "flags": " ".join(COMMON_FLAGS),
            "onetbb": tbb_version(),
        },
        "tree": measured_tree(),
        "rounds": rounds,
    }


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def print_figures(result: Mapping[str, object]) -> None:
    """One line a figure."""
    for ratio in RATIOS:
        figure = result[ratio.name]
        assert isinstance(figure, dict)
        sign = ">=" if ratio.higher_is_better else "<="
        print(
            f"{ratio.name}: {figure['median']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}], "
            f"target {sign} {ratio.target:g}: {figure['verdict']}"
        )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER / "scheduler.json", help="file to write")
    parser.add_argument("--rounds", type=int, default=15, help="rounds (default: 15)")
    parser.add_argument("--tasks", type=int, default=1_000_000, help="tasks a run (default: 1,000,000)")
    parser.add_argument("--seed", type=int, default=20261129, help="seed of the order (default: 20261129)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure, write, and say the figures."""
    options = parse(arguments)
    started = now()
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        program = FOLDER / "scheduler-bench"
        compile_all(program)
        result = document(options, run_rounds(program, options), started)
    except BenchmarkError as error:
        print(f"benchmarks/scheduler.py: {error}", file=sys.stderr)
        return 2
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print_figures(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
