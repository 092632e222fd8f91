"""Rules about time: elapsed, throughput, latencies and the histograms that they come from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tallymark.check.rule import AGENT, RUNTIME, Problem, Run, run_rule

# scalar prefix → stage of the histogram that it is read from
LATENCIES: Final = {
    "scheduler_latency": "queue",
    "execution": "execution",
    "finalisation": "finalisation",
    "end_to_end": "end_to_end",
}
# what follows from a histogram of every task, or of every submission
_FOLLOWING: Final = {**LATENCIES, "lateness": "lateness"}
_QUANTILES: Final = (("p50", 50, 100), ("p95", 95, 100), ("p99", 99, 100), ("max", 1, 1))
_SUMMANDS: Final = ("queue", "execution", "finalisation")
# elapsed_ms is written from nanoseconds, so it may be off by half a nanosecond
_ELAPSED_STEP_MS: Final = 1e-6
_DOUBLE: Final = 1e-12
_RERUN: Final = "Run the suite again; a record is never corrected by hand"


@run_rule(
    "elapsed-positive",
    "A completed run took time",
    why="A run of 0 ms has no rate; its clock or its unit is wrong.",
)
def elapsed_positive(run: Run) -> Iterator[Problem]:
    """elapsed > 0 when completed; the schema of imported executions says it of every sample."""
    if run.completed and run.value.get("elapsed_ms") == 0:
        yield run.found("elapsed_ms", "the run took no time at all", _RERUN)


@run_rule(
    "throughput",
    "Tasks per second are completed tasks divided by seconds",
    why="The most quoted number of a page must follow from two others of the same run, or its unit is wrong.",
)
def throughput(run: Run) -> Iterator[Problem]:
    """tasks_per_second = tasks_completed / (elapsed_ms / 1000), within the precision of elapsed_ms."""
    value = run.value
    elapsed = value.get("elapsed_ms", 0)
    if value.get("tasks_per_second") is None or not elapsed:
        return
    right = value["tasks_completed"] / elapsed * 1000
    tolerance = _ELAPSED_STEP_MS / elapsed + 1e-9
    if not math.isclose(value["tasks_per_second"], right, rel_tol=tolerance, abs_tol=0):
        yield run.found(
            "tasks_per_second",
            f"{value['tasks_per_second']!r}, but {value['tasks_completed']} tasks in {elapsed!r} ms "
            f"are {right!r}",
            _RERUN,
        )


@run_rule(
    "percentile-order",
    "p50 ≤ p95 ≤ p99 ≤ max",
    why="A percentile above the maximum shows two rounding rules, two populations or two units in one row.",
)
def percentile_order(run: Run) -> Iterator[Problem]:
    """Within each of the latencies, and the lateness."""
    for prefix in _FOLLOWING:
        keys = [
            f"{prefix}_{name}_ms"
            for name, _, _ in _QUANTILES
            if run.value.get(f"{prefix}_{name}_ms") is not None
        ]
        for low, high in pairwise(keys):
            if run.value[low] > run.value[high]:
                yield run.found(low, f"{run.value[low]!r} is above {high} = {run.value[high]!r}", _RERUN)


@run_rule(
    "histogram-sound",
    "Each histogram agrees with itself",
    why="Buckets, count, sum and extremes are written from one recording; one changed count shows here.",
    kinds=(RUNTIME, AGENT),
)
def histogram_sound(run: Run) -> Iterator[Problem]:
    """Ascending buckets, their sum is the count, extremes in the outer buckets, the sum possible."""
    for stage, histogram in run.parsed_histograms.items():
        for problem in histogram.problems():
            yield Problem(run.at("histograms", stage), problem, _RERUN)


@run_rule(
    "histogram-population",
    "Each histogram counts every task that it is about",
    why="A percentile over a part of the tasks is not the percentile of the run.",
)
def histogram_population(run: Run) -> Iterator[Problem]:
    """Unsampled stages: at least the tasks that completed or failed, at most the admitted ones, all alike."""
    value = run.value
    if not run.whole or not run.of_tasks:
        return
    least = value["tasks_completed"] + value["tasks_failed"]
    most = least + value["tasks_cancelled"] + value["tasks_timed_out"]
    for stage in LATENCIES.values():
        histogram = run.histograms.get(stage)
        if histogram is None or histogram.sample_every != 1:
            continue
        if not least <= histogram.count <= most:
            yield Problem(
                run.at("histograms", stage, "count"),
                f"{histogram.count} values for {least} tasks that ran to their end",
                _RERUN,
            )


@run_rule(
    "histogram-percentiles",
    "The latency scalars follow from the histograms",
    why="A scalar that was changed, or computed by another percentile rule, no longer fits its histogram.",
)
def histogram_percentiles(run: Run) -> Iterator[Problem]:
    """Nearest rank, highest value of the bucket, at most the exact maximum; in ms."""
    for prefix, stage in _FOLLOWING.items():
        histogram = run.histograms.get(stage)
        if histogram is None or not histogram.count:
            continue
        for name, a, b in _QUANTILES:
            key = f"{prefix}_{name}_ms"
            right = histogram.percentile_ns(a, b) / 1e6
            if run.value.get(key) is not None and not math.isclose(
                run.value[key], right, rel_tol=_DOUBLE, abs_tol=0
            ):
                yield run.found(key, f"{run.value[key]!r}, but its histogram gives {right!r}", _RERUN)


@run_rule(
    "stage-sums",
    "Queue, execution and finalisation make up the whole",
    why="end_to_end = queue + execution + finalisation for each task, so the sums over all tasks must agree "
    "to the nanosecond; a stage with the wrong timestamps does not.",
)
def stage_sums(run: Run) -> Iterator[Problem]:
    """Only where all four stages recorded every task and no interval was clamped."""
    stages = [run.histograms.get(stage) for stage in (*_SUMMANDS, "end_to_end")]
    found = [histogram for histogram in stages if histogram is not None and histogram.sample_every == 1]
    if len(found) < len(stages) or len({h.count for h in found}) != 1 or run.value["clamped_intervals"]:
        return
    parts = sum(histogram.sum_ns for histogram in found[:-1])
    if parts != found[-1].sum_ns:
        yield Problem(
            run.at("histograms", "end_to_end", "sum_ns"),
            f"{found[-1].sum_ns} ns, but the three stages sum to {parts} ns",
            _RERUN,
        )


@run_rule(
    "clamped",
    "No interval had to be clamped",
    why="An interval that ended before it began was recorded as 0: clocks of two processors differ, and the "
    "smallest latencies are uncertain.",
    severity="warning",
)
def clamped(run: Run) -> Iterator[Problem]:
    """clamped_intervals = 0."""
    if run.value.get("clamped_intervals"):
        yield run.found(
            "clamped_intervals",
            f"{run.value['clamped_intervals']} intervals ended before they began and count as 0",
            "Look at the clock source in the manifest before trusting the smallest latencies",
        )
