"""The Theil–Sen slope of a series and its interval: how fast something grows, whatever single points do.

P. K. Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", Journal of the American
Statistical Association 63 (1968), pp. 1379–1389; the slope is H. Theil's of 1950.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tallymark.stats import order

# Below eight points the ranks of a 95 % interval are hardly inside the slopes that there are.
MINIMUM_POINTS = 8
# All pairs of points are compared; a longer series is thinned out by whoever records it.
MAXIMUM_POINTS = 2000
NORMAL_975 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Slope:
    """The slope and both ends of its 95 % interval, in the unit of y for each unit of x."""

    slope: float
    low: float
    high: float


def theil_sen(points: Sequence[tuple[int | float, int | float]], resolution: int | float = 0) -> Slope:
    """The median of the slopes between all pairs of points (x, y), with its distribution-free interval.

    The ends are slopes of the ordered list of all N: number M from below and number M from above, where
    M = (N − z·σ) / 2 to the nearest whole number, σ² = n(n − 1)(2n + 5) / 18 is the variance of Kendall's
    S for n points, and z = 1.96 comes from the normal approximation of S. Equal values of y are not corrected
    for, which makes the interval wider, never narrower. y is known to ``resolution`` only, so each end
    moves outwards by resolution / (last x − first x): a series of equal values excludes no smaller slope.

    ValueError: fewer than two points, or two of one x.
    """
    ordered = sorted(points)
    if len(ordered) < 2:
        raise ValueError(f"no slope of {len(ordered)} points")
    if any(left[0] == right[0] for left, right in pairwise(ordered)):
        raise ValueError("two points have one x")
    slopes = sorted(
        (above[1] - below[1]) / (above[0] - below[0])
        for at, below in enumerate(ordered)
        for above in ordered[at + 1 :]
    )
    n = len(ordered)
    spread = NORMAL_975 * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    rank = max(1, math.floor((len(slopes) - spread) / 2 + 0.5))
    step = resolution / (ordered[-1][0] - ordered[0][0])
    return Slope(float(order.median(slopes)), slopes[rank - 1] - step, slopes[-rank] + step)
