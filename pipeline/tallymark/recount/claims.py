"""The sentences of a report, filled and judged again: claims, scope and notes.

A placeholder is ``{ROW:COLUMN}``, ``{key:ROW/KEY}``, ``{constant:KEY}``, ``{ledger:FIELD}`` or
``{target:CLAIM}``; it is replaced by what the reference of the same words resolves to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.published import Report
from tallymark.recount.reference import Reference, Unresolved, parse
from tallymark.recount.tokens import numbers

# One level of braces inside a placeholder belongs to it: a row id may hold a compound key.
_PLACEHOLDER = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")
_KINDS = ("key", "constant", "ledger", "target")
_REBUILD = "Build the site again"
WORDS = {True: "holds", False: "fails", None: "cannot tell"}

Resolve = Callable[[Reference], str]


def filled(report: Report, template: str, resolve: Resolve) -> str:
    """A sentence of the spec with its placeholders replaced. Unresolved: one leads to nothing."""
    return _PLACEHOLDER.sub(lambda match: resolve(_reference(report.name, match[1])), template)


def _reference(report: str, inside: str) -> Reference:
    kind, colon, target = inside.partition(":")
    if colon and kind in _KINDS:
        return parse(f"{kind}:{report}/{target}", None)
    return parse(f"cell:{report}/{inside}", None)


def claim_of(report: Report, identifier: str) -> dict[str, Any]:
    """The claim of that id. Unresolved: the spec makes no such claim."""
    for claim in report.spec.get("claims") or []:
        if claim["id"] == identifier:
            found: dict[str, Any] = claim
            return found
    raise Unresolved(f"report {report.name} makes no claim {identifier!r}")


def verdicts(report: Report) -> list[bool | None]:
    """Whether each claim holds on the recounted cells, in the order of the spec."""
    return [judge(report, claim) for claim in report.spec.get("claims") or []]


def judge(report: Report, claim: dict[str, Any]) -> bool | None:
    """True or False when the test says so at its cell and at both ends of its range, else None.

    None also: no test, an absent cell, or an order that the tolerance (a share of what is compared with) does
    not let tell. Unresolved: the test names no cell.
    """
    test = claim.get("test")
    if test is None:
        return None
    if "than" not in test and "value" not in test:
        raise Unresolved(f"the test of claim {claim.get('id')!r} compares with nothing")
    right = _exact(report, test["than"]) if "than" in test else test["value"]
    tolerance = claim.get("tolerance", 0)
    found = {
        _compare(test["op"], _exact(report, test[name]), right, tolerance)
        for name in ("cell", "low", "high")
        if name in test
    }
    return found.pop() if len(found) == 1 else None


def _compare(op: str, left: Any, right: Any, tolerance: float) -> bool | None:
    if left is None or right is None:
        return None
    near = bool(abs(left - right) <= tolerance * abs(right))
    if op == "==":
        return near
    if near and tolerance > 0:
        return None
    orders: dict[str, bool] = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
    if op not in orders:
        raise Unresolved(f"no comparison is called {op!r}")
    return orders[op]


def target(report: Report, identifier: str) -> Any:
    """The number that the test of a claim compares with. Unresolved: it compares with none."""
    test = claim_of(report, identifier).get("test") or {}
    if "value" not in test:
        raise Unresolved(f"claim {identifier!r} compares with no number")
    return test["value"]


def _exact(report: Report, cell: str) -> Any:
    row, _, column = cell.rpartition(":")
    cells = report.row(row)["cells"]
    if column not in cells:
        raise Unresolved(f"report {report.name} has no column {column!r}")
    return cells[column].get("exact")


def compare_prose(report: Report, file: str, resolve: Resolve) -> Iterator[Difference]:
    """Claims and notes of the report JSON against the recount."""
    shown = report.value.get("claims") or []
    claims = report.spec.get("claims") or []
    if [one.get("id") for one in shown] != [one["id"] for one in claims]:
        yield Difference(file, "$.claims", "are not the claims of the spec", _REBUILD)
        return
    for at, (one, claim) in enumerate(zip(shown, claims, strict=True)):
        place = f"$.claims[{at}]"
        text, holds = filled(report, claim["text"], resolve), judge(report, claim)
        if one.get("text") != text:
            yield mismatch(file, f"{place}.text", str(one.get("text")), text, _REBUILD)
        if one.get("holds") is not holds:
            yield mismatch(file, f"{place}.holds", _word(one.get("holds")), _word(holds), _REBUILD)
        for number in one.get("numbers") or []:
            reference = str(number.get("cell"))
            recounted = resolve(_reference(report.name, reference))
            if number.get("text") != recounted:
                where = f"{place}.numbers, {reference}"
                yield mismatch(file, where, str(number.get("text")), recounted, _REBUILD)
    yield from _compare_sentences(report, file, resolve)


def _word(holds: Any) -> str:
    return WORDS.get(holds, str(holds)) if isinstance(holds, bool) or holds is None else str(holds)


def _compare_sentences(report: Report, file: str, resolve: Resolve) -> Iterator[Difference]:
    """The sentences cut into parts: each number is a part with a source, and the source gives it."""
    prose = report.value.get("prose") or {}
    scope = prose.get("scope") or {}
    sentences: list[tuple[str, Any, str | None]] = []
    for key, value in scope.items():
        templates = (report.spec.get("scope") or {}).get(key)
        if isinstance(value, list) and isinstance(templates, list) and len(value) == len(templates):
            pairs = list(zip(value, templates, strict=True))
        else:
            pairs = [(value, templates)]
        sentences += [
            (f"$.prose.scope.{key}[{at}]", one, filled(report, str(template), resolve))
            for at, (one, template) in enumerate(pairs)
        ]
    for at, claim in enumerate(report.spec.get("claims") or []):
        parts = prose.get("claims") or []
        one = parts[at] if at < len(parts) else None
        sentences.append((f"$.prose.claims[{at}]", one, filled(report, claim["text"], resolve)))
    notes = report.value.get("notes") or []
    for at, note in enumerate(prose.get("notes") or []):
        sentences.append((f"$.prose.notes[{at}]", note, notes[at] if at < len(notes) else None))
    if len(notes) != len(prose.get("notes") or []):
        yield Difference(file, "$.notes", "are not the notes of the prose", _REBUILD)
    for place, sentence, wanted in sentences:
        yield from _compare_sentence(file, place, sentence, wanted, resolve)


def _compare_sentence(
    file: str, place: str, sentence: Any, wanted: str | None, resolve: Resolve
) -> Iterator[Difference]:
    if not isinstance(sentence, dict) or not isinstance(sentence.get("parts"), list):
        yield Difference(file, place, "is no sentence in parts", _REBUILD)
        return
    joined = "".join(str(part.get("text")) for part in sentence["parts"])
    if not joined == sentence.get("text") == wanted:
        yield mismatch(file, place, joined, str(wanted), _REBUILD)
    for part in sentence["parts"]:
        if "from" in part:
            recounted = resolve(parse(str(part["from"]), None))
            if part["text"] != recounted:
                yield mismatch(file, f"{place}, {part['from']}", str(part["text"]), recounted, _REBUILD)
        elif numbers(str(part.get("text"))):
            yield Difference(file, place, f'"{part["text"]}" holds a number without a source', _REBUILD)
