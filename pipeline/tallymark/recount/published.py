"""What a site publishes, read from its own files, beside what recounting makes of the raw ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallymark import check, schemas
from tallymark.check.finding import SHAPE
from tallymark.errors import TallymarkError
from tallymark.evidence import documents, strict_json
from tallymark.evidence.documents import Document
from tallymark.recount import recount as script
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.files import Files
from tallymark.recount.pointers import run_of
from tallymark.recount.reference import Unresolved

Json = dict[str, Any]
_SCHEMAS = ("report/1.0", "report/1.1")
_REBUILD = "Build the site again, or restore the published file"


@dataclass(frozen=True)
class Report:
    """One published report: its spec and its JSON as published, its raw files, and the table recounted.

    ``table`` is what ``recount.py`` computes from the spec and the raw files; ``runs`` are the same script's
    runs by (SHA-256, pointer); ``groups`` its rows with all their runs, in table order.
    """

    name: str
    spec: Json
    value: Json
    data: tuple[Document, ...]
    table: Json
    groups: tuple[tuple[str, Json, tuple[script.Run, ...]], ...]

    @cached_property
    def rows(self) -> Mapping[str, Json]:
        """The recounted rows by id, in table order."""
        return {row["id"]: row for row in self.table["rows"]}

    @cached_property
    def columns(self) -> Mapping[str, Json]:
        """The columns of the spec by name, in table order."""
        return {column["name"]: column for column in self.spec["columns"]}

    @cached_property
    def runs(self) -> Mapping[tuple[str, str], script.Run]:
        """Every run of the report by the digest of its file and its pointer there."""
        return {(run.sha256, run.pointer): run for _, _, found in self.groups for run in found}

    def row(self, row: str) -> Json:
        """The recounted row with that id. Unresolved: the recount has no such row."""
        if row not in self.rows:
            raise Unresolved(f"report {self.name} has no row {row!r} when recounted")
        return self.rows[row]

    def runs_of(self, row: str) -> tuple[script.Run, ...]:
        """All runs of a row, failed and excluded ones too."""
        return next(found for name, _, found in self.groups if name == row)

    def sources(self, row: str, column: str) -> list[script.Run]:
        """The runs that a cell was computed from, each once, in the order of its lineage."""
        cell = self.rows[row]["cells"][column]
        places = dict.fromkeys((one["sha256"], run_of(one["pointer"])) for one in cell["sources"])
        return [self.runs[place] for place in places]


@dataclass(frozen=True, slots=True)
class Published:
    """A whole site: reports that could be recounted, raw files by digest, and what could not be read.

    ``broken`` names the reports that are published and could not be recounted: ``problems`` says why.
    """

    files: Files
    reports: Mapping[str, Report]
    raw: Mapping[str, Document]
    broken: frozenset[str]
    problems: tuple[Difference, ...]

    def report(self, name: str) -> Report:
        """The recounted report called ``name``. Unresolved: there is none, or it could not be recounted."""
        if name in self.broken:
            raise Unresolved(f"report {name} could not be recounted", f"report {name}")
        if name not in self.reports:
            raise Unresolved(f"no report {name!r} is published", f"report {name}")
        return self.reports[name]


def read_site(files: Files, checked: frozenset[str] = frozenset()) -> Published:
    """Reads every published report and recounts its table. ``checked`` as for ``verify``."""
    names = [name[len("reports/") : -len(".spec.json")] for name in files.under("reports/", ".spec.json")]
    return _read(
        files, {name: (f"reports/{name}.spec.json", f"reports/{name}.json") for name in names}, checked
    )


def read_bundle(files: Files) -> Published:
    """The one report of a bundle, under the name that its spec gives it."""
    return _read(files, {"": ("spec.json", "report.json")} if "spec.json" in files else {})


class _Broken(Exception):  # noqa: N818 - it is an outcome, reported as a difference
    """A report cannot be recounted at all."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.line())
        self.difference = difference


