"""Log-linear latency histograms: the Python twin of the runtime's ``rt_histogram``.

Layout ``log-linear/7``: a value below 128 has a bucket of its own; above, each power of two is cut into 128
equal buckets, so a bucket is at most 1/128 of its lower bound wide. With ``s = floor(log2 v) - 7``::

    index(v) = v                                  for v < 128
             = (s + 1) * 128 + ((v >> s) & 127)   otherwise
    low(i)   = i                                  for i < 128
             = ((i % 128) | 128) << (i // 128 - 1)
    high(i)  = low(i) + 2^s - 1

The layout covers every unsigned 64-bit value, so nothing is clamped and merging adds counts exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

LAYOUT = "log-linear/7"
_BITS = 7
_CELLS = 1 << _BITS
MAX_VALUE = (1 << 64) - 1
MAX_INDEX = (64 - _BITS) * _CELLS + _CELLS - 1


class HistogramError(ValueError):
    """A histogram record that contradicts itself, or two that cannot be merged."""


def bucket_index(value: int) -> int:
    """The bucket of ``value`` (0 to 2^64 - 1)."""
    if not 0 <= value <= MAX_VALUE:
        raise HistogramError(f"{value} is outside 0 to 2^64 - 1")
    if value < _CELLS:
        return value
    shift = value.bit_length() - 1 - _BITS
    return (shift + 1) * _CELLS + ((value >> shift) & (_CELLS - 1))


def bucket_low(index: int) -> int:
    """The smallest value that falls into bucket ``index``."""
    if index < _CELLS:
        return index
    return ((index % _CELLS) | _CELLS) << (index // _CELLS - 1)


def bucket_high(index: int) -> int:
    """The largest value that falls into bucket ``index``."""
    if index < _CELLS:
        return index
    return bucket_low(index) + (1 << (index // _CELLS - 1)) - 1


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of durations in nanoseconds. ``buckets`` are (index, count) pairs in ascending order of index.

    ``min_ns`` and ``max_ns`` are exact, and None when nothing was recorded.
    """

    layout: str
    sample_every: int
    count: int
    sum_ns: int
    min_ns: int | None
    max_ns: int | None
    buckets: tuple[tuple[int, int], ...]

    @classmethod
    def as_recorded(cls, record: Mapping[str, Any]) -> Histogram:
        """The same without a judgement: `problems` tells what contradicts what."""
        return cls(
            layout=record["layout"],
            sample_every=record["sample_every"],
            count=record["count"],
            sum_ns=int(record["sum_ns"]),
            min_ns=record["min_ns"],
            max_ns=record["max_ns"],
            buckets=tuple((index, count) for index, count in record["buckets"]),
        )

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Histogram:
        """The histogram that a run record holds. HistogramError: it contradicts itself, and where."""
        histogram = cls.as_recorded(record)
        problem = next(histogram.problems(), None)
        if problem is not None:
            raise HistogramError(problem)
        return histogram

    @classmethod
    def recorded(cls, values: Iterable[int]) -> Histogram:
        """The histogram of ``values`` in nanoseconds, every one recorded."""
        values = list(values)
        counts = Counter(bucket_index(value) for value in values)
        return cls(
            layout=LAYOUT,
            sample_every=1,
            count=len(values),
            sum_ns=sum(values),
            min_ns=min(values, default=None),
            max_ns=max(values, default=None),
            buckets=tuple(sorted(counts.items())),
        )

    def to_record(self) -> dict[str, Any]:
        """The record as the runtime writes it; the sum is text because it may exceed 2^53."""
        return {
            "layout": self.layout,
            "unit": "ns",
            "sample_every": self.sample_every,
            "count": self.count,
            "sum_ns": str(self.sum_ns),
            "min_ns": self.min_ns,
            "max_ns": self.max_ns,
            "buckets": [[index, count] for index, count in self.buckets],
        }

    def problems(self) -> Iterator[str]:
        """Every contradiction inside the histogram, as a clause; none when it is sound."""
        return _problems(self)

    def percentile_ns(self, a: int, b: int) -> int:
        """Nearest-rank percentile a/b: an upper bound, at most 1/128 above the exact value.

        k = max(1, ceil(a * count / b)) in integers; the answer is the highest value of the bucket that
        holds the k-th smallest, but never above the exact maximum. HistogramError: nothing was recorded.
        """
        if self.count == 0 or self.max_ns is None:
            raise HistogramError("no percentile of an empty histogram")
        if not 0 <= a <= b or b <= 0:
            raise HistogramError(f"{a}/{b} is not a quantile between 0 and 1")
        remaining = max(1, (a * self.count + b - 1) // b)
        for index, count in self.buckets:
            remaining -= count
            if remaining <= 0:
                return min(bucket_high(index), self.max_ns)
        raise HistogramError(f"the buckets hold fewer than the {self.count} values that were counted")


def merged(histograms: Sequence[Histogram]) -> Histogram:
    """The histogram of everything that was recorded in any of ``histograms``.

    HistogramError: none was given, or their layouts or sampling differ.
    """
    if not histograms:
        raise HistogramError("nothing to merge")
    first = histograms[0]
    counts: Counter[int] = Counter()
    for histogram in histograms:
        if (histogram.layout, histogram.sample_every) != (first.layout, first.sample_every):
            raise HistogramError(
                f"layout {histogram.layout}, every {histogram.sample_every}. sample does not merge with "
                f"layout {first.layout}, every {first.sample_every}. sample"
            )
        for index, count in histogram.buckets:
            counts[index] += count
    return Histogram(
        layout=first.layout,
        sample_every=first.sample_every,
        count=sum(histogram.count for histogram in histograms),
        sum_ns=sum(histogram.sum_ns for histogram in histograms),
        min_ns=min((h.min_ns for h in histograms if h.min_ns is not None), default=None),
        max_ns=max((h.max_ns for h in histograms if h.max_ns is not None), default=None),
        buckets=tuple(sorted(counts.items())),
    )


def _problems(histogram: Histogram) -> Iterator[str]:
    if histogram.layout != LAYOUT:
        yield f"layout {histogram.layout!r} is not {LAYOUT!r}"
        return
    indexes = [index for index, _ in histogram.buckets]
    if any(left >= right for left, right in pairwise(indexes)):
        yield "the buckets are not in strictly ascending order"
        return
    if indexes and not 0 <= indexes[0] <= indexes[-1] <= MAX_INDEX:
        yield f"a bucket index is outside 0 to {MAX_INDEX}"
        return
    held = sum(count for _, count in histogram.buckets)
    if held != histogram.count:
        yield f"the buckets hold {held} values, count says {histogram.count}"
        return
    yield from _extreme_problems(histogram)


def _extreme_problems(histogram: Histogram) -> Iterator[str]:
    """Whether minimum, maximum and sum can belong to the buckets."""
    low, high, total = histogram.min_ns, histogram.max_ns, histogram.sum_ns
    if not histogram.buckets:
        if low is not None or high is not None or total != 0:
            yield "nothing was recorded, yet there is a minimum, a maximum or a sum"
        return
    if low is None or high is None:
        yield "values were recorded, yet the minimum or the maximum is null"
        return
    if low > high or bucket_index(low) != histogram.buckets[0][0]:
        yield f"the minimum {low} is not in the first bucket that holds a value"
    elif bucket_index(high) != histogram.buckets[-1][0]:
        yield f"the maximum {high} is not in the last bucket that holds a value"
    least = sum(bucket_low(index) * count for index, count in histogram.buckets)
    most = sum(bucket_high(index) * count for index, count in histogram.buckets)
    if not least <= total <= most:
        yield f"the sum {total} is outside the {least} to {most} that the buckets allow"
