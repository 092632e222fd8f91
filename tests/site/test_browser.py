"""Built pages in a real browser: from a file, below a sub-path, with and without scripts, in print."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page
from support.site_pages import HOSTILE_NAMES, report_table

REPORT = "reports/runtime-scale.html"
FIGURES = 8  # three panels of runs, one of percentiles, two columns over time for each of two task counts


class Visit:
    """A page in a context of its own, with everything that it asked for and complained about."""

    def __init__(self, browser: Browser, **context: Any) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.context = browser.new_context(viewport={"width": 1400, "height": 900}, **context)
        self.page: Page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text) if message.type in ("error", "warning") else None
            ),
        )

    def _dismiss(self, dialog: Dialog) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def draw_all(self) -> None:
        """Bring every figure into view and wait until it is drawn."""
        for figure in self.page.locator("figure.tm-figure").all():
            figure.scroll_into_view_if_needed()
            figure.locator(".tm-plot.tm-drawn").wait_for()

    def outside(self, origin: str) -> list[str]:
        """Requests to anywhere but ``origin``; data: and blob: stay in the browser."""
        return [url for url in self.requests if not url.startswith((origin, "data:", "blob:"))]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Any]:
    """Makes visits and closes them."""
    made: list[Visit] = []

    def make(**context: Any) -> Visit:
        made.append(Visit(browser, **context))
        return made[-1]

    yield make
    for one in made:
        one.context.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def sub_path(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site below /project/ on a loopback server."""
    root = tmp_path_factory.mktemp("root")
    (root / "project").symlink_to(site)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/project/"
        server.shutdown()
        thread.join()


def test_charts_draw_from_a_file_without_an_outside_request(visit: Any, site: Path) -> None:
    """Every figure of the report, no complaint in the console, the static picture hidden."""
    seen = visit()
    seen.page.goto((site / REPORT).as_uri())
    seen.draw_all()
    assert seen.page.locator(".tm-plotly .main-svg").count() >= FIGURES
    assert not seen.page.locator("svg.tm-chart").first.is_visible()
    assert (seen.outside("file:"), seen.complaints) == ([], [])


def test_charts_draw_below_a_sub_path_only_when_they_come_into_view(visit: Any, sub_path: str) -> None:
    """The library is asked for by the first figure in sight, once, and from this site."""
    seen = visit()
    seen.page.goto(sub_path + REPORT)
    seen.page.wait_for_load_state("networkidle")
    assert not [url for url in seen.requests if "plotly" in url]
    seen.draw_all()
    assert len([url for url in seen.requests if url.endswith("plotly-cartesian.min.js")]) == 1
    assert (seen.outside(sub_path), seen.complaints) == ([], [])


def test_every_page_opens_from_a_file_without_a_complaint(visit: Any, site: Path) -> None:
    """Start, method, rules and the import."""
    seen = visit()
    for name in ("index.html", "method.html", "rules.html", "reports/sleeping.html"):
        seen.page.goto((site / name).as_uri())
        assert seen.page.locator("article h1").is_visible()
    assert (seen.outside("file:"), seen.complaints) == ([], [])


def test_no_button_offers_to_upload_a_chart(visit: Any, site: Path) -> None:
    """plotly.js 4 has one that sends the chart to its maker; a page of ours talks to nobody."""
    seen = visit()
    seen.page.goto((site / REPORT).as_uri() + "#charts")
    seen.page.locator(".tm-drawn .modebar").first.wait_for(state="attached")
    labels = seen.page.locator(".modebar-btn").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert "Download plot as a PNG" in labels
    assert not [label for label in labels if "hare" in label or "loud" in label]


def test_no_button_of_a_chart_covers_its_legend(visit: Any, site: Path) -> None:
    """A touch screen shows the buttons all the time, beside the names of the lines."""
    seen = visit(has_touch=True)
    seen.page.goto((site / REPORT).as_uri())
    seen.draw_all()
    covered = """one => [...one.querySelectorAll(".legend .traces text")].some(name =>
        [...one.querySelectorAll(".modebar-group")].some(button => {
            const a = name.getBoundingClientRect(), b = button.getBoundingClientRect();
            return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        }))"""
    assert [seen.page.locator(".tm-plotly").nth(at).evaluate(covered) for at in range(FIGURES)] == [
        False
    ] * FIGURES


def test_the_dark_toggle_recolours_drawn_charts(visit: Any, site: Path) -> None:
    """Tick labels and background follow, without drawing anew."""
    seen = visit(color_scheme="light")
    seen.page.goto((site / REPORT).as_uri() + "#charts")
    tick = seen.page.locator(".tm-drawn .xtick text").first
    tick.wait_for()
    fill = "one => getComputedStyle(one).fill"
    light = tick.evaluate(fill)
    paper = seen.page.locator(".tm-plotly .main-svg").first.evaluate("one => one.style.background")
    assert paper in ("", "rgba(0, 0, 0, 0)", "none")
    seen.page.locator('label[for^="__palette"]:visible').click()
    seen.page.wait_for_function(
        "([fill]) => getComputedStyle(document.querySelector('.tm-drawn .xtick text')).fill !== fill",
        arg=[light],
    )
    assert seen.page.locator("body").get_attribute("data-md-color-scheme") == "slate"


