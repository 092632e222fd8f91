"""What the schema of a report spec cannot say: rules over the declared value alone, before any data is read.

Each problem is (pointer, problem, what to do); the first one stops the spec.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from tallymark.tables import prose

Problem: TypeAlias = tuple[str, str, str]

# aggregate -> the keys that it needs beside name, title and rounding
NEEDS: Mapping[str, tuple[str, ...]] = {
    "run_count": (),
    "median_of_runs": ("source",),
    "max_of_runs": ("source",),
    "min_of_runs": ("source",),
    "total": ("source",),
    "only_value": ("source",),
    "ratio_of_totals": ("source", "over"),
    "total_over_median": ("source", "over"),
    "pooled_percentile": ("source", "percentile"),
    "median_of_paired_ratios": ("source", "baseline"),
    "min_of_paired_ratios": ("source", "baseline"),
    "max_of_paired_ratios": ("source", "baseline"),
    "theil_sen_slope": ("source", "over"),
    "theil_sen_low": ("source", "over"),
    "theil_sen_high": ("source", "over"),
}
PAIRED = tuple(aggregate for aggregate, needed in NEEDS.items() if "baseline" in needed)
SLOPES = ("theil_sen_slope", "theil_sen_low", "theil_sen_high")
# A bucket of a histogram is up to 1/128 of its value wide: a fourth digit would be invented.
HISTOGRAM_DIGITS = 3
MINIMUM_NUMBERS_OF_A_CLAIM = 3
_COMPUTED = ("evidence_schema", "evidence_older", "config_keys")
_COMPUTED_OF_COLUMN = ("source_unit", "factor", "direction", "definition", "rule")
_PERCENTILE = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})\Z")
_NAMED_PERCENTILE = re.compile(r"(?:^|[._])p[0-9]{2,}(?:[._]|\Z)")


def quantile(text: str) -> tuple[int, int]:
    """The text "99/100" as two integers. ValueError: not a fraction strictly between 0 and 1."""
    match = _PERCENTILE.match(text)
    a, b = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 0 < a < b:
        raise ValueError(f"{text!r} is not a percentile between 0 and 1")
    return a, b


def problems(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Every rule that a schema-valid spec breaks, in the order of the file."""
    yield from _computed(value)
    yield from _data(value["data"])
    yield from _rows(value)
    yield from _sentences(value)
    yield from _repeated([column["name"] for column in value["columns"]], "columns", "name")
    for index, column in enumerate(value["columns"]):
        yield from _column(column, f"$.columns[{index}]")
    yield from _repeated([chart["id"] for chart in value.get("charts", ())], "charts", "id")
    yield from _repeated([claim["id"] for claim in value.get("claims", ())], "claims", "id")
    for index, claim in enumerate(value.get("claims", ())):
        yield from _claim(claim, f"$.claims[{index}]")
    yield from _exclusions(value.get("exclude", ()))


def _computed(value: Mapping[str, Any]) -> Iterator[Problem]:
    """A published spec carries what the pipeline resolved; a declared one has no business with it."""
    problem, do = "is computed from the evidence, not declared", "remove it"
    yield from ((f"$.{key}", problem, do) for key in _COMPUTED if key in value)
    if isinstance(value.get("expected_rows"), list):
        yield "$.expected_rows", "lists combinations", "list the values of every row key instead"
    for index, column in enumerate(value["columns"]):
        yield from (
            (f"$.columns[{index}].{key}", problem, do) for key in _COMPUTED_OF_COLUMN if key in column
        )


def _data(patterns: Sequence[str]) -> Iterator[Problem]:
    for index, pattern in enumerate(patterns):
        path = PurePosixPath(pattern)
        if path.is_absolute() or ".." in path.parts or "\\" in pattern or "\0" in pattern:
            yield (
                f"$.data[{index}]",
                f"{pattern!r} leaves the project",
                "write a path relative to the project, with /",
            )


