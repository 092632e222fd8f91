"""Strict JSON: what two readers could read differently is refused, and the place is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.errors import UnreadableError
from tallymark.evidence import canonical, strict_json

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


def refusal(data: bytes) -> str:
    with pytest.raises(UnreadableError) as caught:
        strict_json.parse(data, "run.json")
    assert caught.value.exit_code == 5
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "where", "problem"),
    [
        (b'{"a": [0, {"b": NaN}]}', "$.a[1].b", "NaN is not a JSON number"),
        (b'{"a": Infinity}', "$.a", "Infinity is not"),
        (b"[1, -Infinity]", "$[1]", "-Infinity is not"),
        (b'{"a": {"b": 1e400}}', "$.a.b", "too large"),
        (b'{"a": -1e999}', "$.a", "too large"),
        (b'{"a": 1' + b"0" * 400 + b".5}", "$.a", "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "$.a", "integer of 5000 digits"),
        (b'{"a": 0.' + b"1" * 5000 + b"}", "$.a", "number of 5002 characters"),
        (b'{"r": [{"x y": 1, "x y": 2}]}', '$.r[0]["x y"]', "appears twice"),
        (b'{"a": 1, "b": {"a": 1, "c": 2, "a": 3}}', "$.b.a", "appears twice"),
        (b'{"a": "\\ud800"}', "$.a", "surrogate"),
        (b'{"\\udc00": 1}', "$", "surrogate"),
        (b"\xef\xbb\xbf{}", "$", "byte order mark"),
        (b'{"a": "\xff"}', "$", "byte 7 (line 1) is not UTF-8"),
        (b"\xff\xfe{\x00}\x00", "$", "not UTF-8"),
        (b"", "$", "empty"),
        (b" \n", "$", "empty"),
        (b'{"a": 1}{"b": 2}', "$", "second value follows the document at line 1 column 9"),
        (b'{"a": 1}\n{"b": 2}\n', "$", "second value"),
        (b'{"a": 1,}', "$", "line 1 column"),
        (b"{'a': 1}", "$", "line 1 column 2"),
        (b'{"a": 01}', "$", "line 1 column"),
        (b'{"a": 1} // x', "$", "second value"),
        (b'{"a": ', "$", "value is missing"),
        (b"[" * 600 + b"]" * 600, "$", "more than 512 deep"),
        (b"[" * 1_000_000, "$", "more than 512 deep"),
        (b'{"a":' * 100_000, "$", "more than 512 deep"),
    ],
)
def test_odd_json_is_refused_at_its_place(data: bytes, where: str, problem: str) -> None:
    message = refusal(data)
    assert message.startswith(f"run.json::{where}: "), message
    assert problem in message


def test_the_first_of_two_faults_is_named() -> None:
    assert "$.a: " in refusal(b'{"a": NaN, "b": {"c": 1, "c": 2}}')


def test_a_fault_inside_a_value_that_a_duplicate_replaces_is_still_refused() -> None:
    assert "appears twice" in refusal(b'{"a": NaN, "a": 1}')


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b" [1] \r\n", [1]),
        (b'{"a": -0.0}', {"a": -0.0}),
        (b'{"a": 1e-400}', {"a": 0.0}),
        (b'{"a": 18446744073709551616}', {"a": 18446744073709551616}),
        (b'{"a": "x\\u0000y"}', {"a": "x\0y"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"__proto__": {"a": 1}}', {"__proto__": {"a": 1}}),
        (b"[" * 512 + b"]" * 512, None),
        (b'["\\\\", "[[[", "\\"]"]', ["\\", "[[[", '"]']),
        (
            b'{"a": 1e100, "b": 1E+2, "c": 0.1000000000000000055511151231257827}',
            {"a": 1e100, "b": 100.0, "c": 0.1},
        ),
    ],
)
def test_what_every_reader_reads_alike_is_accepted(data: bytes, value: object) -> None:
    read = strict_json.parse(data, "run.json")
    assert value is None or read == value


def test_brackets_in_strings_across_chunks_are_no_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "_CHUNK", 7)
    text = json.dumps({"a": '[{"\\' * 700, "b": ["\\\\", '"', "]"]})
    assert strict_json.parse(text.encode(), "run.json") == json.loads(text)


def test_more_values_than_the_limit_are_refused_before_they_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strict_json, "MAX_VALUES", 10)
    assert strict_json.parse(b"[1,2,3,4]", "run.json") == [1, 2, 3, 4]
    assert "more than 10 values and containers" in refusal(b"[" + b"[]," * 20 + b"1]")


def test_more_bytes_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "MAX_BYTES", 10)
    assert "exceed the limit of 10" in refusal(b'{"a": 123456}')


@given(VALUES)
def test_whatever_is_encoded_is_read_back(value: object) -> None:
    assert strict_json.parse(canonical.encode(value), "run.json") == value


@given(st.binary(max_size=80))
def test_no_bytes_make_the_reader_crash(data: bytes) -> None:
    try:
        strict_json.parse(data, "run.json")
    except UnreadableError as error:
        assert error.where.startswith("run.json::$")
