"""Strict JSON: bytes in, values out, and anything that two readers could read differently is refused.

Refused with the place: bytes that are not UTF-8, a byte order mark, a duplicate key, NaN and Infinity (also
a number such as 1e400 that overflows to one), a lone surrogate, more than one document, and files beyond the
limits below. An integer that JavaScript cannot hold, a float where a count belongs or a bad date are matters
of the schema, not of this reader.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NoReturn, TypeAlias

from tallymark.errors import UnreadableError, child

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_BYTES: Final = 512 << 20
MAX_DEPTH: Final = 512
MAX_VALUES: Final = 20_000_000
MAX_DIGITS: Final = 1_000

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CHUNK = 1 << 20
# What is kept of the text outside strings: brackets, commas, each digit as 0, each exponent sign as e.
_SKELETON = bytes.maketrans(b"123456789E", b"000000000e")
_NOT_SKELETON = bytes(set(range(256)) - set(b"[]{},0123456789eE"))
# Without three exponent digits and without 200 digits in a row no number reaches 10^308: only a text that
# has either needs the number hooks, which cost more than the whole parse.
_LARGE_EXPONENT, _MANY_DIGITS = b"e000", b"0" * 200
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_SYNTAX = {
    "Extra data": ("a second value follows the document", "keep one JSON document in a file"),
    "Expecting value": ("a value is missing or malformed", "write the file again with a JSON writer"),
}


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands in the parsed tree where a value was refused, so that its path can be read off the tree."""

    problem: str
    do: str
    key: str | None = None


def parse(data: bytes, name: str) -> JsonValue:
    """The one JSON document in ``data``; ``name`` is the file as shown in messages.

    UnreadableError: ``data`` is not strict JSON; it names ``file::$.pointer``.
    """
    if len(data) > MAX_BYTES:
        raise _error(name, f"{len(data)} bytes exceed the limit of {MAX_BYTES}", "split the document")
    text = _decoded(data, name)
    skeleton = _skeleton(data)
    _check_structure(skeleton, name)
    value = _parsed(text, name, careful=_LARGE_EXPONENT in skeleton or _MANY_DIGITS in skeleton)
    if _SURROGATE_ESCAPE.search(data) is not None:
        _check_surrogates(value, name)
    return value  # type: ignore[no-any-return]


def _error(name: str, problem: str, do: str, pointer: str = "$") -> UnreadableError:
    return UnreadableError(f"{name}::{pointer}", problem, do)


def _decoded(data: bytes, name: str) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise _error(name, "the file starts with a byte order mark", "save it as UTF-8 without BOM")
    if not data or data.isspace():
        raise _error(name, "the file is empty", "write the document again")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte {error.start} (line {line}) is not UTF-8"
        raise _error(name, problem, "save the file as UTF-8") from None


def _check_structure(skeleton: bytes, name: str) -> None:
    """Depth and number of values, before anything is built: memory and recursion stay bounded."""
    values = skeleton.count(b",") + skeleton.count(b"[") + skeleton.count(b"{")
    if values > MAX_VALUES:
        raise _error(name, f"more than {MAX_VALUES} values and containers", "split the document")
    nested = skeleton.translate(None, b",0e")
    for _ in range(MAX_DEPTH):
        shorter = nested.replace(b"[]", b"").replace(b"{}", b"")
        if len(shorter) == len(nested):
            break
        nested = shorter
    else:
        if nested:
            raise _too_deep(name)
    if any(depth > MAX_DEPTH for depth in accumulate(_STEP[byte] for byte in nested)):
        raise _too_deep(name)


def _too_deep(name: str) -> UnreadableError:
    return _error(name, f"values are nested more than {MAX_DEPTH} deep", "flatten the document")


def _skeleton(data: bytes) -> bytes:
    """What ``data`` is made of outside its strings, in few characters, cut out a chunk at a time."""
    kept = bytearray()
    inside = False
    start = 0
    while start < len(data):
        end = start + _CHUNK
        while end < len(data) and data[end - 1 : end] == b"\\":
            end += 1
        chunk = data[start:end]
        if b"\\" in chunk:
            chunk = chunk.replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = chunk.split(b'"')
        kept += b"".join(pieces[int(inside) :: 2]).translate(_SKELETON, _NOT_SKELETON)
        inside ^= len(pieces) % 2 == 0
        start = end
    return bytes(kept)


def _parsed(text: str, name: str, *, careful: bool) -> Any:
    refused: list[_Refused] = []

    def pairs(members: list[tuple[str, Any]]) -> Any:
        value = dict(members)
        return value if len(value) == len(members) else note(_duplicate(members))

    def note(found: Any) -> Any:
        if isinstance(found, _Refused):
            refused.append(found)
        return found

    hooks: dict[str, Any] = {"object_pairs_hook": pairs, "parse_constant": lambda word: note(_constant(word))}
    if careful:
        hooks |= {"parse_float": lambda text: note(_float(text)), "parse_int": lambda text: note(_int(text))}
    try:
        value = json.loads(text, **hooks)
    except json.JSONDecodeError as error:
        problem, do = _SYNTAX.get(error.msg, (_clause(error.msg), "write the file again with a JSON writer"))
        raise _error(name, f"{problem} at line {error.lineno} column {error.colno}", do) from None
    except RecursionError:
        raise _too_deep(name) from None
    if refused:
        _raise_first_refused(value, name, refused)
    return value


def _clause(message: str) -> str:
    return message[:1].lower() + message[1:]


def _duplicate(members: list[tuple[str, Any]]) -> _Refused:
    seen: set[str] = set()
    key = next(key for key, _ in members if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return _Refused("the key appears twice", "keep one of the two", key)


def _constant(word: str) -> _Refused:
    return _Refused(f"{word} is not a JSON number", "write null and a reason instead")


def _float(digits: str) -> Any:
    if len(digits) > MAX_DIGITS:
        return _Refused(f"a number of {len(digits)} characters", f"write at most {MAX_DIGITS} digits")
    value = float(digits)
    if not math.isfinite(value):
        return _Refused("the number is too large for a double", "write null and a reason instead")
    return value


def _int(digits: str) -> Any:
    if len(digits) > MAX_DIGITS:
        return _Refused(f"an integer of {len(digits)} digits", "write it as text, or at most 2^53 - 1")
    return int(digits)


def _raise_first_refused(value: Any, name: str, refused: list[_Refused]) -> NoReturn:
    """Raise for the first refused value in document order; its pointer is its place in the tree."""
    for pointer, found in _leaves(value):
        if isinstance(found, _Refused):
            where = pointer if found.key is None else child(pointer, found.key)
            raise _error(name, found.problem, found.do, where)
    # the refused value itself was dropped with an earlier duplicate of its key
    raise _error(name, refused[0].problem, refused[0].do)


def _check_surrogates(value: Any, name: str) -> None:
    for pointer, found in _leaves(value):
        if isinstance(found, str) and _LONE_SURROGATE.search(found):
            raise _error(
                name, "the text holds half of a surrogate pair", "write the character as UTF-8", pointer
            )


def _leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """(pointer, leaf) in document order; the keys of objects are leaves too, at their object's pointer."""
    pending: list[tuple[str, Any]] = [("$", value)]
    while pending:
        pointer, found = pending.pop()
        if isinstance(found, dict):
            members = list(found.items())
            pending += [(child(pointer, key), member) for key, member in reversed(members)]
            yield from ((pointer, key) for key in found)
        elif isinstance(found, list):
            pending += [(f"{pointer}[{i}]", found[i]) for i in range(len(found) - 1, -1, -1)]
        else:
            yield pointer, found
