"""The lock of released schemas: what was released never changes in place, neither shape nor meaning.

``schemas/lock.json`` holds, for each released schema, the SHA-256 of its bytes and of its semantic normal
form, and the SHA-256 of each definition text. The two digests tell a changed wording from a changed meaning;
both are refused: a released file is what readers have pinned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tallymark.check.finding import Finding
from tallymark.errors import FindingsError
from tallymark.evidence.canonical import compact, encode, sha256_hex
from tallymark.schemas import SchemaSet

FILE: Final = "lock.json"
RULE: Final = "schema-lock"
_PROSE: Final = frozenset({"title", "description", "$comment", "examples"})
_SETS: Final = frozenset({"required", "enum", "type"})


@dataclass(frozen=True, slots=True)
class Lock:
    """Schema id → (digest of the bytes, digest of the normal form); definition id → digest of its text."""

    schemas: Mapping[str, tuple[str, str]]
    definitions: Mapping[str, str]

    def to_bytes(self) -> bytes:
        """``lock.json``, sorted."""
        return encode(
            {
                "schemas": {
                    schema_id: {"sha256": digests[0], "semantic_sha256": digests[1]}
                    for schema_id, digests in sorted(self.schemas.items())
                },
                "definitions": dict(sorted(self.definitions.items())),
            }
        )


def read_lock(schemas: SchemaSet) -> Lock:
    """The lock beside the schemas; empty when there is none yet."""
    entry = schemas.folder / FILE
    raw = json.loads(entry.read_bytes()) if entry.is_file() else {}
    return Lock(
        schemas={
            schema_id: (digests["sha256"], digests["semantic_sha256"])
            for schema_id, digests in raw.get("schemas", {}).items()
        },
        definitions=raw.get("definitions", {}),
    )


def current_lock(schemas: SchemaSet) -> Lock:
    """What the lock would be for the files as they are."""
    return Lock(
        schemas={
            schema_id: (sha256_hex(schemas.data(schema_id)), semantic_sha256(schemas.schema(schema_id)))
            for schema_id in schemas.ids
        },
        definitions={name: sha256_hex(text.encode("utf-8")) for name, text in schemas.definitions.items()},
    )


def semantic_sha256(schema: Mapping[str, Any]) -> str:
    """A digest that wording, order of keys, order of sets and ``$defs`` do not change."""
    return sha256_hex(compact(_normal(schema, schema, ())).encode("utf-8"))


def _normal(node: Any, root: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    """References resolved (a recursive one stays), prose dropped, sets sorted."""
    if isinstance(node, list):
        return [_normal(member, root, within) for member in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node and node["$ref"] not in within:
        target: Any = root
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _normal({**target, **beside}, root, (*within, node["$ref"]))
    return {key: _member(key, value, root, within) for key, value in node.items() if _kept(key, value)}


def _kept(key: str, value: Any) -> bool:
    # `title` may also be the name of a property, whose schema is an object
    return key != "$defs" and (key not in _PROSE or isinstance(value, dict))


def _member(key: str, value: Any, root: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    if key in _SETS and isinstance(value, list):
        return sorted(compact(item) for item in value)
    return _normal(value, root, within)


def lock_findings(schemas: SchemaSet) -> Iterator[Finding]:
    """Every released schema or definition that changed or is missing, and every one that is not locked."""
    locked, now = read_lock(schemas), current_lock(schemas)
    for schema_id, digests in locked.schemas.items():
        if schema_id not in now.schemas:
            yield _found(
                schema_id, "the released schema is missing", "Restore it; released schemas stay for good"
            )
        elif now.schemas[schema_id] != digests:
            what = "in meaning" if now.schemas[schema_id][1] != digests[1] else "in wording"
            yield _found(
                schema_id,
                f"the released schema changed {what} in place",
                "Restore it and add a new version beside it",
            )
    for schema_id in sorted(set(now.schemas) - set(locked.schemas)):
        yield _found(schema_id, "the schema is not locked", "Run tallymark schema lock when it is released")
    yield from _definition_findings(locked, now)


def _definition_findings(locked: Lock, now: Lock) -> Iterator[Finding]:
    for name, digest in locked.definitions.items():
        if name not in now.definitions:
            yield _definition(name, "the released definition is missing", "Restore it")
        elif now.definitions[name] != digest:
            yield _definition(
                name,
                "the text of a released definition changed",
                "Restore it and use a new id for a new meaning",
            )
    for name in sorted(set(now.definitions) - set(locked.definitions)):
        yield _definition(
            name, "the definition is not locked", "Run tallymark schema lock when it is released"
        )


def _found(schema_id: str, problem: str, do: str) -> Finding:
    return Finding(f"schemas/{schema_id}.schema.json", "$", RULE, problem, do)


def _definition(name: str, problem: str, do: str) -> Finding:
    return Finding("schemas/definitions.json", f"$.{name}", RULE, problem, do)


def extended_lock(schemas: SchemaSet) -> Lock:
    """The lock with everything new added. FindingsError: something released changed or is missing."""
    locked, now = read_lock(schemas), current_lock(schemas)
    for finding in lock_findings(schemas):
        if not finding.problem.endswith("is not locked"):
            raise FindingsError(f"{finding.file}::{finding.pointer}", finding.problem, finding.do)
    return Lock({**now.schemas, **locked.schemas}, {**now.definitions, **locked.definitions})
