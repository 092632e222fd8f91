"""Is quality under load worse? The same tasks idle and loaded, compared in pairs.

* Test: McNemar (1947) on the pairs that differ. Up to 1,000 of them the exact binomial test, two-sided; above
  that the asymptotic one without continuity correction (Fagerland, Lydersen, Laake 2013, BMC Medical Research
  Methodology 13:91). The mid-p value stands beside it: the exact test is conservative, they recommend mid-p.
* Interval of the paired difference of proportions: Newcombe (1998), Statistics in Medicine 17:2635-2650,
  method 10 (Wilson score limits of both proportions, combined with their correlation), against a margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final, Literal

EXACT_UP_TO: Final = 1_000
Method = Literal["exact binomial", "asymptotic", "no pair differs"]
Verdict = Literal["no worse", "worse", "undecided"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """How the same tasks ended: idle and loaded."""

    both: int
    only_idle: int
    """Succeeded idle, failed loaded."""

    only_loaded: int
    neither: int

    @property
    def count(self) -> int:
        """All pairs."""
        return self.both + self.only_idle + self.only_loaded + self.neither


@dataclass(frozen=True, slots=True)
class McNemar:
    """The two-sided test that load changes nothing. ``mid_p`` is None where the test is not exact."""

    p: float
    mid_p: float | None
    discordant: int
    method: Method


@dataclass(frozen=True, slots=True)
class Difference:
    """Success rate loaded minus idle, its interval, and what that says about a margin."""

    idle: float
    loaded: float
    difference: float
    low: float
    high: float
    confidence: float
    margin: float
    verdict: Verdict


def paired(idle: Sequence[bool], loaded: Sequence[bool]) -> Pairs:
    """The four counts of the same tasks in the same order. ValueError: not the same number, or none."""
    if len(idle) != len(loaded) or not idle:
        raise ValueError(f"{len(idle)} tasks idle and {len(loaded)} loaded are no pairs")
    pairs = list(zip(idle, loaded, strict=True))
    return Pairs(
        *(pairs.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False)))
    )


def mcnemar(pairs: Pairs) -> McNemar:
    """The test on the pairs that differ; without any, nothing speaks against "no change"."""
    fewer, more = sorted((pairs.only_idle, pairs.only_loaded))
    discordant = fewer + more
    if discordant == 0:
        return McNemar(1.0, 1.0, 0, "no pair differs")
    if discordant > EXACT_UP_TO:
        z = (more - fewer) / math.sqrt(discordant)
        return McNemar(math.erfc(z / math.sqrt(2)), None, discordant, "asymptotic")
    tail = sum(math.comb(discordant, k) for k in range(fewer + 1))
    point = math.comb(discordant, fewer)
    exact = min(Fraction(1), Fraction(2 * tail, 2**discordant))
    mid = Fraction(2 * tail - point, 2**discordant)
    return McNemar(float(exact), float(min(Fraction(1), mid)), discordant, "exact binomial")


def difference(pairs: Pairs, margin: float, confidence: float = 0.95) -> Difference:
    """Loaded minus idle with Newcombe's interval; a loss beyond ``margin`` (0.05: five points) is too much.

    "no worse": the whole interval is above -margin, a smaller loss is accepted. "worse": that is not shown,
    and the whole interval is below 0. Else undecided: more tasks are needed. ValueError: no pairs, or margin
    or confidence outside (0, 1).
    """
    if pairs.count < 1 or not 0 < margin < 1 or not 0 < confidence < 1:
        raise ValueError("needs at least one pair, and margin and confidence between 0 and 1")
    n = pairs.count
    loaded, idle = (pairs.both + pairs.only_loaded) / n, (pairs.both + pairs.only_idle) / n
    found = loaded - idle
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    low_1, high_1 = wilson(pairs.both + pairs.only_loaded, n, z)
    low_2, high_2 = wilson(pairs.both + pairs.only_idle, n, z)
    phi = _correlation(pairs)
    down, up = _spread(loaded - low_1, high_2 - idle, phi), _spread(idle - low_2, high_1 - loaded, phi)
    low, high = max(-1.0, found - down), min(1.0, found + up)
    verdict: Verdict = "no worse" if low > -margin else "worse" if high < 0 else "undecided"
    return Difference(idle, loaded, found, low, high, confidence, margin, verdict)


def wilson(successes: int, n: int, z: float) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927), exact at its ends."""
    centre = 2 * successes + z * z
    width = z * math.sqrt(z * z + 4 * successes * (n - successes) / n)
    scale = 2 * (n + z * z)
    low = 0.0 if successes == 0 else (centre - width) / scale
    high = 1.0 if successes == n else (centre + width) / scale
    return low, high


def _spread(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def _correlation(pairs: Pairs) -> float:
    """The correlation with the continuity correction of method 10; 0 where a margin of the table is 0."""
    a, b, c, d = pairs.both, pairs.only_loaded, pairs.only_idle, pairs.neither
    product = (a + b) * (c + d) * (a + c) * (b + d)
    if product == 0:
        return 0.0
    excess: float = a * d - b * c
    if excess > 0:
        excess = max(excess - pairs.count / 2, 0.0)
    return excess / math.sqrt(product)
