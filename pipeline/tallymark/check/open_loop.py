"""Rules about open loops: lateness, phases, periods, the growth of the queue, Little's law."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from tallymark.check.resources import RSS_SLACK_BYTES
from tallymark.check.rule import RERUN, Problem, Run, run_rule
from tallymark.histogram import Histogram

_RELATIVE: Final = 1e-9  # both sides are a few operations on the same doubles
# a time in ms is written from nanoseconds, so it may be off by half a nanosecond
_STEP_MS: Final = 1e-6
_LEAST_PERIODS: Final = 20
_T_MS, _P50, _P95, _P99, _QUEUE, _ACTIVE, _RSS, _THREADS, _LOG = 0, 6, 7, 8, 9, 10, 11, 12, 13
_PERIOD_COUNTS: Final = (
    "tasks_submitted",
    "tasks_completed",
    "tasks_failed",
    "tasks_cancelled",
    "tasks_timed_out",
)


@run_rule(
    "lateness-population",
    "Lateness counts every submission of an open loop",
    why="A submitter that falls behind and is not asked about it hides the load that was never offered.",
)
def lateness_population(run: Run) -> Iterator[Problem]:
    """count of histogram lateness = tasks_submitted in an open loop, and there is none in another."""
    histogram = run.histograms.get("lateness")
    if histogram is None or not run.whole:
        return
    right = run.value["tasks_submitted"] if run.open_loop else 0
    if histogram.sample_every != 1 or histogram.count != right:
        yield Problem(
            run.at("histograms", "lateness", "count"),
            f"{histogram.count} values (1 of {histogram.sample_every}) for {right} submissions by a schedule",
            RERUN,
        )


@run_rule(
    "phases-add-up",
    "The phases of an open loop make up the run",
    why="Steady, pause, burst and drain are shown apart; a task that is in none of them, or in two, would "
    "make one of them look better.",
)
def phases_add_up(run: Run) -> Iterator[Problem]:
    """Tasks and queue latencies of all phases = the run's; no phase is longer or fuller than the run."""
    phases: dict[str, Any] = run.value.get("phases", {})
    for name, phase in phases.items():
        for key, limit in (("queue_peak", "queue_peak"), ("elapsed_ms", "elapsed_ms")):
            if phase[key] > run.value[limit] + _STEP_MS:
                yield Problem(
                    run.at("phases", name, key), f"{phase[key]} is above the run's {run.value[limit]}", RERUN
                )
        if max(phase["queue_at_start"], phase["queue_at_end"]) > phase["queue_peak"]:
            yield Problem(run.at("phases", name, "queue_peak"), "the phase begins or ends above it", RERUN)
        for problem in Histogram.as_recorded(phase["queue"]).problems():
            yield Problem(run.at("phases", name, "queue"), problem, RERUN)
    if "steady" in phases and run.drained:
        yield from _sums(run, list(phases.values()))


def _sums(run: Run, phases: Sequence[dict[str, Any]]) -> Iterator[Problem]:
    for key in ("tasks_submitted", "tasks_completed", "tasks_failed"):
        found = sum(phase[key] for phase in phases)
        if found != run.value[key]:
            yield Problem(
                run.at("phases"), f"{found} {key} in all phases, {run.value[key]} in the run", RERUN
            )
    elapsed = math.fsum(phase["elapsed_ms"] for phase in phases)
    if not math.isclose(elapsed, run.value["elapsed_ms"], rel_tol=1e-6, abs_tol=len(phases) * _STEP_MS):
        yield Problem(
            run.at("phases"), f"{elapsed!r} ms in all phases, {run.value['elapsed_ms']!r} in the run", RERUN
        )
    whole = run.histograms.get("queue")
    parts = [phase["queue"] for phase in phases]
    if whole is None or any(part["sample_every"] != whole.sample_every for part in parts):
        return
    count, total = sum(part["count"] for part in parts), sum(int(part["sum_ns"]) for part in parts)
    if (count, total) != (whole.count, whole.sum_ns):
        problem = (
            f"{count} latencies of {total} ns in all phases, {whole.count} of {whole.sum_ns} ns in the run"
        )
        yield Problem(run.at("phases"), problem, RERUN)


