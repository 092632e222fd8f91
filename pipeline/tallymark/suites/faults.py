"""faults: one configuration for each way in which tasks, a run or a provider fail.

It asks whether every failure is kept as what it was, with its phase, the last counts and the cause, and
whether the backlog returns to steady after an outage of the provider, by what a task does when its call
failed (nothing, try again at once, wait longer each time) and for each of two tenants, of which one has the
outage. Runs that are meant to fail say so in the plan; one that does not fail then is the surprise.
"""

from __future__ import annotations

from fractions import Fraction

from tallymark.suites.model import Case, Preset, Scalar, SuiteDefinition, fixture, frozen

MIB = 1 << 20
HOUR_US = 3_600_000_000
NO_END_MS = 2000


def _outage(policy: str, **values: Scalar) -> Case:
    """An open loop with a provider call of 1 ms in each task; tenant 0 has no provider for a while.

    All tasks take tasks / 2000 seconds, so a tenth of their number in milliseconds is a fifth of the time.
    """
    return Case(
        f"outage-{policy}",
        frozen(
            submission="paced",
            window=0,
            rate_per_s=2000,
            tenants=2,
            task_stack="pooled",
            stack_bytes=65536,
            wait_mode="yielding",
            wait_us=1000,
            retry_policy=policy,
            **values,
        ),
        shares=frozen(outage_start_ms=Fraction(1, 10), outage_ms=Fraction(1, 10)),
    )


CASES = (
    # tasks fail: the run completes and counts them
    Case("failing-tasks", frozen(fail_permille=100)),
    Case("slow-tasks", frozen(slow_permille=50, slow_us=2000)),
    Case("cancelled-tasks", frozen(cancel_permille=100)),
    Case(
        "timed-out-tasks",
        frozen(
            submission="paced",
            window=0,
            rate_per_s=2000,
            slow_permille=20,
            slow_us=40_000,
            timeout_us=20_000,
        ),
    ),
    # the run fails
    Case("rejected", frozen(queue_limit=64, window=512), expected=("overloaded",)),
    Case("memory-at-setup", frozen(memory_limit_bytes=MIB), expected=("failed",)),
    # the context fits with 32 MiB to spare; a snapshot of which every chunk is rewritten takes it once more
    Case(
        "memory-in-the-run",
        frozen(
            context_bytes=64 * MIB,
            aux_workers=0,
            snapshot="running",
            rollbacks=10,
            rewrite_permille=1000,
            memory_limit_bytes=96 * MIB,
        ),
        expected=("failed",),
    ),
    # slow enough that its last counts are known when it dies
    Case(
        "killed",
        frozen(submission="paced", window=0, rate_per_s=2000),
        shares=frozen(kill_after_tasks=Fraction(1, 2)),
        expected=("killed",),
    ),
    Case(
        "no-end",
        frozen(wait_mode="blocking", wait_us=HOUR_US),
        expected=("timed_out",),
        deadline_ms=NO_END_MS,
    ),
    # the provider fails
    _outage("none"),
    _outage("immediate", retry_attempts=5),
    _outage("backoff", retry_attempts=10, retry_delay_us=4000),
)

FAULTS = SuiteDefinition(
    name="faults",
    title="What fails, how it is kept, and what comes back",
    asks="Each kind of failure, on purpose: kept, counted, recovered from?",
    base=fixture("faults", workers=4),
    axes=frozen(),
    presets=frozen(
        smoke=Preset(tasks=2000, repetitions=1),
        quick=Preset(tasks=10_000, repetitions=3),
        full=Preset(tasks=40_000, repetitions=3),
    ),
    warmup_runs=0,
    cases=CASES,
)
