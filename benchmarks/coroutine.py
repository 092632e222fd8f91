"""What a coroutine costs: the switch, the stack, and the memory of one that is suspended.

python benchmarks/coroutine.py [--out FILE] [--rounds N] [--seed N]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from programs import Program
from rounds import Benchmark, Case, Ratio, parser, run

SUSPENDED = 100_000


def case(name: str, tasks: int) -> Case:
    """A case whose name is the program's argument."""
    return Case(name, (name, str(tasks)), tasks)


BENCHMARK = Benchmark(
    name="coroutine",
    description=__doc__,
    program=Program("coroutine"),
    cases=(
        case("switch", 50_000_000),
        case("ucontext", 400_000),
        case("pooled-stack", 10_000_000),
        case("mapped-stack", 20_000),
        case("suspended", SUSPENDED),
    ),
    ratios=(
        Ratio("switch_ns", "cpu_ns_per_task", "switch", None, 10.0, False),
        Ratio("pooled_stack_ns", "cpu_ns_per_task", "pooled-stack", None, 50.0, False),
        Ratio("switch_ratio_to_ucontext", "cpu_ns_per_task", "switch", "ucontext", None, False),
        Ratio("stack_ratio_to_mapped", "cpu_ns_per_task", "pooled-stack", "mapped-stack", None, False),
        Ratio("bytes_per_suspended", "queued_bytes", "suspended", None, None, False),
    ),
    workload={"stack_bytes": 65536, "guard_bytes": 16384, "suspended": SUSPENDED},
    definitions={
        "switch": "one switch in one direction between two coroutines of one thread",
        "ucontext": "the same with swapcontext of the C library",
        "pooled-stack": "a stack from the thread's cache, a coroutine on it that ends at once, and back",
        "mapped-stack": "the same with a mapping and a guard page made and unmapped for each",
        "suspended": "coroutines that are suspended at the same time; bytes are the growth of RssAnon",
    },
    rounds=15,
    seconds_at_most=45,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure, write, and say the figures."""
    options = parser(BENCHMARK.name, BENCHMARK.description, BENCHMARK.rounds).parse_args(arguments)
    return run(BENCHMARK, options)


if __name__ == "__main__":
    sys.exit(main())