def _rows(value: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _repeated(value["rows"], "rows")
    expected = value.get("expected_rows")
    if expected is not None and sorted(expected) != sorted(value["rows"]):
        problem = f"has the keys {sorted(expected)}, rows has {sorted(value['rows'])}"
        yield "$.expected_rows", problem, "list the values of every row key"
    yield from _row_titles(value["rows"], value.get("row_titles", {}))
    for index, key in enumerate(value.get("determined", ())):
        if key in value["rows"]:
            yield f"$.determined[{index}]", f"{key!r} makes the rows", "name it in one of the two"


def _row_titles(rows: Sequence[str], titles: Mapping[str, str]) -> Iterator[Problem]:
    """A title stands in charts too, where no digit has a source, and tells its key from the others."""
    shown = [titles.get(key, key) for key in rows]
    for key, title in titles.items():
        where = f"$.row_titles.{key}"
        if key not in rows:
            yield where, f"{key!r} makes no rows", f"name one of {', '.join(rows)}"
        if any(character.isdigit() for character in title):
            yield where, f"{title!r} holds a digit", "say it without a digit"
        if shown.count(title) > 1:
            yield where, f"{title!r} is the title of two row keys", "give each its own title"


def _repeated(names: Sequence[str], place: str, field: str = "") -> Iterator[Problem]:
    for name, count in Counter(names).items():
        if count > 1:
            index = [at for at, other in enumerate(names) if other == name][1]
            where = f"$.{place}[{index}]" + (f".{field}" if field else "")
            yield where, f"{name!r} appears {count} times", "give each its own name"


def _column(column: Mapping[str, Any], where: str) -> Iterator[Problem]:
    aggregate = column["aggregate"]
    for key in NEEDS[aggregate]:
        if key not in column:
            yield where, f"{aggregate} needs {key!r}", f"add {key}"
    taken = {*NEEDS[aggregate], "over"} if aggregate in PAIRED else NEEDS[aggregate]
    for key in ("source", "over", "baseline"):
        if key in column and key not in taken:
            yield f"{where}.{key}", f"{aggregate} takes no {key}", "remove it or choose another aggregate"
    if aggregate in PAIRED and column.get("include_failed"):
        problem = f"{aggregate} needs both runs of a pair to be completed"
        yield f"{where}.include_failed", problem, "remove it"
    if "outcome" in column and column.get("include_failed"):
        yield f"{where}.include_failed", "an outcome says which runs are counted", "remove it"
    yield from _series(column, where)
    yield from _rounding(column, where)
    yield from _percentile(column, where)


def _series(column: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """A slope is taken over two columns of one series, of runs that went to their end."""
    if column["aggregate"] not in SLOPES:
        return
    source, over = (column.get(key, "").rpartition(".") for key in ("source", "over"))
    if not source[0] or source[0] != over[0] or source == over:
        problem = (
            f"{'.'.join(filter(None, source))!r} and {column.get('over')!r} are not two columns of one series"
        )
        yield f"{where}.over", problem, 'write source = "SERIES.Y" and over = "SERIES.X"'
    if column.get("include_failed"):
        yield f"{where}.include_failed", "the slope of a run that broke off is none of the rest", "remove it"


def _rounding(column: Mapping[str, Any], where: str) -> Iterator[Problem]:
    if "places" in column and "significant" in column:
        yield where, "has both places and significant", "keep one of the two"
    elif "places" not in column and "significant" not in column and column["aggregate"] != "run_count":
        yield where, "has no rounding rule", "add places or significant"


def _percentile(column: Mapping[str, Any], where: str) -> Iterator[Problem]:
    text, aggregate = column.get("percentile"), column["aggregate"]
    if text is None:
        if "samples" in column:
            yield f"{where}.samples", "belongs to a percentile and there is none", "add percentile"
        elif _NAMED_PERCENTILE.search(column.get("source", "")):
            problem = f"{column['source']!r} is a percentile, and how many samples it needs is not stated"
            yield (
                f"{where}.source",
                problem,
                'add percentile = "99/100" and samples = "where the run counts them"',
            )
        return
    try:
        quantile(text)
    except ValueError as error:
        yield f"{where}.percentile", str(error), 'write it like "99/100"'
    if aggregate not in ("pooled_percentile", "median_of_runs", "max_of_runs", "min_of_runs", "only_value"):
        yield f"{where}.percentile", f"{aggregate} of percentiles means nothing", "choose another aggregate"
    if aggregate == "pooled_percentile" and "samples" in column:
        yield f"{where}.samples", "the pooled histogram counts its own samples", "remove it"
    if aggregate != "pooled_percentile" and "samples" not in column:
        yield where, "a percentile of each run needs samples", "name where a run counts them"
    if column.get("significant", HISTOGRAM_DIGITS + 1) > HISTOGRAM_DIGITS:
        problem = f"a histogram holds no more than {HISTOGRAM_DIGITS} significant digits"
        yield where, problem, f"use significant = {HISTOGRAM_DIGITS} or fewer"


def _claim(claim: Mapping[str, Any], where: str) -> Iterator[Problem]:
    found = {placeholder.reference for placeholder in prose.placeholders(claim["text"])}
    if len(found) < MINIMUM_NUMBERS_OF_A_CLAIM:
        problem = f"takes {len(found)} numbers from the data"
        do = f"use at least {MINIMUM_NUMBERS_OF_A_CLAIM} different placeholders, such as {{ROW:COLUMN}}"
        yield f"{where}.text", problem, do
    test = claim.get("test", {})
    if "test" not in claim and "tolerance" in claim:
        yield f"{where}.tolerance", "belongs to a test and there is none", "add test or remove it"
    if "test" in claim and ("value" in test) == ("than" in test):
        yield f"{where}.test", "needs value (a number) or than (a cell)", "write exactly one of the two"
    if ("low" in test) != ("high" in test):
        yield f"{where}.test", "has one end of a range", "write low and high (cells), or neither"
    for key, number in (("tolerance", claim.get("tolerance")), ("test.value", test.get("value"))):
        if isinstance(number, float) and not math.isfinite(number):
            yield f"{where}.{key}", "is not a finite number", "write a number"


def _exclusions(entries: Sequence[Mapping[str, str]]) -> Iterator[Problem]:
    pairs = [f"{entry['sha256']} {entry['pointer']}" for entry in entries]
    yield from _repeated(pairs, "exclude")


def _sentences(value: Mapping[str, Any]) -> Iterator[Problem]:
    """Every digit of the prose must come from a placeholder. Footnotes take none; titles are names."""
    scope = value.get("scope", {})
    filled = {"completion": [scope["completion"]] if "completion" in scope else []}
    filled.update({key: scope.get(key, []) for key in ("measured", "not_measured", "must_not_conclude")})
    for key, texts in filled.items():
        for index, text in enumerate(texts):
            where = f"$.scope.{key}" + ("" if key == "completion" else f"[{index}]")
            yield from _bare_numbers(prose.outside_placeholders(text), where, _FILL)
    for index, claim in enumerate(value.get("claims", ())):
        yield from _bare_numbers(prose.outside_placeholders(claim["text"]), f"$.claims[{index}].text", _FILL)
    for index, column in enumerate(value["columns"]):
        for key in ("footnote", "population", "outside"):
            yield from _bare_numbers(
                column.get(key, ""), f"$.columns[{index}].{key}", "say it without a number"
            )


_FILL = "take it from the data with a placeholder, such as {constant:workers}, or leave it out"


def _bare_numbers(text: str, where: str, do: str) -> Iterator[Problem]:
    yield from ((where, f"the number {number!r} has no source", do) for number in prose.bare_numbers(text))
