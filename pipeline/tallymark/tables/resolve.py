"""A spec meets the schema of its evidence: every source gets its unit, every column its factor and rule.

The resolved spec is published as JSON; with it alone ``recount.py`` computes the same table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tallymark import schemas, units
from tallymark.errors import SpecError
from tallymark.tables.spec import Column, Spec
from tallymark.units import UnitError

_HISTOGRAM_UNIT = "ns"
_POOLED = "pooled_percentile"
# what a published spec carries over from the declared one word for word
_KEPT = ("row_titles", "determined", "scope", "charts", "claims", "exclude")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A column that can be computed: ``shown = source value * factor[0] / factor[1]``, in ``unit``."""

    column: Column
    unit: str
    source_unit: str
    factor: tuple[int, int]
    direction: str
    definition: str
    rule: str

    def to_json(self) -> dict[str, Any]:
        """The column of the published spec: all that an independent recount needs, and what a page says."""
        column = self.column
        optional = {
            "source": column.source,
            "over": column.over,
            "baseline": column.baseline,
            "percentile": column.percentile,
            "samples": column.samples,
            "places": column.places,
            "significant": column.significant,
            "footnote": column.footnote,
            "population": column.population,
            "outside": column.outside,
            "outcome": column.outcome,
            "skip": column.skip or None,
            "resolution": column.resolution or None,
        }
        return {
            "name": column.name,
            "title": column.title,
            "aggregate": column.aggregate,
            **{key: value for key, value in optional.items() if value is not None},
            "unit": self.unit,
            "source_unit": self.source_unit,
            "factor": list(self.factor),
            "include_failed": column.include_failed,
            "direction": self.direction,
            "definition": self.definition,
            "rule": self.rule,
        }


