"""scale: the same closed-loop workload with 100 and with 1000 registered roles.

It asks whether the number of registered roles changes what a task costs. Eight workers take a task each
from a window of 1024; submission keeps the window full until every task is in, then the queue drains.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

SCALE = SuiteDefinition(
    name="scale",
    title="Throughput and queueing by registered roles",
    asks="100 and 1000 registered roles: what does their number cost?",
    base=fixture("scale"),
    axes=frozen(agents=(100, 1000)),
    presets=frozen(
        smoke=Preset(tasks=1000, repetitions=1),
        quick=Preset(tasks=100_000, repetitions=3),
        full=Preset(tasks=1_000_000, repetitions=3),
    ),
)
