"""Valid documents of runtime-execution/1.1, one for each kind of run; every number follows from another.

They start from the record of ``support.record``; what a kind of run adds is added here, so that a test may
change one value and know what it broke.
"""

from __future__ import annotations

from typing import Any

from support import measured
from support.evidence import runtime_execution, small_execution
from support.measured import QUANTILES as _QUANTILES
from tallymark import schemas
from tallymark.histogram import Histogram

SCHEMA = "runtime-execution/1.1"
MIB = 1 << 20
CHUNK = 65536
_EMPTY = Histogram.recorded([]).to_record()
_LATENCIES = {
    "scheduler_latency": "queue",
    "execution": "execution",
    "finalisation": "finalisation",
    "end_to_end": "end_to_end",
}
Document = dict[str, Any]


def closed(tasks: int = 12, **configuration: Any) -> Document:
    """One run of a closed loop (or of what ``configuration`` makes of it) with all that 1.1 measures."""
    document = small_execution(tasks=tasks, version="1.1")
    run = document["runs"][0]
    configure(document, **configuration)
    for stage, values in _times(tasks).items():
        run["histograms"][stage] = Histogram.recorded(values).to_record()
    read_off(run)
    run |= {"elapsed_ms": 10.0, "tasks_per_second": tasks / 10.0 * 1000}
    measured.complete(run)
    run |= {"submit_ms": 8.0, "drain_ms": 2.0, "admitted_per_second": tasks / 8.0 * 1000}
    run["contention"]["mean_batch"] = 8.0
    return document


def configure(document: Document, **configuration: Any) -> None:
    """Set configuration keys of the first run and of its plan entry."""
    for holder in (document["runs"][0], document["execution"]["plan"][0]["configuration"]):
        holder.update(configuration)


def _times(tasks: int) -> dict[str, list[int]]:
    """Nanoseconds of each task in each stage: all different, all known."""
    times = {
        "queue": [50_000 + 1_000 * number for number in range(tasks)],
        "execution": [2_000 + 10 * number for number in range(tasks)],
        "finalisation": [300 + number for number in range(tasks)],
    }
    return times | {"end_to_end": [sum(parts) for parts in zip(*times.values(), strict=True)]}


def read_off(run: dict[str, Any]) -> None:
    """The latency scalars of the first run, from its histograms."""
    for prefix, stage in _LATENCIES.items():
        histogram = Histogram.as_recorded(run["histograms"][stage])
        for name, a, b in _QUANTILES:
            run[f"{prefix}_{name}_ms"] = histogram.percentile_ns(a, b) / 1e6


def held(tasks: int = 12) -> Document:
    """A backlog: all tasks are queued, then released."""
    document = closed(tasks, submission="held", window=0)
    run = document["runs"][0]
    run |= {"queue_at_release": tasks, "bytes_per_queued_task": 96.5, "queue_peak": tasks}
    for key in ("queue_at_release", "bytes_per_queued_task"):
        del run["unavailable"][key]
    return document


def compared(tasks: int = 12) -> Document:
    """Side b of a comparison: two runs, between and around those of side a."""
    document = runtime_execution(tasks, (100,), 2, warmup_runs=0, version="1.1")
    for holder in (*document["runs"], *(entry["configuration"] for entry in document["execution"]["plan"])):
        holder["variant"] = "b"
    document["execution"]["ab"] = {
        "variant": "b",
        "plan_sha256": "0" * 64,
        "plan": "ab.toml",
        "partner": "0" * 16,
        "order": "baab",
        "library_sha256": document["manifest"]["library_sha256"],
        "partner_library_sha256": "1" * 64,
        "same_library": False,
    }
    return document


