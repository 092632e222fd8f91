"""Figures as Plotly JSON: plain lists, no template, no colours (the page's theme gives those).

The data stay as the published grammar says (x: row ids or quantiles, y: values in the unit shown); what is
drawn lying down or on a 1/(1-q) axis is turned by the page's script, told by ``layout.meta``.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tallymark.evidence import canonical
from tallymark.site.figures import Figure, Panels, Trace
from tallymark.site.scales import Axis
from tallymark.site.shown import plain

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")


def document(entries: Sequence[Panels]) -> dict[str, Any]:
    """All figures of a report as ``{"figures": [...]}``, each accepted by Plotly's own schema."""
    return {"figures": [_figure(figure) for entry in entries for figure in entry.figures]}


def encode(charts: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """The figures as JSON, and the same bytes as a script: a page on ``file://`` cannot fetch JSON."""
    text = canonical.compact(charts)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    safe = f"{text}\n".encode()
    return safe, b"window.tallymarkCharts = " + safe[:-1] + b";\n"


def check(charts: Mapping[str, Any]) -> None:
    """Let Plotly validate every attribute name and value. ValueError: it refuses one."""
    from plotly.graph_objects import Figure as PlotlyFigure  # type: ignore[import-untyped]

    for figure in charts["figures"]:
        PlotlyFigure({"data": figure["data"], "layout": figure["layout"]})


def label(text: str) -> str:
    """Text for a place where Plotly reads a subset of HTML."""
    return html.escape(text, quote=False)


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id,
        "title": plain(figure.title),
        "caption": plain(figure.caption),
        "data": [_trace(figure, trace) for trace in figure.traces],
        "layout": {
            "meta": {"swap": figure.swap, "x": figure.x.kind, "y": figure.y.kind, "high": figure.x.high},
            "xaxis": _axis(figure.x),
            "yaxis": _axis(figure.y),
            "showlegend": bool(figure.legend),
        },
    }


def _trace(figure: Figure, trace: Trace) -> dict[str, Any]:
    style = trace.style % len(SYMBOLS)
    common: dict[str, Any] = {
        "type": "scatter",
        "name": label(trace.name.text),
        "meta": {"from": trace.series.source, "style": style, "mark": trace.mark},
        "x": list(trace.series.x),
        "y": list(trace.series.y),
    }
    if not trace.named:
        common["showlegend"] = False
    if trace.mark == "dots":
        return common | {"mode": "markers", "marker": {"symbol": "circle-open", "size": 9}}
    if trace.mark == "bars":
        symbol = "line-ns-open" if figure.swap else "line-ew-open"
        return common | {"mode": "markers", "marker": {"symbol": symbol, "size": 18}}
    return common | {
        "mode": "lines+markers" if len(trace.series.x) <= 24 else "lines",
        "line": {"dash": DASHES[style]},
        "marker": {"symbol": SYMBOLS[style], "size": 7},
    }


def _axis(axis: Axis) -> dict[str, Any]:
    title = {"text": label(axis.title)}
    if axis.kind == "category":
        return {
            "title": title,
            "type": "category",
            "categoryorder": "array",
            "categoryarray": list(axis.categories),
            "tickmode": "array",
            "tickvals": list(range(len(axis.categories))),
            "ticktext": [label(tick.label.text) for tick in axis.ticks],
        }
    if axis.kind == "linear":
        return {"title": title, "type": "linear", "range": [axis.low, axis.high]}
    ticks = {
        "title": title,
        "tickmode": "array",
        "tickvals": [tick.value for tick in axis.ticks],
        "ticktext": [tick.label.text for tick in axis.ticks],
    }
    if axis.kind == "nines":
        # the page's script turns quantiles into 1/(1-q) on a logarithmic axis
        return ticks | {"type": "linear"}
    # Plotly takes the ends of a logarithmic axis as powers of ten
    # and drops a mark that lies on an end but for the rounding of its logarithm
    return ticks | {"type": "log", "range": [math.log10(axis.low) - 1e-9, math.log10(axis.high) + 1e-9]}
