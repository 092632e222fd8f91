"""The newcomer's road, walked for real in a project that holds nothing but the demo's spec."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from support.console import Console

from tallymark import demo

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "examples").mkdir()
    shutil.copy(ROOT / demo.SPEC, tmp_path / demo.SPEC)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path / "mkdocs.yml")
    return tmp_path


@pytest.fixture
def console(project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Console:
    return Console(project, monkeypatch, capfd)


def files(folder: Path) -> dict[str, bytes]:
    """Every file outside build/, with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).parts[0] != "build"
    }


def test_the_demo_ends_with_a_recount_that_agrees_and_a_page_to_open(console: Console, project: Path) -> None:
    earlier = project / demo.DATA / "earlier.json"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("an earlier demo", "utf-8")
    before = files(project)

    code, out, err = console.run("demo")

    assert code == 0, err
    summary, page = out.splitlines()
    counted = re.fullmatch(r"([0-9]+) cells, ([0-9]+) prose numbers, 0 differences", summary)
    assert counted is not None
    assert int(counted[1]) > 20
    assert int(counted[2]) > 20
    assert page == "open build/site/index.html"
    assert (project / "build" / "site" / "index.html").is_file()
    assert (project / "build" / "site" / "reports" / "demo-scale.html").is_file()
    assert files(project) == before
    assert not earlier.exists()
    document = json.loads((project / demo.DATA / "quick.json").read_text("utf-8"))
    assert document["gate"]["passed"] is True
    made = sorted((run["agents"], run["repetition"], run["tasks"]) for run in document["runs"])
    assert made == [(agents, n, 100_000) for agents in (100, 1000) for n in (1, 2, 3)]
    assert console.run("recount")[:2] == (0, f"{summary}\n")


def test_a_folder_that_is_no_clone_is_told_so_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = Console(tmp_path, monkeypatch, capsys).run("demo")
    assert (code, out) == (2, "")
    assert "the demo's report spec is not here" in err
    assert list(tmp_path.iterdir()) == []
