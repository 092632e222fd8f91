"""Rules about memory and about the timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from tallymark.check.rule import Problem, Run, run_rule

_RERUN: Final = "Run the suite again; a record is never corrected by hand"
# The kernel counts resident pages a CPU at a time and folds the counts in batches, so two readings of the
# same moment may differ by some hundred KiB; a peak that was lost differs by far more.
RSS_SLACK_BYTES: Final = 1 << 20
_T_MS, _QUEUE, _ACTIVE, _RSS, _THREADS, _CPU_MS = range(6)


@run_rule(
    "rss-peak",
    "Peak memory is at least the memory at start and end",
    why="VmHWM and VmRSS come from one definition; a smaller peak was read in another unit or from another "
    "process.",
)
def rss_peak(run: Run) -> Iterator[Problem]:
    """peak_rss_bytes ≥ rss_at_start_bytes and rss_at_end_bytes."""
    peak = run.value.get("peak_rss_bytes")
    for key in ("rss_at_start_bytes", "rss_at_end_bytes"):
        if peak is not None and key in run.value and run.value[key] > peak:
            yield run.found("peak_rss_bytes", f"{peak} is below {key} = {run.value[key]}", _RERUN)


@run_rule(
    "timeline-order",
    "Time and CPU time grow along the timeline",
    why="Rows out of order draw a chart of something that did not happen.",
)
def timeline_order(run: Run) -> Iterator[Problem]:
    """t_ms and cpu_ms never fall; samples = number of rows."""
    timeline = run.value.get("timeline")
    if timeline is None:
        return
    rows: Sequence[Sequence[Any]] = timeline["rows"]
    if timeline["samples"] != len(rows):
        yield Problem(
            run.at("timeline", "samples"), f"{timeline['samples']} samples, but {len(rows)} rows", _RERUN
        )
    for column, name in ((_T_MS, "t_ms"), (_CPU_MS, "cpu_ms")):
        for number, (before, after) in enumerate(pairwise(rows), start=1):
            if after[column] < before[column]:
                pointer = run.at("timeline", "rows", number, column)
                yield Problem(pointer, f"{name} falls from {before[column]!r} to {after[column]!r}", _RERUN)


@run_rule(
    "timeline-peaks",
    "No sample exceeds the peak of the run",
    why="Peaks are counted exactly, samples now and then: a sample above its peak contradicts it.",
)
def timeline_peaks(run: Run) -> Iterator[Problem]:
    """Sampled queue, active, RSS and threads ≤ queue_peak, active_peak, peak_rss_bytes and threads_peak."""
    timeline = run.value.get("timeline")
    if timeline is None:
        return
    peaks = (
        (_QUEUE, "queue_peak", 0),
        (_ACTIVE, "active_peak", 0),
        (_RSS, "peak_rss_bytes", RSS_SLACK_BYTES),
        (_THREADS, "threads_peak", 0),
    )
    for column, key, slack in peaks:
        for number, row in enumerate(timeline["rows"]):
            if key in run.value and (row[column] or 0) > run.value[key] + slack:
                pointer = run.at("timeline", "rows", number, column)
                yield Problem(pointer, f"{row[column]} is above {key} = {run.value[key]}", _RERUN)
