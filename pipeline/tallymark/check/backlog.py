"""Rules about runs that queue first and drain then: held ones, and batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from tallymark.check.resources import RSS_SLACK_BYTES
from tallymark.check.rule import RERUN, Problem, Run, run_rule

_BATCH, _DONE, _T_MS, _RSS, _ANON = range(5)


@run_rule(
    "held-queue",
    "A held run had every task in the queue before the first one started",
    why="A backlog that was never there at one moment says nothing about a million queued tasks.",
)
def held_queue(run: Run) -> Iterator[Problem]:
    """queue_at_release = tasks_admitted ≤ queue_peak, so at least tasks − workers; queue_at_end is 0."""
    value = run.value
    queued = value.get("queue_at_release")
    if queued is None or not run.whole:
        return
    if queued > value["queue_peak"]:
        yield run.found("queue_peak", f"{value['queue_peak']}, but {queued} tasks were queued", RERUN)
    if run.completed and queued != value["tasks_admitted"]:
        problem = f"{queued} tasks were queued of {value['tasks_admitted']} that were admitted"
        yield run.found("queue_at_release", problem, RERUN)


@run_rule(
    "batches-complete",
    "There is one row of memory for each batch, in order",
    why="The slope of memory over tasks is only as good as its points: a batch left out can hide a leak.",
)
def batches_complete(run: Run) -> Iterator[Problem]:
    """Batches 1 … n; tasks_done = batch × tasks / batches; t_ms rises; memory within the peak."""
    if "batch_memory" not in run.value:
        return
    value = run.value
    rows: Sequence[Sequence[Any]] = value["batch_memory"]["rows"]
    if run.completed and len(rows) != value["batches"]:
        yield Problem(
            run.at("batch_memory", "rows"), f"{len(rows)} rows for {value['batches']} batches", RERUN
        )
    share = value["tasks"] // value["batches"]
    for number, row in enumerate(rows):
        right = (number + 1, share * (number + 1))
        if (row[_BATCH], row[_DONE]) != right:
            problem = f"batch {row[_BATCH]} after {row[_DONE]} tasks instead of {right[0]} after {right[1]}"
            yield _of_row(run, number, _BATCH, problem)
        if (row[_RSS] or 0) > value["peak_rss_bytes"] + RSS_SLACK_BYTES:
            yield _of_row(run, number, _RSS, f"{row[_RSS]} is above peak_rss_bytes")
        resident = value["peak_rss_bytes"] if row[_RSS] is None else row[_RSS]
        if (row[_ANON] or 0) > resident + RSS_SLACK_BYTES:
            yield _of_row(run, number, _ANON, f"{row[_ANON]} is above the resident memory of the row")
    for number, (before, after) in enumerate(pairwise(rows), start=1):
        if after[_T_MS] <= before[_T_MS]:
            yield _of_row(run, number, _T_MS, f"t_ms goes from {before[_T_MS]!r} to {after[_T_MS]!r}")


def _of_row(run: Run, number: int, column: int, problem: str) -> Problem:
    return Problem(run.at("batch_memory", "rows", number, column), problem, RERUN)
