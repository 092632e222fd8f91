"""The runtime's scheduler beside oneTBB, Taskflow and the plain loop over the same task body.

    python benchmarks/scheduler.py [--out FILE] [--rounds N] [--tasks N] [--seed N]

All executors must arrive at the same checksum over all tasks. Taskflow is compared where its headers are at
hand: in $TASKFLOW_INCLUDE or in /usr/include. See rounds.py for how it is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from peers import core_distance, onetbb_version, taskflow_folder, taskflow_version
from programs import BenchmarkError, Program
from rounds import Benchmark, Case, Ratio, parser, run

WORKERS, WINDOW = 8, 1024
OURS, LOOP, LOOPS = "tallymark:probes", "plain-one:probes", "plain-all:probes"


def case(
    executor: str, body: str, tasks: int, processes: int = 1, workers: int = WORKERS, name: str = ""
) -> Case:
    """One executor with one body; everything but the null body must arrive at the same checksum."""
    arguments = (executor, body, str(tasks), str(workers), str(WINDOW))
    work = None if body == "null" else f"{tasks} tasks"
    return Case(name or f"{executor}:{body}", arguments, tasks, processes, work)


def cases(tasks: int, peers: tuple[str, ...]) -> tuple[Case, ...]:
    """What runs in a round; the figure of a round is the median of its processes."""
    ours_and_peers = ("tallymark", *peers)
    return (
        case("plain-one", "probes", tasks, 3),
        case("plain-all", "probes", tasks, 3),
        *(case(name, "probes", tasks, 3) for name in ours_and_peers),
        *(case(name, "probes", tasks, 2, 2, f"{name}:probes-2-workers") for name in ours_and_peers),
        case("plain-one", "snprintf", tasks),
        case("tallymark-direct", "snprintf", tasks),
        *(case(name, "snprintf", tasks) for name in peers),
        case("tallymark-direct", "priorities", tasks),
        case("tallymark-direct", "yield", tasks),
        *(case(name, "null", tasks) for name in ours_and_peers),
        *(case(f"{name}-backlog", "probes", tasks) for name in ours_and_peers),
        case("tallymark-direct", "probes", tasks),
        case("tallymark-direct", "probes", 10 * tasks, name="tallymark-direct:probes-10-fold"),
    )


def ratios(peers: tuple[str, ...]) -> tuple[Ratio, ...]:
    """The figures; those with a target first."""
    best = tuple(f"{name}:probes" for name in peers)
    best_of_two = tuple(f"{name}:probes-2-workers" for name in peers)
    snprintf = tuple(f"{name}:snprintf" for name in peers)
    two, yielding = "tallymark:probes-2-workers", "tallymark-direct:yield"
    direct, ten_fold = "tallymark-direct:probes", "tallymark-direct:probes-10-fold"
    return (
        Ratio("throughput_ratio_to_best_peer", "tasks_per_s", OURS, best, 1.35, True),
        Ratio("cpu_ratio_to_best_peer", "cpu_s", OURS, best, 0.7, False),
        Ratio("cpu_ratio_to_limit", "cpu_s", OURS, LOOP, 1.4, False),
        Ratio("throughput_ratio_to_limit", "tasks_per_s", OURS, LOOPS, 0.55, True),
        Ratio("throughput_ratio_2_workers", "tasks_per_s", two, best_of_two, 1.25, True),
        Ratio("bytes_per_queued_task", "queued_bytes", "tallymark-backlog:probes", None, 128.0, False),
        Ratio("cpu_ratio_to_limit_all_cores", "cpu_s", OURS, LOOPS, None, False),
        *(
            Ratio(f"throughput_ratio_to_{name}", "tasks_per_s", OURS, f"{name}:probes", 1.35, True)
            for name in peers
        ),
        *(Ratio(f"cpu_ratio_to_{name}", "cpu_s", OURS, f"{name}:probes", 0.7, False) for name in peers),
        Ratio("snprintf_throughput_ratio", "tasks_per_s", "tallymark-direct:snprintf", snprintf, None, True),
        Ratio(
            "snprintf_cpu_ratio_to_limit",
            "cpu_s",
            "tallymark-direct:snprintf",
            "plain-one:snprintf",
            None,
            False,
        ),
        Ratio("priorities_cpu_ratio", "cpu_s", "tallymark-direct:priorities", direct, None, False),
        Ratio("yield_cpu_ratio", "cpu_s", yielding, direct, None, False),
        Ratio("cpu_ratio_of_10_fold", "cpu_ns_per_task", ten_fold, direct, None, False),
        Ratio("memory_ratio_of_10_fold", "memory_bytes", ten_fold, direct, None, False),
    )


DEFINITIONS = {
    "plain-one": "the task body in a loop on one thread, two clock reads and one histogram a task",
    "plain-all": "the same on one thread a core",
    "tallymark": "the whole run: six timestamps, four histograms, history, admission, verification",
    "tallymark-direct": "the scheduler with the same timeline and history, without the run around it",
    "onetbb": "task_arena::enqueue of each task, one timestamp and one histogram, after a warm-up",
    "taskflow": "Executor::silent_async of each task, otherwise as onetbb",
    "null": "an empty task body",
    "snprintf": "the prompt is also written by snprintf",
    "priorities": "task i has priority i mod 4; otherwise probes",
    "yield": "each task yields once before its body, on a pooled stack",
    "10-fold": "ten times the tasks",
    "backlog": "all tasks queued before one may run; bytes are the growth of RssAnon, the larger of "
    "all queued and all done",
    "core_round_trip_ns": "a cache line to the other core and back, before and after the round",
}


def benchmark(tasks: int, rounds: int) -> Benchmark:
    """The benchmark with the peers that are at hand. Raises BenchmarkError without oneTBB."""
    onetbb, folder = onetbb_version(), taskflow_folder()
    peers = ("onetbb",) if folder is None else ("onetbb", "taskflow")
    return Benchmark(
        name="scheduler",
        description=__doc__ or "",
        program=Program(
            "scheduler",
            libraries=("tbb",),
            flags=() if folder is None else (f"-isystem{folder}",),
            left_out=("taskflow.cpp",) if folder is None else (),
        ),
        cases=cases(tasks, peers),
        ratios=ratios(peers),
        workload={
            "tasks": tasks,
            "agents": 1000,
            "workers": WORKERS,
            "probes": 64,
            "context_bytes": 8 << 20,
            "output_bytes": 64,
            "window": WINDOW,
            "submission": "closed",
            "history_limit_tasks": 64,
            "stack_bytes": 65536,
        },
        definitions=DEFINITIONS,
        rounds=rounds,
        seconds_at_most=300,
        versions={"onetbb": onetbb, "taskflow": taskflow_version(folder)},
        around=core_distance("null", "1", "1", "1"),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure, write, and say the figures."""
    made = parser("scheduler", __doc__ or "", 7)
    made.add_argument("--tasks", type=int, default=1_000_000, help="tasks a run (default: 1,000,000)")
    options = made.parse_args(arguments)
    try:
        return run(benchmark(options.tasks, options.rounds), options)
    except BenchmarkError as error:
        print(f"{Path(__file__).name}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
