"""Documents on disk: which files are meant, what is read, and what is refused without being read."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from support.unprivileged import unprivileged

from tallymark.errors import FindingsError, UnreadableError, UsageError
from tallymark.evidence import documents, strict_json
from tallymark.evidence.canonical import sha256_hex

DATA = b'{"schema": "runtime-execution/1.0", "a": 1}\n'


def test_a_document_keeps_its_bytes_their_digest_and_its_declared_schema(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(DATA)
    document = documents.load(tmp_path / "a.json", tmp_path)
    assert (document.path, document.data, document.sha256) == ("a.json", DATA, sha256_hex(DATA))
    assert (document.schema, document.kind) == ("runtime-execution/1.0", "runtime-execution")
    assert document.value["a"] == 1


@pytest.mark.parametrize("schema", [b"{}", b'{"schema": 1}', b'{"schema": "x"}', b'{"schema": "x/1"}'])
def test_a_document_without_a_proper_schema_is_of_no_kind(schema: bytes) -> None:
    assert documents.from_bytes(schema, "a.json").kind == ""


def test_a_toml_file_is_read_as_the_same_values(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('schema = "report-spec/1.0"\nrows = ["a"]\n[scope]\nx = 1.5\n', "utf-8")
    document = documents.load(tmp_path / "a.toml", tmp_path)
    assert document.value == {"schema": "report-spec/1.0", "rows": ["a"], "scope": {"x": 1.5}}
    assert document.kind == "report-spec"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"a = 2026-11-29", "not a JSON value"),
        (b"a = nan", "not a JSON value"),
        (b"a = [1, {b = inf}]", "not a JSON value"),
        (b"a = ", "not TOML"),
        (b"a = 1\na = 2", "not TOML"),
        (b'a = "\xff"', "not UTF-8"),
    ],
)
def test_toml_that_json_cannot_say_is_refused(tmp_path: Path, text: bytes, problem: str) -> None:
    (tmp_path / "a.toml").write_bytes(text)
    with pytest.raises(UnreadableError, match=problem):
        documents.load(tmp_path / "a.toml", tmp_path)


@pytest.mark.parametrize("data", [b"[]", b'"text"', b"1", b"null"])
def test_a_value_that_is_no_object_is_a_finding(data: bytes) -> None:
    with pytest.raises(FindingsError, match="not a JSON object"):
        documents.from_bytes(data, "a.json")


def test_a_named_file_counts_whatever_its_suffix_and_a_folder_means_its_json(tmp_path: Path) -> None:
    for name in ("b.json", "a.txt", "deep/c.json", ".hidden/d.json", ".e.json", "deep/f.ndjson"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(DATA)
    found = documents.find([tmp_path / "a.txt", tmp_path, tmp_path / "b.json"])
    assert found == [tmp_path / name for name in ("a.txt", "b.json", "deep/c.json")]


def test_a_path_that_is_not_there_is_a_misuse(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        documents.find([tmp_path / "gone"])
    with pytest.raises(UsageError, match="no such file"):
        documents.load(tmp_path / "gone.json")
    with pytest.raises(UsageError, match="NUL"):
        documents.load(Path("a\0b"))


def test_a_loop_of_links_to_folders_ends(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(DATA)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert documents.find([tmp_path]) == [tmp_path / "a.json"]


def test_a_link_among_evidence_is_listed_and_refused_but_read_when_named(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(DATA)
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "real")
    assert documents.find([tmp_path]) == [link]
    with pytest.raises(UnreadableError, match="symbolic link"):
        documents.load(link)
    assert documents.load(link, follow=True).value["a"] == 1


@pytest.mark.parametrize("locked", ["secret.json", "deep", "deep/deeper"])
def test_what_may_not_be_read_is_refused_and_never_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locked: str
) -> None:
    """A folder left out in silence would be a clean check of evidence that nobody looked at."""
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    for name in ("secret.json", "deep/b.json", "deep/deeper/c.json"):
        (tmp_path / name).write_bytes(DATA)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    Path(locked).chmod(0)
    try:
        with unprivileged(), pytest.raises(UnreadableError, match="Permission denied") as refused:
            for path in documents.find([Path()]):
                documents.load(path)
        with unprivileged(), pytest.raises(UnreadableError, match="Permission denied"):
            for path in documents.find([Path("deep/deeper/c.json" if "deep" in locked else locked)]):
                documents.load(path)
    finally:
        Path(locked).chmod(0o755)
    assert refused.value.where == f"{locked}::$"


def test_a_link_to_nowhere_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(UnreadableError, match="symbolic link"):
        documents.load(link)
    with pytest.raises(UsageError, match="no such file"):
        documents.load(link, follow=True)


def test_a_pipe_a_device_and_a_folder_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", Path("/dev/zero"), tmp_path):
        with pytest.raises(UnreadableError, match="not a regular file"):
            documents.load(path, follow=True)


def test_reading_reserves_what_the_file_holds_and_not_the_limit(tmp_path: Path) -> None:
    # the limit is 512 MiB: a process with less address space must read a small file all the same
    (tmp_path / "a.json").write_bytes(DATA)
    tracemalloc.start()
    try:
        assert documents.read_bytes(tmp_path / "a.json", "a.json") == DATA
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 1 << 20


def test_a_file_beyond_the_limit_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strict_json, "MAX_BYTES", 1 << 20)
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(UnreadableError, match="larger than the limit of 1 MiB"):
        documents.load(tmp_path / "big.json")


def test_paths_are_shown_relative_inside_the_root_and_as_given_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert documents.shown_path(tmp_path / "data" / "a.json") == "data/a.json"
    assert documents.shown_path(Path("data/../a.json")) == "a.json"
    assert documents.shown_path(Path("../a.json")) == "../a.json"
    assert documents.shown_path(Path("/etc/a.json"), tmp_path) == "/etc/a.json"


def test_a_name_that_is_not_utf8_can_be_shown(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json"))
    assert documents.shown_path(path, tmp_path) == "\\udcff.json"
