"""Canonical bytes and files that appear whole or not at all."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.errors import ConflictError, UsageError
from tallymark.evidence import canonical, strict_json

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


def test_a_document_is_indented_by_one_and_ends_with_a_newline() -> None:
    assert (
        canonical.encode({"b": [1, 0.5], "a": "ü"}) == '{\n "b": [\n  1,\n  0.5\n ],\n "a": "ü"\n}\n'.encode()
    )


@given(VALUES)
def test_encoding_what_was_read_gives_the_same_bytes(value: object) -> None:
    data = canonical.encode(value)
    assert canonical.encode(strict_json.parse(data, "x")) == data


@given(st.dictionaries(st.text(), SCALARS))
def test_compact_does_not_depend_on_the_order_of_keys(value: dict[str, object]) -> None:
    assert canonical.compact(dict(reversed(value.items()))) == canonical.compact(value)


def test_compact_keeps_apart_what_json_keeps_apart() -> None:
    assert len({canonical.compact(value) for value in (1, 1.0, True, "1", [1], None)}) == 6


@pytest.mark.parametrize("value", [math.nan, math.inf, {"a": -math.inf}, "\ud800"])
def test_what_no_strict_reader_takes_is_never_written(value: object) -> None:
    with pytest.raises(ValueError):
        canonical.encode(value)


# `printf abc | sha256sum`
def test_a_digest_is_of_the_bytes_as_they_are() -> None:
    assert canonical.sha256_hex(b"abc").startswith("ba7816bf8f01cfea414140de5dae2223b00361a3")
    assert canonical.sha256_hex(b"a\r\n") != canonical.sha256_hex(b"a\n")


def test_a_new_file_is_written_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "run.json"
    canonical.write_new(target, b"{}\n")
    assert target.read_bytes() == b"{}\n"
    assert list(target.parent.iterdir()) == [target]


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"first")
    with pytest.raises(ConflictError, match="already there"):
        canonical.write_new(target, b"second")
    assert target.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [target]


def test_a_write_that_fails_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for write in (canonical.write_new, canonical.write_replacing):
        with pytest.raises(UsageError, match="No space left"):
            write(tmp_path / "run.json", b"data")
        assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_links_still_writes_whole_and_never_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    canonical.write_new(tmp_path / "run.json", b"first")
    with pytest.raises(ConflictError):
        canonical.write_new(tmp_path / "run.json", b"second")
    assert (tmp_path / "run.json").read_bytes() == b"first"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_replacement_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "status.json"
    target.write_bytes(b"old")
    canonical.write_replacing(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_that_cannot_be_is_a_misuse(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="cannot be written"):
        canonical.write_new(tmp_path / "file" / "run.json", b"{}")
