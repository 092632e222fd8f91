"""What built pages say, read as HTML without a browser."""

from __future__ import annotations

import gzip
import re
from itertools import pairwise
from pathlib import Path

import pytest
from support.site_pages import HOSTILE_NAMES, article, report_table

from tallymark.check import RULES
from tallymark.recount.html_tree import parse

PAGES = ("index.html", "method.html", "rules.html", "reports/runtime-scale.html", "reports/sleeping.html")
SECTIONS = [
    "Claim and scope",
    "Table",
    "Do it again",
    "Charts",
    "Ledger",
    "All runs",
    "Manifest",
    "Downloads",
]


def test_a_report_page_answers_in_the_order_of_a_careful_reader(site: Path) -> None:
    """Scope first, table before charts, every run, manifest, downloads."""
    page = article(site / "reports" / "runtime-scale.html")
    assert [heading.text() for heading in page.all("h2")] == SECTIONS


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible(site: Path, name: str) -> None:
    """Language, one h1, headings without gaps, captions, scopes, labelled figures."""
    root = parse((site / name).read_text(encoding="utf-8")).root
    assert root.all("html")[0].attributes["lang"] == "en"
    page = article(site / name)
    levels = [int(heading.tag[1]) for heading in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for table in page.all("table"):
        assert len(table.all("caption")) == 1
        assert all(head.attributes.get("scope") in ("col", "row", "rowgroup") for head in table.all("th"))
    ids = {one.attributes["id"] for one in page.elements() if "id" in one.attributes}
    for figure in page.all("figure"):
        assert figure.attributes["aria-labelledby"] in ids
        assert len(figure.all("figcaption")) == 1 and len(figure.all("svg")) == 1


@pytest.mark.parametrize("name", PAGES)
def test_links_stay_inside_the_site_and_lead_somewhere(site: Path, name: str) -> None:
    """Relative links only, each to a file or an anchor that is there: any sub-path and file:// work."""
    page = site / name
    root = parse(page.read_text(encoding="utf-8")).root
    links = [
        one.attributes[key]
        for one in root.elements()
        for key in ("href", "src")
        if key in one.attributes and one.tag != "meta"
    ]
    assert len(links) > 10
    for link in links:
        path, _, anchor = link.partition("#")
        assert not re.match(r"[a-z]+:|/", path), link
        target = (page.parent / path).resolve() if path else page
        assert target.is_file() or (target / "index.html").is_file(), link
        if anchor and not path:
            assert f'id="{anchor}"' in page.read_text(encoding="utf-8"), link


def test_every_cell_opens_its_lineage(site: Path) -> None:
    """Exact value, runs and a jq line stand behind the link of each cell."""
    page = article(site / "reports" / "runtime-scale.html")
    by_id = {one.attributes["id"]: one for one in page.elements() if "id" in one.attributes}
    table = next(one for one in page.all("table") if "data-report" in one.attributes)
    cells = [cell for cell in table.all("td") if "data-exact" in cell.attributes]
    assert len(cells) == 4 * 16
    for cell in cells:
        (link,) = cell.all("a")
        line = by_id[link.attributes["href"].removeprefix("#")]
        texts = [one.text() for one in line.all("td")]
        assert texts[0] == cell.text() and texts[1] == cell.attributes["data-exact"]
        assert line.all("code")[0].text().startswith("jq -n ")


def test_workers_above_cores_are_said_before_the_table(site: Path) -> None:
    """Eight workers on the two cores of the test machine."""
    text = article(site / "reports" / "runtime-scale.html").text()
    assert text.index("8 workers on 2 cores") < text.index("Every value is computed")


def test_registered_roles_are_called_so_wherever_a_reader_looks(site: Path) -> None:
    """Table, run table, charts and their data name the key by the title that the spec gives it."""
    page = article(site / "reports" / "runtime-scale.html")
    for table in page.all("table"):
        heads = [head.text() for head in table.all("thead")[0].all("th")]
        assert "agents" not in heads
        if {"data-report", "tm-runs"} & {*table.attributes, *table.attributes["class"].split()}:
            (head,) = [one for one in table.all("thead")[0].all("th") if one.text() == "registered roles"]
            marked = [head, *head.elements()]
            assert "spec:runtime-scale/$.row_titles.agents" in [m.attributes.get("data-from") for m in marked]
    titles = [one.text() for svg in page.all("svg") for one in svg.all("text") if "agents" in one.text()]
    assert titles == []
    assert "tasks / registered roles" in page.text()
    charts = (site / "reports" / "runtime-scale.charts.json").read_text(encoding="utf-8")
    assert "tasks / registered roles" in charts and "tasks / agents" not in charts


def test_what_a_percentile_covers_stands_below_the_table(site: Path) -> None:
    """A population explains a column; it warns of nothing."""
    page = article(site / "reports" / "runtime-scale.html")
    warnings = [one.text() for one in page.all("p") if one.attributes.get("class") == "tm-note"]
    assert warnings and not [text for text in warnings if text.startswith("Population of")]
    text = page.text()
    assert (
        text.index("What each column is") < text.index("Population of Queue p50") < text.index("Lineage of")
    )


def test_one_completion_is_a_paragraph_over_the_whole_width(site: Path) -> None:
    page = article(site / "reports" / "runtime-scale.html")
    (part,) = [one for one in page.all("section") if "tm-completion" in one.attributes.get("class", "")]
    assert part.all("li") == [] and part.all("p")[0].text().startswith("One completion is one task")


def test_the_method_page_quotes_the_timestamps_of_the_evidence(site: Path) -> None:
    """Only admission is taken under the lock in the test's manifest."""
    page = article(site / "method.html")
    rows = [[cell.text() for cell in row.all("th", "td")] for row in page.all("table")[0].all("tr")][1:]
    assert [row[0] for row in rows if row[2] == "true"] == ["admitted"]
    assert len(rows) == 6


def test_the_rule_page_is_the_table_of_check(site: Path) -> None:
    """Every rule with what must hold and why."""
    rows = article(site / "rules.html").all("tbody")[0].all("tr")
    assert [row.attributes["id"] for row in rows] == [rule.id for rule in RULES]


def test_a_killed_run_stays_on_the_page_and_out_of_the_aggregates(failed: Path) -> None:
    """It is listed with its cause, counted in the ledger and said before the table; its row has n = 2."""
    page = article(failed / "reports" / "runtime-scale.html")
    runs = next(one for one in page.all("table") if "tm-runs" in one.attributes["class"])
    (killed,) = [row for row in runs.all("tr") if row.attributes.get("class") == "failed"]
    assert "killed: the child was killed by signal 9" in killed.text()
    assert "–" in [cell.text() for cell in killed.all("td")]
    assert len(runs.all("tbody")[0].all("tr")) == 12
    assert "1 runs failed" in page.text()
    counts = [row[2] for row in report_table(failed / "reports" / "runtime-scale.html")]
    assert sorted(counts) == ["2", "3", "3", "3"]


def test_what_has_no_value_says_why(sparse: Path) -> None:
    """Thirty pooled tasks are too few for p99, which needs 1,000; a row without runs is not measured."""
    measured, unmeasured = report_table(sparse / "reports" / "runtime-scale.html")
    assert measured[5] == "needs 1000 samples, has 30"
    assert unmeasured[:2] == ["20", "100"] and unmeasured[3] == "not measured"
    page = article(sparse / "reports" / "runtime-scale.html")
    figures = {figure.attributes["id"]: figure for figure in page.all("figure")}
    assert set(figures) == {"fig-latency", "fig-time-queue-0", "fig-time-queue-1", "fig-runs-elapsed"}
    assert len(figures["fig-latency"].all("polyline")) == 1
    assert figures["fig-time-queue-1"].all("polyline") == []
    assert "logarithmic axis" in figures["fig-runs-elapsed"].text()


def test_what_an_import_lost_is_on_its_page(site: Path) -> None:
    """The machine was not recorded, and one field had no place."""
    page = article(site / "reports" / "sleeping.html")
    assert "machine" in page.text() and "hyperfine does not record the machine" in page.text()
    assert "one mean for all runs, kept under reported" in page.text()
    assert "Measured by hyperfine and imported" in page.text()


def test_hostile_names_are_text(hostile: Path) -> None:
    """Each name reads in the table exactly as it is, and adds no element or handler anywhere."""
    page = hostile / "reports" / "hostile.html"
    assert {row[0] for row in report_table(page)} == set(HOSTILE_NAMES)
    assert "alert(document.domain)" in article(page).all("h1")[0].text()
    for name in ("index.html", "reports/hostile.html"):
        assert article(hostile / name).all("img", "script") == []
        root = parse((hostile / name).read_text(encoding="utf-8")).root
        assert not [key for one in root.elements() for key in one.attributes if key.startswith("on")]
        assert len(root.all("title")) == 1


def test_pages_stay_small(site: Path) -> None:
    """A report of four rows and sixteen columns with twelve runs: 24 KiB as a server sends it."""
    page = (site / "reports" / "runtime-scale.html").read_bytes()
    assert len(gzip.compress(page, mtime=0)) < 24 * 1024
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 10 * 2**20
