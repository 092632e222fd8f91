"""The knee: between which tested loads quality falls, and how much load to admit below it.

A load that was not tested is not claimed: the knee is a bracket of two tested loads, and where no quality
fell there is none. The advice is 70-80 % of the highest load known to be good, not of a guess inside the
bracket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tallymark.agentload.quality import Difference

LOW_PERMILLE: Final = 700
HIGH_PERMILLE: Final = 800
Certainty = Literal["bracketed", "wide bracket", "not bracketed", "no good load"]
_WIDE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Point:
    """One tested load, in the unit of the sweep, with its quality against idle and what limited it."""

    load: float
    difference: Difference
    limited_by: str | None = None
    """The ceiling that bit first at this load; None when none did."""


@dataclass(frozen=True, slots=True)
class Knee:
    """The bracket. ``good``: the highest load up to which every tested one is no worse; None: not one.

    ``bad``: the lowest load above it at which quality is shown to have fallen: the whole interval is below 0
    (though perhaps not below the margin); None: at none. ``open``: loads before it of which neither is known.
    """

    good: float | None
    bad: float | None
    open: tuple[float, ...]
    limited_by: str | None
    """What limited the load ``bad``, or the highest tested one when none was bad."""

    tested: tuple[float, ...]

    @property
    def fell(self) -> bool:
        """Whether quality fell at any tested load."""
        return self.bad is not None


@dataclass(frozen=True, slots=True)
class Advice:
    """How much load to admit, in the unit of the sweep; None: nothing can be advised."""

    low: float | None
    high: float | None
    limited_by: str | None
    certainty: Certainty
    sentence: str


def knee(points: Sequence[Point]) -> Knee:
    """The bracket of tested loads. ValueError: there is no point, or two have the same load."""
    ordered = sorted(points, key=lambda point: point.load)
    loads = tuple(point.load for point in ordered)
    if not ordered or len(set(loads)) < len(loads):
        raise ValueError("needs at least one tested load, and each once")
    good: Point | None = None
    for point in ordered:
        if point.difference.verdict != "no worse":
            break
        good = point
    above = [point for point in ordered if good is None or point.load > good.load]
    bad = next((point for point in above if point.difference.verdict == "worse"), None)
    undecided = tuple(
        point.load
        for point in above
        if point.difference.verdict == "undecided" and (bad is None or point.load < bad.load)
    )
    decisive = bad or ordered[-1]
    return Knee(
        good=None if good is None else good.load,
        bad=None if bad is None else bad.load,
        open=undecided,
        limited_by=decisive.limited_by,
        tested=loads,
    )


def advice(found: Knee, unit: str) -> Advice:
    """What to admit: 70-80 % of the highest load that is known to be good."""
    limit = f", limited by {found.limited_by}" if found.limited_by is not None else ""
    if found.good is None:
        why = "is worse" if found.bad == found.tested[0] else "is undecided"
        sentence = (
            f"No load is known to be good: already the lowest, {_text(found.tested[0], unit)}, {why}{limit}."
        )
        return Advice(
            None, None, found.limited_by, "no good load", f"{sentence} Test lower loads or more tasks."
        )
    low, high = found.good * LOW_PERMILLE / 1000, found.good * HIGH_PERMILLE / 1000
    admit = f"Admit {low:g} to {_text(high, unit)} (70-80 % of {found.good:g})"
    if found.bad is None:
        nothing = f"Quality fell at no tested load up to {_text(found.tested[-1], unit)}{limit}."
        more = "the knee was not reached, more may be possible."
        if found.open:
            nothing = f"It is undecided at {_text(found.open, unit)} whether quality falls{limit}."
            more = "the knee may be above; test more tasks there."
        sentence = f"{nothing} {admit}; {more}"
        return Advice(low, high, found.limited_by, "not bracketed", sentence)
    certainty: Certainty = "wide bracket" if found.bad > _WIDE * found.good else "bracketed"
    where = f"Quality falls between {found.good:g} and {_text(found.bad, unit)}{limit}."
    if found.open:
        where += f" It is undecided at {_text(found.open, unit)}."
    wide = " The bracket is wide: test loads inside it." if certainty == "wide bracket" else ""
    return Advice(low, high, found.limited_by, certainty, f"{where} {admit}.{wide}")


def _text(load: float | Sequence[float], unit: str) -> str:
    loads = load if isinstance(load, Sequence) else (load,)
    return f"{', '.join(f'{one:g}' for one in loads)} {unit}"
