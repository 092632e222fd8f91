"""stability: an open loop in phases (steady, pause, burst) for minutes or hours, while faults ramp in.

It asks whether the queue comes back after each burst, what is left after each pause, and whether memory,
threads or the rate of failures drift. Slow tasks, errors and cancellations rise from none at the first task
to their full share at the last. A run whose queue grows over the measured window ends ``overloaded``, and no
percentile of it is published.

The tasks of a preset follow from its time: a cycle of s seconds steady and b seconds of burst at factor f
submits rate × (s + b × f) tasks.
"""

from __future__ import annotations

from tallymark.suites.model import Preset, SuiteDefinition, fixture, frozen

RATE_PER_S = 2000
BURST_FACTOR = 4
# a cycle of 15 s: 10 s steady, 2 s of pause, 3 s of burst
CYCLE_TASKS = RATE_PER_S * (10 + 3 * BURST_FACTOR)

STABILITY = SuiteDefinition(
    name="stability",
    title="Steady, pause and burst over a long time",
    asks="Steady, pause and burst for minutes or hours while faults ramp in.",
    base=fixture(
        "stability",
        submission="paced",
        window=0,
        rate_per_s=RATE_PER_S,
        steady_ms=10_000,
        pause_ms=2000,
        burst_ms=3000,
        burst_factor=BURST_FACTOR,
        fail_permille=10,
        cancel_permille=10,
        slow_permille=20,
        slow_us=10_000,
        fault_ramp="linear",
        sampler_interval_ms=100,
    ),
    axes=frozen(),
    presets=frozen(
        # two cycles of 0.75 s
        smoke=Preset(
            tasks=RATE_PER_S * (1 + BURST_FACTOR) // 2,
            repetitions=1,
            values=frozen(steady_ms=250, pause_ms=250, burst_ms=250, sampler_interval_ms=10),
        ),
        # 4 cycles: a minute
        quick=Preset(tasks=4 * CYCLE_TASKS, repetitions=1, values=frozen(sampler_interval_ms=20)),
        # 20 cycles: 5 minutes, three times
        full=Preset(tasks=20 * CYCLE_TASKS, repetitions=3),
        # 1920 cycles: 8 hours
        nightly=Preset(tasks=1920 * CYCLE_TASKS, repetitions=1, values=frozen(sampler_interval_ms=1000)),
    ),
    warmup_runs=0,
)
