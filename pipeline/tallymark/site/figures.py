"""The charts that a report spec asks for, as figures: titles, captions, axes and series.

A spec's ``[[charts]]`` entry has ``id``, ``kind`` and ``title``, and by kind:

``runs_points``
    ``columns``: one panel each, side by side, every run a dot beside the aggregate of its row;
    ``log``: the names of columns on a logarithmic axis (default: when values span a factor of 50).
``percentiles``
    ``stage``: a latency histogram; one line a row, from the runs' merged histograms.
``timeline``
    ``columns`` of the sampled timeline, or of the ``series`` named, one panel each; ``repetition``
    (default 1): which run of a row.
``by_key``
    ``columns``: one panel each, over the numbers of the row key ``x``; rows that agree in all other keys are
    one line; ``log`` as above.

``percentiles`` and ``timeline`` take ``split`` (a row key, one set of panels for each of its values) and
``only`` (the ids of the rows that are drawn).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark.errors import SpecError
from tallymark.site import series as points
from tallymark.site.labels import (
    UNIT_LABELS,
    fixture,
    key_title,
    line_label,
    other_keys_title,
    row_label,
    row_lines,
    row_title,
)
from tallymark.site.report_data import ReportData, Run
from tallymark.site.scales import Axis, category_axis, fitted_axis, linear_axis, nines_axis, value_axis
from tallymark.site.series import Number, Series
from tallymark.site.series_titles import series_axis, series_title, stage_population, stage_title
from tallymark.site.shown import Sentence, Shown, sourced, words

AGGREGATE_WORDS = {
    "median_of_runs": "median of runs",
    "max_of_runs": "maximum of runs",
    "min_of_runs": "minimum of runs",
    "only_value": "only value",
    "median_of_paired_ratios": "median of rounds",
    "max_of_paired_ratios": "largest of rounds",
    "min_of_paired_ratios": "smallest of rounds",
}

_SAMPLED = ("timeline", "buckets")


@dataclass(frozen=True, slots=True)
class Trace:
    """One series as it is drawn: ``mark`` is dots, bars (aggregates of rows) or line; ``style`` its look.

    ``named``: a legend names it; the dots of single runs go with the line of their aggregates.
    """

    name: Shown
    series: Series
    mark: str
    style: int
    named: bool = True


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart. With ``swap`` it is drawn lying down: the series' x (row ids) runs downwards.

    ``legend`` says what the names of the traces are; without it none is drawn.
    """

    id: str
    title: Sentence
    caption: Sentence
    traces: tuple[Trace, ...]
    x: Axis
    y: Axis
    swap: bool = False
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panels:
    """The figures of one ``[[charts]]`` entry, set side by side where there is room."""

    id: str
    title: Shown
    figures: tuple[Figure, ...]


def panels(report: ReportData) -> tuple[Panels, ...]:
    """The charts of a report in the order of its spec. SpecError: an entry cannot be drawn from the data."""
    return tuple(_entry(report, at, chart) for at, chart in enumerate(report.spec.get("charts") or ()))


def _entry(report: ReportData, at: int, chart: Mapping[str, Any]) -> Panels:
    where = f"report {report.name}::$.charts[{at}]"
    if chart["kind"] not in _KINDS:
        raise SpecError(where, f"unknown kind {chart['kind']!r}", f"choose from {', '.join(_KINDS)}")
    title = sourced(chart["title"], f"spec:{report.name}/$.charts[{at}].title")
    return Panels(chart["id"], title, tuple(_KINDS[chart["kind"]](report, chart)))


def _runs_points(report: ReportData, chart: Mapping[str, Any]) -> Iterator[Figure]:
    ids = [row["id"] for row in report.rows]
    rows = category_axis(ids, [row_label(report, at) for at in range(len(ids))], row_title(report))
    for name in chart["columns"]:
        column = report.column(name)
        every, aggregate = points.runs(report, name), points.cells(report, name)
        log = True if name in chart.get("log", ()) else None
        unit = UNIT_LABELS[column["unit"]] or "count"
        values = value_axis([*every.y, *aggregate.y], unit, log=log, fitted=True)
        rule = AGGREGATE_WORDS[column["aggregate"]]
        one = "ratio" if "baseline" in column else "run"
        title = sourced(column["title"], f"spec:{report.name}/$.columns[{report.column_index(name)}].title")
        yield Figure(
            f"{chart['id']}-{name}",
            (title, words(f", beside every {one}"), *_workload(report)),
            (
                words(f"A ring is one {one}, the bar the "),
                words(f"{rule}; "),
                Shown(str(len(every.y)), f"points:{every.source.removeprefix('series:')}"),
                words(f" {one}s"),
                *_direction(column),
                *_axis_words(values),
                *fixture(report),
            ),
            (Trace(words(f"every {one}"), every, "dots", 0), Trace(words(rule), aggregate, "bars", 1)),
            rows,
            values,
            swap=True,
        )


