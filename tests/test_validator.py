"""The validator: the verdict of the standard one, without its cost."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tallymark.validator import validator

PLAIN = st.none() | st.booleans() | st.integers(-3, 8000) | st.floats(allow_nan=False) | st.text(max_size=2)
SCALAR = PLAIN | st.sampled_from([0, -0.0, False, 1, 1.0, True, 2**53, float(2**53), "a", "1", None])
# No booleans below the top: the standard validator sorts [True] and [1] as equal and then misses a pair.
DEEP = st.recursive(
    st.sampled_from([0, 0.0, 1, 1.0, 1.5, "", "a", None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(SCALAR | DEEP, max_size=8))
def test_items_are_unique_as_the_standard_validator_sees_it(items: list[Any]) -> None:
    schema = {"$id": "tag:unique", "uniqueItems": True}
    standard = Draft202012Validator(schema).is_valid(items)
    assert validator(schema, [schema]).is_valid(items) == standard


def test_true_is_not_1_however_deep() -> None:
    schema = {"$id": "tag:unique", "uniqueItems": True}
    ours = validator(schema, [schema])
    assert ours.is_valid([[True], [1], {"a": [True]}, {"a": [1]}, True, 1])
    assert not ours.is_valid([[True], [1], [True]])
    assert not ours.is_valid([{"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}])


class Counted(str):
    """Text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_unique_items_are_not_compared_each_with_each() -> None:
    mixed = [item for n in range(300) for item in (Counted(n), n)]
    schema = {"$id": "tag:unique", "uniqueItems": True}
    assert validator(schema, [schema]).is_valid(mixed)
    assert Counted.compared <= len(mixed)
