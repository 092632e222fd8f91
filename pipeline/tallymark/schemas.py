"""The registry of shipped schemas: their text, their validators and what they say about each property.

A schema is ``schemas/<kind>/<major>.<minor>.schema.json`` (JSON Schema 2020-12) and is named by its id
``<kind>/<major>.<minor>``, the text that documents carry. No ``$ref`` is ever fetched: the validators know
the shipped schemas and nothing else. Where they are stricter than the standard: see ``validator``.
"""

# No ``from __future__ import annotations`` here: ``annotations`` is the name of a public function below.

import difflib
import functools
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from tallymark.errors import UsageError, child
from tallymark.validator import validator

_FILE = re.compile(r"([0-9]{1,4}\.[0-9]{1,4})\.schema\.json\Z")
_SHOWN_CHARACTERS: Final = 40
_COMPARED_KEYS: Final = 50  # looking for the name that was meant takes longer than all the rest
_NO_NEWLINE: Final = r"(?!\n)"  # ends most patterns: `$` alone would let a trailing newline through
_TYPE_WORDS: Final = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "array": "an array",
    "object": "an object",
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a schema says about one property.

    ``role`` is config, measure or evidence ("" outside executions); ``unit`` a name of the unit table;
    ``direction`` lower, higher or none; ``definition`` an id of ``definitions.json``; ``default_before``
    what documents of an earlier minor version, which had not the key, are read with. Absent: None.
    """

    role: str
    unit: str | None
    direction: str | None
    definition: str | None
    description: str
    default_before: int | str | None = None


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key of the complete configuration; ``pointer`` is ``$.runs[].agents`` or ``$.manifest.build``.

    ``default_before``: the value that documents of an earlier minor version are read with; None: the key was
    there from the first.
    """

    name: str
    pointer: str
    default_before: int | str | None = None


@dataclass(frozen=True, slots=True)
class ShapeError:
    """One violation: where, of which keyword, and a clause that says it without quoting much of the value."""

    pointer: str
    keyword: str
    message: str


class SchemaSet:
    """The schemas of one folder. Everything is read once and kept."""

    def __init__(self, folder: Traversable) -> None:
        self.folder = folder
        self._validators: dict[str, Any] = {}

    @functools.cached_property
    def ids(self) -> tuple[str, ...]:
        """The id of every schema, sorted."""
        kinds = [entry for entry in self.folder.iterdir() if entry.is_dir()]
        found = [
            f"{kind.name}/{match.group(1)}"
            for kind in kinds
            for entry in kind.iterdir()
            if (match := _FILE.match(entry.name))
        ]
        return tuple(sorted(found))

    def data(self, schema_id: str) -> bytes:
        """The bytes of a schema. UsageError: there is none of that id."""
        if schema_id not in self.ids:
            raise UsageError(
                schema_id, "there is no such schema", f"use one of {', '.join(self.ids) or 'none'}"
            )
        kind, version = schema_id.split("/")
        return (self.folder / kind / f"{version}.schema.json").read_bytes()

    @functools.cached_property
    def _schemas(self) -> dict[str, dict[str, Any]]:
        return {schema_id: json.loads(self.data(schema_id)) for schema_id in self.ids}

    def schema(self, schema_id: str) -> dict[str, Any]:
        """A schema as a value; never change it. UsageError: there is none of that id."""
        if schema_id not in self._schemas:
            self.data(schema_id)
        return self._schemas[schema_id]

    @functools.cached_property
    def definitions(self) -> Mapping[str, str]:
        """Definition id → what is measured, from which point to which, over which samples."""
        loaded: dict[str, str] = json.loads((self.folder / "definitions.json").read_bytes())
        return loaded

    def examples(self, schema_id: str) -> list[tuple[str, bytes]]:
        """(path below the folder, bytes) of the examples whose document declares ``schema_id``, sorted."""
        kind = schema_id.split("/")[0]
        folder = self.folder / kind / "examples"
        if not folder.is_dir():
            return []
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
        loaded = [(f"{kind}/examples/{entry.name}", entry.read_bytes()) for entry in entries]
        return [(path, data) for path, data in loaded if f'"{schema_id}"'.encode() in data[:200]]

    def iter_errors(self, schema_id: str, value: Any) -> Iterator[ShapeError]:
        """Every violation, lazily: a large broken document has as many as it has values."""
        if schema_id not in self._validators:
            self._validators[schema_id] = validator(self.schema(schema_id), list(self._schemas.values()))
        compared = itertools.count()
        for error in self._validators[schema_id].iter_errors(value):
            yield from _said(error, compared)

    @functools.lru_cache(maxsize=64)  # noqa: B019 - a set lives as long as the process, or as one test
    def annotations(self, schema_id: str) -> Mapping[str, Annotation]:
        """Pointer (``$.runs[].elapsed_ms``; ``.*`` for any key) → what the schema says about the property."""
        root = self.schema(schema_id)
        return dict(_annotations(root, root, "$"))

    def config_keys(self, schema_id: str) -> tuple[ConfigKey, ...]:
        """The complete configuration: exactly the properties of role ``config``, those of the runs first."""
        found = [
            ConfigKey(pointer.rsplit(".", 1)[1], pointer, annotation.default_before)
            for pointer, annotation in self.annotations(schema_id).items()
            if annotation.role == "config" and not pointer.startswith("$.warmups")
        ]
        return tuple(sorted(found, key=lambda key: not key.pointer.startswith("$.runs[]")))


