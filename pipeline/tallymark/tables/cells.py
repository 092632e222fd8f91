"""One cell: an exact value with its text and lineage, or an absence with its reason; never a guess."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tallymark import units
from tallymark.errors import FindingsError, SpecError
from tallymark.stats import order, slopes
from tallymark.tables import paired
from tallymark.tables.aggregates import aggregate, lookup, numbers, points, pooled
from tallymark.tables.evidence import Run, State
from tallymark.tables.groups import Row
from tallymark.tables.resolve import Resolved
from tallymark.tables.spec import Column
from tallymark.tables.spec_rules import SLOPES, quantile

UPPER_BOUND = "≤ "
OVERLOADED = "overloaded"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value of a cell stands: digest and path of the file, pointer in it."""

    sha256: str
    path: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Absent:
    """Why a cell has no number. ``kind``: failed, skipped, not_measured or refused."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the table. ``exact`` is in the shown unit; it is None exactly when ``absent`` is not.

    ``n`` counts runs; ``samples`` the values behind a percentile (of the smallest run, unless pooled).
    ``ties``: another cell of the column shows the same text for a different exact value.
    """

    text: str
    exact: int | float | None
    n: int
    sources: tuple[Source, ...]
    samples: int | None = None
    absent: Absent | None = None
    ties: bool = False

    def to_json(self) -> dict[str, Any]:
        """The cell of ``report/1.1``."""
        sources = [
            {"sha256": source.sha256, "path": source.path, "pointer": source.pointer}
            for source in self.sources
        ]
        shown = {"text": self.text, "n": self.n, "sources": sources}
        if self.absent is not None:
            return {"absent": {"kind": self.absent.kind, "reason": self.absent.reason}, **shown}
        samples = {} if self.samples is None else {"samples": self.samples}
        return {"exact": self.exact, **shown, **samples, **({"ties": True} if self.ties else {})}


def compute(resolved: Resolved, row: Row, where: str, baseline: Row | None = None) -> Cell:
    """The cell of a column in a row. ``where`` is the column in the spec, ``baseline`` the row it names.

    SpecError or FindingsError: the values do not fit the aggregate.
    """
    column = resolved.column
    if baseline is not None:
        return _paired(resolved, row, baseline, where)
    runs = [run for run in row.runs if _counts(column, run)]
    absent = _absence(column, row, runs) or _too_short(column, runs)
    if absent is not None:
        return _without(absent)
    samples = _samples(column, runs)
    if column.percentile is not None and samples is not None:
        least = order.minimum_samples(*quantile(column.percentile))
        if samples < least:
            return _without(Absent("refused", f"needs {least} samples, has {samples}"))
    exact = _exact(resolved, aggregate(column, runs, where), where)
    return Cell(_text(column, exact), exact, len(runs), _sources(column, runs), samples)


def _paired(resolved: Resolved, row: Row, baseline: Row, where: str) -> Cell:
    """The cell of a paired ratio: ``n`` counts pairs, and the sources are those of both rows."""
    column = resolved.column
    pairs = paired.pair(row, baseline, where)
    runs = paired.sides(pairs)
    failed = sum(pair.failed for pair in pairs)
    if any(run.state is not State.EXCLUDED for run in row.runs) and not pairs:
        return _without(Absent("not_measured", "baseline not measured"))
    if failed:
        return _without(Absent("failed", f"failed in {failed} of {len(pairs)} pairs"))
    absent = _absence(column, row, runs)
    if absent is not None:
        return _without(absent)
    exact = _exact(resolved, paired.aggregate(column, pairs, where), where)
    return Cell(_text(column, exact), exact, len(pairs), _sources(column, runs))


def _without(absent: Absent) -> Cell:
    return Cell(text=absent.reason, exact=None, n=0, sources=(), absent=absent)


def _exact(resolved: Resolved, value: int | float, where: str) -> int | float:
    try:
        return units.scaled(value, *resolved.factor)
    except ValueError as error:
        raise SpecError(where, str(error), "use another aggregate") from None


