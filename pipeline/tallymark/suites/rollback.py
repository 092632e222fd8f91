"""rollback: the shared context is snapshotted, rewritten in part and rolled back, again and again.

It asks what a snapshot and a rollback cost, at rest and while tasks read the snapshot, and proves by checksum
that the content after each rollback is the content before. One chunk in a hundred is rewritten in a cycle.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

ROLLBACK = SuiteDefinition(
    name="rollback",
    title="Snapshot, rewrite and roll back the shared context",
    asks="Snapshot, rewrite, roll back: at rest and while tasks run, proved.",
    base=fixture("rollback", snapshot="at_rest", rollbacks=100, rewrite_permille=10),
    axes=frozen(snapshot=("at_rest", "running")),
    presets=frozen(
        smoke=Preset(tasks=1000, repetitions=1, values=frozen(rollbacks=10)),
        quick=Preset(tasks=100_000, repetitions=3, values=frozen(rollbacks=200)),
        full=Preset(tasks=1_000_000, repetitions=3, values=frozen(rollbacks=1000, context_bytes=64 << 20)),
    ),
)