def test_without_scripts_tables_pictures_and_lineage_are_there(visit: Any, site: Path) -> None:
    """The link of a cell opens the folded lineage by itself."""
    seen = visit(java_script_enabled=False)
    seen.page.goto((site / REPORT).as_uri())
    assert seen.page.locator("table[data-report] tbody tr").count() == 4
    pictures = seen.page.locator("svg.tm-chart")
    assert pictures.count() == FIGURES
    assert all(picture.is_visible() for picture in pictures.all())
    line = seen.page.locator("#c2-elapsed")
    assert not line.is_visible()
    seen.page.locator('table[data-report] a[href="#c2-elapsed"]').click()
    line.wait_for(state="visible")
    assert "jq -n" in line.inner_text()


def test_a_cell_opens_its_lineage_beside_it(visit: Any, site: Path) -> None:
    """Exact value, runs, files and the jq line; Escape closes it and gives the focus back."""
    seen = visit()
    seen.page.goto((site / REPORT).as_uri())
    link = seen.page.locator('table[data-report] a[href="#c1-peak_rss"]')
    link.click()
    card = seen.page.get_by_role("dialog")
    text = card.inner_text()
    assert "Peak RSS, maximum: 17.00" in text and "100k.json" in text and "jq -n" in text
    exact = link.locator("xpath=..").get_attribute("data-exact")
    assert card.locator(".exact").inner_text() == exact
    seen.page.keyboard.press("Escape")
    assert card.count() == 0
    assert link.evaluate("one => one === document.activeElement")
    assert seen.complaints == []


def test_wide_tables_scroll_inside_a_narrow_screen(visit: Any, site: Path) -> None:
    """The page itself never scrolls sideways, and the row keys stay in sight."""
    seen = visit()
    seen.page.set_viewport_size({"width": 390, "height": 800})
    seen.page.goto((site / REPORT).as_uri())
    sideways = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert seen.page.evaluate(sideways) <= 0
    holder = seen.page.locator(".tm-main")
    holder.evaluate("one => { one.scrollLeft = 600 }")
    key, box = holder.locator("tbody th").first.bounding_box(), holder.bounding_box()
    assert key is not None and box is not None and abs(key["x"] - box["x"]) < 2


def test_a_bound_is_not_parted_from_its_number(visit: Any, site: Path) -> None:
    """The claim's pooled p99 is "≤ …": on no width does a line end after the sign."""
    seen = visit(java_script_enabled=False)
    seen.page.goto((site / REPORT).as_uri())
    bound = seen.page.locator(".tm-claim [data-from^='cell:']", has_text="≤").first
    for width in range(320, 480, 8):
        seen.page.set_viewport_size({"width": width, "height": 800})
        heights = bound.evaluate("one => [...one.getClientRects()].map(box => Math.round(box.top))")
        assert len(set(heights)) == 1, width


def test_one_completion_is_as_wide_as_the_scope(visit: Any, site: Path) -> None:
    seen = visit()
    seen.page.goto((site / REPORT).as_uri())
    widths = [
        seen.page.locator(one).evaluate("one => one.clientWidth") for one in (".tm-scope", ".tm-completion")
    ]
    assert widths[0] == widths[1]


def test_print_holds_tables_and_static_charts(visit: Any, site: Path, tmp_path: Path) -> None:
    """Also when the charts were drawn by script before: paper gets the static pictures."""
    seen = visit()
    seen.page.goto((site / REPORT).as_uri())
    seen.draw_all()
    pdf = tmp_path / "report.pdf"
    seen.page.pdf(path=pdf, format="A4", landscape=True)
    text = subprocess.run(
        ["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True
    ).stdout
    for row in report_table(site / REPORT):
        assert row[3].replace(" ", "") in text.replace(" ", "")
    assert "99.99%" in text and "share of tasks (log axis)" in text
    seen.page.emulate_media(media="print")
    assert seen.page.locator("svg.tm-chart").first.is_visible()
    assert not seen.page.locator(".tm-plotly").first.is_visible()


def test_hostile_names_stay_text_in_drawn_charts(visit: Any, hostile: Path) -> None:
    """No dialog, no link, no image; tick and hover labels read as the names do."""
    seen = visit()
    seen.page.goto((hostile / "reports" / "hostile.html").as_uri())
    seen.draw_all()
    ticks = seen.page.locator(".tm-plotly .ytick text").all_text_contents()
    assert sorted(tick[:3] for tick in ticks) == sorted(name[:3] for name in HOSTILE_NAMES)
    for point in seen.page.locator(".tm-plotly .points path").all()[:9]:
        point.hover(force=True)
    assert seen.page.locator(".tm-plotly a, .tm-plotly img, article img, article script").count() == 0
    assert seen.complaints == []