@functools.cache
def shipped() -> SchemaSet:
    """The schemas that come with this package, in a checkout as well as in a wheel."""
    return SchemaSet(files("tallymark") / "schemas")


def released() -> tuple[str, ...]:
    """The ids of all shipped schemas: ``("findings/1.0", …)``."""
    return shipped().ids


def schema(schema_id: str) -> dict[str, Any]:
    """A shipped schema; never change it. UsageError: there is none of that id."""
    return shipped().schema(schema_id)


def errors(schema_id: str, value: Any) -> list[tuple[str, str, str]]:
    """(pointer, keyword, message) of every violation of ``value``. UsageError: no schema of that id."""
    return [(e.pointer, e.keyword, e.message) for e in shipped().iter_errors(schema_id, value)]


def annotations(schema_id: str) -> Mapping[str, Annotation]:
    """See SchemaSet.annotations."""
    return shipped().annotations(schema_id)


def series_columns(schema_id: str) -> Mapping[str, tuple[str, ...]]:
    """Each series of a run (an object of ``columns`` and ``rows``) with the names of its columns."""
    run: Any = _resolved(schema(schema_id)["properties"]["runs"]["items"], schema(schema_id))
    members = {name: _resolved(member, schema(schema_id)) for name, member in run["properties"].items()}
    found = {name: member.get("properties", {}) for name, member in members.items()}
    return {
        name: tuple(properties["columns"]["const"])
        for name, properties in found.items()
        if "rows" in properties and "const" in properties.get("columns", {})
    }


def run_annotation(schema_id: str, path: str) -> Annotation | None:
    """What a schema says about a path in a run: ``elapsed_ms``, ``histograms.queue``, a member of a map
    (``faults.tenants.t0.end_to_end``) or a column of a series (``batch_memory.rss_bytes``)."""
    notes = annotations(schema_id)
    owner, _, name = path.rpartition(".")
    columns = series_columns(schema_id).get(owner, ())
    if name in columns:
        return notes.get(f"$.runs[].{owner}.rows[][{columns.index(name)}]")
    parts = path.split(".")
    for wild in itertools.product(*(((part,) if at == 0 else (part, "*")) for at, part in enumerate(parts))):
        if (found := notes.get("$.runs[]." + ".".join(wild))) is not None:
            return found
    return None


def config_keys(schema_id: str) -> tuple[ConfigKey, ...]:
    """See SchemaSet.config_keys."""
    return shipped().config_keys(schema_id)


def newest(schema_ids: Iterable[str]) -> str | None:
    """The schema that all others are earlier minor versions of; None when they have no such one in common."""
    found = {schema_id: _version(schema_id) for schema_id in schema_ids}
    if len({version[:2] for version in found.values()}) != 1:
        return None
    return max(found, key=lambda schema_id: found[schema_id][2])


def _version(schema_id: str) -> tuple[str, int, int]:
    kind, _, version = schema_id.partition("/")
    major, _, minor = version.partition(".")
    return kind, int(major), int(minor)


def definition(definition_id: str) -> str:
    """The text of a definition. UsageError: there is none of that id."""
    if definition_id not in shipped().definitions:
        raise UsageError(definition_id, "there is no such definition", "see schemas/definitions.json")
    return shipped().definitions[definition_id]


# --- messages ---------------------------------------------------------------------------------------------


def _said(error: Any, compared: Iterator[int]) -> Iterator[ShapeError]:
    """One jsonschema error in our words; one for each key where it lumps several together.

    ``compared`` counts the unknown keys of the document that were compared with the known ones.
    """
    pointer = "$"
    for part in error.absolute_path:
        pointer = child(pointer, part)
    keyword = str(error.validator)
    if keyword == "required":
        # jsonschema yields one error a missing key and names the key only in its text
        yield ShapeError(pointer, keyword, f"{error.message.split(' is a required')[0]} is missing")
    elif keyword in ("additionalProperties", "unevaluatedProperties"):
        for key in error.instance:
            if key not in error.schema.get("properties", {}):
                yield ShapeError(child(pointer, key), keyword, _unknown_key(key, error.schema, compared))
    else:
        yield ShapeError(pointer, keyword, _message(keyword, error))


