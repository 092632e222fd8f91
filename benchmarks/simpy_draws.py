"""Where the simpy model takes its random numbers from: those that the simulator draws, or Python's own."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tallymark.runtime.simulator import constant

MASK = 2**64 - 1
ORIGIN, TENANT, PREFIX, STEPS, SYSTEM, TOOLS, DOCUMENT, USER, OUTPUT = range(1, 10)
USES, TOOL_LATENCY, TOOL_RESULT, FAULT, JITTER, SUCCESS, GAP = range(10, 17)
SAMPLES, QUANTILES, EXPONENTIAL = (constant(name) for name in ("SAMPLES", "QUANTILES", "EXPONENTIAL"))


def numbered(seed: int, counter: int) -> int:
    """The counter-th number of the splitmix64 stream that starts at the seed, as ``rt_random_at``."""
    value = (seed + (counter + 1) * 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


class SharedDraws:
    """The simulator's draws, number for number: both simulate the same tasks."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def key(
        self, task: int, purpose: int, step: int = 0, use: int = 0, repeat: int = 0, attempts: int = 0
    ) -> int:
        counter = purpose << 56 | step << 40 | use << 20 | repeat
        first = numbered(numbered(self._seed, task), counter)
        return first if attempts == 0 else numbered(first, attempts)

    def exponential(self, key: int, mean: int) -> int:
        """Von Neumann's comparison of uniform numbers, as ``rt_sim_exponential``."""
        counter = whole = 0
        while True:
            first = last = numbered(key, counter)
            following = numbered(key, counter + 1)
            counter, length = counter + 2, 1
            while following < last:
                last, length = following, length + 1
                following = numbered(key, counter)
                counter += 1
            if length % 2 == 1:
                return whole * mean + (first * mean >> 64)
            whole += 1


class OwnDraws:
    """Numbers of Python's generator, which is compiled: as fast as a model in simpy can have them."""

    def __init__(self, seed: int) -> None:
        self._bits = random.Random(seed).getrandbits

    def key(
        self, task: int, purpose: int, step: int = 0, use: int = 0, repeat: int = 0, attempts: int = 0
    ) -> int:
        return self._bits(64)

    def exponential(self, key: int, mean: int) -> int:
        return int(-math.log(1 - (key >> 11) / 2**53) * mean)


Draws = SharedDraws | OwnDraws


def sampler(draws: Draws, values: Sequence[int], of: Mapping[str, Any]) -> Callable[[int], int]:
    """The value of a compiled distribution for a 64-bit key, as ``rt_sim_sample``."""
    kind, first, count = of["kind"], of["first"], of["count"]
    own: list[int] = list(values[first : first + count])
    if kind == SAMPLES:
        return (lambda key: own[0]) if count == 1 else (lambda key: own[key * count >> 64])
    if kind == QUANTILES:

        def quantile(key: int) -> int:
            at: int = key * (count - 1)
            low, high = own[at >> 64], own[(at >> 64) + 1]
            return low + ((at & MASK) * (high - low) >> 64)

        return quantile
    if kind == EXPONENTIAL:
        return lambda key: draws.exponential(key, own[0])
    thresholds = list(values[first + count : first + 2 * count])
    return lambda key: own[bisect_right(thresholds, key >> 32)]
