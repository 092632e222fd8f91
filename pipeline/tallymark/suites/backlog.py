"""backlog: every task is admitted while the workers are held; then they are released and the queue drains.

It asks what a queued task costs in memory and how fast a queue of known length drains. The length at the top
is read, not derived: no worker takes a task before all are in. One document holds one task count: quick has
100,000 queued tasks and full 1,000,000; any other number is a matter of ``--set tasks=N --label NAME``.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

BACKLOG = SuiteDefinition(
    name="backlog",
    title="A queue of known length: memory of a queued task, and draining",
    asks="All tasks queued before the first runs: bytes a task, and draining.",
    base=fixture("backlog", submission="held", window=0, queue_limit=2_000_000),
    axes=frozen(),
    presets=frozen(
        smoke=Preset(tasks=2000, repetitions=1),
        quick=Preset(tasks=100_000, repetitions=3),
        full=Preset(tasks=1_000_000, repetitions=3),
    ),
)
