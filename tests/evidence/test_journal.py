"""The journal: what was appended is there after a kill, and a torn last line is told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.errors import ConflictError, UnreadableError, UsageError
from tallymark.evidence import journal
from tallymark.evidence.journal import Journal

HEADER = {"plan": [1, 2]}


def written(path: Path, *entries: dict[str, object]) -> Path:
    with Journal.create(path, HEADER) as opened:
        for entry in entries:
            opened.append(entry)
    return path


def test_header_and_entries_come_back_in_order(tmp_path: Path) -> None:
    content = journal.read(written(tmp_path / "deep" / "j", {"run": 1}, {"run": 2}))
    assert content.header == HEADER
    assert content.entries == ({"run": 1}, {"run": 2})
    assert not content.torn


@given(cut=st.data())
def test_a_journal_cut_anywhere_keeps_every_whole_line(
    cut: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = written(tmp_path_factory.mktemp("journal") / "j", {"run": 1, "text": "ü\n"}, {"run": 2})
    data = path.read_bytes()
    header = data.index(b"\n") + 1
    length = cut.draw(st.integers(header, len(data)))
    path.write_bytes(data[:length])
    content = journal.read(path)
    assert len(content.entries) == data[header:length].count(b"\n")
    assert content.torn == (length > 0 and data[length - 1 : length] != b"\n")


def test_a_last_line_that_is_not_json_is_torn_too(tmp_path: Path) -> None:
    path = written(tmp_path / "j", {"run": 1})
    path.write_bytes(path.read_bytes() + b'{"run": \n')
    content = journal.read(path)
    assert (content.entries, content.torn) == (({"run": 1},), True)


def test_a_damaged_line_in_the_middle_is_no_torn_write(tmp_path: Path) -> None:
    path = written(tmp_path / "j", {"run": 1}, {"run": 2})
    path.write_bytes(path.read_bytes().replace(b'{"run":1}', b'{"run":1'))
    with pytest.raises(UnreadableError, match=r"j:2::\$"):
        journal.read(path)


@pytest.mark.parametrize("data", [b"", b'{"plan"', b"[]\n"])
def test_without_a_whole_header_there_is_no_journal(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "j").write_bytes(data)
    with pytest.raises(UnreadableError):
        journal.read(tmp_path / "j")


def test_resuming_cuts_the_torn_line_and_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path / "j", {"run": 1})
    path.write_bytes(path.read_bytes() + b'{"run": 2, "half')
    resumed, content = Journal.resume(path)
    with resumed:
        resumed.append({"run": 2})
    assert content.torn and content.entries == ({"run": 1},)
    assert journal.read(path).entries == ({"run": 1}, {"run": 2})
    assert not journal.read(path).torn


def test_a_journal_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "j", HEADER):
        with pytest.raises(ConflictError, match="another process"):
            Journal.resume(tmp_path / "j")
        assert journal.read(tmp_path / "j").header == HEADER
    with Journal.resume(tmp_path / "j")[0]:
        pass


def test_a_journal_is_never_started_over_another(tmp_path: Path) -> None:
    written(tmp_path / "j")
    with pytest.raises(ConflictError, match="already there"):
        Journal.create(tmp_path / "j", HEADER)


def test_a_journal_that_cannot_be_is_a_misuse(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        Journal.resume(tmp_path / "gone")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError):
        Journal.create(tmp_path / "file" / "j", HEADER)


def test_one_entry_is_one_line_whatever_it_holds(tmp_path: Path) -> None:
    path = written(tmp_path / "j", {"cause": "line\nbreak\u2028 and \x00"})
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 3 and json.loads(lines[1])["cause"] == "line\nbreak\u2028 and \x00"
