"""The timing map: when each timestamp of a task is taken, by which thread and inside which lock.

Everything on it is quoted from the table that the runtime itself wrote into its evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallymark import schemas
from tallymark.printable import printable as visible
from tallymark.site.report_data import RawFile, ReportData
from tallymark.site.shown import Shown
from tallymark.site.templating import render

PAGE = "timing.md"
_RUNTIME = "runtime-execution/"
_WIDTH, _LEFT, _RIGHT = 1020.0, 176.0, 968.0
_LANE, _TOP, _BAR = 52.0, 46.0, 30.0
_READ = {"task": "for each task", "batch": "once for a batch", "call": "once for a call"}


@dataclass(frozen=True, slots=True)
class Stamp:
    """A timestamp: its place in the picture, and what the evidence says about it."""

    x: str
    y: str
    stage: Shown
    taken: Shown
    thread: Shown | None
    lock: Shown | None
    read: str


@dataclass(frozen=True, slots=True)
class Interval:
    """What lies between two timestamps; ``recorded``: a histogram of the run holds it."""

    x_from: str
    x_to: str
    y: str
    middle: str
    name: Shown
    start: Shown
    end: Shown
    histogram: Shown | None
    what: Shown


@dataclass(frozen=True, slots=True)
class Lane:
    """A thread in the picture."""

    y: str
    label: Shown


@dataclass(frozen=True, slots=True)
class TimingMap:
    """The page: picture and tables, and the histograms with their definitions."""

    file: Shown
    href: str
    width: str
    height: str
    left: str
    right: str
    lanes: tuple[Lane, ...]
    path: str
    stamps: tuple[Stamp, ...]
    intervals: tuple[Interval, ...]
    histograms: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...]


def timing_page(reports: Sequence[ReportData]) -> str | None:
    """The Markdown file of the page; None when no report shows runs that describe themselves."""
    file = _source(reports)
    return None if file is None else render("timing.md.j2", map=timing_map(file))


def describes_runtime(report: ReportData) -> bool:
    """Whether a report shows runs of the runtime: then the map tells what its latencies are."""
    return all(file.document.schema.startswith(_RUNTIME) for file in report.files)


def _source(reports: Sequence[ReportData]) -> RawFile | None:
    """The newest raw file whose manifest says by which thread each timestamp is taken."""
    found = [file for report in reports for file in report.files if _describes(file)]

    def started(file: RawFile) -> tuple[str, str]:
        execution: Any = file.document.value["execution"]
        return str(execution["started_at"]), file.sha256

    return max(found, key=started, default=None)


def _describes(file: RawFile) -> bool:
    if not file.document.schema.startswith(_RUNTIME):
        return False
    manifest: Any = file.document.value["manifest"]
    return bool(manifest.get("intervals")) and all("thread" in one for one in manifest["timestamps"])


def timing_map(file: RawFile) -> TimingMap:
    """The map that the manifest of a document describes."""
    manifest: Any = file.document.value["manifest"]
    entries: Sequence[Mapping[str, Any]] = manifest["timestamps"]
    threads = list(dict.fromkeys(entry["thread"] for entry in entries))
    step = (_RIGHT - _LEFT) / max(1, len(entries) - 1)
    at = {entry["stage"]: _LEFT + step * place for place, entry in enumerate(entries)}
    base = f"raw:{file.sha256}/$.manifest.timestamps"
    stamps = tuple(
        Stamp(
            _pixels(at[entry["stage"]]),
            _pixels(_lane(threads.index(entry["thread"]))),
            _quoted(entry, "stage", f"{base}[{place}]"),
            _quoted(entry, "taken", f"{base}[{place}]"),
            _quoted(entry, "thread", f"{base}[{place}]"),
            _quoted(entry, "lock", f"{base}[{place}]") if entry.get("lock") else None,
            _READ.get(entry.get("read_per", ""), ""),
        )
        for place, entry in enumerate(entries)
    )
    below = _lane(len(threads)) - _LANE / 2 + 34
    lines: Sequence[Mapping[str, Any]] = manifest["intervals"]
    return TimingMap(
        file=Shown(visible(file.name), f"file:{file.published}|name"),
        href=file.published,
        width=_pixels(_WIDTH),
        height=_pixels(below + _BAR * len(lines)),
        left=_pixels(_LEFT - 20),
        right=_pixels(_RIGHT + 20),
        lanes=tuple(
            Lane(
                _pixels(_lane(number)),
                next(one.thread for one in stamps if one.thread and one.thread.text == thread),
            )
            for number, thread in enumerate(map(visible, threads))
        ),
        path="M" + "L".join(f"{stamp.x} {stamp.y}" for stamp in stamps),
        stamps=stamps,
        intervals=tuple(
            _interval(file, place, line, at, below + _BAR * place) for place, line in enumerate(lines)
        ),
        histograms=tuple(_histograms(file.document.schema)),
    )


def _interval(
    file: RawFile, place: int, line: Mapping[str, Any], at: Mapping[str, float], y: float
) -> Interval:
    base = f"raw:{file.sha256}/$.manifest.intervals[{place}]"
    start, end = at[line["from"]], at[line["to"]]
    return Interval(
        _pixels(start),
        _pixels(end),
        _pixels(y),
        _pixels((start + end) / 2),
        _quoted(line, "name", base),
        _quoted(line, "from", base),
        _quoted(line, "to", base),
        _quoted(line, "histogram", base) if line["histogram"] else None,
        _quoted(line, "what", base),
    )


def _quoted(entry: Mapping[str, Any], key: str, base: str) -> Shown:
    return Shown(visible(entry[key]), f"{base}.{key}")


def _lane(number: int) -> float:
    return _TOP + _LANE * number


def _pixels(value: float) -> str:
    return f"{value:g}"


def _histograms(schema: str) -> list[tuple[str, tuple[tuple[str, bool], ...]]]:
    """Each histogram of a run with its definition in parts (text, whether it is code)."""
    found = []
    for pointer, note in schemas.annotations(schema).items():
        name = pointer.removeprefix("$.runs[].histograms.")
        if name == pointer or "." in name or "[" in name or note.definition is None:
            continue
        parts = schemas.definition(note.definition).split("`")
        found.append((name, tuple((part, at % 2 == 1) for at, part in enumerate(parts))))
    return found
