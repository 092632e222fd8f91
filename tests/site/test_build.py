"""From a project to a site: complete, equal to the byte, and swapped in only when it recounts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.evidence import REPORT_SPEC, runtime_execution, write_project
from support.site_pages import tree_digests

from tallymark import errors
from tallymark.site import build as stage
from tallymark.site import engine
from tallymark.site.build import build_site


def test_the_same_input_gives_the_same_bytes_anywhere(built: Path, site: Path, tmp_path: Path) -> None:
    """Another folder, time zone, locale and hash seed; built by the command in a process of its own."""
    project = tmp_path / "elsewhere" / "deeper" / "project"
    shutil.copytree(built, project, ignore=shutil.ignore_patterns("build"))
    surroundings = {"TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-m", "tallymark", "--project", str(project), "site", "build"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | surroundings,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == project / "build" / "site"
    assert tree_digests(project / "build" / "site") == tree_digests(site)


def test_sha256sum_agrees_with_every_file(site: Path) -> None:
    """``sha256sum --strict -c SHA256SUMS`` of coreutils, and no file is left out."""
    done = subprocess.run(
        ["sha256sum", "--strict", "--quiet", "-c", "SHA256SUMS"], cwd=site, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    listed = {line[66:] for line in (site / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
    assert listed == set(tree_digests(site)) - {"SHA256SUMS"}


def test_everything_that_a_reader_needs_is_published(site: Path) -> None:
    """Raw files under their path, report, spec, table, charts, script; nothing compressed or host-bound."""
    files = set(tree_digests(site))
    for name in ("runtime-scale", "sleeping"):
        ends = ("html", "json", "spec.json", "csv", "charts.json", "charts.js")
        assert {f"reports/{name}.{end}" for end in ends} <= files
    assert {"data/runtime-scale/100k.json", "data/sleep/sleep.json", "recount.py", "index.html"} <= files
    assert {"method.html", "rules.html", "recount-status.json", "assets/plotly/plotly-LICENSE.txt"} <= files
    assert not {"sitemap.xml.gz", "404.html"} & files


def test_recount_py_agrees_in_the_folder_of_the_site(site: Path) -> None:
    """The command that the page prints, run as it is printed."""
    page = (site / "reports" / "runtime-scale.html").read_text(encoding="utf-8")
    command = page.split('data-from="command:runtime-scale/recount">')[1].split("<")[0]
    done = subprocess.run(command, shell=True, cwd=site, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "64 cells recounted from 2 files, 0 differences" in done.stdout


def test_the_status_tells_no_time_unless_the_publisher_gives_one(
    built: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1798761600 is 2027-01-01T00:00:00Z (``date -u -d @1798761600``)."""
    status = json.loads((site / "recount-status.json").read_bytes())
    assert status["recounted_at"] is None
    assert status["evidence_until"] == "2026-11-29T09:01:06Z"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1798761600")
    assert stage._publisher_epoch() == 1_798_761_600
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "now")
    with pytest.raises(errors.UsageError, match="no number of seconds"):
        build_site(built, out=built / "build" / "other")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A project that was never built."""
    return write_project(tmp_path)


def _old_site(project: Path) -> Path:
    site = project / "build" / "site"
    site.mkdir(parents=True)
    (site / "SHA256SUMS").write_text("", encoding="utf-8")
    (site / "index.html").write_text("the old site", encoding="utf-8")
    return site


def test_a_site_that_does_not_recount_is_not_swapped_in(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine writes another number into the page: the old site stays, nothing else is left behind."""
    site = _old_site(small)
    make = engine.build_pages

    def tampered(project: Path, pages: Path, new: Path, *rest: Any) -> None:
        make(project, pages, new, *rest)
        page = new / "reports" / "runtime-scale.html"
        text = page.read_text(encoding="utf-8")
        assert "17.00</a></td>" in text
        page.write_text(text.replace("17.00</a></td>", "16.00</a></td>", 1), encoding="utf-8")

    monkeypatch.setattr(engine, "build_pages", tampered)
    said: list[str] = []
    with pytest.raises(errors.FindingsError, match="peak_rss"):
        build_site(small, say=said.append)
    assert any('shown "16.00", recomputed "17.00"' in line for line in said)
    assert (site / "index.html").read_text(encoding="utf-8") == "the old site"
    assert [path.name for path in site.parent.iterdir()] == ["site"]


def test_evidence_with_findings_is_not_published(small: Path) -> None:
    """A count that does not add up stops the build before any page is written."""
    path = small / "data" / "runtime-scale" / "1k.json"
    document = json.loads(path.read_bytes())
    document["runs"][0]["tasks_completed"] -= 1
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(errors.FindingsError):
        build_site(small)
    assert not (small / "build").exists()


