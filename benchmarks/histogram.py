"""What a record into a histogram costs, alone and while another thread reads percentiles.

python benchmarks/histogram.py [--out FILE] [--rounds N] [--seed N]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from programs import Program
from rounds import Benchmark, Case, Ratio, parser, run

RECORDS = 50_000_000
NAMES = ("loop", "histogram", "recorder", "atomic")

BENCHMARK = Benchmark(
    name="histogram",
    description=__doc__,
    program=Program("histogram"),
    cases=tuple(Case(name, (name, str(RECORDS)), RECORDS, processes=3) for name in NAMES),
    ratios=(
        Ratio("record_ns", "cpu_ns_per_task", "recorder", None, 2.5, False),
        Ratio("plain_record_ns", "cpu_ns_per_task", "histogram", None, None, False),
        Ratio("loop_ns", "cpu_ns_per_task", "loop", None, None, False),
        Ratio("record_ratio_to_atomic", "cpu_ns_per_task", "recorder", "atomic", None, False),
    ),
    workload={"records": RECORDS, "values": 1 << 20, "layout": "log-linear/7", "takes_per_s": 1000},
    definitions={
        "loop": "the values are read and added up: what every case pays",
        "histogram": "one record with count, sum, minimum and maximum, which nobody may read meanwhile",
        "recorder": "the same while another thread swaps the buffers, merges and reads the 99th percentile a "
        "thousand times a second; CPU time of both threads",
        "atomic": "one atomic addition to the counter of the value, and nothing else",
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
