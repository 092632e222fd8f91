"""What a context of 1 GiB costs in chunks that snapshots share, beside plain buffers.

python benchmarks/context.py [--out FILE] [--rounds N] [--seed N]

Memory is the peak of the whole process (VmHWM) over the bytes of the canonical content, measured with a
snapshot alive while 1 % of the chunks is rewritten. A probe is one random byte of a context of 8 MiB.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from programs import Program
from rounds import Benchmark, Case, Ratio, parser, run

CONTEXT_BYTES = 1 << 30
PEER_BYTES = 1 << 27
"""The multiple of a peer does not depend on the size, its time does: an eighth is enough."""
CYCLES = 21
PROBES = 1 << 22


def content(name: str, size: int) -> Case:
    """A case over a large context; all of one size end with the same canonical content."""
    return Case(name, (name, str(size)), size, same_work=f"content of {size}")


def cycles(name: str) -> Case:
    """A case over snapshots or rollbacks of the large context, with the same cycles."""
    return Case(name, (name, str(CYCLES)), CYCLES, same_work="cycles")


def probes(name: str) -> Case:
    """A case over random bytes of a small context; all of them read the same bytes."""
    return Case(name, (name, str(PROBES)), PROBES, processes=3, same_work="probes")


BENCHMARK = Benchmark(
    name="context",
    description=__doc__,
    program=Program("context"),
    cases=(
        content("chunks", CONTEXT_BYTES),
        cycles("snapshot"),
        cycles("rollback"),
        content("copies", PEER_BYTES),
        content("one-buffer", PEER_BYTES),
        probes("probe-buffer"),
        probes("probe-store"),
        probes("probe-rewritten"),
    ),
    ratios=(
        Ratio("peak_over_canonical", "memory_per_task", "chunks", None, 1.05, False),
        Ratio("peak_over_canonical_copies", "memory_per_task", "copies", None, None, False),
        Ratio("peak_over_canonical_one_buffer", "memory_per_task", "one-buffer", None, None, False),
        Ratio("snapshot_ns", "elapsed_ns_per_task", "snapshot", None, None, False),
        Ratio("rollback_ns", "elapsed_ns_per_task", "rollback", None, None, False),
        Ratio("probe_ratio_to_buffer", "cpu_ns_per_task", "probe-store", "probe-buffer", None, False),
        Ratio(
            "probe_rewritten_ratio_to_buffer",
            "cpu_ns_per_task",
            "probe-rewritten",
            "probe-buffer",
            None,
            False,
        ),
    ),
    workload={
        "context_bytes": CONTEXT_BYTES,
        "peer_context_bytes": PEER_BYTES,
        "chunk_bytes": 65536,
        "rewrite_permille": 10,
        "cycles": CYCLES,
        "probed_bytes": 8 << 20,
        "probes_a_task": 64,
    },
    definitions={
        "chunks": "loaded as a stream, a snapshot, 1 % of the chunks rewritten while it lives, rollback, "
        "serialised as a stream",
        "snapshot": "taking a snapshot of 1 GiB, mean of the cycles; then 1 % of the chunks is rewritten",
        "rollback": "rolling back to it, mean of the cycles",
        "copies": "input, canonical form and serialised form, each a buffer of its own; of 128 MiB",
        "one-buffer": "streamed into one buffer of 128 MiB and out of it: the least that holds the content",
        "probe-buffer": "64 probes a task of a plain buffer of 8 MiB",
        "probe-store": "the same of the store while nothing was rewritten",
        "probe-rewritten": "the same of the store with a snapshot alive and a chunk rewritten",
        "memory": "VmHWM of the whole process; program and C library are inside (about 2 MiB)",
    },
    rounds=15,
    seconds_at_most=90,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure, write, and say the figures."""
    options = parser(BENCHMARK.name, BENCHMARK.description, BENCHMARK.rounds).parse_args(arguments)
    return run(BENCHMARK, options)


if __name__ == "__main__":
    sys.exit(main())
