"""Valid documents for tests: small, deterministic, and consistent in every number.

Each task gets a queue, an execution and a finalisation time from a seeded generator; histograms, percentile
scalars, sums and counts all follow from those, so a test may change one value and know what it broke.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from support.record import configuration_of, gate, hex16, manifest, run_record, utc
from tallymark.evidence import canonical

__all__ = [
    "REPORT_SPEC",
    "configuration_of",
    "died",
    "gate",
    "imported_execution",
    "manifest",
    "runtime_execution",
    "small_execution",
    "utc",
    "write_project",
]


def runtime_execution(
    tasks: int = 1000,
    agents: tuple[int, ...] = (100, 1000),
    repetitions: int = 3,
    seed: int = 1,
    suite: str = "scale",
    label: str = "test",
    warmup_runs: int = 1,
    version: str = "1.0",
) -> dict[str, Any]:
    """A complete document of runtime-execution: every configuration ``repetitions`` times, shuffled."""
    source = random.Random(f"{seed}/{suite}/{tasks}")
    planned = [(roles, repetition) for repetition in range(1, repetitions + 1) for roles in agents]
    source.shuffle(planned)
    runs = [
        run_record(source, i, repetition, suite, roles, tasks, version)
        for i, (roles, repetition) in enumerate(planned)
    ]
    warmups = [run_record(source, i, 1, suite, agents[0], tasks, version) for i in range(warmup_runs)]
    plan = [
        {"index": run["index"], "repetition": run["repetition"], "configuration": configuration_of(run)}
        for run in runs
    ]
    return {
        "schema": f"runtime-execution/{version}",
        "execution": {
            "id": hex16(source),
            "suite": suite,
            "label": label,
            "started_at": utc(0),
            "finished_at": utc(60 + len(runs)),
            "seed": seed,
            "command": f"tallymark run {suite} --set tasks={tasks} --label {label}",
            "tool_version": "0.1.0",
            "complete": True,
            "warmup_runs": warmup_runs,
            "repetitions": repetitions,
            "plan": plan,
        },
        "manifest": manifest(),
        "gate": None if suite == "smoke" else gate(),
        "warmups": warmups,
        "runs": runs,
    }


def small_execution(**changes: Any) -> dict[str, Any]:
    """The smallest complete document: one run of ten tasks, no warm-up."""
    return runtime_execution(**{"tasks": 10, "agents": (100,), "repetitions": 1, "warmup_runs": 0, **changes})


def died(run: dict[str, Any], outcome: str = "killed") -> dict[str, Any]:
    """``run`` as the parent records it when the child died: what was never known is absent."""
    kept = {key: run[key] for key in ("index", "repetition", "run_id", "started_at")}
    return {
        **kept,
        "recorded_by": "parent",
        **configuration_of(run),
        "outcome": outcome,
        "phase": "drain",
        "cause": "the child was killed by signal 9",
        "tasks_submitted": run["tasks"],
        "tasks_admitted": run["tasks"],
        "tasks_completed": run["tasks"] // 2,
    }


def imported_execution(
    benchmarks: tuple[str, ...] = ("sleep 0.1", "sleep 0.2"),
    repetitions: int = 3,
    seed: int = 1,
    label: str = "test",
) -> dict[str, Any]:
    """A complete imported-execution/1.0 document, as an import of a hyperfine file gives it."""
    source = random.Random(f"{seed}/imported")
    runs: list[dict[str, Any]] = []
    reported = []
    for number, benchmark in enumerate(benchmarks, start=1):
        samples = [(number * 100_000 + source.randrange(900)) / 1e6 for _ in range(repetitions)]
        parameters = {"threads": str(number)}
        reported.append(_reported(benchmark, parameters, samples))
        for repetition, elapsed in enumerate(samples, start=1):
            runs.append(
                {
                    "index": len(runs),
                    "repetition": repetition,
                    "benchmark": benchmark,
                    "parameters": parameters,
                    "outcome": "completed",
                    "exit_code": 0,
                    "elapsed_s": elapsed,
                }
            )
    machine_keys = ("cpu_model", "cores", "memory_bytes", "os_build", "virtualisation", "platform")
    return {
        "schema": "imported-execution/1.0",
        "execution": {
            "id": hex16(source),
            "suite": "sleep",
            "label": label,
            "imported_at": utc(0),
            "tool_version": "0.1.0",
            "command": "tallymark import hyperfine h.json --out data/sleep",
            "complete": True,
            "repetitions": repetitions,
        },
        "source": {
            "format": "hyperfine",
            "format_version": None,
            "sha256": "d" * 64,
            "bytes": 1234,
            "name": "h.json",
        },
        "manifest": {
            "machine": dict.fromkeys(machine_keys),
            "unavailable": dict.fromkeys(machine_keys, "hyperfine does not record the machine"),
        },
        "loss": [{"pointer": "$.results[0].user", "reason": "one mean for all runs, kept under reported"}],
        "reported": reported,
        "runs": runs,
    }


def _reported(benchmark: str, parameters: dict[str, str], samples: list[float]) -> dict[str, Any]:
    mean = sum(samples) / len(samples)
    ordered = sorted(samples)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    spread = (
        (sum((value - mean) ** 2 for value in samples) / (len(samples) - 1)) ** 0.5
        if len(samples) > 1
        else None
    )
    return {
        "benchmark": benchmark,
        "parameters": parameters,
        "mean_s": mean,
        **({} if spread is None else {"stddev_s": spread}),
        "median_s": median,
        "min_s": ordered[0],
        "max_s": ordered[-1],
        "user_mean_s": 0.001,
        "system_mean_s": 0.002,
    }


REPORT_SPEC = """\
schema = "report-spec/1.0"
name = "runtime-scale"
version = 1
title = "Runtime scale"
data = ["data/runtime-scale/*.json"]
rows = ["tasks", "agents"]
repetitions = 3

