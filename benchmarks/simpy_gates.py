"""What bounds the calls of the simpy model: buckets, concurrency, a line, a breaker, the prefix cache."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simpy_calls import Task

MINUTE_NS = 60_000_000_000
NEVER_NS = 2**64


class Bucket:
    """Continuous refill, one minute at most, full at the start; levels are in 1/60e9 of a unit."""

    __slots__ = ("at_ns", "level", "per_min", "size")

    def __init__(self, per_min: int) -> None:
        self.per_min, self.at_ns = per_min, 0
        self.level = self.size = per_min * MINUTE_NS

    def refill(self, now_ns: int) -> None:
        self.level = min(self.size, self.level + self.per_min * (now_ns - self.at_ns))
        self.at_ns = now_ns

    def has(self, units: int, now_ns: int) -> bool:
        if self.per_min == 0:
            return True
        self.refill(now_ns)
        return self.level >= units * MINUTE_NS

    def take(self, units: int) -> None:
        self.level -= units * MINUTE_NS if self.per_min else 0

    def give(self, units: int, now_ns: int) -> None:
        if self.per_min and units:
            self.refill(now_ns)
            self.level = min(self.size, self.level + units * MINUTE_NS)

    def when(self, units: int) -> int:
        return self.at_ns - (self.level - units * MINUTE_NS) // self.per_min


class Gate:
    """A provider or a tool."""

    def __init__(self, index: int, of: Mapping[str, Any], tokens_per_min: int, requests_per_min: int) -> None:
        self.index, self.of = index, of
        self.tokens, self.requests = Bucket(tokens_per_min), Bucket(requests_per_min)
        self.concurrency, self.overflow = int(of["concurrency"]), int(of["overflow"])
        self.in_flight = self.failures = self.calls = self.ok = 0
        self.down_until_ns = self.open_until_ns = 0
        self.wake_ns = NEVER_NS
        self.line: deque[Task] = deque()
        self.cache_tokens, self.cache_used = int(of.get("cache_tokens", 0)), 0
        self.cached: OrderedDict[int, int] = OrderedDict()  # the one used last is last

    def forget(self, entry: int) -> None:
        self.cache_used -= self.cached.pop(entry, 0)

    def remember(self, entry: int, tokens: int) -> None:
        """Put an entry in as the one used last, at the cost of those used longest ago."""
        self.forget(entry)
        if tokens > 0:
            self.cached[entry] = tokens
            self.cache_used += tokens
        while self.cache_used > self.cache_tokens:
            self.cache_used -= self.cached.popitem(last=False)[1]

    def clear(self) -> None:
        self.cached.clear()
        self.cache_used = 0

    def failed(self, now_ns: int, most: int, open_ns: int) -> None:
        """Count a failure; the breaker opens with the last of ``most`` one after another."""
        self.failures += 1
        if 0 < most <= self.failures:
            self.open_until_ns = now_ns + open_ns
            self.failures = most - 1