def _unknown_key(key: str, schema: Mapping[str, Any], compared: Iterator[int]) -> str:
    if next(compared) >= _COMPARED_KEYS:
        return "the key is unknown"
    close = difflib.get_close_matches(key, schema.get("properties", {}), n=1, cutoff=0.8)
    return "the key is unknown" + (f" (is {close[0]!r} meant?)" if close else "")


def _message(keyword: str, error: Any) -> str:
    value, limit = error.instance, error.validator_value
    if keyword in _MESSAGES:
        return _MESSAGES[keyword](value, limit)
    return f"{shown(value)} does not fit the schema's {keyword}"


def _type_message(value: Any, limit: Any) -> str:
    names = limit if isinstance(limit, list) else [limit]
    return f"{shown(value)} is not {' or '.join(_TYPE_WORDS[name] for name in names)}"


def _some(values: list[Any]) -> str:
    return ", ".join(shown(value) for value in values[:12]) + (", …" if len(values) > 12 else "")


_MESSAGES: Final[Mapping[str, Callable[[Any, Any], str]]] = {
    "type": _type_message,
    "enum": lambda value, limit: f"{shown(value)} is not one of {_some(limit)}",
    "const": lambda value, limit: f"{shown(value)} is not {shown(limit)}",
    "minimum": lambda value, limit: f"{shown(value)} is below the minimum of {limit}",
    "maximum": lambda value, limit: f"{shown(value)} is above the maximum of {limit}",
    "exclusiveMinimum": lambda value, limit: f"{shown(value)} is not above {limit}",
    "exclusiveMaximum": lambda value, limit: f"{shown(value)} is not below {limit}",
    "minLength": lambda value, limit: f"the text has {len(value)} characters, at least {limit} are needed",
    "maxLength": lambda value, limit: f"the text has {len(value)} characters, more than {limit}",
    "pattern": lambda value, limit: f"{shown(value)} is not of the form {limit.removesuffix(_NO_NEWLINE)}",
    "format": lambda value, limit: f"{shown(value)} is not a {limit} that exists",
    "minItems": lambda value, limit: f"{len(value)} items, at least {limit} are needed",
    "maxItems": lambda value, limit: f"{len(value)} items, more than {limit}",
    "minProperties": lambda value, limit: f"{len(value)} keys, at least {limit} are needed",
    "maxProperties": lambda value, limit: f"{len(value)} keys, more than {limit}",
    "uniqueItems": lambda value, limit: "an item appears twice",
    "not": lambda value, limit: (
        f"{_some(limit['required'])} exclude each other" if "required" in limit else "must not be there"
    ),
}


def shown(value: Any) -> str:
    """``value`` for a message: containers by their kind, text quoted, escaped and cut to 40 characters."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, str) and len(value) > _SHOWN_CHARACTERS:
        return json.dumps(value[:_SHOWN_CHARACTERS])[:-1] + '…"'
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS + 20 else text[:_SHOWN_CHARACTERS] + "…"


# --- annotations ------------------------------------------------------------------------------------------


def _annotations(
    node: Mapping[str, Any], root: Mapping[str, Any], pointer: str
) -> Iterator[tuple[str, Annotation]]:
    """The annotations of ``node`` and of everything below; a ``$ref`` is followed, keys beside it win."""
    node = _resolved(node, root)
    yield pointer, _annotation(node)
    for key, member in node.get("properties", {}).items():
        yield from _annotations(member, root, child(pointer, key))
    if isinstance(node.get("additionalProperties"), dict):
        yield from _annotations(node["additionalProperties"], root, f"{pointer}.*")
    for position, member in enumerate(node.get("prefixItems", [])):
        yield from _annotations(member, root, f"{pointer}[{position}]")
    if isinstance(node.get("items"), dict):
        yield from _annotations(node["items"], root, f"{pointer}[]")


def _resolved(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in node:
        return node
    name = node["$ref"].removeprefix("#/$defs/")
    beside = {key: value for key, value in node.items() if key != "$ref"}
    return {**_resolved(root["$defs"][name], root), **beside}


def _annotation(node: Mapping[str, Any]) -> Annotation:
    return Annotation(
        role=node.get("x-role", ""),
        unit=node.get("x-unit"),
        direction=node.get("x-direction"),
        definition=node.get("x-definition"),
        description=node.get("description", ""),
        default_before=node.get("x-default-before"),
    )
