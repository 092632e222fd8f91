"""context: one pass over a large context: load, snapshot, rewrite, roll back, serialise, spill, restore.

It asks for the peak memory as a multiple of the canonical bytes, and for the time of each step; each step is
proved by checksum. A task of this suite is the whole pass, so each run has one.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

MIB = 1 << 20

CONTEXT = SuiteDefinition(
    name="context",
    title="A large context: peak memory as a multiple of its bytes",
    asks="64 MiB to 1 GiB of context: peak memory as a multiple of its bytes.",
    base=fixture("context", workload="context", workers=1, aux_workers=0, rewrite_permille=10),
    axes=frozen(context_bytes=(64 * MIB, 256 * MIB, 1024 * MIB)),
    presets=frozen(
        smoke=Preset(tasks=1, repetitions=1, axes=frozen(context_bytes=(2 * MIB, 8 * MIB))),
        quick=Preset(tasks=1, repetitions=3, axes=frozen(context_bytes=(64 * MIB, 256 * MIB))),
        full=Preset(tasks=1, repetitions=3),
    ),
    warmup_runs=0,
)
