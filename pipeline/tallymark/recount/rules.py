"""The published rules against where rules come from: the schemas of the evidence and the project's TOML.

A spec that was changed together with the table would agree with it; it does not agree with these.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from tallymark import schemas, units
from tallymark.errors import UsageError
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.published import Json, Report
from tallymark.recount.shown import value_text
from tallymark.recount.tokens import numbers

_REBUILD = "Build the site again from the report spec"
_COLUMN_KEYS = [
    "name",
    "title",
    "aggregate",
    "source",
    "over",
    "baseline",
    "percentile",
    "samples",
    "unit",
    "places",
    "significant",
    "include_failed",
    "footnote",
    "population",
    "outside",
    "outcome",
    "skip",
    "resolution",
]
_SAID = ("source", "over", "baseline", "percentile", "outcome", "skip", "resolution")
_SPEC_KEYS = (
    "name",
    "version",
    "title",
    "data",
    "rows",
    "row_titles",
    "determined",
    "repetitions",
    "scope",
    "charts",
    "claims",
    "exclude",
)


def compare_schema(report: Report, file: str) -> Iterator[Difference]:
    """Configuration keys, units, factors, directions and definitions are those of the evidence schema."""
    schema = report.spec["evidence_schema"]
    try:
        keys = _config_keys(schema, bool(report.spec.get("evidence_older")))
    except UsageError as error:
        yield Difference(file, "$.evidence_schema", error.problem, error.do)
        return
    if report.spec["config_keys"] != keys:
        shown, wanted = (", ".join(map(_key_text, some)) for some in (report.spec["config_keys"], keys))
        yield mismatch(file, "$.config_keys", shown, wanted, _REBUILD)
    yield from _compare_older(report, schema, file)
    for at, column in enumerate(report.spec["columns"]):
        for key, wanted_value in _column_facts(column, schema).items():
            if column.get(key) != wanted_value:
                place = f"$.columns[{at}].{key}"
                yield mismatch(file, place, value_text(column.get(key)), value_text(wanted_value), _REBUILD)
        for definition in _definitions(column, schema):
            if definition not in column.get("definition", ""):
                problem = f'lacks what the schema says: "{definition}"'
                yield Difference(file, f"$.columns[{at}].definition", problem, _REBUILD)
        yield from _compare_sentence(file, f"$.columns[{at}].rule", column)


def _config_keys(schema: str, pooled: bool) -> list[Json]:
    """The configuration keys of a schema, beside older evidence with what that is read with."""
    return [
        {"name": key.name, "pointer": key.pointer}
        | ({"default_before": key.default_before} if pooled and key.default_before is not None else {})
        for key in schemas.config_keys(schema)
    ]


def _key_text(key: Json) -> str:
    default = f" = {value_text(key['default_before'])}" if "default_before" in key else ""
    return f"{key['name']}{default}"


def _compare_older(report: Report, schema: str, file: str) -> Iterator[Difference]:
    """The older schemas are those of the raw files, and earlier minor versions of the evidence's schema."""
    older = sorted({document.schema for document in report.data} - {schema})
    shown = report.spec.get("evidence_older", [])
    if shown != older:
        yield mismatch(file, "$.evidence_older", ", ".join(shown), ", ".join(older), _REBUILD)
    elif older and schemas.newest([schema, *older]) != schema:
        problem = f"{', '.join(older)} are no earlier minor versions of {schema}"
        yield Difference(file, "$.evidence_older", problem, _REBUILD)


def _column_facts(column: Json, schema: str) -> Json:
    """What the schema fixes for a column: unit of the source, factor, direction."""
    if not column.get("source"):
        return {"source_unit": "1", "unit": "1", "factor": [1, 1], "direction": "none"}
    note = schemas.run_annotation(schema, column["source"])
    source_unit = "ns" if column["aggregate"] == "pooled_percentile" else note.unit if note else None
    over = schemas.run_annotation(schema, column["over"]) if column.get("over") else None
    try:
        if column.get("baseline"):
            factor = list(units.factor("ratio", column["unit"]))
        else:
            factor = _factor(str(source_unit), over.unit if over else None, column["unit"])
    except (units.UnitError, ZeroDivisionError):
        factor = None
    direction = (note.direction or "none") if note and not over else "none"
    return {"source_unit": source_unit, "factor": factor, "direction": direction}


