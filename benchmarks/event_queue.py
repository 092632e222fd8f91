"""Which queue the simulator keeps its events in: a heap, a calendar or a ladder, with the same events.

python benchmarks/event_queue.py [--out FILE] [--rounds N] [--seed N]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from programs import RUNTIME, Program
from rounds import Benchmark, Case, Ratio, parser, run

MANY, FEW = 1_000_000, 10_000
POPS = 4_000_000
QUEUES = ("heap", "calendar", "ladder")
POPS_OF_TIES = 100_000
SIZES = (("1m", MANY, POPS, "spread"), ("10k", FEW, POPS, "spread"), ("ties", FEW, POPS_OF_TIES, "ties"))

BENCHMARK = Benchmark(
    name="event_queue",
    description=__doc__,
    program=Program(
        "event_queue",
        flags=(f"-I{RUNTIME / 'sim'}",),
        borrowed=("../runtime_c/src/sim/rt_sim_queue.c",),
    ),
    cases=tuple(
        Case(f"{queue}_{size}", (queue, str(pending), str(pops), kind), pops + pending, same_work=size)
        for size, pending, pops, kind in SIZES
        for queue in QUEUES
    ),
    ratios=(
        Ratio("ladder_over_heap_1m", "cpu_ns_per_task", "ladder_1m", "heap_1m", None, False),
        Ratio("ladder_over_calendar_1m", "cpu_ns_per_task", "ladder_1m", "calendar_1m", None, False),
        Ratio("ladder_over_heap_10k", "cpu_ns_per_task", "ladder_10k", "heap_10k", None, False),
        Ratio("ladder_over_calendar_10k", "cpu_ns_per_task", "ladder_10k", "calendar_10k", None, False),
        Ratio("ladder_over_heap_ties", "cpu_ns_per_task", "ladder_ties", "heap_ties", None, False),
        Ratio("ladder_over_calendar_ties", "cpu_ns_per_task", "ladder_ties", "calendar_ties", None, False),
        Ratio("ladder_1m_ns", "cpu_ns_per_task", "ladder_1m", None, None, False),
    ),
    workload={
        "pops": POPS,
        "pending_many": MANY,
        "pending_few": FEW,
        "pops_of_ties": POPS_OF_TIES,
        "mean_gap_ns": 1_000_000_000,
    },
    definitions={
        "heap": "a heap with four children, of time, sequence and task",
        "calendar": "sorted lists through the tasks' links, of the width at which one event is in each",
        "ladder": "the simulator's queue, which finds its widths itself",
        "ties": "all events are at the same times, as constant latencies after a burst make them",
        "task": "one pop and one push behind it, with a touch of its task of 80 bytes",
    },
    rounds=7,
    seconds_at_most=120,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure, write, and say the figures."""
    options = parser(BENCHMARK.name, BENCHMARK.description, BENCHMARK.rounds).parse_args(arguments)
    return run(BENCHMARK, options)


if __name__ == "__main__":
    sys.exit(main())