@run_rule(
    "periods-add-up",
    "The periods follow one another and make up the run",
    why="A chart over the run's time shows a slow change only if no period is missing or out of order.",
)
def periods_add_up(run: Run) -> Iterator[Problem]:
    """≥ 20 rows; t_ms rises, log_bytes never falls; counts add up; p50 ≤ p95 ≤ p99; no row above a peak."""
    if "periods" not in run.value:
        return
    rows: Sequence[Sequence[Any]] = run.value["periods"]["rows"]
    if run.drained and len(rows) < _LEAST_PERIODS:
        yield Problem(
            run.at("periods", "rows"), f"{len(rows)} periods, at least {_LEAST_PERIODS} are due", RERUN
        )
    for number, (before, after) in enumerate(pairwise(rows), start=1):
        if after[_T_MS] <= before[_T_MS]:
            yield _of_period(run, number, _T_MS, f"t_ms goes from {before[_T_MS]!r} to {after[_T_MS]!r}")
        if None not in (before[_LOG], after[_LOG]) and after[_LOG] < before[_LOG]:
            yield _of_period(run, number, _LOG, f"log_bytes falls from {before[_LOG]} to {after[_LOG]}")
    for column, key in enumerate(_PERIOD_COUNTS, start=1):
        found = sum(row[column] for row in rows)
        if run.drained and found != run.value[key]:
            yield Problem(
                run.at("periods"), f"{found} {key} in all periods, {run.value[key]} in the run", RERUN
            )
    yield from _rows_possible(run, rows)


def _rows_possible(run: Run, rows: Sequence[Sequence[Any]]) -> Iterator[Problem]:
    peaks = (
        (_QUEUE, "queue_peak", 0),
        (_ACTIVE, "active_peak", 0),
        (_RSS, "peak_rss_bytes", RSS_SLACK_BYTES),
        (_THREADS, "threads_peak", 0),
    )
    for number, row in enumerate(rows):
        quantiles = row[_P50 : _P99 + 1]
        if quantiles.count(None) not in (0, len(quantiles)):
            yield _of_period(run, number, _P50, "some percentiles of the period are null, some are not")
        elif None not in quantiles and list(quantiles) != sorted(quantiles):
            yield _of_period(run, number, _P50, f"p50, p95, p99 are {', '.join(map(repr, quantiles))}")
        elif None not in quantiles and quantiles[-1] > (run.value["scheduler_latency_max_ms"] or 0):
            yield _of_period(run, number, _P99, f"{quantiles[-1]!r} is above the run's maximum")
        for column, key, slack in peaks:
            if (row[column] or 0) > run.value[key] + slack:
                yield _of_period(run, number, column, f"{row[column]} is above {key} = {run.value[key]}")


def _of_period(run: Run, number: int, column: int, problem: str) -> Problem:
    return Problem(run.at("periods", "rows", number, column), problem, RERUN)


def _fell_behind(run: Run) -> bool:
    """Half of the tasks were submitted late by more than 10 ms and a twentieth of the time of submission."""
    late, took = run.value.get("lateness_p50_ms"), run.value.get("submit_ms")
    return late is not None and took is not None and late > 10 and late > took / 20