@dataclass(frozen=True, slots=True)
class ResolvedSpec:
    """A spec with the schema of its evidence: configuration keys as (name, pointer), computable columns.

    ``older``: the earlier minor versions among the data, read with the defaults of ``evidence_schema``.
    """

    spec: Spec
    evidence_schema: str
    config_keys: Mapping[str, str]
    columns: tuple[Resolved, ...]
    older: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The published ``NAME.spec.json``."""
        declared = self.spec.declared
        kept = {key: declared[key] for key in _KEPT if key in declared}
        expected = self.expected_keys()
        return {
            "schema": declared["schema"],
            "name": self.spec.name,
            "version": self.spec.version,
            "title": self.spec.title,
            "evidence_schema": self.evidence_schema,
            **({"evidence_older": list(self.older)} if self.older else {}),
            "data": list(self.spec.data),
            "rows": list(self.spec.rows),
            "repetitions": declared["repetitions"],
            **({} if expected is None else {"expected_rows": expected}),
            "config_keys": self._config_keys(),
            "columns": [column.to_json() for column in self.columns],
            **kept,
        }

    def _config_keys(self) -> list[dict[str, Any]]:
        """Every key and where it is; beside older documents also what they are read with."""
        defaults = {key.name: key.default_before for key in schemas.config_keys(self.evidence_schema)}
        return [
            {"name": name, "pointer": at}
            | ({"default_before": defaults[name]} if self.older and defaults[name] is not None else {})
            for name, at in self.config_keys.items()
        ]

    def expected_keys(self) -> list[dict[str, Any]] | None:
        """Every combination of the declared row values, or None when the spec declares none."""
        if self.spec.expected_rows is None:
            return None
        keys: list[dict[str, Any]] = [{}]
        for name in self.spec.rows:
            keys = [{**key, name: value} for key in keys for value in self.spec.expected_rows[name]]
        return keys


def resolve(spec: Spec, evidence_schema: str, older: tuple[str, ...] = ()) -> ResolvedSpec:
    """Fit a spec to evidence of one schema and of ``older`` minor versions of it.

    SpecError: an unknown key or source, a unit that does not fit.
    """
    config_keys = {key.name: key.pointer for key in schemas.config_keys(evidence_schema)}
    for member, names in (("rows", spec.rows), ("determined", spec.determined)):
        for index, name in enumerate(names):
            if name not in config_keys:
                problem = f"{name!r} is not a configuration key of {evidence_schema}"
                do = f"use one of {', '.join(config_keys)}"
                raise SpecError(spec.where(f"$.{member}[{index}]"), problem, do)
    columns = tuple(
        _column(column, evidence_schema, spec.where(f"$.columns[{index}]"))
        for index, column in enumerate(spec.columns)
    )
    return ResolvedSpec(spec, evidence_schema, config_keys, columns, older)


def _column(column: Column, evidence_schema: str, where: str) -> Resolved:
    if column.source is None:
        return _finished(column, "1", "1", (1, 1), ())
    known: dict[str, schemas.Annotation] = {}
    for key, source in (("source", column.source), ("over", column.over), ("samples", column.samples)):
        note = None if source is None else schemas.run_annotation(evidence_schema, source)
        if source is not None and note is not None:
            known[source] = note
        elif source is not None:
            problem = f"{source!r} is not measured by {evidence_schema}"
            raise SpecError(f"{where}.{key}", problem, "use a property of its runs")
    note = known.get(column.source)
    source_unit = _HISTOGRAM_UNIT if column.aggregate == _POOLED else _unit(note, column.source, where)
    try:
        if column.baseline is not None:
            unit = column.unit or "ratio"
            factor = units.factor("ratio", unit)
        elif column.over is None:
            unit = column.unit or source_unit
            factor = units.factor(source_unit, unit)
        else:
            over_unit = _unit(known.get(column.over), column.over, where)
            unit, factor = _quotient(source_unit, over_unit, column.unit)
    except UnitError as error:
        raise SpecError(
            f"{where}.unit", str(error), "choose a unit that the source can be shown in"
        ) from None
    notes = [known[path] for path in (column.source, column.over) if path is not None]
    return _finished(column, unit, source_unit, factor, notes)


def _unit(note: schemas.Annotation | None, source: str, where: str) -> str:
    if note is None or note.unit is None:
        raise SpecError(f"{where}.source", f"{source!r} has no unit", "use a measure of the runs")
    return note.unit


def _quotient(source: str, over: str, shown: str | None) -> tuple[str, tuple[int, int]]:
    """Unit and factor of source / over: a rate, a share, or so much a piece. UnitError: none of them."""
    above, below = units.unit(source).quantity, units.unit(over).quantity
    if above == below:
        shown = shown or "ratio"
        factor = _product(units.factor(source, over), units.factor("ratio", shown))
    elif below == "count":
        shown = shown or source
        factor = units.factor(source, shown)
    elif above == "count" and below == "time":
        shown = shown or "1/s"
        factor = _product(units.factor("s", over), units.factor("1/s", shown))
    else:
        raise UnitError(f"{source!r} over {over!r} has no unit in the table")
    return shown, factor


def _product(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    whole = Fraction(*left) * Fraction(*right)
    return whole.numerator, whole.denominator


def _finished(
    column: Column,
    unit: str,
    source_unit: str,
    factor: tuple[int, int],
    notes: Sequence[schemas.Annotation],
) -> Resolved:
    """``notes`` are the annotations of the source and of what it is divided by."""
    texts = [schemas.definition(note.definition) for note in notes if note.definition]
    resolved = Resolved(
        column=column,
        unit=unit,
        source_unit=source_unit,
        factor=factor,
        # a quotient of two measures has no direction that a schema could know
        direction=(notes[0].direction or "none") if len(notes) == 1 else "none",
        definition=" Divided by: ".join(texts),
        rule="",
    )
    return replace(resolved, rule=rule(resolved))


_PAIRED = "{value}, divided by the same of {baseline} in the same round"
_INTERVAL = (
    "95 % interval (Sen, by ranks, normal approximation) of the Theil–Sen slope of {source} over {over}"
)
_HOW = {
    "run_count": "number of",
    "median_of_runs": "median over the runs of {source}",
    "max_of_runs": "largest of the runs' {source}",
    "min_of_runs": "smallest of the runs' {source}",
    "total": "sum over the runs of {source}",
    "only_value": "the one value of {source} that all runs share",
    "ratio_of_totals": "sum of {source} over the runs, divided by the sum of {over}",
    "total_over_median": "mean of {source} a run, divided by the median over the runs of {over}",
    "pooled_percentile": "{percentile} percentile of all samples in the added histograms {source}",
    "median_of_paired_ratios": "median over the rounds of " + _PAIRED,
    "min_of_paired_ratios": "smallest over the rounds of " + _PAIRED,
    "max_of_paired_ratios": "largest over the rounds of " + _PAIRED,
    "theil_sen_slope": "median over the runs of the Theil–Sen slope of {source} over {over}",
    "theil_sen_low": f"smallest over the runs of the lower end of the {_INTERVAL}",
    "theil_sen_high": f"largest over the runs of the upper end of the {_INTERVAL}",
}


def rule(resolved: Resolved) -> str:
    """The rule of a column as a sentence: aggregate, unit, percentile bound, rounding."""
    column = resolved.column
    how = _HOW[column.aggregate].format(
        source=column.source,
        over=column.over,
        percentile=column.percentile,
        baseline=column.baseline,
        value=column.source if column.over is None else f"{column.source} / {column.over}",
    )
    runs = "runs, failed ones too" if column.include_failed else "completed runs"
    runs += ", several of a row in a round by their median" if column.baseline else ""
    if column.outcome is not None:
        runs = f"runs whose outcome is {column.outcome}"
    parts = [f"{how} ({runs})" if column.source else f"{how} {runs}"]
    if column.skip:
        parts.append(f"without the first {column.skip} rows of each series")
    if column.resolution:
        parts.append(
            f"both ends wider by {column.resolution} {resolved.source_unit} over the length of the series"
        )
    if column.aggregate == _POOLED:
        parts.append("nearest rank, shown as the upper bound of its histogram bucket")
    elif column.percentile:
        parts.append(f"each run's {column.percentile} percentile being the upper bound of a histogram bucket")
    if resolved.unit != "1":
        parts.append("as a ratio" if resolved.unit == "ratio" else f"in {resolved.unit}")
    digits = (
        f"{column.significant} significant digits" if column.places is None else f"{column.places} places"
    )
    parts.append(f"rounded half up to {digits}")
    return ", ".join(parts)