def test_a_leak_stops_the_publication(small: Path) -> None:
    """A home folder in a hand-written page would be published with it."""
    page = small / "site" / "docs" / "notes.md"
    page.parent.mkdir()
    page.write_text("# Notes\n\nSee /home/somebody/results.\n", encoding="utf-8")
    said: list[str] = []
    with pytest.raises(errors.FindingsError, match=r"notes\.html"):
        build_site(small, say=said.append)
    assert not (small / "build" / "site").exists()


def test_a_number_in_a_hand_written_page_needs_a_source(small: Path) -> None:
    """Typed numbers stop the build, unless they are marked as illustration."""
    page = small / "site" / "docs" / "notes.md"
    page.parent.mkdir()
    page.write_text("# Notes\n\nIt took 12 ms.\n", encoding="utf-8")
    with pytest.raises(errors.FindingsError, match='"12" has no source'):
        build_site(small)


def test_only_a_built_site_or_an_empty_folder_is_replaced(small: Path, tmp_path: Path) -> None:
    """``--out`` with somebody's folder must not delete it."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(errors.ConflictError):
        build_site(small, out=precious)
    assert (precious / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_site_elsewhere_touches_nothing_beside_it(small: Path, tmp_path: Path) -> None:
    """A folder called pages next to ``--out`` is somebody's own."""
    web = tmp_path / "web"
    (web / "pages").mkdir(parents=True)
    (web / "pages" / "thesis.txt").write_text("years of work", encoding="utf-8")
    assert build_site(small, out=web / "site").site == web / "site"
    assert (web / "pages" / "thesis.txt").read_text(encoding="utf-8") == "years of work"
    assert sorted(path.name for path in web.iterdir()) == ["pages", "site"]


def test_a_project_without_reports_is_told_what_to_write(tmp_path: Path) -> None:
    """A build of nothing is no success."""
    with pytest.raises(errors.NothingCheckedError, match="report init"):
        build_site(tmp_path)


def test_two_reports_of_one_name_are_refused(small: Path, tmp_path: Path) -> None:
    """An extra spec may not replace a published one."""
    extra = tmp_path / "extra.toml"
    extra.write_text(REPORT_SPEC, encoding="utf-8")
    with pytest.raises(errors.UsageError, match="used twice"):
        build_site(small, [extra])


def test_an_extra_report_on_other_data_is_published_below_data(small: Path, tmp_path: Path) -> None:
    """The demo's own spec reads from build/demo; a second build replaces the first site."""
    data = small / "build" / "demo" / "data"
    data.mkdir(parents=True)
    document = runtime_execution(tasks=1000, agents=(100,), seed=9, label="demo")
    (data / "demo.json").write_text(json.dumps(document), encoding="utf-8")
    extra = tmp_path / "demo.toml"
    spec = REPORT_SPEC.replace('"runtime-scale"', '"demo-scale"').replace(
        "data/runtime-scale/*.json", "build/demo/data/*.json"
    )
    extra.write_text(spec, encoding="utf-8")
    site = _old_site(small)
    outcome = build_site(small, [extra])
    assert outcome.site == site and outcome.reports == ("runtime-scale", "demo-scale")
    assert outcome.recounted.differences == ()
    assert (site / "data" / "build" / "demo" / "data" / "demo.json").is_file()
    assert "the old site" not in (site / "index.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in site.parent.iterdir()) == ["demo", "pages", "site"]


def test_a_path_that_is_no_web_address_is_refused() -> None:
    """A line end or backslash in a file name would break SHA256SUMS and links."""
    from tallymark.site.content import published_path

    assert published_path("data/a/b.json") == "data/a/b.json"
    assert published_path("build/x.json") == "data/build/x.json"
    for name in ("data/a\nb.json", "data\\a.json", "/etc/x.json", "data/../x.json"):
        with pytest.raises(errors.UsageError, match="cannot be published"):
            published_path(name)


def test_a_report_without_evidence_waits_for_it_unless_it_had_some(tmp_path: Path) -> None:
    """A spec may be written before its runs; what was frozen is never dropped in silence."""
    project = write_project(tmp_path)
    later = REPORT_SPEC.replace("runtime-scale", "runtime-later")
    (project / "site/reports/runtime-later.toml").write_text(later, encoding="utf-8")
    said: list[str] = []
    assert build_site(project, say=said.append).reports == ("runtime-scale",)
    assert "runtime-later has no evidence yet and is left out" in said
    (project / "site/reports/runtime-later.frozen.json").write_text("{}", encoding="utf-8")
    with pytest.raises(errors.SpecError, match="no file matches 'data/runtime-later"):
        build_site(project)
