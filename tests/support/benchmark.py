"""Files as ``benchmarks/scheduler.py`` writes them, for tests.

``tests/importers/files/scheduler.json`` was written by it and is unchanged:

    python benchmarks/scheduler.py --rounds 2 --tasks 2000 --out tests/importers/files/scheduler.json

Everything else is built here in the same shape, small enough to be computed by hand.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tallymark import importers
from tallymark.evidence.personal import KnownNames
from tallymark.importers.compose import Source
from tallymark.importers.interface import Imported

WRITTEN = Path(__file__).resolve().parents[1] / "importers" / "files" / "scheduler.json"
NOBODY = KnownNames(user=None, host=None, home=None)
Json = dict[str, Any]


def process(elapsed_ms: int, cpu_ms: int, queued_bytes: int = 0) -> Json:
    """One process of 1000 tasks."""
    return {
        "tasks": 1000,
        "elapsed_ns": elapsed_ms * 1_000_000,
        "cpu_ns": cpu_ms * 1_000_000,
        "voluntary_switches": 7,
        "involuntary_switches": 2,
        "backlog_bytes": queued_bytes,
        "drained_bytes": 2 * queued_bytes,
        "probe_checksum": "00000000000000ff",
        "elapsed_s": elapsed_ms / 1000,
        "cpu_s": cpu_ms / 1000,
        "tasks_per_s": 1000 / (elapsed_ms / 1000),
        "queued_bytes": 2 * queued_bytes / 1000,
    }


def benchmark() -> Json:
    """Two rounds: ours (two processes a round), a loop, and a backlog of ours.

    CPU over the loop: round 1 has ours 30 and 50 ms (median 40) over 20 ms, round 2 ours 30 and 30 over 10.
    """
    first = {
        "ours": [process(10, 30), process(20, 50)],
        "loop": [process(40, 20)],
        "queue": [process(9, 9, 500)],
    }
    other = {
        "loop": [process(40, 10)],
        "ours": [process(10, 30), process(10, 30)],
        "queue": [process(9, 9, 600)],
    }
    return {
        "format": "tallymark-benchmark/1",
        "cpu_ratio": {
            "median": 2.5,
            "low": 2.0,
            "high": 3.0,
            "quantity": "cpu_s",
            "case": "ours",
            "over": "loop",
        },
        "bytes": {
            "median": 1.1,
            "low": 1.0,
            "high": 1.2,
            "quantity": "queued_bytes",
            "case": "queue",
            "over": None,
        },
        "started_at": "2026-11-29T09:00:00Z",
        "finished_at": "2026-11-29T09:02:00Z",
        "seed": 7,
        "workload": {"tasks": 1000, "window": 1024, "submission": "closed"},
        "machine": {
            "cpu_model": "Example CPU",
            "cores": 2,
            "memory_bytes": 1 << 33,
            "kernel": "6.1.0",
            "architecture": "x86_64",
        },
        "compiler": {"gcc": "12.2.0", "flags": "-O2 -pthread", "onetbb": "2021.8"},
        "tree": {"revision": "a" * 40, "dirty": False},
        "rounds": [
            {"order": ["ours", "loop", "ours", "queue"], "load_average_before": 0.5, "runs": first},
            {"order": ["loop", "queue", "ours", "ours"], "load_average_before": 0.5, "runs": other},
        ],
    }


def changed(change: Callable[[Json], Any]) -> Json:
    """The benchmark with one change."""
    value = copy.deepcopy(benchmark())
    change(value)
    return value


def source_of(value: Any) -> Source:
    """A value as the file ``b.json``."""
    return Source(name="b.json", shown="b.json", data=json.dumps(value).encode("utf-8"))


def imported(value: Any, redact: bool = False) -> Imported:
    """A value, imported as a benchmark."""
    return importers.read(importers.importer("benchmark"), source_of(value), NOBODY, redact)