@run_rule(
    "overload-said",
    "A run whose queue grew, or whose submitter fell behind, is overloaded, and no other open loop is",
    why="Where the queue grows to the end a percentile only says how long the run was; it must not be "
    "published as if the load could be carried.",
)
def overload_said(run: Run) -> Iterator[Problem]:
    """growing or behind ⇔ overloaded (or rejections); growth = (last − first) / two thirds of the window."""
    if not run.drained:
        return
    overloaded, rejected = run.value["outcome"] == "overloaded", run.value["tasks_rejected"]
    behind = _fell_behind(run)
    if behind and not overloaded:
        problem = "the submitter fell behind its schedule, yet the run counts as completed"
        yield run.found("outcome", problem, RERUN)
    window = run.value.get("stability_window")
    if window is None:
        return
    if window["growing"] and not overloaded:
        yield run.found("outcome", "the queue grew over the window, yet the run counts as completed", RERUN)
    if overloaded and not window["growing"] and not behind and not rejected:
        yield run.found("outcome", "overloaded, but the queue did not grow and no task was rejected", RERUN)
    where = run.at("stability_window", "growth_per_second")
    if window["growing"] and window["growth_per_second"] <= 0:
        yield Problem(where, f"{window['growth_per_second']!r} for a queue that grew", RERUN)
    for key in ("queue_first", "queue_last"):
        if window[key] > run.value["queue_peak"]:
            problem = f"a mean of {window[key]!r} above the peak of {run.value['queue_peak']}"
            yield Problem(run.at("stability_window", key), problem, RERUN)
    grown = window["queue_last"] - window["queue_first"]
    right = grown / (window["window_ms"] * 2 / 3) * 1000 if window["window_ms"] else 0.0
    if not math.isclose(window["growth_per_second"], right, rel_tol=1e-6, abs_tol=1e-6):
        problem = f"{window['growth_per_second']!r}, but the two means give {right!r}"
        yield Problem(where, problem, RERUN)
    if window["window_ms"] > run.value["elapsed_ms"] + _STEP_MS:
        problem = f"{window['window_ms']!r} ms is longer than the run"
        yield Problem(run.at("stability_window", "window_ms"), problem, RERUN)


@run_rule(
    "littles-law",
    "Little's law is computed right, and only over a stable window",
    why="The law holds in a steady state alone; its error shows whether the three numbers were measured over "
    "the same tasks and the same time.",
)
def littles_law(run: Run) -> Iterator[Problem]:
    """product = rate × time; error = (product − mean) / mean; null where the queue grew."""
    law = run.value.get("littles_law")
    if law is None:
        return
    window = run.value.get("stability_window") or {}
    if window.get("growing"):
        yield run.found("littles_law", "shown although the queue grew over the window", RERUN)
    product = law["arrival_rate_per_s"] * law["mean_time_ms"] / 1000
    if not math.isclose(law["product"], product, rel_tol=_RELATIVE, abs_tol=_RELATIVE):
        problem = f"{law['product']!r}, but rate × time is {product!r}"
        yield Problem(run.at("littles_law", "product"), problem, RERUN)
    mean = law["mean_in_system"]
    error = (law["product"] - mean) / mean * 100 if mean else 0.0
    if not math.isclose(law["error_percent"], error, rel_tol=1e-6, abs_tol=1e-6):
        problem = f"{law['error_percent']!r}, but the product differs by {error!r} percent"
        yield Problem(run.at("littles_law", "error_percent"), problem, RERUN)
    if not 0 < law["window_ms"] <= window.get("window_ms", 0) + _STEP_MS:
        problem = f"{law['window_ms']!r} ms, longer than the window in which the queue was stable"
        yield Problem(run.at("littles_law", "window_ms"), problem, RERUN)


@run_rule(
    "submission-rate",
    "Admitted tasks a second follow from the time of submission",
    why="The rate of admission stands beside the rate of completion; both must come from the same run.",
)
def submission_rate(run: Run) -> Iterator[Problem]:
    """admitted_per_second = tasks_admitted / submit_ms; submission and drain fit into the run."""
    value = run.value
    submit, drain = value.get("submit_ms"), value.get("drain_ms")
    if submit is None or drain is None or not run.whole:
        return
    if submit + drain > value["elapsed_ms"] + 2 * _STEP_MS + value["elapsed_ms"] * _RELATIVE:
        problem = f"{submit!r} ms of submission and {drain!r} of drain in {value['elapsed_ms']!r} ms"
        yield run.found("drain_ms", problem, RERUN)
    rate = value.get("admitted_per_second")
    if rate is None or not submit:
        return
    right = value["tasks_admitted"] / submit * 1000
    if not math.isclose(rate, right, rel_tol=_STEP_MS / submit + _RELATIVE):
        yield run.found("admitted_per_second", f"{rate!r}, but the tasks admitted give {right!r}", RERUN)
