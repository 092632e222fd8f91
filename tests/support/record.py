"""One run record and one manifest for tests: every scalar follows from the histograms beside it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from support import measured
from tallymark.histogram import Histogram, merged

STARTED = datetime(2026, 11, 29, 9, 0, 0, tzinfo=UTC)
STAGES = ("submitted", "admitted", "dequeued", "runner_start", "runner_end", "finalised")
QUANTILES = {"p50": (50, 100), "p95": (95, 100), "p99": (99, 100), "max": (1, 1)}
MIB = 1 << 20
# more distinct tasks than this share their times, so that a document of 100,000 tasks stays small
DISTINCT_TASKS = 120


def utc(seconds: int) -> str:
    """The time so many seconds after the documents' start, as evidence writes it."""
    return (STARTED + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


# the keys that runtime-execution/1.1 added, each with its x-default-before
ADDED = {
    "workload": "tasks",
    "workload_seed": 1,
    "variant": "none",
    "priorities": 1,
    "batches": 1,
    "yields": 0,
    "stack_bytes": 0,
    "max_suspended": 0,
    "wait_mode": "none",
    "wait_us": 0,
    "wait_distribution": "constant",
    "timeout_us": 0,
    "fail_permille": 0,
    "slow_permille": 0,
    "cancel_permille": 0,
    "slow_us": 0,
    "fault_ramp": "none",
    "memory_limit_bytes": 0,
    "kill_after_tasks": 0,
    "outage_start_ms": 0,
    "outage_ms": 0,
    "retry_policy": "none",
    "retry_attempts": 0,
    "retry_delay_us": 0,
    "tenants": 1,
    "steady_ms": 0,
    "pause_ms": 0,
    "burst_ms": 0,
    "burst_factor": 1,
    "snapshot": "none",
    "rollbacks": 0,
    "rewrite_permille": 0,
    "overview_bytes": 3900,
}


def configuration_of(run: dict[str, Any]) -> dict[str, Any]:
    """The scalar configuration keys of a run, in the order of the record."""
    return {key: run[key] for key in (*_configuration("", 0, 0), *ADDED) if key in run}


def _configuration(suite: str, agents: int, tasks: int) -> dict[str, Any]:
    return {
        "suite": suite,
        "benchmark_version": "1",
        "agents": agents,
        "tasks": tasks,
        "workers": 8,
        "aux_workers": 8,
        "probes": 64,
        "context_bytes": 8 * MIB,
        "access_pattern": "uniform",
        "queue_limit": 2_000_000,
        "max_active": 8,
        "history_limit_tasks": 64,
        "history_limit_bytes": 65536,
        "output_bytes": 256,
        "submission": "closed",
        "window": 1024,
        "rate_per_s": 0,
        "task_stack": "inline",
        "sampler_interval_ms": 10,
    }


def manifest() -> dict[str, Any]:
    """A manifest as the runtime writes it in a container: some values null, each with its reason."""
    unreadable = {
        "memory_channels": "DMI tables are not readable",
        "storage_type": "no block device is visible",
        "governor": "no cpufreq directory",
        "frequency_khz": "no cpufreq directory",
        "power_source": "no power_supply class",
        "temperature_c": "no thermal zone",
        "cgroup_cpu_limit": "no limit is set",
    }
    return {
        "build": {
            "source_digest": "5" * 64,
            "compiler": "gcc",
            "compiler_version": "12.2.0",
            "flags": "-O2 -std=gnu11",
            "sanitizer": "none",
            "lto": False,
        },
        "machine": {
            "cpu_model": "Example CPU",
            "cores": 2,
            "memory_bytes": 8 << 30,
            "os_build": "Linux 6.1.0 #1 SMP",
            "virtualisation": "kvm",
            "platform": "linux-x86_64",
        },
        "revision": "a" * 40,
        "dirty": False,
        "library_sha256": "b" * 64,
        "build_id": "c" * 40,
        "equals_release": False,
        "container": "none",
        "cgroup_memory_limit_bytes": 4 << 30,
        "clock_source": "tsc",
        **dict.fromkeys(unreadable),
        "timestamps": [
            {"stage": stage, "taken": f"when the task is {stage}", "under_lock": stage == "admitted"}
            for stage in STAGES
        ],
        "unavailable": unreadable,
    }


def gate() -> dict[str, Any]:
    """A smoke gate that passed, with its pre-check."""
    drained = {"id": "smoke.drained", "passed": True, "detail": "queue_at_end = 0"}
    units = {"id": "precheck.units", "passed": True, "detail": "tasks_per_second = completed / seconds"}
    return {
        "suite": "smoke",
        "passed": True,
        "started_at": utc(-60),
        "assertions": [drained],
        "precheck": [units],
    }


def hex16(source: random.Random) -> str:
    """A random identity or checksum, as records write it."""
    return f"{source.getrandbits(64):016x}"


def run_record(
    source: random.Random,
    index: int,
    repetition: int,
    suite: str,
    agents: int,
    tasks: int,
    version: str = "1.0",
) -> dict[str, Any]:
    """A completed run as the runtime records it, with the configuration of that version of the schema."""
    histograms = _histograms(source, tasks)
    elapsed_ns = tasks * 2_000 + source.randrange(1_000, 500_000)
    configuration = _configuration(suite, agents, tasks)
    rss = {"start": 14 * MIB, "end": 15 * MIB + 4096 * source.randrange(64), "peak": 17 * MIB}
    run = {
        "index": index,
        "repetition": repetition,
        "run_id": hex16(source),
        "started_at": utc(index),
        "recorded_by": "runtime",
        **configuration,
        **({} if version == "1.0" else ADDED),
        "outcome": "completed",
        "phase": "finished",
        "cause": None,
        **_counts(configuration),
        "elapsed_ms": elapsed_ns / 1e6,
        "tasks_per_second": tasks / (elapsed_ns / 1e9),
        **_percentiles(histograms),
        **_resources(rss, min(tasks, 1024)),
        **_work(configuration),
        "clamped_intervals": 0,
        "load_average_before": 0.25,
        "histograms": histograms,
        "timeline": _timeline(elapsed_ns / 1e6, rss, min(tasks, 1024)),
        "memory": _memory(),
        "contention": {"dequeues": tasks // 8 + 1, "wakeups": tasks // 64 + 1, "mean_batch": 8.0},
        "checks": _checks(source, configuration),
    }
    if version != "1.0":
        measured.complete(run)
    return run


def _counts(configuration: dict[str, Any]) -> dict[str, int]:
    tasks = configuration["tasks"]
    none = (
        "tasks_failed",
        "tasks_cancelled",
        "tasks_timed_out",
        "tasks_rejected",
        "active_at_end",
        "queue_at_end",
    )
    return {
        "tasks_submitted": tasks,
        "tasks_admitted": tasks,
        "tasks_completed": tasks,
        **dict.fromkeys(none, 0),
    }


def _histograms(source: random.Random, tasks: int) -> dict[str, Any]:
    distinct = min(tasks, DISTINCT_TASKS)
    times = {
        "queue": [source.randrange(2_000, 900_000) for _ in range(distinct)],
        "execution": [source.randrange(900, 4_000) for _ in range(distinct)],
        "finalisation": [source.randrange(100, 900) for _ in range(distinct)],
    }
    times["end_to_end"] = [sum(parts) for parts in zip(*times.values(), strict=True)]
    times["role_lookup"] = [source.randrange(20, 90) for _ in range(distinct)]
    times["prompt"] = [source.randrange(100, 300) for _ in range(distinct)]
    times["callback"] = [source.randrange(10, 60) for _ in range(distinct)]
    times["history_pruning"] = [source.randrange(10, 60) for _ in range(distinct)]
    return {stage: _recorded(values, tasks).to_record() for stage, values in times.items()}


def _recorded(values: list[int], tasks: int) -> Histogram:
    """The histogram of ``values`` repeated until there are ``tasks``, without listing a million of them."""
    whole, rest = divmod(tasks, len(values))
    once = Histogram.recorded(values)
    many = replace(
        once,
        count=once.count * whole,
        sum_ns=once.sum_ns * whole,
        buckets=tuple((index, count * whole) for index, count in once.buckets),
    )
    return merged([many, Histogram.recorded(values[:rest])]) if rest else many


def _percentiles(histograms: dict[str, Any]) -> dict[str, float]:
    names = {
        "scheduler_latency": "queue",
        "execution": "execution",
        "finalisation": "finalisation",
        "end_to_end": "end_to_end",
    }
    found = {}
    for prefix, stage in names.items():
        histogram = Histogram.from_record(histograms[stage])
        for quantile, (a, b) in QUANTILES.items():
            found[f"{prefix}_{quantile}_ms"] = histogram.percentile_ns(a, b) / 1e6
    return found


def _resources(rss: dict[str, int], queued: int) -> dict[str, Any]:
    return {
        "retained_tasks": min(queued, 64),
        "retained_bytes": min(queued, 64) * 512,
        "peak_rss_bytes": rss["peak"],
        "rss_at_start_bytes": rss["start"],
        "rss_at_end_bytes": rss["end"],
        "queue_peak": queued,
        "active_peak": 8,
        "cpu_user_ms": 3.5,
        "cpu_system_ms": 0.5,
        "voluntary_switches": 40,
        "involuntary_switches": 3,
        "threads_peak": 18,
    }


def _work(configuration: dict[str, Any]) -> dict[str, int]:
    tasks = configuration["tasks"]
    return {
        "role_lookups": tasks,
        "prompt_bytes": tasks * 300,
        "probes_done": tasks * configuration["probes"],
        "output_bytes_written": tasks * configuration["output_bytes"],
    }


def _timeline(elapsed_ms: float, rss: dict[str, int], queued: int) -> dict[str, Any]:
    middle = [
        [
            elapsed_ms * part / 4,
            queued * (4 - part) // 4,
            8,
            rss["start"] + part * 4096,
            18,
            elapsed_ms * part / 4,
        ]
        for part in (1, 2, 3)
    ]
    first = [0.0, 0, 0, rss["start"], 18, 0.0]
    last = [elapsed_ms, 0, 0, rss["end"], 18, elapsed_ms]
    return {
        "interval_ms": 10,
        "in_process": True,
        "children": False,
        "samples": 5,
        "cost_cpu_ms": 0.05,
        "columns": ["t_ms", "queue", "active", "rss_bytes", "threads", "cpu_ms"],
        "rows": [first, *middle, last],
    }


def _memory() -> dict[str, Any]:
    owners = (
        "runtime",
        "context",
        "task",
        "stack",
        "history",
        "verification",
        "auxiliary",
        "histogram",
        "sampler",
    )
    return {
        "rss_api": "VmHWM/VmRSS of /proc/self/status",
        "rss_anon_at_end_bytes": 11 * MIB,
        "rss_file_at_end_bytes": 4 * MIB,
        "pss_at_end_bytes": 12 * MIB,
        "virtual_at_end_bytes": 220 * MIB,
        "cgroup_current_bytes": None,
        "cgroup_peak_bytes": None,
        "allocated_total_bytes": 12 * MIB,
        "allocations": 120,
        "live_objects": 40,
        "owners": {f"{owner}_bytes": (number + 1) * 65536 for number, owner in enumerate(owners)},
        "unavailable": {
            "cgroup_current_bytes": "no cgroup v2 memory controller",
            "cgroup_peak_bytes": "no cgroup v2 memory controller",
        },
    }


def _checks(source: random.Random, configuration: dict[str, Any]) -> dict[str, Any]:
    context, probe = hex16(source), hex16(source)
    tasks = configuration["tasks"]
    return {
        "context_checksum": context,
        "context_checksum_expected": context,
        "probe_checksum": probe,
        "probe_checksum_expected": probe,
        "tasks_seen_once": tasks,
        "tasks_seen_never": 0,
        "tasks_seen_twice": 0,
        "prompt_bytes_expected": tasks * 300,
        "lookups_failed": 0,
    }
