"""The whole road of a load test: scenario, simulation, pages, recount; and what pages claim of examples."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from support.console import Console

from tallymark import tables
from tallymark.recount import files, published
from tallymark.recount.verify import compare_site
from tallymark.tables import spec

ROOT = Path(__file__).parents[2]
PAGES = ("agent-ceilings", "agent-sizing")
# how the evidence of each report is made, as its file says
COMMANDS = {
    name: shlex.split("".join(re.findall(r"^# `(.*)`$", text, flags=re.MULTILINE)))[1:]
    for name in ("agent-ceilings", "agent-sizing", "agent-mix", "agent-quality", "agent-retries")
    for text in [(ROOT / f"site/reports/{name}.toml").read_text(encoding="utf-8")]
}


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    """Commands run in a new, empty folder."""
    return Console(tmp_path, monkeypatch, capsys)


def _project(names: tuple[str, ...]) -> Path:
    """The working folder, with the examples and these report specs in it."""
    here = Path.cwd()
    shutil.copytree(ROOT / "examples", here / "examples")
    (here / "site" / "reports").mkdir(parents=True)
    for name in names:
        shutil.copyfile(ROOT / f"site/reports/{name}.toml", here / f"site/reports/{name}.toml")
    return here


def test_a_scenario_becomes_pages_that_are_recounted(console: Console) -> None:
    _project(PAGES)
    assert COMMANDS[PAGES[0]] == COMMANDS[PAGES[1]]
    assert console.run(*COMMANDS[PAGES[0]])[0] == 0
    for command in (["site", "build"], ["recount"]):
        code, *said = console.run(*command)
        assert code == 0 and " 0 differences" in "".join(said)
    site = Path("build/site")
    held = {name: (site / name).read_bytes() for name in files.from_folder(site).names}
    page = held["reports/agent-ceilings.html"].decode()
    cell = re.search(r'data-from="cell:[^"]*:tokens_ceiling"[^>]*><a[^>]*>([0-9.]+)<', page)
    assert cell is not None
    forged = page[: cell.end(1) - 1] + str((int(page[cell.end(1) - 1]) + 1) % 10) + page[cell.end(1) :]
    held["reports/agent-ceilings.html"] = forged.encode()
    outcome = compare_site(published.read_site(files.from_memory("site", held)))
    assert {one.file for one in outcome.differences} == {"reports/agent-ceilings.html"}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_page_claims_of_the_examples_holds(name: str, console: Console) -> None:
    project = _project((name,))
    assert console.run(*COMMANDS[name])[0] == 0
    report = tables.compute(project, spec.by_name(project, name))
    assert [(one.id, one.holds) for one in report.verdicts if one.holds is not True] == []
