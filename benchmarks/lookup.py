"""What the role index costs beside std::unordered_map and a sorted array: to build, to ask, to change.

python benchmarks/lookup.py [--out FILE] [--rounds N] [--seed N]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from programs import Program
from rounds import Benchmark, Case, Ratio, parser, run

OURS, MAP, ARRAY = "tallymark", "unordered_map", "sorted_array"
MANY, FEW, LOOKUPS = 1_000_000, 1_000, 500_000


def case(what: str, index: str, roles: int, tasks: int) -> Case:
    """One index and one thing to do; all indexes must find the same."""
    size = {MANY: "1m", FEW: "1k"}[roles]
    arguments = (index, what, str(roles), str(tasks))
    return Case(f"{what}-{size}:{index}", arguments, tasks, same_work=f"{what}-{size}")


def ratios(name: str, case_of: str, peers: tuple[str, ...]) -> tuple[Ratio, ...]:
    """The CPU time of ours over that of each peer."""
    return tuple(
        Ratio(
            f"{name}_ratio_to_{peer}",
            "cpu_ns_per_task",
            f"{case_of}:{OURS}",
            f"{case_of}:{peer}",
            None,
            False,
        )
        for peer in peers
    )


BENCHMARK = Benchmark(
    name="lookup",
    description=__doc__,
    program=Program("lookup"),
    cases=(
        *(case("build", index, MANY, MANY) for index in (OURS, MAP, ARRAY)),
        *(case("hit", index, MANY, LOOKUPS) for index in (OURS, MAP, ARRAY)),
        *(case("miss", index, MANY, LOOKUPS) for index in (OURS, MAP, ARRAY)),
        *(case("change", index, MANY, MANY) for index in (OURS, MAP)),
        *(case("hit", index, FEW, LOOKUPS) for index in (OURS, MAP, ARRAY)),
        *(case("miss", index, FEW, LOOKUPS) for index in (OURS, MAP, ARRAY)),
    ),
    ratios=(
        *ratios("build", "build-1m", (MAP, ARRAY)),
        *ratios("hit", "hit-1m", (MAP, ARRAY)),
        *ratios("miss", "miss-1m", (MAP, ARRAY)),
        *ratios("change", "change-1m", (MAP,)),
        *ratios("hit_of_few", "hit-1k", (MAP, ARRAY)),
        *ratios("miss_of_few", "miss-1k", (MAP, ARRAY)),
        Ratio("bytes_per_role", "queued_bytes", f"build-1m:{OURS}", None, None, False),
        Ratio(
            "bytes_ratio_to_unordered_map", "queued_bytes", f"build-1m:{OURS}", f"build-1m:{MAP}", None, False
        ),
        Ratio(
            "bytes_ratio_to_sorted_array",
            "queued_bytes",
            f"build-1m:{OURS}",
            f"build-1m:{ARRAY}",
            None,
            False,
        ),
    ),
    workload={"roles_many": MANY, "roles_few": FEW, "lookups": LOOKUPS, "name": "role-N"},
    definitions={
        "build": "adding all roles to an empty index that knows how many there will be, in the order of "
        "their numbers, sorting included; one task is one role; bytes are the growth of RssAnon",
        "hit": "lookups of names that are there, at random, one after the other; one task is one lookup",
        "miss": "lookups of names that are not there",
        "change": "half of the roles removed at random and added again; one task is one of either; not of "
        "the sorted array, which would move half of itself for each",
        OURS: "the role index of the runtime: open addressing with 8 bytes a place, roles in an arena",
        MAP: "std::unordered_map of the C++ library from std::string, found by a view, buckets reserved",
        ARRAY: "std::vector of pairs, sorted once, std::lower_bound",
    },
    rounds=5,
    seconds_at_most=60,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, measure, write, and say the figures."""
    options = parser(BENCHMARK.name, BENCHMARK.description, BENCHMARK.rounds).parse_args(arguments)
    return run(BENCHMARK, options)


if __name__ == "__main__":
    sys.exit(main())
