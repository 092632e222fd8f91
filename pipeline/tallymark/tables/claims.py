"""The prose of a report, filled from its cells: scope, claims with their verdicts, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tallymark.errors import SpecError
from tallymark.evidence.strict_json import JsonValue
from tallymark.tables import prose
from tallymark.tables.cells import Cell
from tallymark.tables.groups import Row
from tallymark.tables.ledger import Ledger
from tallymark.tables.prose import Placeholder, Sentence
from tallymark.tables.resolve import ResolvedSpec
from tallymark.tables.spec import Spec, Test


@dataclass(frozen=True, slots=True)
class Table:
    """What sentences take their numbers from: rows with their cells, constants, the ledger, and the number
    that the test of a claim compares with, by the claim's id."""

    rows: tuple[Row, ...]
    cells: tuple[Mapping[str, Cell], ...]
    constants: Mapping[str, JsonValue]
    ledger: Ledger
    targets: Mapping[str, int | float]

    def cell(self, cell_id: str) -> Cell:
        """The cell ``ROW:COLUMN``. LookupError: there is none."""
        row, _, column = cell_id.rpartition(":")
        for found, cells in zip(self.rows, self.cells, strict=True):
            if found.id == row and column in cells:
                return cells[column]
        raise LookupError(f"there is no cell {cell_id!r}")


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a claim: the cell that it is and its shown text."""

    cell: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A filled claim. ``holds`` is None without a test, with an absent cell, within the tolerance, or when
    the test holds on a part of its range only."""

    id: str
    sentence: Sentence
    numbers: tuple[Number, ...]
    holds: bool | None

    def to_json(self) -> dict[str, Any]:
        """The claim of ``report/1.0``."""
        numbers = [{"cell": number.cell, "text": number.text} for number in self.numbers]
        return {"id": self.id, "text": self.sentence.text, "holds": self.holds, "numbers": numbers}


def verdicts(spec: Spec, table: Table) -> tuple[Verdict, ...]:
    """Every claim filled and judged. SpecError: a placeholder or a test names what is not there."""
    found = []
    for index, claim in enumerate(spec.claims):
        where = spec.where(f"$.claims[{index}]")
        numbers = tuple(
            Number(one.target, _shown(one, table, f"{where}.text"))
            for one in prose.placeholders(claim.text)
            if one.kind == "cell"
        )
        sentence = fill(claim.text, spec.name, table, f"{where}.text")
        holds = None if claim.test is None else _judge(claim.test, table, f"{where}.test")
        found.append(Verdict(claim.id, sentence, numbers, holds))
    return tuple(found)


def targets(spec: Spec) -> dict[str, int | float]:
    """The number that each claim's test compares with, by the id of the claim."""
    return {
        claim.id: claim.test.than
        for claim in spec.claims
        if claim.test is not None and not isinstance(claim.test.than, str)
    }


def scope(spec: Spec, table: Table) -> dict[str, Any]:
    """The scope with every sentence filled; what the spec does not state is left out."""
    said = spec.scope
    parts = {
        "measured": said.measured,
        "not_measured": said.not_measured,
        "must_not_conclude": said.must_not_conclude,
    }
    filled: dict[str, Any] = {
        key: [
            fill(text, spec.name, table, spec.where(f"$.scope.{key}[{index}]")).to_json()
            for index, text in enumerate(texts)
        ]
        for key, texts in parts.items()
        if texts
    }
    if said.completion is not None:
        where = spec.where("$.scope.completion")
        filled["completion"] = fill(said.completion, spec.name, table, where).to_json()
    return filled


def notes(resolved: ResolvedSpec, table: Table) -> tuple[Sentence, ...]:
    """What the data themselves demand to be said, whether or not the author thought of it."""
    titles = {f"$.columns[{at}].title": one.column.title for at, one in enumerate(resolved.columns)}

    def shown(placeholder: Placeholder) -> str:
        if placeholder.kind == "spec":
            return titles[placeholder.target]
        return _shown(placeholder, table, resolved.spec.path)

    return tuple(prose.fill(text, resolved.spec.name, shown) for text in _notes(resolved, table))


def fill(template: str, report: str, table: Table, where: str) -> Sentence:
    """A sentence with its placeholders replaced. SpecError: one names what is not there."""
    return prose.fill(template, report, lambda placeholder: _shown(placeholder, table, where))


