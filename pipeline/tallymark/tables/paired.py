"""Paired ratios: the runs of each round beside the baseline's runs of the same round.

Rounds are those of an interleaved measurement; a run that names none is a round of its own, its repetition.
What disturbs the machine for longer than a round disturbs both sides of a ratio alike, and so leaves the
ratio alone. A row that ran several times in a round stands there with the median of these runs.
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
    """The runs of two rows in one round; for the baseline's own row they are the same."""

    runs: tuple[Run, ...]
    base: tuple[Run, ...]

    @property
    def failed(self) -> bool:
        """Whether any of them did not complete: then the pair has no ratio."""
        return any(run.state is State.FAILED for run in (*self.runs, *self.base))


def pair(row: Row, baseline: Row, where: str) -> tuple[Pair, ...]:
    """The pairs of a row, in the order of its runs; none when either row has no run that is not excluded.

    SpecError: a round is in one of the two rows only, or a repetition stands twice in one.
    """
    own, base = _by_round(row, where), _by_round(baseline, where)
    if not own or not base:
        return ()
    for number in sorted({*own} ^ {*base}):
        there, lacking = (row, baseline) if number in own else (baseline, row)
        problem = f"round {number} of row {there.id} has no partner in row {lacking.id}"
        raise SpecError(f"{where}.baseline", problem, "complete the data, or exclude the run with its reason")
    return tuple(Pair(tuple(runs), tuple(base[number])) for number, runs in own.items())


def sides(pairs: Sequence[Pair]) -> tuple[Run, ...]:
    """Every run of the pairs once: the row's own, then the baseline's."""
    both = [run for one in pairs for run in one.runs] + [run for one in pairs for run in one.base]
    return tuple({(run.document.sha256, run.pointer): run for run in both}.values())


def aggregate(column: Column, pairs: Sequence[Pair], where: str) -> Number:
    """Median, least or greatest of the ratios; a side is the median of its runs' source (or source / over).

    SpecError: a value that divides is 0. FindingsError: one is not a number.
    """
    ratios: list[Number] = []
    for one in pairs:
        above, below = _value(column, one.runs, where), _value(column, one.base, where)
        if below == 0:
            problem = f"{column.source} is 0 in row {column.baseline}, and nothing divides by 0"
            raise SpecError(f"{where}.baseline", problem, "use another aggregate")
        ratios.append(above / below)
    return _OVER_PAIRS[column.aggregate](ratios)


def _value(column: Column, runs: Sequence[Run], where: str) -> Number:
    assert column.source is not None
    values = numbers(runs, column.source)
    if column.over is None:
        return order.median(values)
    below = numbers(runs, column.over)
    if 0 in below:
        raise SpecError(f"{where}.over", f"{column.over} is 0 in a run", "use another aggregate")
    return order.median([left / right for left, right in zip(values, below, strict=True)])


def _by_round(row: Row, where: str) -> dict[int, list[Run]]:
    found: dict[int, list[Run]] = {}
    for run in row.runs:
        if run.state is State.EXCLUDED:
            continue
        number: int = run.value.get("round", run.value["repetition"])
        same = found.setdefault(number, [])
        if same and ("round" not in run.value or same[0].document.sha256 != run.document.sha256):
            problem = f"round {number} of row {row.id} is in {same[0].where} and {run.where}"
            raise SpecError(f"{where}.baseline", problem, "pair the runs of one execution only")
        same.append(run)
    return found


_OVER_PAIRS: Mapping[str, Callable[[Sequence[Number]], Number]] = {
    "median_of_paired_ratios": order.median,
    "min_of_paired_ratios": min,
    "max_of_paired_ratios": max,
}
