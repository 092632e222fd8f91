"""SHA256SUMS is the exact list of the other files."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tallymark.errors import UsageError
from tallymark.recount import digests, files, published
from tallymark.recount.verify import verify

SUMS = "SHA256SUMS"


def problems(site: Path) -> list[str]:
    there = files.from_folder(site)
    return [one.line() for one in (*there.odd, *digests.compare_sums(there))]


def change(site: Path, old: bytes, new: bytes) -> None:
    path = site / SUMS
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def test_a_site_as_built_has_no_difference(site: Path) -> None:
    assert problems(site) == []


def test_sha256sum_accepts_what_recount_accepts(site: Path) -> None:
    done = subprocess.run(["sha256sum", "--strict", "-c", SUMS], cwd=site, capture_output=True, check=False)
    assert done.returncode == 0


def test_a_changed_file_is_named_with_both_digests(site: Path) -> None:
    path = site / "index.html"
    listed = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes() + b" ")
    actual = hashlib.sha256(path.read_bytes()).hexdigest()
    assert problems(site) == [
        f'index.html::SHA-256: shown "{listed}", recomputed "{actual}". '
        "Restore the published file, or build the site again."
    ]


def test_a_missing_file_is_named(site: Path) -> None:
    (site / "index.html").unlink()
    assert problems(site) == ["index.html: is listed in SHA256SUMS and not there. Restore the file."]


def test_an_unlisted_file_is_named(site: Path) -> None:
    (site / "data" / "extra.json").write_text("{}")
    assert problems(site) == [
        "data/extra.json: is there and not listed in SHA256SUMS. Remove it, or build the site again."
    ]


def test_without_the_list_nothing_is_sound(site: Path) -> None:
    (site / SUMS).unlink()
    assert problems(site) == ["SHA256SUMS: is missing. Build the site again."]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"no digest here\n", 'is not "DIGEST  NAME"'),
        (b"a" * 64 + b" index.html\n", 'is not "DIGEST  NAME"'),
        (b"A" * 64 + b"  index.html\n", 'is not "DIGEST  NAME"'),
        (b"a" * 64 + b" *index.html\n", 'is not "DIGEST  NAME"'),
        (b"\\" + b"a" * 64 + b"  a\\nb\n", 'is not "DIGEST  NAME"'),
        (b"a" * 64 + b"  ../outside\n", "../outside leaves the site"),
        (b"a" * 64 + b"  /etc/passwd\n", "/etc/passwd leaves the site"),
        (b"a" * 64 + b"  a//b\n", "a//b leaves the site"),
        (b"a" * 64 + b"  index.html\r\n", "carriage return"),
        (b"a" * 64 + b"  \xff\n", "is not UTF-8"),
        (b"\n", 'is not "DIGEST  NAME"'),
    ],
)
def test_a_malformed_line_is_named_by_its_number(site: Path, line: bytes, said: str) -> None:
    lines = (site / SUMS).read_bytes()
    (site / SUMS).write_bytes(lines + line)
    number = lines.count(b"\n") + 1
    assert any(one.startswith(f"SHA256SUMS::line {number}: ") and said in one for one in problems(site))


def test_a_file_listed_twice_is_named(site: Path) -> None:
    first = (site / SUMS).read_bytes().split(b"\n")[0]
    (site / SUMS).write_bytes((site / SUMS).read_bytes() + first + b"\n")
    assert any("is listed twice" in one for one in problems(site))


def test_lines_out_of_order_or_without_an_end_are_named(site: Path) -> None:
    lines = (site / SUMS).read_bytes().splitlines(keepends=True)
    (site / SUMS).write_bytes(b"".join(reversed(lines)))
    assert any("not sorted" in one for one in problems(site))
    (site / SUMS).write_bytes(b"".join(lines).rstrip(b"\n"))
    assert any("its last line has no end" in one for one in problems(site))


def test_a_link_is_reported_and_never_followed(site: Path) -> None:
    (site / "data" / "link.json").symlink_to("/etc/hostname")
    assert problems(site) == ["data/link.json: is not a regular file. Publish the file itself."]


def test_a_linked_folder_is_reported_and_never_entered(site: Path) -> None:
    shutil.copytree(site / "data", site.parent / "elsewhere")
    (site / "more").symlink_to(site.parent / "elsewhere")
    assert problems(site) == ["more: is not a regular file. Publish the file itself."]


def test_expect_accepts_the_digest_of_a_report_and_of_a_raw_file(site: Path) -> None:
    found = published.read_site(files.from_folder(site))
    (report,) = found.reports.values()
    cited = [report.table["digest"], *found.raw, f"sha256:{report.table['digest'][:12].upper()}"]
    assert list(digests.compare_expected(found, cited)) == []


def test_expect_of_another_digest_is_a_difference(site: Path) -> None:
    (difference,) = verify(site, expect=["ab" * 32]).differences
    assert difference.place == f"--expect {'ab' * 32}"
    assert "no recounted report and no published file" in difference.problem


def test_expect_of_no_digest_is_misuse(site: Path) -> None:
    with pytest.raises(UsageError, match="is no SHA-256"):
        verify(site, expect=["abc"])
