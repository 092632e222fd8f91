"""Order statistics of plain values: median, nearest-rank percentile, and how many values one needs."""

from __future__ import annotations

from collections.abc import Iterable


def median(values: Iterable[int | float]) -> int | float:
    """The middle value; of an even number, the mean of the two middle values.

    Integers whose mean is whole give an integer. ValueError: no values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no median of no values")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    total = ordered[middle - 1] + ordered[middle]
    if isinstance(total, int) and total % 2 == 0:
        return total // 2
    return total / 2


def nearest_rank(values: Iterable[int | float], a: int, b: int) -> int | float:
    """The a/b percentile: the k-th smallest with k = max(1, ceil(a * n / b)), in integers.

    Never ``ceil(p / 100 * n)`` in floats, which is off by one for p = 28 of 25 values.
    ValueError: no values, or a/b is outside 0 to 1.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no percentile of no values")
    if b <= 0 or not 0 <= a <= b:
        raise ValueError(f"{a}/{b} is not a quantile between 0 and 1")
    return ordered[max(1, (a * len(ordered) + b - 1) // b) - 1]


def minimum_samples(a: int, b: int) -> int:
    """The fewest values from which percentile a/b is published: 10 / (1 - a/b), rounded up.

    At that count ten values lie beyond the percentile; below it, it is hardly more than the maximum.
    ValueError: a/b is outside 0 to 1 (1 itself is the maximum and needs no such rule).
    """
    if b <= 0 or not 0 <= a < b:
        raise ValueError(f"{a}/{b} is not a quantile below 1")
    return -(-10 * b // (b - a))
