"""Figures as static SVG: every pixel as ready text for the template, the same for every build.

The static chart is what print, black-and-white and a browser without JavaScript show. Its root names the
mapping from values to pixels, so that ``recount`` can lay the recomputed series over it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tallymark import units
from tallymark.site.figures import Figure, Trace
from tallymark.site.scales import Axis, Tick, position
from tallymark.site.series import Number
from tallymark.site.shown import Shown

STYLES = 6
_CHARACTER = 6.1  # mean width of a character of the 11 px chart font
_ROW_HEIGHT = 26
_LINE = 17
_MANY_POINTS = 24


@dataclass(frozen=True, slots=True)
class Mark:
    """A tick or legend label: where it stands, its text, and for an axis the value that it names."""

    x: str
    y: str
    label: Shown
    value: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The marks of one series: circles, or the points of one polyline."""

    source: str
    mark: str
    style: str
    circles: tuple[tuple[str, str], ...]
    points: str
    ends_only: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """One SVG: size, the plot's frame, tick marks along both edges, legend and series."""

    width: str
    height: str
    left: str
    right: str
    top: str
    bottom: str
    x_attribute: str
    y_attribute: str
    swap: bool
    across: tuple[Mark, ...]
    across_name: str
    up: tuple[Mark, ...]
    up_name: str
    across_title: str
    up_title: str
    title_y: str
    legend_title: str
    legend: tuple[Mark, ...]
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class _Frame:
    left: float
    right: float
    top: float
    bottom: float


def chart(figure: Figure, width: int) -> Chart:
    """The static picture of a figure, ``width`` pixels wide."""
    across, up = (figure.y, figure.x) if figure.swap else (figure.x, figure.y)
    legend = _legend(figure, width) if figure.legend else ()
    frame = _frame(up, width, legend, len(figure.x.categories) if figure.swap else 0)
    x_range = (frame.top, frame.bottom) if figure.swap else (frame.left, frame.right)
    y_range = (frame.left, frame.right) if figure.swap else (frame.bottom, frame.top)
    return Chart(
        width=str(width),
        height=_pixels(frame.bottom + 38),
        left=_pixels(frame.left),
        right=_pixels(frame.right),
        top=_pixels(frame.top),
        bottom=_pixels(frame.bottom),
        x_attribute=f"{figure.x.attribute},{_pixels(x_range[0])},{_pixels(x_range[1])}",
        y_attribute=f"{figure.y.attribute},{_pixels(y_range[0])},{_pixels(y_range[1])}",
        swap=figure.swap,
        across=tuple(_across(across, tick, frame) for tick in across.ticks),
        across_name="y" if figure.swap else "x",
        up=tuple(_up(up, tick, frame, figure.swap) for tick in up.ticks),
        up_name="x" if figure.swap else "y",
        across_title=across.title,
        up_title=up.title,
        title_y=_pixels(frame.top - 8),
        legend_title=figure.legend,
        legend=legend,
        groups=tuple(_group(figure, trace, x_range, y_range) for trace in figure.traces),
    )


def _frame(up: Axis, width: int, legend: tuple[Mark, ...], rows: int) -> _Frame:
    longest = max((len(tick.label.text) for tick in up.ticks), default=1)
    left = max(36.0, float(round_up(longest * _CHARACTER)) + 14.0)
    lines = len({mark.y for mark in legend})
    top = 22.0 + lines * _LINE
    inside = rows * _ROW_HEIGHT if rows else 230
    return _Frame(left, width - 18.0, top, top + inside)


def _group(figure: Figure, trace: Trace, x_range: tuple[float, float], y_range: tuple[float, float]) -> Group:
    placed = []
    for x, y in zip(trace.series.x, trace.series.y, strict=True):
        along, above = _place(figure.x, x, x_range), _place(figure.y, y, y_range)
        placed.append((above, along) if figure.swap else (along, above))
    dots = trace.mark == "dots"
    return Group(
        source=trace.series.source,
        mark=trace.mark,
        style=str(trace.style % STYLES),
        circles=tuple(placed) if dots else (),
        points="" if dots else " ".join(f"{x},{y}" for x, y in placed),
        ends_only=len(placed) > _MANY_POINTS,
    )


def _across(axis: Axis, tick: Tick, frame: _Frame) -> Mark:
    return Mark(
        _place(axis, tick.value, (frame.left, frame.right)),
        _pixels(frame.bottom + 16),
        tick.label,
        _value(tick.value),
    )


def _up(axis: Axis, tick: Tick, frame: _Frame, swap: bool) -> Mark:
    ends = (frame.top, frame.bottom) if swap else (frame.bottom, frame.top)
    return Mark(_pixels(frame.left - 7), _place(axis, tick.value, ends), tick.label, _value(tick.value))


def _legend(figure: Figure, width: int) -> tuple[Mark, ...]:
    start = 4.0 + len(figure.legend) * _CHARACTER + 12
    marks, x, line = [], start, 0
    for trace in figure.traces:
        if not trace.named:
            continue
        needed = 40 + len(trace.name.text) * _CHARACTER
        if x > start and x + needed > width:
            x, line = start, line + 1
        style = str(trace.style % STYLES)
        marks.append(Mark(_pixels(x), _pixels(12.0 + line * _LINE), trace.name, style=style))
        x += needed + 12
    return tuple(marks)


def _place(axis: Axis, value: Number | str, ends: tuple[float, float]) -> str:
    return _pixels(position(axis, value, *ends))


def _pixels(value: float) -> str:
    return units.fixed(value, 2)


def _value(value: Number | str) -> str:
    return value if isinstance(value, str) else repr(value)


def round_up(value: float) -> int:
    """The next whole pixel."""
    return -int(-value // 1)
