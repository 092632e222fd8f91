"""lookup: the index of the roles alone: built, asked for what is there and what is not, and changed.

It asks what the index costs by its size: time and bytes a role to build it, lookups that hit and that miss,
collisions, and what removals leave behind. A task of this suite is one lookup.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

LOOKUP = SuiteDefinition(
    name="lookup",
    title="The index of the registered roles",
    asks="The role index: building, hits, misses, collisions, removals.",
    base=fixture("lookup", workload="lookup", workers=1, aux_workers=0),
    axes=frozen(agents=(1000, 10_000, 100_000, 1_000_000)),
    presets=frozen(
        smoke=Preset(tasks=10_000, repetitions=1, axes=frozen(agents=(100, 1000))),
        quick=Preset(tasks=1_000_000, repetitions=3, axes=frozen(agents=(1000, 10_000, 100_000))),
        full=Preset(tasks=1_000_000, repetitions=5),
    ),
    warmup_runs=0,
)
