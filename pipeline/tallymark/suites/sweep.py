"""sweep: the workload of scale over one or two factors of the user's choice, all combinations of them.

It asks how the runtime answers when one number changes and everything else stays: workers unless said
otherwise, or any keys of the configuration (roles, probes, a rate of arrivals, the access pattern, limits).
Each combination runs once in each repetition, in an order drawn anew for it, and each run is a process of its
own, so that no run starts from what another left behind. Steps of a rate find the rate that is too much: an
open loop that ends ``overloaded`` is an answer.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

SWEEP = SuiteDefinition(
    name="sweep",
    title="The runtime over one or two factors",
    asks="1, 2, 4, 8 workers, or one or two keys of your choice (--set).",
    base=fixture("sweep"),
    axes=frozen(workers=(1, 2, 4, 8)),
    presets=frozen(
        smoke=Preset(tasks=1000, repetitions=1),
        quick=Preset(tasks=100_000, repetitions=3),
        full=Preset(tasks=1_000_000, repetitions=3),
    ),
    free_factors=2,
    steps=True,
)
