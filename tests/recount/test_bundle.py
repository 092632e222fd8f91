"""One zip that recounts anywhere."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.published import NAME

from tallymark.errors import NothingCheckedError, UnreadableError
from tallymark.evidence.canonical import sha256_hex
from tallymark.recount import bundle, files
from tallymark.recount.digests import sums_text
from tallymark.recount.published import Published
from tallymark.recount.verify import verify


@pytest.fixture
def held(read: Published) -> dict[str, bytes]:
    return bundle.members(read, read.reports[NAME])


def written(folder: Path, held: dict[str, bytes]) -> Path:
    path = folder / "bundle.zip"
    path.write_bytes(bundle.packed(held))
    return path


def resigned(held: dict[str, bytes]) -> dict[str, bytes]:
    digests = {name: sha256_hex(data) for name, data in held.items() if name != "SHA256SUMS"}
    return held | {"SHA256SUMS": sums_text(digests)}


def test_a_bundle_holds_all_that_a_recount_needs(held: dict[str, bytes]) -> None:
    assert sorted(held) == [
        "README.txt",
        "SHA256SUMS",
        "data/runtime-scale/1k.json",
        "recount.py",
        "report.json",
        "spec.json",
    ]


def test_the_same_report_gives_the_same_bytes(held: dict[str, bytes]) -> None:
    again = bundle.packed(dict(reversed(held.items())))
    assert again == bundle.packed(held)
    with zipfile.ZipFile(io.BytesIO(again)) as archive:
        assert archive.namelist() == sorted(held)
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_script_recounts_it_alone(held: dict[str, bytes], tmp_path: Path) -> None:
    path = written(tmp_path, held)
    (tmp_path / "recount.py").write_bytes(held["recount.py"])
    command = [sys.executable, "-I", "recount.py", path.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "10 cells" in done.stdout


def test_recount_accepts_a_bundle(held: dict[str, bytes], tmp_path: Path) -> None:
    outcome = verify(written(tmp_path, held))
    assert outcome.differences == ()
    assert outcome.summary() == "10 cells, 0 prose numbers, 0 differences"


def test_a_changed_report_in_a_bundle_is_named(held: dict[str, bytes], tmp_path: Path) -> None:
    value = json.loads(held["report.json"])
    value["rows"][0]["cells"]["runs"]["text"] = "4"
    held["report.json"] = json.dumps(value).encode()
    (difference,) = verify(written(tmp_path, resigned(held))).differences
    assert difference.file == "report.json"
    assert (difference.shown, difference.recomputed) == ("4", "3")


@pytest.mark.parametrize("name", ["data/runtime-scale/1k.json", "spec.json", "README.txt"])
def test_a_changed_byte_in_a_bundle_is_named(name: str, held: dict[str, bytes], tmp_path: Path) -> None:
    held[name] += b"\n"
    found = verify(written(tmp_path, held)).differences
    assert any(one.file == name and one.place == "SHA-256" for one in found)


def test_an_unlisted_member_is_named(held: dict[str, bytes], tmp_path: Path) -> None:
    held["extra.txt"] = b""
    (difference,) = verify(written(tmp_path, held)).differences
    assert difference.line().startswith("extra.txt: is there and not listed")


@pytest.mark.parametrize(
    ("name", "mode", "said"),
    [
        ("../outside", 0o100644, "leaves the bundle"),
        ("/etc/passwd", 0o100644, "leaves the bundle"),
        ("a\\b", 0o100644, "leaves the bundle"),
        ("a//b", 0o100644, "leaves the bundle"),
        ("link", 0o120777, "is a link"),
        ("spec.json", 0o100644, "stands twice"),
    ],
)
def test_a_hostile_member_is_named_and_never_used(
    name: str, mode: int, said: str, held: dict[str, bytes], tmp_path: Path
) -> None:
    path = written(tmp_path, held)
    member = zipfile.ZipInfo(name)
    member.external_attr = mode << 16
    with zipfile.ZipFile(path, "a") as archive:
        if name in held:
            with pytest.warns(UserWarning, match="Duplicate name"):
                archive.writestr(member, b"{}")
        else:
            archive.writestr(member, b"{}")
    found = [one.line() for one in verify(path).differences]
    assert any(said in line for line in found)
    assert not (tmp_path.parent / "outside").exists()


def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    held: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_BUNDLE_BYTES", 1000)
    with pytest.raises(UnreadableError, match="too large once unpacked"):
        verify(written(tmp_path, held))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"not a zip"])
def test_what_is_no_zip_is_unreadable(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(UnreadableError, match="not a readable zip"):
        verify(tmp_path / "x.zip")


def test_a_damaged_zip_is_unreadable(held: dict[str, bytes], tmp_path: Path) -> None:
    path = written(tmp_path, held)
    data = path.read_bytes()
    place = data.index(b'"schema"')
    path.write_bytes(data[:place] + b"X" + data[place + 1 :])
    with pytest.raises(UnreadableError, match="not a readable zip"):
        verify(path)


def test_a_zip_without_a_report_is_nothing_to_recount(tmp_path: Path) -> None:
    with pytest.raises(NothingCheckedError):
        verify(written(tmp_path, {"a.txt": b""}))
