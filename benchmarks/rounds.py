"""What all our benchmarks share: interleaved rounds of processes, ratios within a round, one file of JSON.

A benchmark is a :class:`Benchmark`; ``main`` builds its program, runs it and writes
``build/benchmarks/NAME.json`` in the format ``tallymark-benchmark/1``, which ``tallymark import benchmark``
makes evidence of. Each process prints one line of JSON with at least ``tasks``, ``elapsed_ns`` and ``cpu_ns``
(``benchmarks/common/measure.h`` prints all that the format knows). In a round every case runs, each time as a
process of its own and in an order drawn anew from the seed; so what disturbs the machine for longer than a
round disturbs both sides of a ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from programs import COMMON_FLAGS, FOLDER, ROOT, BenchmarkError, Program, Script, build, call

FORMAT = "tallymark-benchmark/1"
ROUNDS_AT_LEAST = 3
Values = Mapping[str, int | float | str]
Round = Mapping[str, object]
COUNTS = ("voluntary_switches", "involuntary_switches", "backlog_bytes", "drained_bytes")
"""Keys that every process has; a program that does not measure one leaves it out, which is 0."""


@dataclass(frozen=True, slots=True)
class Case:
    """What runs: its published name, the arguments of the program, and how often in a round."""

    name: str
    arguments: tuple[str, ...]
    tasks: int | None
    """How many it must do; None: what it counts is known only when it is done."""

    processes: int = 1
    same_work: str | None = None
    """Cases with the same text here must print the same checksum."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure of one round: a quantity of one case over that of another, or of the best of several, or
    over nothing. Without a target it is only shown."""

    name: str
    quantity: str
    case: str
    over: str | tuple[str, ...] | None
    target: float | None
    higher_is_better: bool


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark as its file in ``benchmarks/`` describes it."""

    name: str
    description: str
    program: Program | Script
    cases: tuple[Case, ...]
    ratios: tuple[Ratio, ...]
    workload: Mapping[str, int | str | bool]
    definitions: Mapping[str, str]
    rounds: int
    seconds_at_most: int
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of what is compared with, for the key ``compiler``."""

    around: Callable[[Path], Mapping[str, int]] | None = None
    """Measured before and after each round, about the machine."""


def run_case(program: Path, case: Case) -> Values:
    """One process: its raw values, and the derived ones in seconds and tasks."""
    raw = json.loads(call(str(program), *case.arguments))
    tasks = raw["tasks"]
    if case.tasks is not None and tasks != case.tasks:
        raise BenchmarkError(f"{case.name} did {tasks} of {case.tasks} tasks. Do not trust this run.")
    counts = {key: raw.get(key, 0) for key in COUNTS}
    queued = max(counts["backlog_bytes"], counts["drained_bytes"])
    return {
        **raw,
        **counts,
        "elapsed_s": raw["elapsed_ns"] / 1e9,
        "cpu_s": raw["cpu_ns"] / 1e9,
        "tasks_per_s": tasks / (raw["elapsed_ns"] / 1e9),
        "queued_bytes": queued / tasks,
        "elapsed_ns_per_task": raw["elapsed_ns"] / tasks,
        "cpu_ns_per_task": raw["cpu_ns"] / tasks,
        "switches_per_1000": counts["voluntary_switches"] * 1000 / tasks,
        **({"memory_per_task": raw["memory_bytes"] / tasks} if raw.get("memory_bytes") else {}),
    }


def run_round(benchmark: Benchmark, program: Path, order: random.Random) -> dict[str, object]:
    """All processes of a round in a random order. Raises BenchmarkError when equal work differs."""
    queue = [case for case in benchmark.cases for _ in range(case.processes)]
    order.shuffle(queue)
    load_before = os.getloadavg()[0]
    around = [benchmark.around(program)] if benchmark.around else []
    runs: dict[str, list[Values]] = {}
    checksums: dict[str, set[str]] = {}
    for case in queue:
        values = run_case(program, case)
        runs.setdefault(case.name, []).append(values)
        if case.same_work is not None:
            checksums.setdefault(case.same_work, set()).add(str(values["checksum"]))
    around += [benchmark.around(program)] if benchmark.around else []
    for work, found in checksums.items():
        if len(found) != 1:
            raise BenchmarkError(f"the cases of the work {work!r} did not do the same: {sorted(found)}.")
    return {
        "order": [case.name for case in queue],
        "load_average_before": load_before,
        **{key: [one[key] for one in around] for key in (around[0] if around else ())},
        "runs": runs,
    }


def value_of(one: Round, case: str, quantity: str) -> float:
    """A quantity of a case in one round: the median of its processes."""
    runs = one["runs"]
    assert isinstance(runs, Mapping)
    return statistics.median(float(run[quantity]) for run in runs[case])


def values_of(ratio: Ratio, rounds: Sequence[Round]) -> list[float]:
    """The ratio in each round."""
    values = []
    best = max if ratio.higher_is_better else min
    for one in rounds:
        value = value_of(one, ratio.case, ratio.quantity)
        if ratio.over is not None:
            others = (ratio.over,) if isinstance(ratio.over, str) else ratio.over
            value /= best(value_of(one, other, ratio.quantity) for other in others)
        values.append(value)
    return values


def summary(ratio: Ratio, rounds: Sequence[Round]) -> dict[str, object]:
    """Median and range over the rounds; the target inside the range is "cannot tell"."""
    values = values_of(ratio, rounds)
    low, high = min(values), max(values)
    verdict = None
    if ratio.target is not None:
        met = low >= ratio.target if ratio.higher_is_better else high <= ratio.target
        missed = high < ratio.target if ratio.higher_is_better else low > ratio.target
        verdict = "met" if met else "missed" if missed else "cannot tell"
    return {
        "median": statistics.median(values),
        "low": low,
        "high": high,
        "target": ratio.target,
        "verdict": verdict,
        "better": "higher" if ratio.higher_is_better else "lower",
        "quantity": ratio.quantity,
        "case": ratio.case,
        "over": list(ratio.over) if isinstance(ratio.over, tuple) else ratio.over,
    }


def run_rounds(benchmark: Benchmark, program: Path, count: int, seed: int) -> list[dict[str, object]]:
    """The rounds, with a line of progress each: as many as the time allows, but three at least.

    What ends them early is the time alone, never what was measured.
    """
    order = random.Random(seed)
    started = time.monotonic()
    rounds: list[dict[str, object]] = []
    while len(rounds) < count:
        rounds.append(run_round(benchmark, program, order))
        done, passed = len(rounds), time.monotonic() - started
        left = passed / done * (count - done)
        said = f"{benchmark.name}: round {done} of {count}, about {left:.0f} s left"
        if done >= ROUNDS_AT_LEAST and passed + passed / done > benchmark.seconds_at_most and done < count:
            print(
                f"{benchmark.name}: ends after {done} of {count} rounds, since the next would pass "
                f"{benchmark.seconds_at_most} s on this machine now",
                file=sys.stderr,
                flush=True,
            )
            break
        print(said, file=sys.stderr, flush=True)
    return rounds


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


def measured_tree() -> dict[str, object]:
    """The commit whose runtime was measured, and whether its sources were changed; None outside of git."""
    try:
        revision = call("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()
        changes = call("git", "-C", str(ROOT), "status", "--porcelain", "--", "runtime_c", "benchmarks")
    except BenchmarkError:
        return {"revision": None, "dirty": None}
    return {"revision": revision, "dirty": bool(changes.strip())}


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def document(
    benchmark: Benchmark, rounds: list[dict[str, object]], options: argparse.Namespace, started: str
) -> dict[str, object]:
    """The file that is written: figures first, each with what it is a ratio of, then what they rest on."""
    return {
        "format": FORMAT,
        **{ratio.name: summary(ratio, rounds) for ratio in benchmark.ratios},
        "started_at": started,
        "finished_at": now(),
        "seed": options.seed,
        "rounds_planned": options.rounds,
        "workload": dict(benchmark.workload),
        "definitions": {
            **benchmark.definitions,
            "round": "a figure of a round is the median of its processes of one kind",
            "range": "low and high are the least and the greatest of any round",
            "over": "of several cases the best one of the round",
        },
        "machine": machine(),
        "compiler": {
            "gcc": call("gcc", "-dumpfullversion").strip(),
            "flags": " ".join(COMMON_FLAGS),
            **benchmark.versions,
        },
        "tree": measured_tree(),
        "rounds": rounds,
    }


def print_figures(benchmark: Benchmark, result: Mapping[str, object]) -> None:
    """One line a figure."""
    for ratio in benchmark.ratios:
        figure = result[ratio.name]
        assert isinstance(figure, dict)
        sign = ">=" if ratio.higher_is_better else "<="
        judged = "" if ratio.target is None else f", target {sign} {ratio.target:g}: {figure['verdict']}"
        print(f"{ratio.name}: {figure['median']:.4g} [{figure['low']:.4g}, {figure['high']:.4g}]{judged}")


def parser(name: str, description: str, rounds: int) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    made = argparse.ArgumentParser(
        prog=f"benchmarks/{name}.py",
        description=description,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    made.add_argument("--out", type=Path, default=FOLDER / f"{name}.json", help="file to write")
    made.add_argument("--rounds", type=int, default=rounds, help=f"rounds (default: {rounds})")
    made.add_argument("--seed", type=int, default=20261129, help="seed of the order (default: 20261129)")
    return made


def run(benchmark: Benchmark, options: argparse.Namespace) -> int:
    """Build, measure, write, and say the figures; the exit code."""
    started = now()
    try:
        program = build(benchmark.program)
        rounds = run_rounds(benchmark, program, options.rounds, options.seed)
        result = document(benchmark, rounds, options, started)
    except BenchmarkError as error:
        print(f"benchmarks/{benchmark.name}.py: {error}", file=sys.stderr)
        return 2
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print_figures(benchmark, result)
    return 0
