"""The Theil–Sen slope of a column by hand: pairs of points, their ordered slopes, the ranks of the ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tallymark.recount import recount as script
from tallymark.recount.shown import value_text

Number = int | float
Steps = list[tuple[str, str]]
_OVER_RUNS = {"theil_sen_slope": "middle", "theil_sen_low": "smallest", "theil_sen_high": "largest"}


def calculate(rule: dict[str, Any], runs: Sequence[script.Run], steps: Steps) -> Number:
    """The slope, or an end of its interval, of each run; then the middle, smallest or largest of the runs."""
    kind = rule["aggregate"]
    found = sorted(_of_run(rule, run, steps) for run in runs)
    steps.append(("sorted", ", ".join(map(value_text, found))))
    value = _middle(found) if kind == "theil_sen_slope" else found[0 if kind == "theil_sen_low" else -1]
    steps.append(("take", f"the {_OVER_RUNS[kind]} of {len(found)} runs: {value_text(value)}"))
    return value


def _of_run(rule: dict[str, Any], run: script.Run, steps: Steps) -> float:
    points = script.curve(rule, run)
    (first, start), (last, end) = points[0], points[-1]
    series = rule["source"].rpartition(".")[0]
    said = f"{run.where}.{series}: {len(points)} points from ({value_text(first)}, {value_text(start)})"
    steps.append(("points", f"{said} to ({value_text(last)}, {value_text(end)})"))
    found = []
    for above in range(1, len(points)):
        for below in range(above):
            rise = points[above][1] - points[below][1]
            found.append(rise / (points[above][0] - points[below][0]))
    found.sort()
    steps.append(("slopes", f"{len(found)} pairs, from {value_text(found[0])} to {value_text(found[-1])}"))
    if rule["aggregate"] == "theil_sen_slope":
        middle = _middle(found)
        steps.append(("median", f"the middle slope: {value_text(middle)}"))
        return middle
    return _end(rule, found, len(points), last - first, steps)


def _end(rule: dict[str, Any], found: list[float], points: int, length: Number, steps: Steps) -> float:
    variance = points * (points - 1) * (2 * points + 5) / 18
    inside = (len(found) - 1.959963984540054 * math.sqrt(variance)) / 2
    rank = max(1, math.floor(inside + 0.5))
    steps.append(
        (
            "rank",
            f"({len(found)} - 1.959963984540054 * sqrt({value_text(variance)})) / 2, to the nearest: {rank}",
        )
    )
    low = rule["aggregate"] == "theil_sen_low"
    bound = found[rank - 1] if low else found[len(found) - rank]
    steps.append(("end", f"slope {rank} from {'below' if low else 'above'}: {value_text(bound)}"))
    step: float = rule.get("resolution", 0) / length
    value = bound - step if low else bound + step
    if step:
        sign = "-" if low else "+"
        text = f"{value_text(bound)} {sign} {rule['resolution']} / {value_text(length)} = {value_text(value)}"
        steps.append(("widen", text))
    return value


def _middle(ordered: Sequence[float]) -> float:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
