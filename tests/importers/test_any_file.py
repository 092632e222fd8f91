"""Whatever stands in whatever place of a file is refused with an error of ours, or passes the check."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.hyperfine import NOBODY, entry

from tallymark import check, importers
from tallymark.errors import FindingsError, UnreadableError
from tallymark.evidence import canonical, documents
from tallymark.importers.compose import Request, Source, document

WHOLE = {"results": [entry("a", parameters={"n": "1"}), entry("b", parameter="2")]}
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside ``value``."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in inner for place in places(member, (*path, key)))]


def with_replaced(path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the whole file with another value at one place."""
    whole: Any = {"whole": copy.deepcopy(WHOLE)}
    holder = whole
    for key in ("whole", *path)[:-1]:
        holder = holder[key]
    holder[("whole", *path)[-1]] = value
    return whole["whole"]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(places(WHOLE)), JSON)
def test_any_value_at_any_place_is_refused_or_passes_the_check(path: tuple[Any, ...], value: Any) -> None:
    data = canonical.encode(with_replaced(path, value))
    source = Source("h.json", "h.json", data)
    try:
        imported = importers.read(importers.importer("hyperfine"), source, NOBODY)
    except (FindingsError, UnreadableError) as error:
        assert error.where.startswith("h.json") and error.line().isprintable()
        return
    made = document(imported, source, Request("x", "h", datetime(2026, 11, 29, tzinfo=UTC)))
    encoded = canonical.encode(made)
    assert check.check_document(documents.from_bytes(encoded, "data/x/h.json")) == ()
