"""Paired ratios: each run beside the baseline's run of the same repetition.

Repetitions are the rounds of an interleaved measurement. What disturbs the machine for longer than a round
disturbs both sides of a ratio alike, and so leaves the ratio alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tallymark.errors import SpecError
from tallymark.stats import order
from tallymark.tables.aggregates import Number, numbers
from tallymark.tables.evidence import Run, State
from tallymark.tables.groups import Row
from tallymark.tables.spec import Column


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs of one repetition; in the baseline's own row they are the same run."""

    run: Run
    base: Run

    @property
    def failed(self) -> bool:
        """Whether either did not complete: then the pair has no ratio."""
        return State.FAILED in (self.run.state, self.base.state)


def pair(row: Row, baseline: Row, where: str) -> tuple[Pair, ...]:
    """The pairs of a row, in the order of its runs; none when either row has no run that is not excluded.

    SpecError: a repetition stands in one of the two rows only, or twice in one.
    """
    own, base = _by_repetition(row, where), _by_repetition(baseline, where)
    if not own or not base:
        return ()
    for repetition in sorted({*own} ^ {*base}):
        there, lacking = (row, baseline) if repetition in own else (baseline, row)
        problem = f"repetition {repetition} of row {there.id} has no partner in row {lacking.id}"
        raise SpecError(f"{where}.baseline", problem, "complete the data, or exclude the run with its reason")
    return tuple(Pair(run, base[repetition]) for repetition, run in own.items())


def sides(pairs: Sequence[Pair]) -> tuple[Run, ...]:
    """Every run of the pairs once: the row's own, then the baseline's."""
    both = [one.run for one in pairs] + [one.base for one in pairs]
    return tuple({(run.document.sha256, run.pointer): run for run in both}.values())


def aggregate(column: Column, pairs: Sequence[Pair], where: str) -> Number:
    """Median, least or greatest of the ratios value(run) / value(base); value = source, or source / over.

    SpecError: a value that divides is 0. FindingsError: one is not a number.
    """
    own, base = (_values(column, side, where) for side in zip(*[(p.run, p.base) for p in pairs], strict=True))
    if 0 in base:
        problem = f"{column.source} is 0 in row {column.baseline}, and nothing divides by 0"
        raise SpecError(f"{where}.baseline", problem, "use another aggregate")
    return _OVER_PAIRS[column.aggregate]([left / right for left, right in zip(own, base, strict=True)])


def _values(column: Column, runs: Sequence[Run], where: str) -> list[Number]:
    assert column.source is not None
    values = numbers(runs, column.source)
    if column.over is None:
        return values
    below = numbers(runs, column.over)
    if 0 in below:
        raise SpecError(f"{where}.over", f"{column.over} is 0 in a run", "use another aggregate")
    return [left / right for left, right in zip(values, below, strict=True)]


def _by_repetition(row: Row, where: str) -> dict[int, Run]:
    found: dict[int, Run] = {}
    for run in row.runs:
        repetition: int = run.value["repetition"]
        if run.state is State.EXCLUDED:
            continue
        if repetition in found:
            problem = (
                f"repetition {repetition} of row {row.id} is in {found[repetition].where} and {run.where}"
            )
            raise SpecError(f"{where}.baseline", problem, "pair the runs of one execution only")
        found[repetition] = run
    return found


_OVER_PAIRS: Mapping[str, Callable[[Sequence[Number]], Number]] = {
    "median_of_paired_ratios": order.median,
    "min_of_paired_ratios": min,
    "max_of_paired_ratios": max,
}
