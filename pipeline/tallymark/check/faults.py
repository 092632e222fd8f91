"""Rules about injected faults and provider calls: what was chosen, what became of it, tenant by tenant."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from tallymark.check.rule import RERUN, Problem, Run, run_rule
from tallymark.histogram import Histogram

# a share is drawn by a hash: so many standard deviations of a count are never left by chance
_DEVIATIONS: Final = 6
_CHOSEN: Final = (
    ("failed_chosen", "fail_permille"),
    ("slow_chosen", "slow_permille"),
    ("cancels_asked", "cancel_permille"),
)


@run_rule(
    "faults-counted",
    "As many tasks failed, were cancelled and timed out as faults allow",
    why="A fault experiment is only one if the faults happened; and a task that failed by itself must not "
    "hide among those that were meant to.",
)
def faults_counted(run: Run) -> Iterator[Problem]:
    """tasks_failed = failed_chosen where nothing else ends a task; no other end without its setting."""
    value = run.value
    if "workload" not in value or not run.whole or not run.of_tasks:
        return
    faults: dict[str, Any] = value.get("faults", dict.fromkeys((key for key, _ in _CHOSEN), 0))
    if value["timeout_us"] == 0 and value["tasks_timed_out"]:
        yield run.found("tasks_timed_out", f"{value['tasks_timed_out']}, although no task has a limit", RERUN)
    if run.drained and value["tasks_cancelled"] > faults["cancels_asked"]:
        problem = f"{value['tasks_cancelled']}, but {faults['cancels_asked']} were asked to cancel"
        yield run.found("tasks_cancelled", problem, RERUN)
    if "faults" not in value:
        return
    chosen, failed = faults["failed_chosen"], value["tasks_failed"]
    only = not (value["tasks_cancelled"] or value["tasks_timed_out"] or value["tasks_rejected"])
    exact = only and not faults["provider_errors"]
    if run.completed and (failed > chosen + faults["provider_errors"] or (exact and failed != chosen)):
        yield run.found("tasks_failed", f"{failed} failed, {chosen} were chosen to", RERUN)
    if run.drained:
        yield from _shares(run, faults)


def _shares(run: Run, faults: dict[str, Any]) -> Iterator[Problem]:
    """Whether as many tasks were chosen as the configured share makes likely."""
    for key, share in _CHOSEN:
        mean = run.value["tasks"] * run.value[share] / 1000
        mean /= 2 if run.value["fault_ramp"] == "linear" else 1
        if abs(faults[key] - mean) > _DEVIATIONS * math.sqrt(mean) + (1 if mean else 0):
            problem = f"{faults[key]} tasks, but a share of {run.value[share]} ‰ makes {mean:g} of them"
            yield Problem(run.at("faults", key), problem, RERUN)


@run_rule(
    "provider-calls",
    "Provider calls, retries and errors are conserved, in total and tenant by tenant",
    why="Retries multiply the load on a provider that is already down; calls left out would hide just that.",
)
def provider_calls(run: Run) -> Iterator[Problem]:
    """calls = tasks that called + retries; amplification follows; tenants and their latencies add up."""
    faults: dict[str, Any] | None = run.value.get("faults")
    if faults is None or not run.whole:
        return
    value, calls, retries = run.value, faults["provider_calls"], faults["retries"]
    callers = calls - retries
    limits = [
        ("provider_errors", calls),
        ("retries", min(faults["provider_errors"], value["retry_attempts"] * callers)),
        ("provider_calls", (1 + value["retry_attempts"]) * value["tasks_admitted"]),
    ]
    if value["wait_mode"] == "none":
        limits.append(("provider_calls", 0))
    if value["outage_ms"] == 0:
        limits.append(("provider_errors", 0))
    for key, limit in limits:
        if faults[key] > limit:
            yield Problem(run.at("faults", key), f"{faults[key]} is above the possible {limit}", RERUN)
    if run.completed and callers > 0:
        right = calls / callers
        if faults["amplification"] is None or not math.isclose(faults["amplification"], right, rel_tol=1e-9):
            problem = f"{faults['amplification']!r}, but calls / tasks that called is {right!r}"
            yield Problem(run.at("faults", "amplification"), problem, RERUN)
    waits = run.histograms.get("provider_wait")
    if waits is not None and waits.sample_every == 1 and run.completed and waits.count != calls:
        problem = f"{waits.count} values for {calls} provider calls"
        yield Problem(run.at("histograms", "provider_wait", "count"), problem, RERUN)
    yield from _outage(run, faults)
    if run.drained:
        yield from _tenants(run, faults)


def _outage(run: Run, faults: dict[str, Any]) -> Iterator[Problem]:
    outage = faults["outage"]
    if (outage is not None) != (run.value["outage_ms"] > 0):
        yield Problem(run.at("faults", "outage"), f"outage_ms is {run.value['outage_ms']}", RERUN)
    if outage is None:
        return
    if outage["recovered"] != (outage["recovery_ms"] is not None):
        yield Problem(run.at("faults", "outage", "recovery_ms"), "does not fit recovered", RERUN)
    if (outage["recovery_ms"] or 0) > run.value["elapsed_ms"]:
        problem = f"{outage['recovery_ms']!r} ms is longer than the run"
        yield Problem(run.at("faults", "outage", "recovery_ms"), problem, RERUN)
    if max(outage["queue_before"], outage["queue_peak"]) > run.value["tasks_admitted"]:
        problem = f"above the {run.value['tasks_admitted']} tasks of the run"
        yield Problem(run.at("faults", "outage", "queue_peak"), problem, RERUN)


def _tenants(run: Run, faults: dict[str, Any]) -> Iterator[Problem]:
    tenants: dict[str, Any] = faults["tenants"]
    expected = [f"t{number}" for number in range(run.value["tenants"])]
    if sorted(tenants) != sorted(expected):
        yield Problem(
            run.at("faults", "tenants"), f"{len(tenants)} tenants instead of {len(expected)}", RERUN
        )
        return
    totals = {
        "completed": run.value["tasks_completed"],
        "failed": run.value["tasks_failed"],
        "timed_out": run.value["tasks_timed_out"],
        "provider_calls": faults["provider_calls"],
    }
    for key, total in totals.items():
        found = sum(tenant[key] for tenant in tenants.values())
        if found != total:
            yield Problem(
                run.at("faults", "tenants"), f"{key}: {found} over all tenants, {total} in the run", RERUN
            )
    whole = run.histograms.get("end_to_end")
    parts = {name: Histogram.as_recorded(tenant["end_to_end"]) for name, tenant in tenants.items()}
    for name, part in parts.items():
        for problem in part.problems():
            yield Problem(run.at("faults", "tenants", name, "end_to_end"), problem, RERUN)
    if whole is not None and all(part.sample_every == whole.sample_every for part in parts.values()):
        count, total = sum(part.count for part in parts.values()), sum(part.sum_ns for part in parts.values())
        if (count, total) != (whole.count, whole.sum_ns):
            problem = f"{count} latencies of {total} ns, {whole.count} of {whole.sum_ns} ns in the run"
            yield Problem(run.at("faults", "tenants"), problem, RERUN)
