"""Every number of a record is held by something: change one and a rule says so, or it is listed as free.

Each example of ``support.whole`` is copied once for each change; the copies are the runs of one document, so
that one look at it tells which changes are seen. A number counts as held when a larger or a smaller value is.
"""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support import whole

from tallymark import schemas
from tallymark.check.rule import RUNTIME, Subject
from tallymark.check.table import rules_for
from tallymark.evidence import canonical, documents

Path = tuple[str | int, ...]
KINDS: tuple[Callable[[], dict[str, Any]], ...] = (
    whole.closed,
    whole.held,
    whole.batches,
    whole.paced,
    whole.overloaded,
    whole.phased,
    whole.faulty,
    whole.yielding,
    whole.rolled_back,
    whole.compared,
    whole.context,
    whole.lookup,
)

# Readings of one moment or of one clock, of which the record holds no second one.
READINGS = {
    "batch_memory.rows.[].5",
    "bytes_per_queued_task",
    "cpu_system_ms",
    "cpu_user_ms",
    "involuntary_switches",
    "load_average_before",
    "memory.allocated_total_bytes",
    "memory.allocations",
    "memory.live_objects",
    "memory.pss_at_end_bytes",
    "memory.rss_file_at_end_bytes",
    "memory.virtual_at_end_bytes",
    "timeline.cost_cpu_ms",
    "timeline.interval_ms",
    "voluntary_switches",
    "context.overview_ms",
    "context.rss_anon_before_bytes",
    "context.rss_anon_with_snapshot_bytes",
    "lookup.add_again_ns_per_role",
    "lookup.bytes_per_role",
    "lookup.clock_read_ns",
    "lookup.index_bytes",
    "lookup.remove_ns_per_role",
}
# Counted once and nowhere else.
COUNTS = {
    "clamped_intervals",  # a warning says that there are some
    "contention.wakeups",
    "retained_bytes",
}
# Held within wide bounds only: the doubled and the halved value are both possible in the examples.
BOUNDED = {
    "contention.auxiliary_cpu_ms",
    "contention.lock_acquisitions.control",
    "contention.lock_acquisitions.submit",
    "contention.lock_acquisitions.turn",
    "contention.sampler_cpu_ms",
    "contention.submitter_cpu_ms",
    "contention.worker_cpu_ms",
    "context.load_ms",
    "context.restore_ms",
    "context.rewrite_ms",
    "context.rollback_ms",
    "context.serialise_ms",
    "context.snapshot_ms",
    "context.spill_ms",
    "faults.outage.queue_before",
    "faults.outage.queue_peak",
    "faults.outage.recovery_ms",
    "histograms.lock_hold_control.sample_every",  # an empty histogram
    "histograms.lock_wait_control.sample_every",
    "lookup.collisions",
    "lookup.longest_probe",
    *(f"memory.owners.{owner}" for owner in whole.closed()["runs"][0]["memory"]["owners"]),
    "periods.rows.[].10",
    "periods.rows.[].9",
    "phases.burst.queue_at_start",
    "phases.drain.queue_peak",
    "phases.pause.queue_peak",
    "phases.steady.queue_at_start",
}
# The examples have no histogram of these; ``tests/rules/lookup-answers`` has.
OF_A_HISTOGRAM = {
    "lookup.after_removal_hit_ns_p50",
    "lookup.after_removal_miss_ns_p50",
    "lookup.hit_ns_p99",
    "lookup.lookups_per_reading",
    "lookup.miss_ns_p99",
}
FREE = READINGS | COUNTS | BOUNDED | OF_A_HISTOGRAM


def numbers(value: Any, path: Path = ()) -> Iterator[tuple[Path, int | float]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from numbers(member, (*path, key))
    elif isinstance(value, list):
        for position, member in enumerate(value):
            yield from numbers(member, (*path, position))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def name_of(path: Path) -> str:
    """``periods.rows.[].9``: columns of a series keep their number, other places do not."""
    parts = [
        str(part) if isinstance(part, str) or path[at - 2] == "rows" else "[]" for at, part in enumerate(path)
    ]
    return re.sub(r"tenants\.t\d+", "tenants.*", ".".join(parts))


def changes(run: dict[str, Any], known: set[str]) -> Iterator[tuple[str, Path, int | float]]:
    """(name, path, new value): of each number not yet known the first two, one larger and one smaller."""
    seen: dict[str, int] = defaultdict(int)
    for path, value in numbers(run):
        if path[0] in ("index", "repetition"):
            continue
        name = name_of(path)
        seen[name] += 1
        if seen[name] <= 2 and name not in known:
            yield name, path, value * 2 + 1
            if value:
                yield name, path, value // 2 if isinstance(value, int) else value / 2


def changed(run: dict[str, Any], number: int, path: Path, value: float) -> dict[str, Any]:
    copied = copy.deepcopy(run)
    holder: Any = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return copied | {"index": number, "repetition": number + 1, "run_id": f"{number:016x}"}


def seen(document: dict[str, Any], known: set[str]) -> tuple[set[str], set[str]]:
    """(names of the numbers not yet known, names of those of which a change is seen)."""
    run = document["runs"][0]
    planned = list(changes(run, known))
    document["runs"] = [changed(run, number, path, new) for number, (_, path, new) in enumerate(planned)]
    entry = document["execution"]["plan"][0]
    document["execution"]["plan"] = [
        {**entry, "index": number, "repetition": number + 1} for number in range(len(planned))
    ]
    document["execution"]["repetitions"] = len(planned)
    found = {pointer for pointer, _, _ in schemas.errors(document["schema"], document)}
    # rules see only what has the right shape
    broken = {int(match.group(1)) for pointer in found if (match := re.match(r"\$\.runs\[(\d+)\]", pointer))}
    rest = [one for number, one in enumerate(document["runs"]) if number not in broken]
    subject = Subject(documents.from_bytes(canonical.encode({**document, "runs": rest}), "x.json"))
    held = set(broken)
    for rule in rules_for(RUNTIME):
        for problem in rule.check(subject) if rule.severity == "error" else ():
            if match := re.match(r"\$\.runs\[(\d+)\]", problem.pointer):
                held.add(rest[int(match.group(1))]["index"])
    names = {name for name, _, _ in planned}
    return names, {name for number, (name, _, _) in enumerate(planned) if number in held}


def test_a_changed_number_is_seen_or_listed_as_free() -> None:
    every: set[str] = set()
    held: set[str] = set()
    for kind in KINDS:
        names, found = seen(kind(), held)
        every |= names
        held |= found
    assert every - held == FREE
    assert len(held) > 300


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_the_examples_themselves_have_no_finding(kind: Callable[[], dict[str, Any]]) -> None:
    subject = Subject(documents.from_bytes(canonical.encode(kind()), "x.json"))
    assert [problem for rule in rules_for(RUNTIME) for problem in rule.check(subject)] == []
