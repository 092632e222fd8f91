"""The report spec: a TOML file, checked by its schema and by rules, turned into frozen values.

A spec says which evidence a report reads, which configuration keys make its rows, how each column is
computed and rounded, and what the page may and may not conclude. Nothing in it is a number of the table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallymark import schemas
from tallymark.errors import SpecError, UsageError
from tallymark.evidence import documents
from tallymark.evidence.strict_json import JsonValue
from tallymark.tables import spec_rules

SCHEMAS = ("report-spec/1.0", "report-spec/1.1")
REPORTS = Path("site", "reports")


@dataclass(frozen=True, slots=True)
class Column:
    """One column as the spec declares it; ``unit`` None means the unit of the source.

    ``percentile`` ("99/100") marks a value that stands for a percentile: the pooled one, or one that each
    run already holds; the latter names in ``samples`` where the run says how many samples are behind it.
    ``baseline`` is the id of the row that paired ratios are taken to. ``outcome`` is what ``run_count``
    counts in the place of completed runs. ``skip`` rows at the start of a series are no part of its slope;
    ``resolution`` is the smallest step that its source can show.
    """

    name: str
    title: str
    aggregate: str
    source: str | None
    over: str | None
    baseline: str | None
    percentile: str | None
    samples: str | None
    unit: str | None
    places: int | None
    significant: int | None
    include_failed: bool
    footnote: str | None
    population: str | None
    outside: str | None
    outcome: str | None
    skip: int
    resolution: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What the page says before any number; the sentences may hold placeholders."""

    measured: tuple[str, ...]
    not_measured: tuple[str, ...]
    must_not_conclude: tuple[str, ...]
    completion: str | None


@dataclass(frozen=True, slots=True)
class Test:
    """A comparison of one cell with a number or with another cell (``than`` is then its id).

    ``tolerance`` is a share of what is compared with: within it, an order cannot be told. ``low`` and
    ``high`` are the cells of a range: what does not hold or fail over all of it cannot be told.
    """

    __test__ = False

    cell: str
    op: str
    than: int | float | str
    tolerance: int | float
    low: str | None = None
    high: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence whose numbers are placeholders, and the test that decides whether it holds."""

    id: str
    text: str
    test: Test | None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A run that is left out by declaration: it stays in the ledger with this reason."""

    sha256: str
    pointer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Spec:
    """A report spec. ``path`` is how messages show the file; ``declared`` is its whole content.

    ``row_titles`` holds what readers are shown for a row key, where that is not its name. ``determined`` are
    keys that vary with the rows and have one value within each.
    """

    path: str
    name: str
    version: int
    title: str
    data: tuple[str, ...]
    rows: tuple[str, ...]
    row_titles: Mapping[str, str]
    determined: tuple[str, ...]
    repetitions: int | Mapping[str, int]
    expected_rows: Mapping[str, tuple[JsonValue, ...]] | None
    scope: Scope
    columns: tuple[Column, ...]
    charts: tuple[Mapping[str, Any], ...]
    claims: tuple[Claim, ...]
    exclude: tuple[Exclusion, ...]
    declared: Mapping[str, Any]

    def where(self, pointer: str) -> str:
        """``file::$.pointer`` for messages."""
        return f"{self.path}::{pointer}"


def load(path: Path, root: Path | None = None) -> Spec:
    """Read and check a spec. ``root`` is what the shown path is relative to.

    UsageError: no such file. UnreadableError: cannot be read. SpecError: not TOML, against the schema or
    against a rule; it names ``file::$.pointer``.
    """
    shown = documents.shown_path(path, root)
    try:
        value = tomllib.loads(documents.read_bytes(path, shown, follow=True).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise SpecError(shown, f"byte {error.start} is not UTF-8", "save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SpecError(shown, f"not TOML: {error}", "correct the file") from None
    return from_value(value, shown)


def from_value(value: Mapping[str, Any], shown: str) -> Spec:
    """The spec that a parsed TOML (or JSON) value declares. SpecError: against the schema or a rule."""
    schema = value.get("schema")
    schema = schema if schema in SCHEMAS else SCHEMAS[-1]
    problems = schemas.errors(schema, dict(value))
    if problems:
        pointer, _, message = problems[0]
        more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
        raise SpecError(f"{shown}::{pointer}", f"{message}{more}", f"write it as {schema} describes")
    for pointer, problem, do in spec_rules.problems(value):
        raise SpecError(f"{shown}::{pointer}", problem, do)
    return _spec(value, shown)


def by_name(project: Path, report: str) -> Spec:
    """The spec of a report by its name, or by the path of its file. UsageError: there is none."""
    path = Path(report)
    if path.suffix != ".toml":
        path = project / REPORTS / f"{report}.toml"
    if not path.exists():
        known = ", ".join(names(project)) or "none"
        raise UsageError(
            documents.shown_path(path, project), "there is no such report", f"known reports: {known}"
        )
    return load(path, project)


def names(project: Path) -> list[str]:
    """The reports of a project: the names of ``site/reports/*.toml``, sorted."""
    return sorted(path.stem for path in (project / REPORTS).glob("*.toml"))


def _spec(value: Mapping[str, Any], shown: str) -> Spec:
    expected = value.get("expected_rows")
    return Spec(
        path=shown,
        name=value["name"],
        version=value["version"],
        title=value["title"],
        data=tuple(value["data"]),
        rows=tuple(value["rows"]),
        row_titles=value.get("row_titles", {}),
        determined=tuple(value.get("determined", ())),
        repetitions=value["repetitions"],
        expected_rows=None if expected is None else {key: tuple(expected[key]) for key in value["rows"]},
        scope=_scope(value.get("scope", {})),
        columns=tuple(_column(column) for column in value["columns"]),
        charts=tuple(value.get("charts", ())),
        claims=tuple(_claim(claim) for claim in value.get("claims", ())),
        exclude=tuple(
            Exclusion(entry["sha256"], entry["pointer"], entry["reason"])
            for entry in value.get("exclude", ())
        ),
        declared=value,
    )


def _scope(value: Mapping[str, Any]) -> Scope:
    return Scope(
        measured=tuple(value.get("measured", ())),
        not_measured=tuple(value.get("not_measured", ())),
        must_not_conclude=tuple(value.get("must_not_conclude", ())),
        completion=value.get("completion"),
    )


def _column(value: Mapping[str, Any]) -> Column:
    counted = value["aggregate"] == "run_count" and "significant" not in value
    return Column(
        name=value["name"],
        title=value.get("title", value["name"]),
        aggregate=value["aggregate"],
        source=value.get("source"),
        over=value.get("over"),
        baseline=value.get("baseline"),
        percentile=value.get("percentile"),
        samples=value.get("samples"),
        unit=value.get("unit"),
        places=value.get("places", 0 if counted else None),
        significant=value.get("significant"),
        include_failed=value.get("include_failed", False),
        footnote=value.get("footnote"),
        population=value.get("population"),
        outside=value.get("outside"),
        outcome=value.get("outcome"),
        skip=value.get("skip", 0),
        resolution=value.get("resolution", 0),
    )


def _claim(value: Mapping[str, Any]) -> Claim:
    test = value.get("test")
    return Claim(
        id=value["id"],
        text=value["text"],
        test=None
        if test is None
        else Test(
            cell=test["cell"],
            op=test["op"],
            than=test["than"] if "than" in test else test["value"],
            tolerance=value.get("tolerance", 0),
            low=test.get("low"),
            high=test.get("high"),
        ),
    )
