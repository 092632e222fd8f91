"""Pointers such as ``$.runs[3].elapsed_ms`` into a JSON document."""

from __future__ import annotations

import json
import re
from typing import Any

from tallymark.recount.reference import Unresolved

_STEP = re.compile(r'\.([\w-]+)|\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\]')
_RUN = re.compile(r"\$\.runs\[[0-9]+\]")


def value_at(value: Any, pointer: str) -> Any:
    """The value at a pointer. Unresolved: nothing is there (null is something), or it is no pointer."""
    position = 1
    if not pointer.startswith("$"):
        raise Unresolved(f"{pointer!r} is no pointer")
    while position < len(pointer):
        step = _STEP.match(pointer, position)
        if step is None:
            raise Unresolved(f"{pointer!r} is no pointer")
        name, index, quoted = step.groups()
        key = json.loads(quoted) if quoted else name
        if index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        elif not index and isinstance(value, dict) and key in value:
            value = value[key]
        else:
            raise Unresolved(f"nothing is at {pointer}")
        position = step.end()
    return value


def run_of(pointer: str) -> str:
    """``$.runs[3]`` of ``$.runs[3].elapsed_ms``; the pointer itself when it leads to no run."""
    match = _RUN.match(pointer)
    return match.group() if match else pointer
