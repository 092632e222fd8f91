"""The text that must stand where a reference stands: recounted, never copied from the page.

What is measured comes from the raw files (through ``recount.py``); what is said about a report comes from
its published spec and JSON, which are compared with the raw files, the schemas and the project elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tallymark.recount import claims, derived, series
from tallymark.recount import recount as script
from tallymark.recount.pointers import value_at
from tallymark.recount.published import Published
from tallymark.recount.reference import Reference, Unresolved
from tallymark.recount.shown import formatted, label, value_text

# Parts of the report JSON that are no measurement, so that the page may quote them.
_QUOTABLE = re.compile(r"\$\.(digest|generated\.[a-z_]+|notes\[[0-9]+\]|claims\[[0-9]+\]\.id)")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The text that must be shown and, for numbers, the exact value that ``data-exact`` must give."""

    text: str
    exact: str | None = None


def resolve(published: Published, reference: Reference) -> Resolved:
    """What must stand where ``reference`` stands. Unresolved: it leads to nothing."""
    handler = _HANDLERS.get(reference.scheme)
    if handler is None:
        raise Unresolved(f"{reference.text!r} has a scheme that recount does not know")
    try:
        return handler(published, reference)
    except script.Refused as refused:
        raise Unresolved(f"{reference.text!r} cannot be recounted: {refused}") from None


def _cell(published: Published, reference: Reference) -> Resolved:
    name, row, column = reference.cell()
    cells = published.report(name).row(row)["cells"]
    if column not in cells:
        raise Unresolved(f"report {name} has no column {column!r}")
    cell = cells[column]
    exact = value_text(cell["exact"]) if "exact" in cell else None
    option = reference.only("exact", "n", "samples", "reason")
    if option in ("n", "samples"):
        if option not in cell:
            raise Unresolved(f"{reference.text!r} asks for samples that the cell has not")
        return Resolved(value_text(cell[option]))
    if option == "exact":
        if exact is None:
            raise Unresolved(f"{reference.text!r} asks for the exact value of an absent cell")
        return Resolved(exact)
    if option == "reason":
        if "absent" not in cell:
            raise Unresolved(f"{reference.text!r} asks why a cell is absent that is there")
        return Resolved(value_text(cell["absent"]["reason"]))
    return Resolved(cell["text"], exact)


def _key(published: Published, reference: Reference) -> Resolved:
    name, row, key = reference.last()
    values = published.report(name).row(row)["key"]
    if key not in values:
        raise Unresolved(f"report {name} makes no rows by {key!r}")
    return Resolved(value_text(values[key]))


def _row(published: Published, reference: Reference) -> Resolved:
    name, row = reference.first()
    key = published.report(name).row(row)["key"]
    option = reference.only("values", "label")
    texts = " / ".join(value_text(value) for value in key.values())
    return Resolved({"": value_text(row), "values": texts, "label": label(texts)}[option])


def _line(published: Published, reference: Reference) -> Resolved:
    """The name of a line of a chart: the values of the row keys that its rows agree in."""
    name, row, key = reference.last()
    values = published.report(name).row(row)["key"]
    return Resolved(label(" / ".join(value_text(value) for other, value in values.items() if other != key)))


def _raw(published: Published, reference: Reference) -> Resolved:
    digest, pointer = reference.first()
    if digest not in published.raw:
        cause = f"raw {digest}"
        raise Unresolved(f"no published raw file of a report has the SHA-256 {digest[:12]}…", cause)
    value = value_at(published.raw[digest].value, pointer)
    return Resolved(formatted(value, reference), None if isinstance(value, str) else value_text(value))


def _pointer(published: Published, reference: Reference) -> Resolved:
    _raw(published, reference)
    return Resolved(value_text(reference.first()[1]))


def _constant(published: Published, reference: Reference) -> Resolved:
    name, key = reference.first()
    constants = published.report(name).table["constants"]
    pointer = "$" + "".join(f'["{part}"]' for part in key.split("/"))
    return Resolved(formatted(value_at(constants, pointer), reference))


def _ledger(published: Published, reference: Reference) -> Resolved:
    name, field = reference.first()
    ledger = published.report(name).table["ledger"]
    if field not in ledger:
        raise Unresolved(f"the ledger has no {field!r}")
    value = ledger[field]
    return Resolved(value_text(len(value) if isinstance(value, list) else value))


def _spec(published: Published, reference: Reference) -> Resolved:
    name, pointer = reference.first()
    return Resolved(formatted(value_at(published.report(name).spec, pointer), reference))


def _report(published: Published, reference: Reference) -> Resolved:
    name, pointer = reference.first()
    if not _QUOTABLE.fullmatch(pointer):
        raise Unresolved(f"{reference.text!r} quotes the report JSON where a recount is due")
    report = published.report(name)
    value = report.table["digest"] if pointer == "$.digest" else value_at(report.value, pointer)
    text = value_text(value)
    return Resolved(text[:12] if reference.only("sha12") else text)


def _said(published: Published, reference: Reference) -> Resolved:
    name, pointer = reference.first()
    report = published.report(name)
    template = value_at(report.spec, pointer)
    if not isinstance(template, str):
        raise Unresolved(f"{reference.text!r} names no sentence")
    return Resolved(claims.filled(report, template, lambda inner: resolve(published, inner).text))


def _samples(published: Published, reference: Reference) -> Resolved:
    name, row, stage = reference.last()
    report = published.report(name)
    report.row(row)
    return Resolved(value_text(series.pooled(report, row, stage)["count"]))


def _points(published: Published, reference: Reference) -> Resolved:
    return Resolved(value_text(len(series.recompute(published, reference.rest).y)))


def _illustration(published: Published, reference: Reference) -> Resolved:
    raise Unresolved("an illustration is not recounted")


def _derived(
    compute: Callable[[Published, Reference], str],
) -> Callable[[Published, Reference], Resolved]:
    return lambda published, reference: Resolved(compute(published, reference))


_HANDLERS: Mapping[str, Callable[[Published, Reference], Resolved]] = {
    "cell": _cell,
    "key": _key,
    "row": _row,
    "line": _line,
    "raw": _raw,
    "pointer": _pointer,
    "constant": _constant,
    "ledger": _ledger,
    "spec": _spec,
    "report": _report,
    "said": _said,
    "samples": _samples,
    "points": _points,
    **{scheme: _derived(compute) for scheme, compute in derived.HANDLERS.items()},
}
