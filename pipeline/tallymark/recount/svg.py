"""The static charts of a page: every coordinate is where the recounted series and the stated axes put it.

The root ``<svg class="tm-chart">`` names the mapping of both axes in ``data-x`` and ``data-y`` as
``KIND,low,high,from,to`` (values low..high onto the pixels from..to) and ``data-swap="1"`` when the chart
lies down. Each ``<g data-from="series:…">`` holds one circle for each point, or one polyline through them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from tallymark.recount import recount as script
from tallymark.recount import series
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.html_tree import Element
from tallymark.recount.published import Published
from tallymark.recount.reference import Unresolved, parse
from tallymark.recount.resolver import resolve

_REBUILD = "Build the site again, or find out who edited the chart"
_SUFFIXES = {"k": "1e3", "M": "1e6", "G": "1e9", "m": "1e-3", "µ": "1e-6", "%": "1e-2"}
_SHAPES = ("circle", "ellipse", "polyline", "polygon", "path", "rect", "line", "use", "image")
_DECORATION = ("grid", "frame", "key")


@dataclass(frozen=True, slots=True)
class Axis:
    """A mapping of values to pixels; ``categories`` are the row ids of a category axis."""

    kind: str
    low: float
    high: float
    start: float
    end: float
    categories: tuple[str, ...] = ()

    def pixel(self, value: float | str) -> str:
        """Where ``value`` stands, to two decimals. Unresolved: the axis cannot hold it."""
        try:
            at, low, high = self._scaled(value)
            return script.fixed(self.start + (at - low) / (high - low) * (self.end - self.start), 2)
        except (ValueError, ArithmeticError, script.Refused):
            raise Unresolved(f"the axis {self.kind} cannot hold {value!r}") from None

    def _scaled(self, value: float | str) -> tuple[float, float, float]:
        if self.kind == "category":
            return self.categories.index(str(value)) + 0.5, self.low, self.high
        number = float(value)
        if self.kind == "log":
            return math.log10(number), math.log10(self.low), math.log10(self.high)
        if self.kind == "nines":
            return self.high if number == 1 else -math.log10(1 - number), self.low, self.high
        return number, self.low, self.high


def require_chart(element: Element) -> None:
    """Series and axis references mean something only inside a chart. Unresolved: this one is outside."""
    owner = element.nearest("data-x")
    if owner is None or owner.tag != "svg" or "tm-chart" not in _classes(owner):
        raise Unresolved(f"{element.attributes['data-from']!r} stands outside a chart")


def compare_charts(published: Published, page: str, article: Element) -> tuple[int, list[Difference]]:
    """(points compared, differences) of all charts of one page."""
    points = 0
    found: list[Difference] = []
    for chart in article.all("svg"):
        if "data-x" not in chart.attributes and "tm-chart" not in _classes(chart):
            continue
        try:
            count, differences = _compare_chart(published, page, chart)
        except Unresolved as error:
            found.append(Difference(page, _place(chart), error.problem, _REBUILD))
        else:
            points += count
            found += differences
    return points, found


def figure_of(element: Element) -> str:
    """The id of the figure that an element stands in, without its prefix; "" outside figures."""
    figure: Element | None = element
    while figure is not None and figure.tag != "figure":
        figure = figure.parent
    return "" if figure is None else figure.attributes.get("id", "").removeprefix("fig-")


def _place(chart: Element) -> str:
    return f"figure {figure_of(chart)}, line {chart.line}" if figure_of(chart) else f"line {chart.line}"


def _compare_chart(published: Published, page: str, chart: Element) -> tuple[int, list[Difference]]:
    place, points = _place(chart), 0
    groups = [one for one in chart.all("g") if one.attributes.get("data-from", "").startswith("series:")]
    problems = [*_strays(chart, groups), *_legend_problems(published, chart, groups)]
    found = [Difference(page, place, problem, _REBUILD) for problem in problems]
    categories: tuple[str, ...] = ()
    for group in groups:
        name = group.attributes["data-from"].removeprefix("series:")
        try:
            recounted = series.recompute(published, name)
            categories = recounted.categories or categories
            x, y, swap = _axes(chart, categories)
            wanted = [(x.pixel(a), y.pixel(b)) for a, b in zip(recounted.x, recounted.y, strict=True)]
        except Unresolved as error:
            found.append(Difference(page, f"{place}, series {name}", error.problem, _REBUILD))
            continue
        points += len(wanted)
        placed = [(b, a) for a, b in wanted] if swap else wanted
        found += _compare_points(page, f"{place}, series {name}", _drawn(group), placed)
    return points, found + _compare_ticks(published, page, place, chart, categories)


def _axes(chart: Element, categories: tuple[str, ...]) -> tuple[Axis, Axis, bool]:
    return (
        _axis(chart, "data-x", categories),
        _axis(chart, "data-y", categories),
        chart.attributes.get("data-swap") == "1",
    )


def _axis(chart: Element, attribute: str, categories: tuple[str, ...]) -> Axis:
    text = chart.attributes.get(attribute, "")
    kind, *numbers = text.split(",")
    try:
        low, high, start, end = (float(number) for number in numbers)
    except ValueError:
        raise Unresolved(f"{attribute}={text!r} is no axis") from None
    if kind not in ("linear", "log", "nines", "category") or not low < high:
        raise Unresolved(f"{attribute}={text!r} is no axis")
    if kind == "category" and (low, high) != (0, len(categories)):
        raise Unresolved(f"{attribute}={text!r} does not hold the {len(categories)} rows of the report")
    return Axis(kind, low, high, start, end, categories)


def _strays(chart: Element, groups: Sequence[Element]) -> Iterator[str]:
    """Shapes that belong to no series, and attributes that would move what was compared."""
    inside = {id(one) for group in groups for one in group.elements()}
    for element in chart.elements():
        moved = {"transform", "x", "y", "dx", "dy", "rotate"} & set(element.attributes)
        holds_series = any(one in groups for one in element.elements())
        if (id(element) in inside and moved) or (holds_series and "transform" in moved):
            yield f"<{element.tag}> on line {element.line} is moved by an attribute"
        if element.tag in _SHAPES and id(element) not in inside and not _decorates(element):
            yield f"<{element.tag}> on line {element.line} belongs to no series"


def _decorates(element: Element) -> bool:
    """Grid, frame, legend keys and the definitions of markers are shapes without a value."""
    is_path = element.tag == "path" and _classes(element)[:1] in [[name] for name in _DECORATION]
    return is_path or element.inside("defs")


def _classes(element: Element) -> list[str]:
    return element.attributes.get("class", "").split()


def _style(element: Element) -> str:
    """The class that gives a series its dash and marker: s0, s1 …"""
    return next((name for name in _classes(element) if name[:1] == "s" and name[1:].isdecimal()), "")


def _legend_problems(published: Published, chart: Element, groups: Sequence[Element]) -> Iterator[str]:
    """The legend names the row of each series in their order, beside the look of that series."""
    texts = [one for one in chart.all("text") if "key" in _classes(one)]
    keys = [one for one in chart.all("path") if "key" in _classes(one)]
    if not texts and not keys:
        return
    groups = [one for at, one in enumerate(groups) if not _goes_with(groups[at - 1] if at else None, one)]
    if not len(texts) == len(keys) == len(groups):
        yield f"the legend has {len(texts)} entries for {len(groups)} series"
        return
    for text, key, group in zip(texts, keys, groups, strict=True):
        rest = group.attributes["data-from"].removeprefix("series:")
        source = parse(text.attributes.get("data-from", ""), None)
        line = series.line_of(rest)
        if line is None:
            named = source.scheme == "row" and source.first()[1] == series.row_of(published, rest)
        else:
            named = source.scheme == "line" and source.last() == line
        if not named or _style(key) != _style(group):
            yield f'the legend entry "{text.text()}" is not that of its series'


def _goes_with(before: Element | None, group: Element) -> bool:
    """Whether a group holds the single runs behind the line that was drawn before it, in its look."""
    if before is None or "dots" not in _classes(group) or "line" not in _classes(before):
        return False
    lines = [series.line_of(one.attributes["data-from"].removeprefix("series:")) for one in (before, group)]
    return lines[0] is not None and lines[0] == lines[1] and _style(before) == _style(group)


def _drawn(group: Element) -> list[tuple[str, str]]:
    circles, lines = group.all("circle"), group.all("polyline")
    if lines and not circles and len(lines) == 1:
        pairs = [pair.split(",") for pair in lines[0].attributes.get("points", "").split()]
        return [(pair[0], pair[-1]) if len(pair) == 2 else (",".join(pair), "") for pair in pairs]
    return [(one.attributes.get("cx", ""), one.attributes.get("cy", "")) for one in (*circles, *lines)]


def _compare_points(
    page: str, place: str, drawn: list[tuple[str, str]], wanted: list[tuple[str, str]]
) -> Iterator[Difference]:
    if len(drawn) != len(wanted):
        yield mismatch(page, place, f"{len(drawn)} points", f"{len(wanted)} points", _REBUILD)
        return
    for at, (shown, recomputed) in enumerate(zip(drawn, wanted, strict=True), start=1):
        if shown != recomputed:
            yield mismatch(page, f"{place}, point {at}", ",".join(shown), ",".join(recomputed), _REBUILD)


def _compare_ticks(
    published: Published, page: str, place: str, chart: Element, categories: tuple[str, ...]
) -> list[Difference]:
    found: list[Difference] = []
    for text in chart.all("text"):
        side = text.attributes.get("data-axis")
        if side is None:
            continue
        where = f'{place}, axis label "{text.text()}"'
        try:
            problem = _tick_problem(published, chart, text, side, categories)
        except Unresolved as error:
            problem = error.problem
        if problem:
            found.append(Difference(page, where, problem, _REBUILD))
    return found


def _tick_problem(
    published: Published, chart: Element, text: Element, side: str, categories: tuple[str, ...]
) -> str:
    """What is wrong with an axis label: its text, or where it stands; "" when nothing is."""
    if side not in ("x", "y"):
        raise Unresolved(f"data-axis={side!r} is no axis")
    axis = _axis(chart, f"data-{side}", categories)
    value = text.attributes.get("data-value", "")
    if axis.kind == "category":
        source = parse(text.attributes.get("data-from", ""), None)
        _, row = source.first()
        if row != value or source.scheme != "row":
            return f"stands for {value!r} and names {source.text!r}"
        resolve(published, source)
    elif text.attributes.get("data-from") != "axis" or not reads_as(text.text(), value):
        return f"does not read as {value}"
    horizontal = (side == "x") != (chart.attributes.get("data-swap") == "1")
    shown = text.attributes.get("x" if horizontal else "y", "")
    pixel = axis.pixel(value)
    return "" if shown == pixel else f'stands at "{shown}", recomputed "{pixel}"'


def reads_as(label: str, value: str) -> bool:
    """Whether an axis label such as ``1.5M``, ``99.9%`` or ``max`` reads as exactly ``value``."""
    if label == "max":
        return value in ("1", "1.0")
    number, suffix = (label[:-1], label[-1:]) if label[-1:] in _SUFFIXES else (label, "")
    try:
        return Decimal(number) * Decimal(_SUFFIXES.get(suffix, "1")) == Decimal(value)
    except InvalidOperation:
        return False
