"""How fast the simulator of agent systems is, what a task in flight costs, and how far it is from simpy.

python benchmarks/agent_sim.py [--out FILE] [--rounds N] [--seed N]

Needs the package with its compiled module, and simpy (the extra ``test``).
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Sequence

from programs import BenchmarkError, Script
from rounds import Benchmark, Case, Ratio, parser, run

MANY, FEW, DAY, DESK = 1_000_000, 10_000, 864_000, 10_000
MANY_S, FEW_S = 20, 600
PER_MINUTE = 600
SIMPY = "desk:simpy"


def case(name: str, *arguments: str | int, tasks: int | None = None, work: str | None = None) -> Case:
    return Case(name, tuple(map(str, arguments)), tasks, same_work=work)


def simpy_version() -> str:
    """Raises BenchmarkError where simpy is missing."""
    try:
        return importlib.metadata.version("simpy")
    except importlib.metadata.PackageNotFoundError as error:
        raise BenchmarkError("simpy is missing. Run make test, or pip install simpy.") from error


def benchmark() -> Benchmark:
    """Raises BenchmarkError where simpy is missing."""
    return Benchmark(
        name="agent_sim",
        description=__doc__ or "",
        program=Script("agent_sim_case.py"),
        cases=(
            case("events-1m", "events", MANY, MANY_S),
            case("events-10k", "events", FEW, FEW_S),
            case("memory-1m", "memory", MANY, MANY_S, tasks=MANY),
            case("day", "day", DAY, PER_MINUTE, tasks=DAY),
            case("desk:tallymark", "desk", DESK, tasks=DESK, work="desk"),
            case(SIMPY, "simpy", DESK, tasks=DESK),
            case("desk:simpy-shared", "simpy-shared", DESK, tasks=DESK, work="desk"),
        ),
        ratios=(
            Ratio("events_per_s_1m", "events_per_cpu_s", "events-1m", None, 2e6, True),
            Ratio("events_per_s_10k", "events_per_cpu_s", "events-10k", None, 4e6, True),
            Ratio("ratio_to_simpy", "tasks_per_cpu_s", "desk:tallymark", SIMPY, 20.0, True),
            Ratio(
                "ratio_to_simpy_shared", "tasks_per_cpu_s", "desk:tallymark", "desk:simpy-shared", None, True
            ),
            Ratio("bytes_per_task", "growth_per_task_in_flight", "memory-1m", None, 128.0, False),
            Ratio("day_s", "elapsed_s", "day", None, 60.0, False),
        ),
        workload={
            "scenario": "examples/support-desk.toml",
            "in_flight_many": MANY,
            "in_flight_few": FEW,
            "virtual_s_many": MANY_S,
            "virtual_s_few": FEW_S,
            "day_tasks": DAY,
            "day_tasks_per_min": PER_MINUTE,
            "desk_tasks": DESK,
        },
        definitions={
            "events": "a closed loop with one task for each worker; workers, quotas and caches grow in the "
            "proportion of the file; one task is one event: a step of the simulation that changes the "
            "state of a task; CPU time of the thread in the run, without its setting up and its record",
            "memory": "the same loop; growth of RssAnon in the run over the tasks in flight",
            "day": "an open loop; quotas grow with the rate; elapsed time of the run, record included",
            "desk": "the scenario of the file with more tasks; CPU time of the run, record included",
            "simpy": "the model of benchmarks/simpy_model.py with random numbers of Python; it keeps no "
            "histograms, timeline or slowest tasks, which the simulator does",
            "simpy-shared": "the same with the numbers that the simulator draws: it must come to the same",
        },
        rounds=3,
        seconds_at_most=80,
        versions={"simpy": simpy_version()},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write, and say the figures."""
    options = parser("agent_sim", __doc__ or "", 3).parse_args(arguments)
    try:
        return run(benchmark(), options)
    except BenchmarkError as error:
        print(f"benchmarks/agent_sim.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
