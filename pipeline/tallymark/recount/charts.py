"""The chart data beside a page: every value of every trace recounted, every text the one on the page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import Any

from tallymark.errors import TallymarkError
from tallymark.evidence import strict_json
from tallymark.recount import series
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.html_tree import Element, Page
from tallymark.recount.published import Published, Report
from tallymark.recount.reference import Unresolved
from tallymark.recount.shown import label, value_text
from tallymark.recount.svg import figure_of, reads_as
from tallymark.recount.tokens import holds_number

_REBUILD = "Build the site again"
_FIGURE_KEYS = {"id", "title", "caption", "data", "layout"}
# Everything else that Plotly draws (text, error bars, annotations, shapes) could show a number.
_TRACE_KEYS = {
    "type",
    "name",
    "meta",
    "x",
    "y",
    "mode",
    "marker",
    "line",
    "hovertemplate",
    "hoverinfo",
    "showlegend",
}
_LAYOUT_KEYS = {"meta", "xaxis", "yaxis", "showlegend"}
_AXIS_KEYS = {"title", "type", "range", "tickmode", "tickvals", "ticktext", "categoryorder", "categoryarray"}
JS_HEAD, JS_TAIL = b"window.tallymarkCharts = ", b";\n"


def compare_charts(published: Published, trees: Mapping[str, Page]) -> tuple[int, list[Difference]]:
    """(values compared, differences) over the chart files of all reports; ``trees`` are the pages."""
    values = 0
    found: list[Difference] = []
    for report in published.reports.values():
        name = f"reports/{report.name}.charts.json"
        if name not in published.files:
            if report.spec.get("charts"):
                found.append(Difference(name, "", "is missing", _REBUILD))
            continue
        try:
            count, differences = _compare_file(published, report, name, trees)
        except (TallymarkError, Unresolved) as error:
            found.append(Difference(name, "", getattr(error, "problem", str(error)), _REBUILD))
        else:
            values += count
            found += differences
    return values, found + list(_unknown_files(published))


def _unknown_files(published: Published) -> Iterator[Difference]:
    known = {f"reports/{name}.charts" for name in (*published.reports, *published.broken)}
    for name in published.files.under("reports/", ".charts.json") + published.files.under(
        "reports/", ".charts.js"
    ):
        if name.rpartition(".")[0] not in known:
            yield Difference(name, "", "belongs to no published report", "Remove the file")


def _compare_file(
    published: Published, report: Report, name: str, trees: Mapping[str, Page]
) -> tuple[int, list[Difference]]:
    data = published.files.read(name)
    document: Any = strict_json.parse(data, name)
    figures = document.get("figures") if isinstance(document, dict) else None
    if not isinstance(figures, list) or not all(isinstance(one, dict) for one in figures):
        raise Unresolved("holds no list of figures")
    found = list(_script_bytes(published, name, data))
    shown = _figures_on_page(trees.get(f"reports/{report.name}.html"))
    ids = [str(figure.get("id")) for figure in figures]
    if list(shown) != ids:
        found.append(mismatch(name, "$.figures", ", ".join(ids), ", ".join(shown), _REBUILD))
    values = 0
    for at, figure in enumerate(figures):
        count, differences = _compare_figure(published, report, f"$.figures[{at}]", figure, shown)
        values += count
        found += [Difference(name, *rest) for rest in differences]
    return values, found


def _script_bytes(published: Published, name: str, data: bytes) -> Iterator[Difference]:
    script = name.removesuffix("json") + "js"
    wanted = JS_HEAD + data.removesuffix(b"\n") + JS_TAIL
    if script not in published.files:
        yield Difference(script, "", "is missing", _REBUILD)
    elif published.files.read(script) != wanted:
        yield Difference(script, "", f"does not hold the bytes of {name}", _REBUILD)


def _figures_on_page(page: Page | None) -> dict[str, Element]:
    article = None if page is None else page.article()
    figures = [] if article is None else article.all("figure")
    return {figure_of(one): one for one in figures if one.attributes.get("id", "").startswith("fig-")}


Found = tuple[str, str, str]  # place, problem, what to do


def _compare_figure(
    published: Published, report: Report, place: str, figure: dict[str, Any], shown: dict[str, Element]
) -> tuple[int, list[Found]]:
    found: list[Found] = [(f"{place}.{key}", "is unknown", _REBUILD) for key in set(figure) - _FIGURE_KEYS]
    element = shown.get(str(figure.get("id")))
    if element is not None:
        found += _texts(place, figure, element)
        found += _same_series(place, figure, element)
    values = 0
    for at, trace in enumerate(figure.get("data") or []):
        where = f"{place}.data[{at}]"
        try:
            count, problems = _compare_trace(published, report, where, trace)
        except Unresolved as error:
            found.append((where, error.problem, _REBUILD))
        else:
            values += count
            found += problems
    return values, found + list(_compare_layout(report, f"{place}.layout", figure.get("layout")))


def _texts(place: str, figure: dict[str, Any], element: Element) -> Iterator[Found]:
    """Title and caption in the data are those on the page, where their numbers are compared."""
    titles = [
        one for one in element.elements() if "tm-figure-title" in one.attributes.get("class", "").split()
    ]
    captions = element.all("figcaption")
    for key, holders in (("title", titles), ("caption", captions)):
        on_page = holders[0].text() if len(holders) == 1 else ""
        if figure.get(key) != on_page:
            yield (f"{place}.{key}", f'says "{figure.get(key)}", the page says "{on_page}"', _REBUILD)


def _same_series(place: str, figure: dict[str, Any], element: Element) -> Iterator[Found]:
    """The static chart draws the series of the data, in the same order."""
    drawn = [
        one.attributes["data-from"]
        for one in element.all("g")
        if one.attributes.get("data-from", "").startswith("series:")
    ]
    held = [
        str(trace["meta"].get("from"))
        for trace in figure.get("data") or []
        if isinstance(trace, dict) and isinstance(trace.get("meta"), dict)
    ]
    if drawn != held:
        yield (f"{place}.data", f"holds {held}, the static chart draws {drawn}", _REBUILD)
    yield from _same_axes(f"{place}.layout.meta", figure, element)


def _same_axes(place: str, figure: dict[str, Any], element: Element) -> Iterator[Found]:
    """What tells the browser how to turn and scale the data is what the static chart states."""
    layout = figure.get("layout")
    meta = layout.get("meta") if isinstance(layout, dict) else None
    for chart in element.all("svg"):
        kinds = {side: chart.attributes.get(f"data-{side}", "").split(",") for side in ("x", "y")}
        wanted = {"swap": chart.attributes.get("data-swap") == "1", "x": kinds["x"][0], "y": kinds["y"][0]}
        wanted["high"] = kinds["x"][2] if len(kinds["x"]) == 5 else ""
        shown = meta | {"high": repr(meta.get("high"))} if isinstance(meta, dict) else {}
        if shown != wanted:
            yield (place, f"says {shown}, the static chart says {wanted}", _REBUILD)


def _compare_trace(published: Published, report: Report, place: str, trace: Any) -> tuple[int, list[Found]]:
    meta = trace.get("meta") if isinstance(trace, dict) else None
    source = meta.get("from") if isinstance(meta, dict) else None
    if not isinstance(source, str) or not source.startswith("series:"):
        raise Unresolved("has no source")
    found: list[Found] = [(f"{place}.{key}", "is unknown", _REBUILD) for key in set(trace) - _TRACE_KEYS]
    rest = source.removeprefix("series:")
    line = series.line_of(rest)
    names = (
        _labels(report, series.row_of(published, rest)) if line is None else _line_labels(report, *line[1:])
    )
    for key in ("name", "hovertemplate", "hoverinfo"):
        text = str(trace.get(key, ""))
        if (holds_number(text) or names) and key in trace and text not in names:
            found.append((f"{place}.{key}", f'"{text}" does not name the row of the series', _REBUILD))
    recounted = series.recompute(published, rest)
    for side, wanted in (("x", recounted.x), ("y", recounted.y)):
        found += _compare_values(f"{place}.{side}", trace.get(side), list(wanted))
    return len(recounted.y), found


def _compare_values(place: str, shown: Any, wanted: list[Any]) -> Iterator[Found]:
    if not isinstance(shown, list) or len(shown) != len(wanted):
        size = len(shown) if isinstance(shown, list) else 0
        yield (place, f'shown "{size} values", recomputed "{len(wanted)} values"', _REBUILD)
        return
    for at, (value, recomputed) in enumerate(zip(shown, wanted, strict=True)):
        if value_text(value) != value_text(recomputed):
            problem = f'shown "{value_text(value)}", recomputed "{value_text(recomputed)}"'
            yield (f"{place}[{at}]", problem, _REBUILD)


def _labels(report: Report, row: str | None) -> frozenset[str]:
    """The texts that name a row, as Plotly shows them."""
    if row is None:
        return frozenset()
    joined = _joined(report.row(row))
    return frozenset([html.escape(joined, quote=False), html.escape(label(joined), quote=False)])


def _line_labels(report: Report, row: str, key: str) -> frozenset[str]:
    """The texts that name the rows which agree with one in every key but ``key``."""
    rest = " / ".join(value_text(v) for name, v in report.row(row)["key"].items() if name != key)
    return frozenset([html.escape(label(rest), quote=False)] if rest else ["all rows"])


def _joined(row: dict[str, Any]) -> str:
    return " / ".join(value_text(value) for value in row["key"].values())


def _compare_layout(report: Report, place: str, layout: Any) -> Iterator[Found]:
    if not isinstance(layout, dict):
        yield (place, "is missing", _REBUILD)
        return
    for key in set(layout) - _LAYOUT_KEYS:
        yield (f"{place}.{key}", "is unknown", _REBUILD)
    for side in ("xaxis", "yaxis"):
        axis = layout.get(side)
        if not isinstance(axis, dict):
            yield (f"{place}.{side}", "is missing", _REBUILD)
            continue
        for key in set(axis) - _AXIS_KEYS:
            yield (f"{place}.{side}.{key}", "is unknown", _REBUILD)
        if holds_number(str((axis.get("title") or {}).get("text", ""))):
            yield (f"{place}.{side}.title", "holds a number", _REBUILD)
        yield from _compare_tick_texts(report, f"{place}.{side}", axis)


def _compare_tick_texts(report: Report, place: str, axis: dict[str, Any]) -> Iterator[Found]:
    values, texts = axis.get("tickvals"), axis.get("ticktext")
    if axis.get("type") == "category":
        wanted = list(report.rows)
        labels = [html.escape(label(_joined(row)), quote=False) for row in report.rows.values()]
        if (axis.get("categoryarray"), values, texts) != (wanted, list(range(len(wanted))), labels):
            yield (place, "does not name the rows of the table in their order", _REBUILD)
    elif values is not None or texts is not None:
        pairs = list(zip(texts or [], values or [], strict=False))
        sound = all(reads_as(str(text), value_text(value)) for text, value in pairs)
        if not sound or not len(pairs) == len(values or []) == len(texts or []):
            yield (place, "has tick texts that do not read as their values", _REBUILD)
