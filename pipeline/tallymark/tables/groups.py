"""Runs grouped by their complete configuration: row keys make rows, every other key must not vary.

A key that the spec declares as determined by the rows may vary between them, never within one.

Values are compared as canonical JSON text, so pandas never sees a null to drop nor merges 1, 1.0 and true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from tallymark.errors import SpecError
from tallymark.evidence.strict_json import JsonValue
from tallymark.tables.evidence import Evidence, Run, State, spelled
from tallymark.tables.resolve import ResolvedSpec

_POSITION = "position in the evidence"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table: its key, the runs found for it, and how many the spec declares.

    A row that is declared and was not measured has no runs.
    """

    id: str
    key: Mapping[str, JsonValue]
    runs: tuple[Run, ...]
    declared: int


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows in the order of the table, and the configuration that all runs share."""

    rows: tuple[Row, ...]
    constants: Mapping[str, JsonValue]


def row_id(key: Mapping[str, JsonValue]) -> str:
    """``tasks=1000000,agents=100``: row keys in the order of the spec, values as JSON."""
    return ",".join(f"{name}={spelled(value)}" for name, value in key.items())


def group(resolved: ResolvedSpec, evidence: Evidence) -> Grouped:
    """Group the runs. SpecError: a key varies that makes no row, or a row has a missing or an extra run."""
    frame = pd.DataFrame(
        [run.spelled for run in evidence.runs], columns=list(resolved.config_keys), dtype=str
    )
    constants = _constants(resolved, evidence.runs, frame)
    found = _found(resolved, evidence.runs, frame)
    rows = _declared(resolved, found)
    for row in rows:
        _refuse_wrong_count(resolved, row)
    return Grouped(tuple(sorted(rows, key=lambda row: [_order(v) for v in row.key.values()])), constants)


def baseline(grouped: Grouped, row: str | None, where: str) -> Row | None:
    """The row that a column takes its ratios to; None for a column without one. SpecError: no such row."""
    if row is None:
        return None
    for found in grouped.rows:
        if found.id == row:
            return found
    rows = ", ".join(found.id for found in grouped.rows)
    raise SpecError(f"{where}.baseline", f"there is no row {row!r}", f"name one of {rows}")


def _constants(resolved: ResolvedSpec, runs: Sequence[Run], frame: pd.DataFrame) -> dict[str, JsonValue]:
    """The value of every key that makes no row. Excluded runs may differ: that can be why they are."""
    kept = [at for at, run in enumerate(runs) if run.state is not State.EXCLUDED]
    varying = {*resolved.spec.rows, *resolved.spec.determined}
    names = [name for name in resolved.config_keys if name not in varying]
    if not kept:
        where = resolved.spec.where("$.exclude")
        raise SpecError(where, "every run is excluded", "publish nothing instead of an empty table")
    for name in names:
        values = frame[name].iloc[kept]
        other = values[values != values.iloc[0]]
        if not other.empty:
            raise _varies(resolved, name, runs[kept[0]], runs[int(other.index[0])])
    first = runs[kept[0]].configuration
    return {name: first[name] for name in names}


def _varies(resolved: ResolvedSpec, name: str, one: Run, other: Run) -> SpecError:
    left, right = one.configuration[name], other.configuration[name]
    what = name
    if isinstance(left, dict) and isinstance(right, dict):
        part = next(k for k in sorted({*left, *right}) if spelled(left.get(k)) != spelled(right.get(k)))
        what, left, right = f"{name}.{part}", left.get(part), right.get(part)
    problem = (
        f"{what} varies and makes no row: {spelled(left)} in {one.where}, {spelled(right)} in {other.where}"
    )
    do = f"add {name!r} to rows, or take the data apart"
    return SpecError(resolved.spec.where("$.rows"), problem, do)


def _found(resolved: ResolvedSpec, runs: Sequence[Run], frame: pd.DataFrame) -> dict[str, Row]:
    frame[_POSITION] = range(len(runs))
    names = list(resolved.spec.rows)
    found: dict[str, Row] = {}
    for _, positions in frame.groupby(names, dropna=False, sort=False)[_POSITION]:
        members = tuple(runs[at] for at in positions)
        key = {name: members[0].configuration[name] for name in names}
        row = row_id(key)
        found[row] = Row(row, key, members, _repetitions(resolved, row))
        _refuse_undetermined(resolved, found[row])
    return found


def _refuse_undetermined(resolved: ResolvedSpec, row: Row) -> None:
    kept = [run for run in row.runs if run.state is not State.EXCLUDED]
    for index, name in enumerate(resolved.spec.determined):
        for run in kept:
            if run.spelled[name] != kept[0].spelled[name]:
                problem = (
                    f"{name} varies within row {row.id}: {kept[0].spelled[name]} and {run.spelled[name]}"
                )
                where = resolved.spec.where(f"$.determined[{index}]")
                raise SpecError(where, problem, f"add {name!r} to rows instead, or take the data apart")


def _declared(resolved: ResolvedSpec, found: dict[str, Row]) -> list[Row]:
    """The rows found and those that the spec declares besides; with declared rows, no others."""
    keys = resolved.expected_keys()
    if keys is None:
        return list(found.values())
    declared = {row_id(key): key for key in keys}
    for row in found.values():
        if row.id not in declared:
            problem = f"row {row.id} is measured in {row.runs[0].where} and not declared"
            raise SpecError(
                resolved.spec.where("$.expected_rows"), problem, "declare it or take the file out"
            )
    return [found.get(row) or Row(row, key, (), _repetitions(resolved, row)) for row, key in declared.items()]


def _repetitions(resolved: ResolvedSpec, row: str) -> int:
    repetitions = resolved.spec.repetitions
    if isinstance(repetitions, int):
        return repetitions
    if row not in repetitions:
        where = resolved.spec.where("$.repetitions")
        raise SpecError(where, f"says nothing about row {row}", f"add '{row}' = N")
    return repetitions[row]


def _refuse_wrong_count(resolved: ResolvedSpec, row: Row) -> None:
    count = len(row.runs)
    if count and count != row.declared:
        kind = "missing" if count < row.declared else "extra"
        files = ", ".join(dict.fromkeys(run.document.path for run in row.runs))
        problem = f"row {row.id} has {count} runs in {files}, {row.declared} are declared: {kind} runs"
        do = "complete the data, correct repetitions, or exclude a run with its reason"
        raise SpecError(resolved.spec.where("$.repetitions"), problem, do)


def _order(value: JsonValue) -> tuple[int, float | int, str]:
    """Null, then booleans, numbers by value, text by code point, the rest; ties by spelling."""
    if value is None or isinstance(value, bool):
        return (0 if value is None else 1, 0, spelled(value))
    if isinstance(value, (int, float)):
        return (2, value, spelled(value))
    return (3, 0, value) if isinstance(value, str) else (4, 0, spelled(value))
