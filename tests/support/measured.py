"""What runtime-execution/1.1 measures besides, added so that every number follows from another."""

from __future__ import annotations

from typing import Any

from tallymark.histogram import Histogram

QUANTILES = (("p50", 50, 100), ("p95", 95, 100), ("p99", 99, 100), ("max", 1, 1))
LATENESS = tuple(f"lateness_{name}_ms" for name, _, _ in QUANTILES)
SITES = ("submit", "turn", "control")


def complete(run: dict[str, Any]) -> None:
    """Add what a closed loop of 1.1 measures: it follows from time, counts and histograms of ``run``."""
    execution = Histogram.as_recorded(run["histograms"]["execution"])
    submit = run["elapsed_ms"] * 0.75
    reasons = dict.fromkeys(LATENESS, "nothing is due at a time")
    reasons |= dict.fromkeys(("bytes_per_queued_task", "queue_at_release"), "the workers were not held")
    run |= {
        "yields_done": run["yields"] * run["tasks_completed"],
        "suspensions": 0,
        "suspended_peak": 0,
        "submit_ms": submit,
        "drain_ms": run["elapsed_ms"] - submit,
        "admitted_per_second": run["tasks_admitted"] / submit * 1000,
        **dict.fromkeys(LATENESS),
        "slots": run["workers"],
        "slot_occupancy_mean_ms": execution.sum_ns / execution.count / 1e6,
        "bytes_per_queued_task": None,
        "queue_at_release": None,
        "unavailable": reasons,
    }
    run["capacity_per_second"] = run["slots"] / run["slot_occupancy_mean_ms"] * 1000
    _contention(run)
    _memory(run["memory"])


def _contention(run: dict[str, Any]) -> None:
    batches = run["contention"]["dequeues"]
    run["contention"] |= {
        "mean_batch": float(-(-run["tasks"] // batches)),
        "lock_acquisitions": {"submit": 12, "turn": 9, "control": 3},
        "lock_sample_every": 4,
        "idle_ratio": 0.5,
        "idle_while_queued_ratio": 0.125,
        "worker_cpu_ms": 2.5,
        "submitter_cpu_ms": 1.0,
        "sampler_cpu_ms": 0.05,
        "auxiliary_cpu_ms": 0.0,
    }
    for site, count in zip(SITES, (3, 2, 0), strict=True):
        values = [100 * (number + 1) for number in range(count)]
        for what in ("wait", "hold"):
            record = Histogram.recorded(values).to_record() | {"sample_every": 4}
            run["histograms"][f"lock_{what}_{site}"] = record


def _memory(memory: dict[str, Any]) -> None:
    memory["resident"] = {owner: held // 2 for owner, held in memory["owners"].items()}
    growth = sum(memory["resident"].values()) + 4096
    memory |= {
        "rss_anon_at_start_bytes": memory["rss_anon_at_end_bytes"] - growth,
        "rss_growth_bytes": growth,
        "unexplained_bytes": 4096,
        "stack_reserved_bytes": memory["resident"]["stack_bytes"],
        "resident_api": "/proc/self/pagemap",
    }
