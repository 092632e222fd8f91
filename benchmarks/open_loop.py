"""The scheduler and its peers in an open loop: tasks are due at a constant rate, whatever is done with them.

    python benchmarks/open_loop.py [--out FILE] [--rounds N] [--tasks N] [--seed N]

One thread paces all executors in the same way (``benchmarks/open_loop/pace.c``), and a latency counts from
the time at which the task was due. CPU time is that of the whole process, the pacing thread included.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from peers import core_distance, onetbb_version, taskflow_folder, taskflow_version
from programs import HERE, BenchmarkError, Program
from rounds import Benchmark, Case, Ratio, parser, run

WORKERS, RATE = 8, 100_000
BORROWED = ("scheduler/body.c", "scheduler/direct.c", "scheduler/core_distance.c")


def ratios(peers: tuple[str, ...]) -> tuple[Ratio, ...]:
    """The figures; those with a target first."""
    return (
        Ratio("cpu_ratio_to_onetbb", "cpu_s", "tallymark", "onetbb", 0.5, False),
        Ratio("latency_p99_ns", "latency_p99_ns", "tallymark", None, 2_500_000, False),
        Ratio("switches_per_1000", "switches_per_1000", "tallymark", None, 280, False),
        Ratio("cpu_ns_per_task", "cpu_ns_per_task", "tallymark", None, None, False),
        Ratio("latency_p50_ns", "latency_p50_ns", "tallymark", None, None, False),
        *(Ratio(f"latency_p99_ns_{peer}", "latency_p99_ns", peer, None, None, False) for peer in peers),
        *(Ratio(f"switches_per_1000_{peer}", "switches_per_1000", peer, None, None, False) for peer in peers),
        *(
            Ratio(f"cpu_ratio_to_{peer}", "cpu_s", "tallymark", peer, None, False)
            for peer in peers
            if peer != "onetbb"
        ),
    )


def benchmark(tasks: int, rounds: int) -> Benchmark:
    """The benchmark with the peers that are at hand. Raises BenchmarkError without oneTBB."""
    onetbb, folder = onetbb_version(), taskflow_folder()
    peers = ("onetbb",) if folder is None else ("onetbb", "taskflow")
    names = ("tallymark", *peers)
    return Benchmark(
        name="open_loop",
        description=__doc__ or "",
        program=Program(
            "open_loop",
            libraries=("tbb",),
            flags=(f"-I{HERE / 'scheduler'}", *(() if folder is None else (f"-isystem{folder}",))),
            left_out=("taskflow.cpp",) if folder is None else (),
            borrowed=BORROWED,
        ),
        cases=tuple(
            Case(name, (name, str(tasks), str(WORKERS), str(RATE)), tasks, same_work="all") for name in names
        ),
        ratios=ratios(peers),
        workload={
            "tasks": tasks,
            "agents": 1000,
            "workers": WORKERS,
            "probes": 64,
            "context_bytes": 8 << 20,
            "output_bytes": 64,
            "submission": "paced",
            "rate_per_s": RATE,
            "history_limit_tasks": 64,
            "shortest_sleep_ns": 80_000,
        },
        definitions={
            "tallymark": "the scheduler with six timestamps, four histograms and a history",
            "onetbb": "task_arena::enqueue of each task, one timestamp and one histogram, after a warm-up",
            "taskflow": "Executor::silent_async of each task, otherwise as onetbb",
            "latency": "from the time at which a task was due to the start of its body",
            "pacing": "one thread for all executors alike: submits what is due, then sleeps until the next "
            "task is due, 80 us at least",
            "core_round_trip_ns": "a cache line to the other core and back, before and after the round",
        },
        rounds=rounds,
        seconds_at_most=130,
        versions={"onetbb": onetbb, "taskflow": taskflow_version(folder)},
        around=core_distance("1", "1", "1"),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure, write, and say the figures."""
    made = parser("open_loop", __doc__ or "", 15)
    made.add_argument("--tasks", type=int, default=200_000, help="tasks a run (default: 200,000)")
    options = made.parse_args(arguments)
    try:
        return run(benchmark(options.tasks, options.rounds), options)
    except BenchmarkError as error:
        print(f"{Path(__file__).name}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
