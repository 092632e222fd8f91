"""An order that a seed fixes for ever: SplitMix64 and Fisher–Yates, written out.

``random.shuffle`` may change between Python versions; a recorded seed must give the same plan for as long as
the evidence is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = 2**64 - 1


def splitmix64(seed: int) -> Iterator[int]:
    """The endless sequence of 64-bit values of Steele, Lea and Flood's SplitMix (2014), from ``seed``."""
    state = seed & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        yield mixed ^ (mixed >> 31)


def below(limit: int, values: Iterator[int]) -> int:
    """A value from 0 to ``limit - 1``, each equally likely: what would favour the low ones is drawn again."""
    fair = 2**64 - 2**64 % limit
    value = next(values)
    while value >= fair:
        value = next(values)
    return value % limit


def shuffled(items: Sequence[T], values: Iterator[int]) -> list[T]:
    """A new list in random order (Fisher–Yates, from the end), drawn from ``values``."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        chosen = below(last + 1, values)
        order[last], order[chosen] = order[chosen], order[last]
    return order
