"""The named aggregates: many runs in, one number out, in the unit of the source.

The sequence of operations is fixed, so that every implementation gives the same double: median, maximum
and sums of the source values first (integers exactly, floats by ``math.fsum``), then one division, then the
unit factor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tallymark.errors import FindingsError, SpecError
from tallymark.histogram import Histogram, HistogramError, merged
from tallymark.stats import order, slopes
from tallymark.tables.evidence import Run, spelled
from tallymark.tables.spec import Column
from tallymark.tables.spec_rules import quantile

Number: TypeAlias = "int | float"
Values: TypeAlias = Sequence[Number]


def lookup(run: Run, path: str) -> Any:
    """The value of a dotted path in a run record; None when it is null or not there.

    A series ({"columns", "rows"}) gives the values of the column that the path ends with, as a list.
    """
    value: Any = run.value
    for name in path.split("."):
        if isinstance(value, Mapping) and name not in value and name in value.get("columns", ()):
            at = value["columns"].index(name)
            value = [row[at] for row in value["rows"]]
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    return value


def numbers(runs: Sequence[Run], path: str) -> list[Number]:
    """The value of each run. FindingsError: one of them is not a number."""
    values = [lookup(run, path) for run in runs]
    for run, value in zip(runs, values, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise FindingsError(f"{run.where}.{path}", f"{value!r} is not a number", "use another source")
    return values


def total(values: Values) -> Number:
    """The exact sum of integers, or the correctly rounded one when there are floats."""
    return sum(values) if all(isinstance(value, int) for value in values) else math.fsum(values)


def pooled(runs: Sequence[Run], path: str) -> Histogram:
    """The runs' histograms added. FindingsError: one contradicts itself or has another layout."""
    try:
        return merged([Histogram.from_record(lookup(run, path)) for run in runs])
    except HistogramError as error:
        raise FindingsError(f"{runs[0].where}.{path}", str(error), "take the files apart") from None


def points(run: Run, column: Column) -> list[tuple[Number, Number]]:
    """(x, y) of the series that a slope is taken over, without the rows that are skipped or hold a null."""
    assert column.source is not None and column.over is not None
    pairs = zip(lookup(run, column.over), lookup(run, column.source), strict=True)
    return [(x, y) for x, y in list(pairs)[column.skip :] if x is not None and y is not None]


def aggregate(column: Column, runs: Sequence[Run], where: str) -> Number:
    """The number of a cell. ``where`` is the column in the spec.

    SpecError: the aggregate does not fit the values (a division by 0, several values for only_value).
    """
    return _AGGREGATES[column.aggregate](column, runs, where)


def _run_count(column: Column, runs: Sequence[Run], where: str) -> Number:
    return len(runs)


def _simple(rule: Callable[[Values], Number]) -> Callable[[Column, Sequence[Run], str], Number]:
    def compute(column: Column, runs: Sequence[Run], where: str) -> Number:
        assert column.source is not None
        return rule(numbers(runs, column.source))

    return compute


def _only_value(column: Column, runs: Sequence[Run], where: str) -> Number:
    assert column.source is not None
    values = numbers(runs, column.source)
    for run, value in zip(runs, values, strict=True):
        if spelled(value) != spelled(values[0]):
            problem = f"{column.source} is {values[0]!r} in {runs[0].where} and {value!r} in {run.where}"
            raise SpecError(where, problem, "use another aggregate")
    return values[0]


def _ratio_of_totals(column: Column, runs: Sequence[Run], where: str) -> Number:
    assert column.source is not None and column.over is not None
    return total(numbers(runs, column.source)) / _divisor(total(numbers(runs, column.over)), column, where)


def _total_over_median(column: Column, runs: Sequence[Run], where: str) -> Number:
    assert column.source is not None and column.over is not None
    mean = total(numbers(runs, column.source)) / len(runs)
    return mean / _divisor(order.median(numbers(runs, column.over)), column, where)


def _divisor(value: Number, column: Column, where: str) -> Number:
    if value == 0:
        raise SpecError(
            f"{where}.over", f"{column.over} is 0, and nothing divides by 0", "use another aggregate"
        )
    return value


def _pooled_percentile(column: Column, runs: Sequence[Run], where: str) -> Number:
    assert column.source is not None and column.percentile is not None
    return pooled(runs, column.source).percentile_ns(*quantile(column.percentile))


def _theil_sen(
    end: str, over_runs: Callable[[Values], Number]
) -> Callable[[Column, Sequence[Run], str], Number]:
    """Each run has its slope and interval; of several runs the middle slope and the outer ends are taken."""

    def compute(column: Column, runs: Sequence[Run], where: str) -> Number:
        found: list[Number] = []
        for run in runs:
            try:
                found.append(getattr(slopes.theil_sen(points(run, column), column.resolution), end))
            except ValueError as error:
                raise FindingsError(
                    f"{run.where}.{column.source}", str(error), "use another series"
                ) from None
        return over_runs(found)

    return compute


_AGGREGATES: Mapping[str, Callable[[Column, Sequence[Run], str], Number]] = {
    "run_count": _run_count,
    "median_of_runs": _simple(order.median),
    "max_of_runs": _simple(max),
    "min_of_runs": _simple(min),
    "total": _simple(total),
    "only_value": _only_value,
    "ratio_of_totals": _ratio_of_totals,
    "total_over_median": _total_over_median,
    "pooled_percentile": _pooled_percentile,
    "theil_sen_slope": _theil_sen("slope", order.median),
    "theil_sen_low": _theil_sen("low", min),
    "theil_sen_high": _theil_sen("high", max),
}