[scope]
measured = ["The scheduler on one machine"]
not_measured = ["Other machines"]
must_not_conclude = ["How many users a service carries"]
completion = "One completion looks its role up, builds its prompt, probes and writes its output."

[[columns]]
name = "runs"
title = "Runs"
aggregate = "run_count"

[[columns]]
name = "elapsed"
title = "Elapsed, median"
source = "elapsed_ms"
aggregate = "median_of_runs"
unit = "ms"
places = 3

[[columns]]
name = "rate_median"
title = "Tasks per second, median of runs"
source = "tasks_per_second"
aggregate = "median_of_runs"
unit = "1/s"
places = 0

[[columns]]
name = "queue_p99_pooled"
title = "Queue p99, pooled"
source = "histograms.queue"
aggregate = "pooled_percentile"
percentile = "99/100"
unit = "ms"
significant = 3

[[columns]]
name = "peak_rss"
title = "Peak RSS, maximum"
source = "peak_rss_bytes"
aggregate = "max_of_runs"
unit = "MiB"
places = 2
"""


def write_project(
    folder: Path, documents: dict[str, dict[str, Any]] | None = None, spec: str = REPORT_SPEC
) -> Path:
    """A project folder with data/runtime-scale/<label>.json and site/reports/runtime-scale.toml.

    ``documents`` maps labels to documents; by default one of 1,000 and one of 2,000 tasks.
    """
    if documents is None:
        documents = {
            "1k": runtime_execution(tasks=1000, seed=1, label="1k"),
            "2k": runtime_execution(tasks=2000, seed=2, label="2k"),
        }
    project = folder / "project"
    data = project / "data" / "runtime-scale"
    data.mkdir(parents=True)
    for label, document in documents.items():
        (data / f"{label}.json").write_bytes(canonical.encode(document))
    reports = project / "site" / "reports"
    reports.mkdir(parents=True)
    (reports / "runtime-scale.toml").write_text(spec, encoding="utf-8")
    return project