def mark_ties(rows: Sequence[Mapping[str, Cell]]) -> list[dict[str, Cell]]:
    """The same cells, those marked whose column shows their text for another exact value too."""
    seen: defaultdict[tuple[str, str], set[int | float]] = defaultdict(set)
    for row in rows:
        for name, cell in row.items():
            if cell.exact is not None:
                seen[name, cell.text].add(cell.exact)
    return [
        {name: replace(cell, ties=len(seen[name, cell.text]) > 1) for name, cell in row.items()}
        for row in rows
    ]


def _counts(column: Column, run: Run) -> bool:
    if column.outcome is not None:
        return run.state is not State.EXCLUDED and run.value.get("outcome") == column.outcome
    return run.state is State.PUBLISHED or (column.include_failed and run.state is State.FAILED)


def _absence(column: Column, row: Row, runs: Sequence[Run]) -> Absent | None:
    if not row.runs:
        return Absent("not_measured", "not measured")
    overloaded = _overloaded(column, row, runs)
    if overloaded is not None:
        return overloaded
    if not runs and column.aggregate != "run_count":
        if any(run.state is State.FAILED for run in row.runs):
            return Absent("failed", f"all runs {_ends(row)}")
        return Absent("skipped", "all runs excluded")
    needed = [path for path in (column.source, column.over, column.samples) if path is not None]
    lacking = sum(any(lookup(run, path) is None for path in needed) for run in runs)
    if lacking:
        return Absent("not_measured", f"not measured in {lacking} of {len(runs)} runs")
    return None


def _ends(row: Row) -> str:
    """How the runs of a row ended, in a word: the one of all that are not excluded, else failed."""
    outcomes = {run.value.get("outcome") for run in row.runs if run.state is not State.EXCLUDED}
    return (
        {"killed": "killed", "timed_out": "timed out"}.get(str(outcomes.pop()), "failed")
        if len(outcomes) == 1
        else "failed"
    )


def _overloaded(column: Column, row: Row, runs: Sequence[Run]) -> Absent | None:
    """Where the queue grew for as long as was measured, a value tells how long that was, and a percentile of
    the other runs of the row would tell of those that happened to be calm."""
    kept = [run for run in row.runs if run.state is not State.EXCLUDED]
    found = sum(run.value.get("outcome") == OVERLOADED for run in kept)
    if not found or column.aggregate == "run_count":
        return None
    if found == len(kept) and not runs:
        return Absent("failed", OVERLOADED)
    if column.percentile is not None:
        said = OVERLOADED if found == len(kept) else f"{OVERLOADED} in {found} of {len(kept)} runs"
        return Absent("failed", said)
    return None


def _too_short(column: Column, runs: Sequence[Run]) -> Absent | None:
    """A slope needs points in every run."""
    if column.aggregate not in SLOPES:
        return None
    counts = [len(points(run, column)) for run in runs]
    if min(counts) < slopes.MINIMUM_POINTS:
        return Absent("refused", f"needs {slopes.MINIMUM_POINTS} points, has {min(counts)}")
    if max(counts) > slopes.MAXIMUM_POINTS:
        return Absent("refused", f"takes {slopes.MAXIMUM_POINTS} points, has {max(counts)}")
    return None


def _samples(column: Column, runs: Sequence[Run]) -> int | None:
    if column.percentile is None or column.source is None:
        return None
    if column.samples is None:
        return pooled(runs, column.source).count
    fewest = min(numbers(runs, column.samples))
    if not isinstance(fewest, int):
        raise FindingsError(f"{runs[0].where}.{column.samples}", "is not a count", "use another samples")
    return fewest


def _text(column: Column, exact: int | float) -> str:
    if column.significant is not None:
        text = units.significant(exact, column.significant)
    else:
        assert column.places is not None
        text = units.fixed(exact, column.places)
    return UPPER_BOUND + text if column.percentile is not None else text


def _sources(column: Column, runs: Sequence[Run]) -> tuple[Source, ...]:
    paths = [path for path in (column.source, column.over) if path is not None]
    if column.aggregate in SLOPES:
        paths = [paths[0].rpartition(".")[0]]  # both are columns of one series, which is what has a place
    pointers = [(run, f"{run.pointer}.{path}") for path in paths for run in runs]
    pointers = pointers or [(run, run.pointer) for run in runs]
    return tuple(Source(run.document.sha256, run.document.path, pointer) for run, pointer in pointers)
