"""batches: one process makes equal batches of tasks, each drained before the next is submitted.

It asks whether memory grows from batch to batch. The resident memory after each batch is in the record; a
report fits a slope to it and says which leak a task it could still have missed.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

BATCHES = SuiteDefinition(
    name="batches",
    title="Memory after each of many equal batches",
    asks="Equal batches in one process: does memory grow from one to the next?",
    # samples are memory too: ten a second, so that the harness itself grows by less than a leak worth finding
    base=fixture("batches", batches=40, sampler_interval_ms=100),
    axes=frozen(),
    presets=frozen(
        smoke=Preset(tasks=2000, repetitions=1, values=frozen(batches=10)),
        quick=Preset(tasks=2_000_000, repetitions=3),
        full=Preset(tasks=10_000_000, repetitions=3, values=frozen(batches=100)),
    ),
)