def _notes(resolved: ResolvedSpec, table: Table) -> Iterator[str]:
    yield from _oversubscribed(table)
    yield from _unrecorded(table)
    covered: dict[tuple[str, str], list[str]] = {}
    for at, column in enumerate(one.column for one in resolved.columns):
        if column.percentile is not None:
            population = column.population or "the samples recorded by completed runs"
            outside = (
                column.outside or "runs that did not complete, and whatever was rejected or never started"
            )
            # a title may hold digits, so it is quoted with its place in the spec
            covered.setdefault((population, outside), []).append(f"{{spec:$.columns[{at}].title}}")
    for (population, outside), titles in covered.items():
        yield f"Population of {'; '.join(titles)}: {population}. Outside it: {outside}."
    if table.ledger.failed:
        yield _failures(table.ledger)
    if table.ledger.excluded:
        yield "{ledger:excluded} runs are excluded by declaration; the ledger gives each reason."
    if table.ledger.missing:
        yield "{ledger:missing} declared runs belong to rows that were not measured; nothing is interpolated."
    if any(cell.ties for cells in table.cells for cell in cells.values()):
        yield "Marked cells of a column print alike but differ in their exact value."


def _failures(ledger: Ledger) -> str:
    kept = "; they are only in columns whose rule says so."
    if not ledger.failed_as_planned:
        return "{ledger:failed} runs failed" + kept
    return (
        "{ledger:failed} runs did not complete, {ledger:failed_as_planned} of them as their plan announced"
        + kept
    )


def _oversubscribed(table: Table) -> Iterator[str]:
    """Workers above cores share them: part of every latency is then waiting for a processor."""
    machine = table.constants.get("machine")
    cores = machine.get("cores") if isinstance(machine, dict) else None
    if not isinstance(cores, int):
        return
    said = " workers on {constant:machine/cores} cores: latency contains their wait for a processor."
    workers = table.constants.get("workers")
    if isinstance(workers, int) and workers > cores:
        yield "{constant:workers}" + said
    said_of = set()
    for row in table.rows:
        counted = row.key.get("workers")
        if isinstance(counted, int) and counted > cores and counted not in said_of:
            said_of.add(counted)
            yield f"{{key:{row.id}/workers}}" + said


def _unrecorded(table: Table) -> Iterator[str]:
    """Two nulls are equal and mean nothing: what nobody recorded may have differed between the runs."""
    unknown = [name for name, value in table.constants.items() if value is None]
    for name, value in table.constants.items():
        parts = value if isinstance(value, dict) else {}
        null = [part for part, one in parts.items() if one is None]
        unknown += [name] if null and len(null) == len(parts) else [f"{name}.{part}" for part in null]
    if unknown:
        yield f"Not recorded in the data, and so not known to be equal in all runs: {', '.join(unknown)}."


def _shown(placeholder: Placeholder, table: Table, where: str) -> str:
    try:
        return _SHOWN[placeholder.kind](placeholder.target, table)
    except (LookupError, ValueError) as error:
        problem = f"{{{placeholder.reference}}} cannot be filled: {error.args[0]}"
        raise SpecError(
            where, problem, "name a cell, key, constant, ledger field or claim of this report"
        ) from None


def _cell_text(target: str, table: Table) -> str:
    return table.cell(target).text


def _key_text(target: str, table: Table) -> str:
    row_id, _, key = target.rpartition("/")
    for row in table.rows:
        if row.id == row_id and key in row.key:
            return prose.value_text(row.key[key])
    raise LookupError(f"there is no row {row_id!r} with a key {key!r}")


def _constant_text(target: str, table: Table) -> str:
    path, *options = target.split("|")
    value: Any = table.constants
    for part in path.split("/"):
        if not isinstance(value, Mapping) or part not in value:
            raise LookupError(f"no constant {path!r}; a key that makes rows is none")
        value = value[part]
    return prose.rounded(value, options) if options else prose.value_text(value)


def _ledger_text(target: str, table: Table) -> str:
    fields = table.ledger.to_json()
    if target not in fields:
        raise LookupError(f"the ledger has no {target!r}")
    return prose.value_text(fields[target])


def _target_text(target: str, table: Table) -> str:
    if target not in table.targets:
        raise LookupError(f"no claim {target!r} compares with a number")
    return prose.value_text(table.targets[target])


_SHOWN: Mapping[str, Callable[[str, Table], str]] = {
    "cell": _cell_text,
    "key": _key_text,
    "constant": _constant_text,
    "ledger": _ledger_text,
    "target": _target_text,
}


def _judge(test: Test, table: Table, where: str) -> bool | None:
    """Whether a test holds at its cell and at both ends of its range; None when the three do not agree."""
    names = [name for name in (test.cell, test.low, test.high) if name is not None]
    try:
        lefts = [table.cell(name).exact for name in names]
        right = table.cell(test.than).exact if isinstance(test.than, str) else test.than
    except LookupError as error:
        raise SpecError(where, str(error.args[0]), "name a cell of this report") from None
    found = {_compare(test, left, right) for left in lefts}
    return found.pop() if len(found) == 1 else None


def _compare(test: Test, left: int | float | None, right: int | float | None) -> bool | None:
    """One comparison; None when a cell is absent or an order is within the tolerance."""
    if left is None or right is None:
        return None
    near = abs(left - right) <= test.tolerance * abs(right)
    if test.op == "==":
        return near
    if near and test.tolerance > 0:
        return None
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[test.op]
