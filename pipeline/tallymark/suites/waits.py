"""waits: each task waits for a provider, and either blocks its worker meanwhile or gives it back.

It asks what yielding a worker gains. With blocking waits the slots are the workers, so capacity cannot exceed
workers / occupancy; with yielding ones they are the workers and the suspended tasks. Slots / occupancy stands
beside what was measured.
"""

from __future__ import annotations

from tallymark.suites.model import Case, Preset, SuiteDefinition, fixture, frozen

WAITS = SuiteDefinition(
    name="waits",
    title="Provider waits: blocking a worker against yielding it",
    asks="Provider waits in tasks: blocking a worker against yielding it.",
    base=fixture("waits", wait_mode="blocking", wait_us=1000),
    axes=frozen(workers=(1, 2, 4, 8)),
    presets=frozen(
        smoke=Preset(tasks=200, repetitions=1, axes=frozen(workers=(1, 4))),
        quick=Preset(tasks=4000, repetitions=3),
        full=Preset(tasks=20_000, repetitions=5),
    ),
    cases=(
        Case("blocking", frozen(wait_mode="blocking")),
        Case(
            "yielding",
            frozen(wait_mode="yielding", task_stack="pooled", stack_bytes=65536, max_suspended=64),
        ),
    ),
)
