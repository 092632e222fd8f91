"""What every schema of ours must be: closed, described, annotated, with examples that pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tallymark.check.finding import Finding
from tallymark.check.judge import judge
from tallymark.check.rule import EXECUTIONS
from tallymark.errors import FindingsError, UnreadableError, child
from tallymark.evidence import documents
from tallymark.schemas import SchemaSet
from tallymark.units import UNITS

RULE: Final = "schema-rules"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_LARGEST: Final = 2**53 - 1
_ROLES: Final = ("config", "measure", "evidence")
_DIRECTIONS: Final = ("lower", "higher", "none")
_NO_NEWLINE: Final = r"$(?!\n)"
# keywords whose value is a map of names to schemas, or a list of schemas
_MAPS: Final = ("properties", "$defs")
_LISTS: Final = ("prefixItems", "allOf")
_SINGLE: Final = ("items", "additionalProperties", "propertyNames", "if", "then", "else", "not")


def schema_findings(schemas: SchemaSet) -> Iterator[Finding]:
    """Everything that is wrong with the schemas of a set, apart from the lock."""
    for schema_id in schemas.ids:
        schema = schemas.schema(schema_id)
        invalid = list(_validity(schema))
        problems = invalid or [
            *_identity(schema_id, schema),
            *_structure(schema, "$"),
            *_annotations(schemas, schema_id),
            *_defaults(schemas, schema_id),
        ]
        for pointer, problem, do in problems:
            yield Finding(f"schemas/{schema_id}.schema.json", pointer, RULE, problem, do)
        if not invalid:
            yield from _examples(schemas, schema_id)
    yield from _definitions(schemas)


Problem = tuple[str, str, str]


def _validity(schema: Mapping[str, Any]) -> Iterator[Problem]:
    """Whether it is a JSON Schema at all; nothing else can be said about one that is not."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield "$", f"not a JSON Schema ({error.message[:80]})", "Correct it"


def _identity(schema_id: str, schema: Mapping[str, Any]) -> Iterator[Problem]:
    """The dialect, the id and the name that documents carry follow from the file's name."""
    if schema.get("$schema") != _DIALECT:
        yield "$.$schema", "the dialect is not declared", f"Write {_DIALECT}"
    urn = f"urn:tallymark:schema:{schema_id.replace('/', ':')}"
    if schema.get("$id") != urn:
        yield "$.$id", "the id does not follow from the file's name", f"Write {urn}"
    declared = schema.get("properties", {}).get("schema", {}).get("const")
    if declared != schema_id:
        yield (
            "$.properties.schema",
            "documents are not made to name this schema",
            f'Write "const": "{schema_id}"',
        )
    for key in ("title", "description"):
        if not schema.get(key):
            yield "$", f"{key} is missing", "Say what the document is"


def _structure(node: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    """Objects are closed, required is explicit, integers bounded, patterns anchored; for every subschema."""
    yield from _closed(node, pointer)
    types = node.get("type", [])
    if "integer" in types and not node.get("maximum", _LARGEST + 1) <= _LARGEST:
        yield pointer, "an integer has no maximum that every reader can hold", f"Bound it by {_LARGEST}"
    if "pattern" in node:
        pattern = node["pattern"]
        if not (pattern.startswith("^") and pattern.endswith(_NO_NEWLINE)):
            yield pointer, "a pattern is open, or lets a final newline through", f"Write ^…{_NO_NEWLINE}"
        if "maxLength" not in node:
            yield pointer, "a pattern has no maxLength beside it", "Bound the length"
    for place, member in _members(node, pointer):
        yield from _structure(member, place)


def _closed(node: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    if "type" not in node or "object" not in node["type"] or "properties" not in node:
        return
    if node.get("additionalProperties") is not False and node.get("unevaluatedProperties") is not False:
        yield pointer, "the object takes unknown keys", "Add additionalProperties: false"
    if "required" not in node:
        yield pointer, "required is not stated", "List the keys that must be there, or []"


def _members(node: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for keyword in _MAPS:
        for name, member in node.get(keyword, {}).items():
            yield child(child(pointer, keyword), name), member
    for keyword in _LISTS:
        for position, member in enumerate(node.get(keyword, [])):
            yield f"{pointer}.{keyword}[{position}]", member
    for keyword in _SINGLE:
        if isinstance(node.get(keyword), dict):
            yield f"{pointer}.{keyword}", node[keyword]


def _annotations(schemas: SchemaSet, schema_id: str) -> Iterator[Problem]:
    """Each property is described; in executions each has a role, each measure unit, direction, definition."""
    execution = schema_id.split("/")[0] in EXECUTIONS
    for pointer, note in schemas.annotations(schema_id).items():
        if not note.description:
            yield pointer, "the property has no description", "Say what it holds, and in which unit"
        if note.unit is not None and note.unit not in UNITS:
            yield pointer, f"unit {note.unit!r} is unknown", f"Use one of {', '.join(UNITS)}"
        if note.definition is not None and note.definition not in schemas.definitions:
            yield pointer, f"definition {note.definition!r} does not exist", "Add it to definitions.json"
        if execution and pointer != "$":
            yield from _role(pointer, note.role, note.unit, note.direction, note.definition)


def _role(
    pointer: str, role: str, unit: str | None, direction: str | None, definition: str | None
) -> Iterator[Problem]:
    if role not in _ROLES:
        yield pointer, "the property has no role", f"Add x-role: {' or '.join(_ROLES)}"
    if role == "measure" and (unit is None or definition is None or direction not in _DIRECTIONS):
        do = "Add x-unit, x-direction (lower, higher, none) and x-definition"
        yield pointer, "the measure lacks unit, direction or definition", do


def _defaults(schemas: SchemaSet, schema_id: str) -> Iterator[Problem]:
    """A configuration key that some earlier minor version lacks says what those documents are read with."""
    kind, _, version = schema_id.partition("/")
    major, _, minor = version.partition(".")
    ids = [f"{kind}/{major}.{one}" for one in range(int(minor))]
    earlier = [schemas.config_keys(one) for one in ids if one in schemas.ids]
    for key in schemas.config_keys(schema_id) if earlier else ():
        always = all(key.name in {old.name for old in keys} for keys in earlier)
        if always != (key.default_before is None):
            problem = "x-default-before is missing" if not always else "x-default-before is never used"
            yield key.pointer, problem, "State it exactly for keys that an earlier minor version lacks"


def _definitions(schemas: SchemaSet) -> Iterator[Finding]:
    used = {note.definition for schema_id in schemas.ids for note in schemas.annotations(schema_id).values()}
    for name in schemas.definitions:
        if name not in used:
            yield Finding(
                "schemas/definitions.json",
                f"$.{name}",
                RULE,
                "no schema uses the definition",
                "Remove or use it",
            )


def _examples(schemas: SchemaSet, schema_id: str) -> Iterator[Finding]:
    """There is an example, and each passes its schema and every rule."""
    examples = schemas.examples(schema_id)
    if not examples:
        kind = schema_id.split("/")[0]
        problem = f"{schema_id} has no example"
        yield Finding(f"schemas/{kind}/examples", "$", RULE, problem, "Add one that passes tallymark check")
    for path, data in examples:
        shown = f"schemas/{path}"
        try:
            document = documents.from_bytes(data, shown)
        except (UnreadableError, FindingsError) as error:
            yield Finding(shown, "$", RULE, error.problem, error.do)
            continue
        for error_ in schemas.iter_errors(schema_id, document.value):
            yield Finding(shown, error_.pointer, RULE, error_.message, "Correct the example")
        yield from judge(document).findings
