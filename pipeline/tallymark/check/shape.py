"""The shape of a document by its schema: schema violations as findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tallymark import schemas
from tallymark.check.finding import SHAPE, Finding
from tallymark.evidence.documents import Document

_REMEDY: Final = {
    "required": "Add it as the schema describes",
    "additionalProperties": "Remove it, or use the key that the schema names",
    "type": "Write a value of the right type",
    "not": "Remove it",
}
_DEFAULT_REMEDY: Final = "Write a value that the schema allows"


def shape_findings(document: Document) -> Iterator[Finding]:
    """Every violation of the schema that the document declares, or that it declares none that is known."""
    known = schemas.released()
    if document.schema in known:
        for error in schemas.shipped().iter_errors(document.schema, document.value):
            do = _REMEDY.get(error.keyword, _DEFAULT_REMEDY)
            yield Finding(document.path, error.pointer, SHAPE, error.message, do)
    elif "schema" not in document.value:
        do = 'Start the document with "schema": "<kind>/<major>.<minor>"'
        yield Finding(document.path, "$", SHAPE, "the document declares no schema", do)
    else:
        yield Finding(document.path, "$.schema", SHAPE, *_unknown(document, known))


def _unknown(document: Document, known: tuple[str, ...]) -> tuple[str, str]:
    """Problem and remedy for a schema that is not shipped: newer, or of another kind."""
    problem = f"schema {schemas.shown(document.value['schema'])} is unknown"
    versions = [schema_id for schema_id in known if schema_id.startswith(f"{document.kind}/")]
    if document.kind and versions:
        return problem, f"Use {' or '.join(versions)}, or a newer Tallymark that knows it"
    return problem, f"Use one of {', '.join(known)}"