def _read(
    files: Files, places: Mapping[str, tuple[str, str]], checked: frozenset[str] = frozenset()
) -> Published:
    problems: dict[Difference, None] = {}
    reports: dict[str, Report] = {}
    raw: dict[str, Document] = {}
    broken: set[str] = set()
    for name, (spec_file, report_file) in places.items():
        try:
            report = _report(files, name, (spec_file, report_file), problems, raw, checked)
        except _Broken as error:
            problems[error.difference] = None
        except script.Refused as refused:
            problems[_refused(refused, spec_file)] = None
        except TallymarkError as error:
            problems[_unreadable(error)] = None
        else:
            reports[report.name] = report
            continue
        broken.add(name)
    return Published(files, reports, raw, frozenset(broken), tuple(problems))


def _report(
    files: Files,
    name: str,
    places: tuple[str, str],
    problems: dict[Difference, None],
    raw: dict[str, Document],
    checked: frozenset[str],
) -> Report:
    spec_file, report_file = places
    spec, value = _object(files, spec_file), _object(files, report_file)
    of_spec, of_report = _shape_errors(spec, value, spec_file, report_file)
    if of_report:
        raise _Broken(of_report[0])
    data = tuple(_raw_files(files, value, report_file, problems))
    raw.update({document.sha256: document for document in data})
    if of_spec:
        raise _Broken(of_spec[0])
    if name and spec["name"] != name:
        raise _Broken(mismatch(spec_file, "$.name", spec["name"], name, _REBUILD))
    sound = [document.sha256 in checked or _sound(document, problems) for document in data]
    if not all(sound):
        problem = "cannot be recounted: a raw file has not the shape of its schema"
        raise _Broken(Difference(spec_file, "", problem, "Restore the raw file"))
    named = [(document.path, document.data) for document in data]
    runs: list[script.Run] = []
    table = script.recompute(spec, named, runs)
    groups = tuple((row, key, tuple(found)) for row, key, found in script.group(spec, runs))
    return Report(spec["name"], spec, value, data, table, groups)


def _object(files: Files, name: str) -> Json:
    value = strict_json.parse(files.read(name), name)
    if not isinstance(value, dict):
        raise _Broken(Difference(name, "$", "is not a JSON object", _REBUILD))
    return value


def _shape_errors(
    spec: Json, value: Json, spec_file: str, report_file: str
) -> tuple[list[Difference], list[Difference]]:
    """What is wrong with the shape of the published spec, and of the report: all else relies on it."""
    of_spec, of_report = [], []
    schema = value.get("schema") if value.get("schema") in _SCHEMAS else _SCHEMAS[-1]
    for pointer, _, message in schemas.errors(str(schema), {**value, "spec": spec}):
        if pointer.startswith("$.spec"):
            of_spec.append(Difference(spec_file, "$" + pointer[len("$.spec") :], message, _REBUILD))
        else:
            of_report.append(Difference(report_file, pointer, message, _REBUILD))
    return of_spec, of_report


def _raw_files(
    files: Files, value: Json, report_file: str, problems: dict[Difference, None]
) -> Iterator[Document]:
    """The raw files that the report names, as they are published now, whatever their digest became."""
    for index, entry in enumerate(value["data"]):
        name = published_path(entry["path"])
        if name not in files:
            problem, do = f"names {name}, which is not published", "Publish it, or build the site again"
            problems[Difference(report_file, f"$.data[{index}]", problem, do)] = None
            continue
        yield documents.from_bytes(files.read(name), name)


def _sound(document: Document, problems: dict[Difference, None]) -> bool:
    """Notes what ``tallymark check`` finds in a raw file; False when its shape is wrong."""
    findings = [one for one in check.check_document(document) if one.severity == "error"]
    for finding in findings:
        problems[Difference(document.path, finding.pointer, finding.problem, finding.do)] = None
    return not any(finding.rule == SHAPE for finding in findings)


def published_path(path: str) -> str:
    """Where a data file of the project is published: below ``data/``."""
    return path if path.startswith("data/") else f"data/{path}"


def _refused(refused: script.Refused, spec_file: str) -> Difference:
    """The stand-alone script's refusal: at a raw file when it names one, else at the spec."""
    file, _, place = refused.where.partition("::")
    if "/" not in file:
        file, place = spec_file, refused.where
    return Difference(file, place, refused.problem, refused.do)


def _unreadable(error: TallymarkError) -> Difference:
    file, _, place = error.where.partition("::")
    return Difference(file, place, error.problem, error.do)