def batches(tasks: int = 12, count: int = 3) -> Document:
    """Equal batches, each drained before the next."""
    document = closed(tasks, batches=count)
    run = document["runs"][0]
    columns = schemas.schema(SCHEMA)["$defs"]["run"]["properties"]["batch_memory"]["properties"]["columns"]
    rows = [
        [number, tasks // count * number, 3.0 * number, 15 * MIB, 10 * MIB, 12 * MIB]
        for number in range(1, count + 1)
    ]
    run["batch_memory"] = {"columns": list(columns["const"]), "rows": rows}
    return document


def paced(tasks: int = 12, step_ns: int = 1_000, **configuration: Any) -> Document:
    """An open loop whose queue does not grow; a task is submitted ``step_ns`` later than the one before."""
    document = closed(tasks, **{"submission": "paced", "window": 0, "rate_per_s": 1500} | configuration)
    run = document["runs"][0]
    late = Histogram.recorded([step_ns * (number + 1) for number in range(tasks)])
    run["histograms"]["lateness"] = late.to_record()
    for name, a, b in _QUANTILES:
        run[f"lateness_{name}_ms"] = late.percentile_ns(a, b) / 1e6
        del run["unavailable"][f"lateness_{name}_ms"]
    run["phases"] = {"drain": _phase(run, range(0), 0, elapsed=2.0, submitted=0)}
    run["stability_window"] = {
        "window_ms": 8.0,
        "queue_first": 1.0,
        "queue_last": 1.5,
        "growth_per_second": 93.75,
        "growing": False,
    }
    run["littles_law"] = {
        "window_ms": 8.0,
        "arrival_rate_per_s": 1500.0,
        "mean_in_system": 0.1,
        "mean_time_ms": 0.0625,
        "product": 0.09375,
        "error_percent": -6.25,
    }
    return document


def overloaded(tasks: int = 12) -> Document:
    """An open loop whose queue grows to the end."""
    document = paced(tasks)
    run = document["runs"][0]
    run |= {"outcome": "overloaded", "cause": "the queue grew over the window", "littles_law": None}
    run["unavailable"]["littles_law"] = "the queue grew over the window"
    run["stability_window"] |= {"queue_last": 9.0, "growth_per_second": 1500.0, "growing": True}
    return document


def behind(tasks: int = 12) -> Document:
    """An open loop whose submitter is later and later: the sixth of twelve tasks by 12 ms."""
    document = paced(tasks, step_ns=2_000_000)
    document["runs"][0] |= {"outcome": "overloaded", "cause": "the submitter fell behind its schedule"}
    return document


def _phase(
    run: dict[str, Any], tasks: range, queued: int, *, elapsed: float, submitted: int
) -> dict[str, Any]:
    times = _times(run["tasks"])["queue"]
    return {
        "elapsed_ms": elapsed,
        "tasks_submitted": submitted,
        "tasks_completed": len(tasks),
        "tasks_failed": 0,
        "queue_at_start": 0,
        "queue_at_end": queued,
        "queue_peak": queued,
        "queue": Histogram.recorded([times[number] for number in tasks]).to_record(),
    }


def phased(tasks: int = 40) -> Document:
    """Steady, pause, burst and drain, with periods."""
    document = paced(tasks, steady_ms=4, pause_ms=1, burst_ms=3, burst_factor=2)
    run = document["runs"][0]
    half = tasks // 2
    run["phases"] = {
        "steady": _phase(run, range(half), 2, elapsed=4.0, submitted=half),
        "pause": _phase(run, range(half, half + 2), 0, elapsed=1.0, submitted=0),
        "burst": _phase(run, range(half + 2, tasks - 3), 3, elapsed=3.0, submitted=tasks - half),
        "drain": _phase(run, range(tasks - 3, tasks), 0, elapsed=2.0, submitted=0),
    }
    columns = schemas.schema(SCHEMA)["$defs"]["run"]["properties"]["periods"]["properties"]["columns"][
        "const"
    ]
    rows = [
        [0.5 * (number + 1), 2, 2, 0, 0, 0, 0.05, 0.06, 0.07, 1, 2, 15 * MIB, 18, 100 * number]
        for number in range(20)
    ]
    run["periods"] = {"columns": list(columns), "rows": rows}
    return document


def faulty(tasks: int = 12) -> Document:
    """Two tasks that were meant to fail, and two tenants of a provider that is away for a while."""
    document = closed(
        tasks,
        fail_permille=200,
        wait_mode="blocking",
        wait_us=2,
        outage_start_ms=1,
        outage_ms=2,
        retry_policy="immediate",
        retry_attempts=2,
        tenants=2,
    )
    run = document["runs"][0]
    run |= {"tasks_completed": tasks - 2, "tasks_failed": 2, "tasks_per_second": (tasks - 2) / 10.0 * 1000}
    whole = _times(tasks)["end_to_end"]
    own = (whole[0::2], whole[1::2])
    run["histograms"]["provider_wait"] = Histogram.recorded([2_000] * (tasks + 3)).to_record()
    run["faults"] = {
        "failed_chosen": 2,
        "slow_chosen": 0,
        "cancels_asked": 0,
        "provider_calls": tasks + 3,
        "provider_errors": 3,
        "retries": 3,
        "amplification": (tasks + 3) / tasks,
        "outage": {"queue_before": 2, "queue_peak": 5, "recovered": True, "recovery_ms": 1.5},
        "tenants": {
            f"t{number}": {
                "completed": len(times) - 1,
                "failed": 1,
                "timed_out": 0,
                "provider_calls": len(times) + 3 * (number == 0),
                "end_to_end": Histogram.recorded(times).to_record(),
            }
            for number, times in enumerate(own)
        },
    }
    return document


def yielding(tasks: int = 12) -> Document:
    """Tasks on pooled stacks that yield twice and suspend while they wait."""
    document = closed(
        tasks,
        task_stack="pooled",
        stack_bytes=65536,
        max_suspended=4,
        yields=2,
        wait_mode="yielding",
        wait_us=2,
    )
    run = document["runs"][0]
    run |= {"suspensions": tasks, "suspended_peak": 4, "slots": run["workers"] + 4}
    run["capacity_per_second"] = run["slots"] / run["slot_occupancy_mean_ms"] * 1000
    tenant = {
        "completed": tasks,
        "failed": 0,
        "timed_out": 0,
        "provider_calls": tasks,
        "end_to_end": run["histograms"]["end_to_end"],
    }
    run["faults"] = {
        **dict.fromkeys(("failed_chosen", "slow_chosen", "cancels_asked"), 0),
        "provider_calls": tasks,
        "provider_errors": 0,
        "retries": 0,
        "amplification": 1.0,
        "outage": None,
        "tenants": {"t0": tenant},
    }
    return document


def rolled_back(tasks: int = 12) -> Document:
    """Three cycles of snapshot, rewrite and roll back while tasks run."""
    document = closed(tasks, snapshot="running", rollbacks=3, rewrite_permille=100)
    run = document["runs"][0]
    run["rollback"] = {
        "cycles": 3,
        "chunks_rewritten": 39,
        "bytes_copied": 39 * CHUNK,
        "checksum_before": "0123456789abcdef",
        "checksum_after": "0123456789abcdef",
        "cycles_while_tasks_ran": 3,
        "mismatches": 0,
    }
    for stage in ("snapshot", "rollback"):
        run["histograms"][stage] = Histogram.recorded([900, 1_000, 1_100]).to_record()
    return document


_OF_TASKS = (
    "phases",
    "stability_window",
    "littles_law",
    "contention",
    "yields_done",
    "suspensions",
    "suspended_peak",
    "submit_ms",
    "drain_ms",
    "admitted_per_second",
    "slots",
    "slot_occupancy_mean_ms",
    "capacity_per_second",
    "bytes_per_queued_task",
    "queue_at_release",
    "histograms",
    "timeline",
    "checks",
    "unavailable",
)


def _unqueued(workload: str, tasks: int, **configuration: Any) -> Document:
    """A run that put nothing through the scheduler."""
    document = closed(tasks, workload=workload, **configuration)
    run = document["runs"][0]
    for key in (
        *_OF_TASKS,
        *(key for key in run if key.endswith(("_p50_ms", "_p95_ms", "_p99_ms", "_max_ms"))),
    ):
        run.pop(key, None)
    return document


def context() -> Document:
    """One pass over a context of 8 MiB and a bit."""
    size = 8 * MIB + 1
    document = _unqueued("context", 1, context_bytes=size, rewrite_permille=10)
    run = document["runs"][0]
    checksum = "fedcba9876543210"
    steps = ("load", "overview", "snapshot", "rewrite", "rollback", "serialise", "spill", "restore")
    run["context"] = {
        "canonical_bytes": size,
        **{f"{step}_ms": 1.0 for step in steps},
        "overview_bytes": 3900,
        "chunks": 129,
        "chunks_rewritten": 2,
        "chunks_shared": 127,
        "peak_rss_bytes": 17 * MIB,
        "peak_over_canonical": 17 * MIB / size,
        "rss_anon_before_bytes": MIB,
        "rss_anon_with_snapshot_bytes": 9 * MIB,
        "checksum_rewritten": "ba9876543210fedc",
        **dict.fromkeys(
            ("checksum", "checksum_expected", "checksum_after_rollback", "checksum_restored"), checksum
        ),
        "serialised_sha256": "ab" * 32,
    }
    return document


def lookup() -> Document:
    """The role index of 100 roles, asked 12 times."""
    document = _unqueued("lookup", 12)
    run = document["runs"][0]
    run["lookup"] = {
        "roles": 100,
        "build_ms": 0.5,
        "build_ns_per_role": 5000.0,
        "index_bytes": 2048,
        "bytes_per_role": 20.48,
        "load_factor": 0.78125,
        "longest_probe": 4,
        "mean_probe": 1.25,
        "collisions": 20,
        "lookups_per_reading": 16,
        "clock_read_ns": 20,
        "hit_ns_p50": 20,
        "hit_ns_p99": 40,
        "miss_ns_p50": 10,
        "miss_ns_p99": 20,
        "removed": 50,
        "remove_ns_per_role": 30.0,
        "mean_probe_after_removal": 1.125,
        "longest_probe_after_removal": 3,
        "after_removal_hit_ns_p50": 21,
        "after_removal_miss_ns_p50": 11,
        "add_again_ns_per_role": 60.0,
        "found_after_removal": 6,
        "not_found_after_removal": 6,
        "unavailable": {},
        "found": 6,
        "not_found": 6,
        "wrong": 0,
    }
    return document
