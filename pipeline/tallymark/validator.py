"""Applying a schema: the standard validator, stricter in two things and quick where evidence is large.

Stricter: an integer must be written as one (``1.0`` and ``1e2`` are not), and ``date-time`` is asserted.
No ``$ref`` is ever fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias


def validator(root: dict[str, Any], known: list[dict[str, Any]]) -> Any:
    """A validator of ``root`` that can refer to ``known``, to be reused: making one costs more than checking
    a small document.
    """
    from jsonschema import Draft202012Validator, FormatChecker, validators
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    contents = [(schema["$id"], schema) for schema in known]
    registry: Registry[Any] = Registry().with_contents(contents, default_specification=DRAFT202012)
    strict = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator,
        validators={"items": _items, "uniqueItems": _unique_items},
        type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
    )
    formats = FormatChecker(formats=())
    formats.checks("date-time", raises=ValueError)(_is_date_time)
    return strict(root, registry=registry, format_checker=formats)


def _items(validator: Any, items: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The keyword ``items``; rows of plain numbers (buckets, timelines) are judged without a call for each.

    A record has thousands of such rows. One that does not fit goes the long way, which says why.
    """
    from jsonschema import Draft202012Validator

    cells = _plain_row(items)
    if cells is None or "prefixItems" in schema or not isinstance(instance, list):
        yield from Draft202012Validator.VALIDATORS["items"](validator, items, instance, schema)
        return
    for index, row in enumerate(instance):
        if type(row) is not list or len(row) != len(cells) or not all(map(_fits, row, cells)):
            yield from validator.descend(row, items, path=index)


_Cell: TypeAlias = tuple[frozenset[type], float, float]
_ROW_KEYWORDS: Final = {"description", "type", "minItems", "maxItems", "prefixItems", "x-role"}
_ANNOTATIONS: Final = {"description", "x-role", "x-unit", "x-direction", "x-definition"}
_CELL_KEYWORDS: Final = {"type", "minimum", "maximum", *_ANNOTATIONS}
_PYTHON_TYPES: Final = {"integer": (int,), "number": (int, float), "null": (type(None),)}


def _fits(value: Any, cell: _Cell) -> bool:
    types, low, high = cell
    return type(value) in types and (value is None or low <= value <= high)


def _plain_row(items: Any) -> list[_Cell] | None:
    """(types, minimum, maximum) of each cell when ``items`` says no more than that; else None."""
    if not isinstance(items, dict) or not items.keys() <= _ROW_KEYWORDS or "prefixItems" not in items:
        return None
    members = items["prefixItems"]
    if items.get("type") != "array" or not items.get("minItems") == items.get("maxItems") == len(members):
        return None
    cells: list[_Cell] = []
    for member in members:
        names = member.get("type", [])
        names = names if isinstance(names, list) else [names]
        if not member.keys() <= _CELL_KEYWORDS or not names or not set(names) <= _PYTHON_TYPES.keys():
            return None
        types = frozenset(kind for name in names for kind in _PYTHON_TYPES[name])
        cells.append((types, member.get("minimum", float("-inf")), member.get("maximum", float("inf"))))
    return cells


def _unique_items(validator: Any, unique: Any, instance: Any, schema: object) -> Iterator[Any]:
    """The keyword ``uniqueItems``; the standard one compares each mixed item with each other."""
    from jsonschema import ValidationError

    if not unique or not validator.is_type(instance, "array"):
        return
    texts = [json.dumps(_one_spelling(item), sort_keys=True) for item in instance]
    if len(set(texts)) < len(texts):
        yield ValidationError("an item appears twice")


def _one_spelling(value: Any) -> Any:
    """``value`` with every whole number as an integer: ``1.0`` and ``1`` are one number to JSON Schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_one_spelling(item) for item in value]
    if isinstance(value, dict):
        return {key: _one_spelling(member) for key, member in value.items()}
    return value


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_date_time(value: object) -> bool:
    """Whether the text is a time that exists; a leap second has no place in evidence."""
    if isinstance(value, str):
        datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ")
    return True
