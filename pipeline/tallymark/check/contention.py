"""Rules about locks, idle workers, CPU time by thread and memory by owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tallymark.check.rule import RERUN, Problem, Run, run_rule

_SITES: Final = ("submit", "turn", "control")
_THREADS: Final = ("worker_cpu_ms", "submitter_cpu_ms", "sampler_cpu_ms", "auxiliary_cpu_ms")
# The process's CPU time is read at other moments than the threads', in ticks of up to 10 ms.
_CPU_SLACK_MS: Final = 20.0
_CPU_SLACK: Final = 0.02
# threads that take the lock besides the workers: submitter, sampler, rollback; each starts at a sample
_OTHERS: Final = 4
# an owner's bytes in RAM are whole pages or cache lines, its allocated ones are not
_ROUNDED: Final = 0.05
_ROUNDED_BYTES: Final = 64 << 10
# a mean of whole numbers times their count is whole, but for the digits of a double
_WHOLE: Final = 1e-6
_LARGEST: Final = 2**53
_UNEXPLAINED: Final = 0.05
_UNEXPLAINED_BYTES: Final = 256 << 10


@run_rule(
    "locks-timed",
    "Timed acquisitions of the lock are the sampled share of all",
    why="How long threads wait for a lock is known only if every n-th acquisition was timed.",
)
def locks_timed(run: Run) -> Iterator[Problem]:
    """Wait and hold of a site have one population, sampled as stated, within its acquisitions."""
    contention: dict[str, Any] = run.value.get("contention", {})
    if "lock_acquisitions" not in contention or "lock_sample_every" not in contention:
        return
    every = contention["lock_sample_every"]
    for site in _SITES:
        wait = run.histograms.get(f"lock_wait_{site}")
        hold = run.histograms.get(f"lock_hold_{site}")
        if wait is None or hold is None:
            continue
        where = run.at("histograms", f"lock_wait_{site}", "count")
        acquired = contention["lock_acquisitions"][site]
        if wait.count != hold.count:
            yield Problem(where, f"{wait.count} waits, but {hold.count} holds", RERUN)
        if wait.count and {wait.sample_every, hold.sample_every} != {every}:
            yield Problem(where, f"1 of {wait.sample_every} was timed, not 1 of {every}", RERUN)
        elif wait.count > acquired:
            yield Problem(where, f"{wait.count} were timed of {acquired} acquisitions", RERUN)
        elif every and wait.count > acquired / every + run.value["workers"] + _OTHERS:
            problem = f"{wait.count} were timed, 1 of {every}, of {acquired} acquisitions"
            yield Problem(where, problem, RERUN)


@run_rule(
    "batches-taken",
    "The batches that workers took hold every task that ran",
    why="The mean batch says how often workers meet at the queue; it must be of this run's tasks.",
)
def batches_taken(run: Run) -> Iterator[Problem]:
    """dequeues × mean_batch is whole, and at least the tasks that ran (one given back is taken twice)."""
    contention: dict[str, Any] = run.value.get("contention", {})
    if "workload" not in run.value or not contention or not run.whole:
        return
    taken = contention["dequeues"] * contention["mean_batch"]
    ran = run.value["tasks_completed"] + run.value["tasks_failed"]
    possible = ran <= taken + _WHOLE and taken <= _LARGEST
    if not possible or abs(taken - round(taken)) > _WHOLE * max(1.0, taken):
        problem = f"{contention['dequeues']} batches of {contention['mean_batch']!r} for {ran} tasks that ran"
        yield Problem(run.at("contention", "mean_batch"), problem, RERUN)


@run_rule(
    "idle-ratios",
    "Workers idle with a full queue are a part of the idle ones",
    why="Sleeping beside waiting work is the scheduler's fault; sleeping without work is not. One cannot "
    "exceed the other.",
)
def idle_ratios(run: Run) -> Iterator[Problem]:
    """idle_while_queued_ratio ≤ idle_ratio."""
    contention: dict[str, Any] = run.value.get("contention", {})
    idle, queued = contention.get("idle_ratio"), contention.get("idle_while_queued_ratio")
    if idle is not None and queued is not None and queued > idle:
        where = run.at("contention", "idle_while_queued_ratio")
        yield Problem(where, f"{queued!r} is above idle_ratio = {idle!r}", RERUN)


@run_rule(
    "thread-cpu",
    "The threads' CPU time fits into the process's",
    why="CPU time by thread shows what the scheduler costs beside the harness; more than the process used "
    "was counted twice.",
)
def thread_cpu(run: Run) -> Iterator[Problem]:
    """Workers + submitter + sampler + auxiliary ≤ user + system, within the ticks of the clocks."""
    contention: dict[str, Any] = run.value.get("contention", {})
    parts = [contention[key] for key in _THREADS if contention.get(key) is not None]
    if not parts:
        return
    whole = run.value["cpu_user_ms"] + run.value["cpu_system_ms"]
    if sum(parts) > whole * (1 + _CPU_SLACK) + _CPU_SLACK_MS:
        yield Problem(
            run.at("contention"), f"{sum(parts):g} ms by thread, {whole:g} ms in the process", RERUN
        )


@run_rule(
    "memory-accounted",
    "What the owners hold and what is unexplained make up the growth",
    why="Memory by owner is an account: what nobody claims is shown, and not shared out.",
)
def memory_accounted(run: Run) -> Iterator[Problem]:
    """rss_growth_bytes = end − start of RssAnon = sum of resident + unexplained_bytes, as far as known."""
    memory: dict[str, Any] = run.value.get("memory", {})
    growth, rest = memory.get("rss_growth_bytes"), memory.get("unexplained_bytes")
    before, after = memory.get("rss_anon_at_start_bytes"), memory.get("rss_anon_at_end_bytes")
    where = run.at("memory", "rss_growth_bytes")
    if growth is not None and before is not None and after is not None and growth != after - before:
        yield Problem(where, f"{growth}, but from {before} to {after} it is {after - before}", RERUN)
    for owner, held in memory.get("resident", {}).items():
        owned = memory["owners"][owner]
        if held is not None and held > owned * (1 + _ROUNDED) + _ROUNDED_BYTES:
            problem = f"{held} bytes in RAM, but only {owned} are allocated"
            yield Problem(run.at("memory", "resident", owner), problem, RERUN)
    resident = list(memory.get("resident", {}).values())
    if growth is None or rest is None or not resident or None in resident:
        return
    if growth != sum(resident) + rest:
        problem = f"{growth}, but {sum(resident)} resident and {rest} unexplained"
        yield Problem(run.at("memory", "unexplained_bytes"), problem, RERUN)
    stacks, reserved = memory["resident"]["stack_bytes"], memory.get("stack_reserved_bytes", 0)
    if "stack_reserved_bytes" in memory and stacks > reserved:
        problem = f"{stacks} bytes of stacks in RAM, only {reserved} reserved"
        yield Problem(run.at("memory", "resident", "stack_bytes"), problem, RERUN)


@run_rule(
    "memory-explained",
    "The owners explain the growth of memory within 5 percent",
    why="A part that nobody claims is a leak that no owner shows. It is said, and the run stays: kernels "
    "count resident pages a CPU at a time, and a sanitizer has memory of its own.",
    severity="warning",
)
def memory_explained(run: Run) -> Iterator[Problem]:
    """|unexplained_bytes| ≤ 5 % of rss_growth_bytes, or 256 KiB where that is more."""
    memory: dict[str, Any] = run.value.get("memory", {})
    growth, rest = memory.get("rss_growth_bytes"), memory.get("unexplained_bytes")
    if growth is None or rest is None or not run.completed:
        return
    if abs(rest) > max(growth * _UNEXPLAINED, _UNEXPLAINED_BYTES):
        yield Problem(
            run.at("memory", "unexplained_bytes"),
            f"{rest} of a growth of {growth} bytes are unexplained",
            "Look for memory that no owner counts before trusting memory by owner",
        )
