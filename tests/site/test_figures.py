"""Charts: what a spec may ask for, and that data file and static picture agree with the raw files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.evidence import REPORT_SPEC, write_project
from support.site_pages import article

from tallymark import tables
from tallymark.errors import SpecError
from tallymark.evidence.canonical import sha256_hex
from tallymark.site import figures, plotly_json, series
from tallymark.site.content import _report_data
from tallymark.site.svg import chart
from tallymark.tables.spec import from_value


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that is only computed, never built."""
    return write_project(tmp_path_factory.mktemp("figures"))


def _panels(project: Path, **entry: Any) -> tuple[figures.Panels, ...]:
    import tomllib

    value = tomllib.loads(REPORT_SPEC) | {
        "schema": "report-spec/1.1",
        "charts": [{"id": "one", "title": "One", **entry}],
    }
    report = tables.compute(project, from_value(value, "spec.toml"))
    return figures.panels(_report_data(report))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"kind": "runs_points", "columns": ["nothing"]}, "'nothing'"),
        ({"kind": "runs_points", "columns": ["queue_p99_pooled"]}, "whose aggregate is pooled_percentile"),
        ({"kind": "timeline", "columns": ["heat"]}, "'heat'"),
        ({"kind": "percentiles", "stage": "queue", "split": "workers"}, "splits by 'workers'"),
        ({"kind": "percentiles"}, "'stage' is missing"),
        ({"kind": "percentiles", "stage": "queue", "only": ["tasks=7"]}, "draws the row 'tasks=7'"),
        ({"kind": "by_key", "columns": ["elapsed"], "x": "workers"}, "is drawn over 'workers'"),
        ({"kind": "by_key", "columns": ["elapsed"]}, "'x' is missing"),
        (
            {"kind": "timeline", "series": "batch_memory", "columns": ["rss_bytes"]},
            "names the series 'batch_memory'",
        ),
        ({"kind": "timeline"}, "'columns' is missing"),
    ],
)
def test_a_chart_that_cannot_be_drawn_stops_the_report(
    project: Path, entry: dict[str, Any], problem: str
) -> None:
    """The spec is at fault, and the message names what."""
    with pytest.raises(SpecError) as stopped:
        _panels(project, **entry)
    assert problem in stopped.value.line()


def test_a_run_is_a_ring_at_its_value(project: Path) -> None:
    """Places are recomputed by hand: from + (value - low) / (high - low) * (to - from)."""
    ((panel,),) = [entry.figures for entry in _panels(project, kind="runs_points", columns=["elapsed"])]
    drawn = chart(panel, 400)
    kind, low, high, start, end = drawn.y_attribute.split(",")
    assert kind == "linear" and drawn.swap
    every = panel.traces[0].series
    assert len(every.y) == len(drawn.groups[0].circles) == 12
    for value, (x, _) in zip(every.y, drawn.groups[0].circles, strict=True):
        wanted = float(start) + (value - float(low)) / (float(high) - float(low)) * (
            float(end) - float(start)
        )
        assert float(x) == pytest.approx(wanted, abs=0.006)


def test_percentiles_stop_where_samples_are_too_few(project: Path) -> None:
    """3,000 tasks carry p99 (1,000 needed) and no p99.9 (10,000 needed); the maximum needs no rule."""
    ((panel,),) = [entry.figures for entry in _panels(project, kind="percentiles", stage="queue")]
    assert panel.traces[0].series.x == (0.5, 0.75, 0.9, 0.95, 0.99, 1)


def test_series_differ_by_dash_and_marker(project: Path) -> None:
    """Black-and-white print tells four rows apart."""
    document = plotly_json.document(_panels(project, kind="percentiles", stage="queue"))
    looks = {(one["line"]["dash"], one["marker"]["symbol"]) for one in document["figures"][0]["data"]}
    assert len(looks) == 4


def test_plotly_refuses_a_figure_that_it_would_not_draw(project: Path) -> None:
    """The check is Plotly's own: an unknown attribute is an error, not a blank chart."""
    document = plotly_json.document(_panels(project, kind="percentiles", stage="queue"))
    plotly_json.check(document)
    document["figures"][0]["data"][0]["mood"] = "good"
    with pytest.raises(ValueError, match="mood"):
        plotly_json.check(document)


def test_the_script_holds_the_very_bytes_of_the_data(site: Path) -> None:
    """Whoever downloads the JSON has what was drawn; markup in it cannot end the script element."""
    data = (site / "reports" / "runtime-scale.charts.json").read_bytes()
    script = (site / "reports" / "runtime-scale.charts.js").read_bytes()
    assert script == b"window.tallymarkCharts = " + data[:-1] + b";\n"
    assert not set(data) & set(b"<>&")


def test_data_and_picture_name_the_same_series(site: Path) -> None:
    """Every trace has its group in the page, in order, and titles are those on the page."""
    document = json.loads((site / "reports" / "runtime-scale.charts.json").read_bytes())
    page = article(site / "reports" / "runtime-scale.html")
    shown = {figure.attributes["id"]: figure for figure in page.all("figure")}
    assert len(document["figures"]) == len(shown) == 8
    for figure in document["figures"]:
        element = shown[f"fig-{figure['id']}"]
        groups = [group.attributes["data-from"] for group in element.all("g")]
        assert groups == [trace["meta"]["from"] for trace in figure["data"]]
        assert element.all("figcaption")[0].text() == figure["caption"]
        assert figure["title"].endswith("suite scale")


def test_an_excluded_run_is_in_no_percentile_line_and_no_timeline(tmp_path: Path) -> None:
    """Its samples would move the line away from the cells beside it."""
    import tomllib

    project = write_project(tmp_path)
    [path] = sorted((project / "data" / "runtime-scale").glob("1k.json"))
    document = json.loads(path.read_bytes())
    at = next(i for i, run in enumerate(document["runs"]) if (run["agents"], run["repetition"]) == (100, 1))
    entry = {"sha256": sha256_hex(path.read_bytes()), "pointer": f"$.runs[{at}]", "reason": "a backup ran"}
    value = tomllib.loads(REPORT_SPEC) | {"schema": "report-spec/1.1", "exclude": [entry]}
    report = _report_data(tables.compute(project, from_value(value, "spec.toml")))
    pooled = series.pooled_histogram(report, 0, "queue")
    assert pooled is not None and pooled.count == 2 * 1000
    assert figures._sampled_run(report, 0, 1) is None and figures._sampled_run(report, 0, 2) is not None