def _percentiles(report: ReportData, chart: Mapping[str, Any]) -> Iterator[Figure]:
    stage = chart["stage"]
    of = stage_population(stage)
    for suffix, part, rows in _split(report, chart):
        found = [(row, points.percentiles(report, row, stage)) for row in rows]
        drawn = [(row, line) for row, line in found if line is not None]
        traces = tuple(
            Trace(row_label(report, row), line, "line", style) for style, (row, line) in enumerate(drawn)
        )
        latencies = value_axis([y for _, line in drawn for y in line.y], "ms")
        yield Figure(
            f"{chart['id']}{suffix}",
            (
                words(f"{stage_title(stage)} by share of {of}"),
                *part,
                *_workload(report),
            ),
            (
                words(f"Percentiles of all {of} of a row's completed runs, from their merged histograms, "),
                words(f"each at most the upper edge of its bucket; {of}: "),
                *_samples(report, [row for row, _ in drawn], stage),
                words("; logarithmic axes" if latencies.kind == "log" else "; logarithmic axis of the share"),
                words("; lower is better"),
                *fixture(report),
            ),
            traces,
            nines_axis([x for trace in traces for x in trace.series.x if not isinstance(x, str)], of),
            latencies,
            legend=row_title(report),
        )


def _timeline(report: ReportData, chart: Mapping[str, Any]) -> Iterator[Figure]:
    repetition = chart.get("repetition", 1)
    name = chart.get("series", "timeline")
    for suffix, part, rows in _split(report, chart):
        found = [(row, _sampled_run(report, row, repetition, name)) for row in rows]
        drawn = [(row, run) for row, run in found if run is not None]
        for column in chart["columns"]:
            title, unit = series_title(report, name, column)
            traces = tuple(
                Trace(row_label(report, row), points.timeline(run, column, name), "line", style)
                for style, (row, run) in enumerate(drawn)
            )
            over, axis = series_axis(report, name)
            numbers = _numbers(traces, "y")
            # growth over batches or periods is small beside what there is; samples in time start at 0
            fitted = name not in _SAMPLED and bool(numbers)
            values = fitted_axis(numbers, unit) if fitted else linear_axis(numbers, unit)
            counted = all("samples" in run.value[name] for _, run in drawn) and name == "timeline"
            samples = _named_runs(report, drawn) if counted else _named_series(drawn, traces)
            yield Figure(
                f"{chart['id']}-{column.replace(':', '-')}{suffix}",
                (words(f"{title} over {over}, one run of each row"), *part, *_workload(report)),
                (*samples, *_axis_words(values), *fixture(report)),
                traces,
                linear_axis(_numbers(traces, "x"), axis),
                values,
                legend=row_title(report),
            )


def _split(report: ReportData, chart: Mapping[str, Any]) -> Iterator[tuple[str, Sentence, list[int]]]:
    """The rows of each figure, with an id suffix and title words; one figure when nothing is split."""
    key = chart.get("split")
    ids = [row["id"] for row in report.rows]
    for row in chart.get("only", ()):
        if row not in ids:
            raise SpecError(
                f"report {report.name}",
                f"a chart draws the row {row!r}, which is not there",
                f"choose from {', '.join(ids)}",
            )
    everything = [at for at, row in enumerate(ids) if row in chart.get("only", ids)]
    if key is None:
        yield "", (), everything
        return
    if key not in report.spec["rows"]:
        raise SpecError(
            f"report {report.name}", f"a chart splits by {key!r}, which makes no rows", "name a key of rows"
        )
    groups: dict[str, list[int]] = {}
    for at in everything:
        groups.setdefault(str(report.rows[at]["key"][key]), []).append(at)
    for number, (text, rows) in enumerate(groups.items()):
        source = f"key:{report.name}/{report.rows[rows[0]]['id']}/{key}"
        yield f"-{number}", (words(f", {key_title(report, key)} = "), Shown(text, source)), rows


def _sampled_run(report: ReportData, row: int, repetition: int, name: str = "timeline") -> Run | None:
    """The run of that repetition, when it was completed and has that series."""
    for run in report.row_runs(row):
        if run.value.get("repetition") == repetition and run.value.get(name):
            return run if report.counts(run) else None
    return None


