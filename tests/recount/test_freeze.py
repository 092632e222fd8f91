"""A frozen report: another digest under the same version is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.published import NAME

from tallymark.errors import ConflictError
from tallymark.evidence import canonical
from tallymark.recount import freeze
from tallymark.recount.published import Published
from tallymark.recount.verify import verify

PLACE = Path("site", "reports", f"{NAME}.frozen.json")


def frozen(read: Published, project: Path, **changes: Any) -> Path:
    """The freeze of the small report, with some fields changed, written into a project."""
    path, data = freeze.prepared(project, read.reports[NAME])
    value = json.loads(data) | changes
    path.write_bytes(canonical.encode(value))
    return path


def lines(project: Path) -> list[str]:
    return [one.line() for one in verify(project / "build" / "site", project).differences]


def test_a_freeze_holds_digests_and_no_prose(read: Published, project: Path) -> None:
    path = frozen(read, project)
    value = json.loads(path.read_bytes())
    assert path == project / PLACE
    assert value["version"] == 1
    assert value["digest"] == read.reports[NAME].value["digest"]
    assert value["data"] == [
        {"path": document.path, "sha256": document.sha256} for document in read.reports[NAME].data
    ]
    assert "Runtime scale" not in path.read_text()


def test_a_report_that_is_as_frozen_has_no_difference(read: Published, project: Path) -> None:
    frozen(read, project)
    assert lines(project) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"digest": "0" * 64}, "$.digest: version 1 is frozen and its digest changed"),
        ({"cells_sha256": "0" * 64}, "$.cells_sha256: version 1 is frozen and its cells changed"),
        ({"rules_sha256": "0" * 64}, "$.rules_sha256: version 1 is frozen and its rules changed"),
        ({"data": []}, "$.data: version 1 is frozen and its data changed"),
        ({"version": 2}, '$.version: shown "2", recomputed "1". A version never goes back'),
        ({"report": "other"}, '$.report: shown "other"'),
    ],
)
def test_a_report_that_is_not_as_frozen_is_named(
    read: Published, project: Path, changes: dict[str, Any], said: str
) -> None:
    frozen(read, project, **changes)
    (line,) = lines(project)
    assert line.startswith(f"{PLACE.as_posix()}::{said}")


def test_the_same_version_is_never_frozen_twice_differently(read: Published, project: Path) -> None:
    path = frozen(read, project, digest="0" * 64)
    before = path.read_bytes()
    with pytest.raises(ConflictError, match="Raise version in the report spec"):
        freeze.prepared(project, read.reports[NAME])
    assert path.read_bytes() == before


def test_freezing_again_changes_nothing(read: Published, project: Path) -> None:
    path = frozen(read, project)
    assert freeze.prepared(project, read.reports[NAME]) == (path, path.read_bytes())


def test_a_new_version_may_differ_in_everything(read: Published, project: Path) -> None:
    frozen(read, project, version=0, digest="0" * 64)
    assert lines(project) == []
    assert json.loads(freeze.prepared(project, read.reports[NAME])[1])["version"] == 1


def test_a_frozen_report_that_is_not_published_is_named(read: Published, project: Path) -> None:
    path = frozen(read, project, report="gone")
    path.rename(path.with_name("gone.frozen.json"))
    assert lines(project) == [
        "site/reports/gone.frozen.json: is frozen and not published. Publish it, or mark it as withdrawn."
    ]


def test_a_freeze_that_cannot_be_read_is_named(project: Path) -> None:
    (project / PLACE).write_text("{")
    (line,) = lines(project)
    assert line.startswith(PLACE.as_posix())