def _definitions(column: Json, schema: str) -> Iterator[str]:
    """What the schema says about the measures that a column takes."""
    for key in ("source", "over"):
        note = schemas.run_annotation(schema, column[key]) if column.get(key) else None
        if note is not None and note.definition:
            yield schemas.definition(note.definition)


def _factor(source: str, over: str | None, shown: str) -> list[int]:
    """Numerator and denominator that turn source (or source / over) into the unit shown, in lowest terms."""
    if over is None:
        return list(units.factor(source, shown))
    above, below = units.unit(source).quantity, units.unit(over).quantity
    if above == below:
        found = Fraction(*units.factor(source, over)) * Fraction(*units.factor("ratio", shown))
    elif below == "count":
        found = Fraction(*units.factor(source, shown))
    else:  # a count over a time is a rate
        found = Fraction(*units.factor("s", over)) * Fraction(*units.factor("1/s", shown))
    return [found.numerator, found.denominator]


def _compare_sentence(file: str, place: str, column: Json) -> Iterator[Difference]:
    """The rule as a sentence names what the column computes and how it rounds, and no other number."""
    rule = str(column.get("rule", ""))
    named = [str(column[key]) for key in _SAID if column.get(key)]
    roundings = _roundings(column)
    missing = [part for part in named if part not in rule]
    if not any(words in rule for words in roundings):
        missing.append(roundings[0])
    known = {number for part in (*named, *roundings, column["unit"]) for number in numbers(part)}
    if column["aggregate"] in ("theil_sen_low", "theil_sen_high"):
        known.add("95")  # the level of the interval, which the aggregate fixes
    invented = [number for number in numbers(rule) if number not in known]
    if missing or invented:
        problem = f'"{rule}" does not say {", ".join(missing) or "only what the column computes"}'
        yield Difference(file, place, problem, _REBUILD)


def _roundings(column: Json) -> tuple[str, ...]:
    """The words that can state the rounding; whole numbers have several, and a count needs none."""
    if column.get("significant") is not None:
        return (f"{column['significant']} significant digits",)
    if column["places"] != 0:
        return (f"{column['places']} place",)
    return ("a whole number", "0 places", *([""] if column["aggregate"] == "run_count" else []))


def compare_toml(report: Report, file: str, project: Path) -> Iterator[Difference]:
    """Every rule and sentence of the published spec equals the TOML of the project, when it has one."""
    path = project / "site" / "reports" / f"{report.name}.toml"
    if not path.is_file():
        return
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        yield Difference(path.relative_to(project).as_posix(), "", f"cannot be read ({error})", "Correct it")
        return
    for key in _SPEC_KEYS:
        yield from _same(file, f"$.{key}", report.spec.get(key), declared.get(key))
    yield from _same(file, "$.expected_rows", report.spec.get("expected_rows"), _expected_rows(declared))
    columns = declared.get("columns", [])
    if [one.get("name") for one in columns] != list(report.columns):
        shown, wanted = ", ".join(report.columns), ", ".join(str(one.get("name")) for one in columns)
        yield mismatch(file, "$.columns", shown, wanted, _REBUILD)
        return
    for at, (column, said) in enumerate(zip(report.spec["columns"], columns, strict=True)):
        for key in _COLUMN_KEYS:
            default = _default(key, column, said)
            yield from _same(file, f"$.columns[{at}].{key}", column.get(key), said.get(key, default))


def _expected_rows(declared: Json) -> list[Json] | None:
    """Every combination of the declared row values, in the order of the row keys."""
    values = declared.get("expected_rows")
    if values is None:
        return None
    names = declared.get("rows", [])
    combinations = itertools.product(*(values.get(name, []) for name in names))
    return [dict(zip(names, combination, strict=True)) for combination in combinations]


def _default(key: str, column: Json, said: Json) -> Any:
    """What a column means by leaving a key out."""
    counts = said.get("aggregate") == "run_count" and "significant" not in said
    defaults = {
        "title": said.get("name"),
        "include_failed": False,
        "places": 0 if counts else None,
        "unit": column.get("unit") if _unit_follows(column) else None,
    }
    return defaults.get(key)


def _unit_follows(column: Json) -> bool:
    """Without a declared unit the shown one is the source's own, or that of the quotient."""
    if column.get("baseline") is not None:
        return column.get("unit") == "ratio"
    return column.get("over") is not None or column.get("unit") == column.get("source_unit")


def _same(file: str, place: str, shown: Any, declared: Any) -> Iterator[Difference]:
    if shown != declared:
        yield mismatch(file, place, value_text(shown), value_text(declared), _REBUILD)