def _by_key(report: ReportData, chart: Mapping[str, Any]) -> Iterator[Figure]:
    key = chart["x"]
    if key not in report.spec["rows"]:
        raise SpecError(
            f"report {report.name}",
            f"a chart is drawn over {key!r}, which makes no rows",
            "name a key of rows",
        )
    lines = list(row_lines(report, key))
    for name in chart["columns"]:
        column = report.column(name)
        singles = column["aggregate"] in AGGREGATE_WORDS
        traces: list[Trace] = []
        for style, rows in enumerate(lines):
            label = line_label(report, rows[0], key)
            traces.append(Trace(label, points.line(report, rows, key, name), "line", style))
            if singles:
                every = points.line_runs(report, rows, key, name)
                traces.append(Trace(label, every, "dots", style, named=False))
        log = True if name in chart.get("log", ()) else None
        values = value_axis(
            [y for one in traces for y in one.series.y], UNIT_LABELS[column["unit"]] or "count", log=log
        )
        unit = "MiB" if key.endswith("_bytes") else ""
        across = value_axis(
            [x for one in traces for x in one.series.x if not isinstance(x, str)],
            f"{key_title(report, key)}{', ' if unit else ''}{unit}",
        )
        title = sourced(column["title"], f"spec:{report.name}/$.columns[{report.column_index(name)}].title")
        rule = AGGREGATE_WORDS.get(column["aggregate"])
        said = f"The line joins the {rule} of each row" if rule else "The line joins the cells of the table"
        yield Figure(
            f"{chart['id']}-{name}",
            (title, words(f" by {key_title(report, key)}"), *_workload(report)),
            (
                words(said + ("; a ring is one run" if singles else "")),
                *_direction(column),
                *(
                    words(f"; logarithmic axis of the {side}")
                    for side, axis in (("values", values), (key_title(report, key), across))
                    if axis.kind == "log"
                ),
                *fixture(report),
            ),
            tuple(traces),
            across,
            values,
            legend=other_keys_title(report, key) if len(lines) > 1 else "",
        )


def _named_series(drawn: list[tuple[int, Run]], traces: Sequence[Trace]) -> Sentence:
    """How many points each line has, and which run it is."""
    if not drawn:
        return (words("No completed run has this series"),)
    parts = [words("Points: ")]
    for at, trace in enumerate(traces):
        series = trace.series
        parts += [
            *([words(", ")] if at else []),
            Shown(str(len(series.y)), f"points:{series.source.removeprefix('series:')}"),
            words(" of "),
            trace.name,
        ]
    repetition = Shown(str(drawn[0][1].value["repetition"]), f"raw:{drawn[0][1].base}.repetition")
    return (*parts, words("; repetition "), repetition)


def _named_runs(report: ReportData, drawn: list[tuple[int, Run]]) -> Sentence:
    """Which run each line is, how often it was sampled and how many samples it has."""
    parts = [words("Samples: ")]
    for at, (row, run) in enumerate(drawn):
        label = row_label(report, row)
        parts += [
            *([words(", ")] if at else []),
            Shown(str(run.value["timeline"]["samples"]), f"raw:{run.base}.timeline.samples"),
            words(" of "),
            label,
        ]
    if drawn:
        run = drawn[0][1]
        parts += [
            *_interval([one for _, one in drawn]),
            words("; repetition "),
            Shown(str(run.value["repetition"]), f"raw:{run.base}.repetition"),
        ]
    return tuple(parts)


def _interval(runs: Sequence[Run]) -> Sentence:
    """How often runs were sampled; a simulated one that is longer is sampled less often."""
    found = {run.value["timeline"]["interval_ms"] for run in runs}
    if len(found) > 1:
        return (words("; further apart in a longer run"),)
    place = f"raw:{runs[0].base}.timeline.interval_ms"
    interval = found.pop()
    whole = Shown(str(interval), place)
    if isinstance(interval, float) and interval.is_integer():
        whole = Shown(str(int(interval)), f"{place}|places=0")
    return (words("; one every "), whole, words(" ms"))


def _samples(report: ReportData, rows: list[int], stage: str) -> Sentence:
    parts: list[Shown] = []
    for at, row in enumerate(rows):
        pooled = points.pooled_histogram(report, row, stage)
        count = pooled.count if pooled is not None else 0
        parts += [
            *([words(", ")] if at else []),
            Shown(str(count), f"samples:{report.name}/{report.rows[row]['id']}/{stage}"),
        ]
    return tuple(parts)


def _workload(report: ReportData) -> Sentence:
    file = report.files[0]
    suite = str(file.document.value["execution"]["suite"])  # type: ignore[index,call-overload]
    return words(", suite "), sourced(suite, f"raw:{file.sha256}/$.execution.suite")


def _direction(column: Mapping[str, Any]) -> Sentence:
    better = {"lower": "; lower is better", "higher": "; higher is better"}
    return (words(better[column["direction"]]),) if column.get("direction") in better else ()


def _axis_words(axis: Axis) -> Sentence:
    """What a reader of the axis must know: it is logarithmic, or does not start at zero."""
    if axis.kind == "log":
        return (words("; logarithmic axis"),)
    return (words("; the axis does not start at zero"),) if axis.low else ()


def _numbers(traces: tuple[Trace, ...], side: str) -> list[Number]:
    return [value for trace in traces for value in getattr(trace.series, side)]


_KINDS: Mapping[str, Callable[[ReportData, Mapping[str, Any]], Iterator[Figure]]] = {
    "runs_points": _runs_points,
    "percentiles": _percentiles,
    "timeline": _timeline,
    "by_key": _by_key,
}
