"""The rule about configuration keys that depend on one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from tallymark.check.rule import RERUN, Problem, Run, run_rule

_Values: TypeAlias = Mapping[str, Any]
_SHARES: Final = ("fail_permille", "slow_permille", "cancel_permille")
# (key, when it is meant to be other than its idle value, that condition in words, the idle value).
# Where the condition does not hold the key must be idle; "both" demands the other direction too.
_DEPENDENT: Final[tuple[tuple[str, Callable[[_Values], bool], str, object, bool], ...]] = (
    ("stack_bytes", lambda v: v["task_stack"] == "pooled", "task_stack is pooled", 0, True),
    ("max_suspended", lambda v: v["task_stack"] == "pooled", "task_stack is pooled", 0, False),
    ("yields", lambda v: v["task_stack"] == "pooled", "task_stack is pooled", 0, False),
    ("wait_us", lambda v: v["wait_mode"] != "none", "there is a wait_mode", 0, True),
    ("wait_distribution", lambda v: v["wait_mode"] != "none", "there is a wait_mode", "constant", False),
    ("slow_us", lambda v: v["slow_permille"] > 0, "slow_permille is above 0", 0, True),
    ("fault_ramp", lambda v: any(v[key] for key in _SHARES), "a share of faults is above 0", "none", False),
    ("outage_ms", lambda v: v["wait_mode"] != "none", "there is a wait_mode", 0, False),
    ("outage_start_ms", lambda v: v["outage_ms"] > 0, "outage_ms is above 0", 0, False),
    ("retry_policy", lambda v: v["wait_mode"] != "none", "there is a wait_mode", "none", False),
    ("retry_attempts", lambda v: v["retry_policy"] != "none", "there is a retry_policy", 0, True),
    ("retry_delay_us", lambda v: v["retry_policy"] == "backoff", "retry_policy is backoff", 0, True),
    ("steady_ms", lambda v: v["submission"] in ("paced", "poisson"), "the loop is open", 0, False),
    ("pause_ms", lambda v: v["steady_ms"] > 0, "steady_ms is above 0", 0, False),
    ("burst_ms", lambda v: v["steady_ms"] > 0, "steady_ms is above 0", 0, False),
    ("burst_factor", lambda v: v["burst_ms"] > 0, "burst_ms is above 0", 1, False),
    ("rollbacks", lambda v: v["snapshot"] != "none", "there is a snapshot", 0, True),
    (
        "rewrite_permille",
        lambda v: v["snapshot"] != "none" or v["workload"] == "context",
        "there is a snapshot or the workload is context",
        0,
        False,
    ),
    ("batches", lambda v: v["submission"] == "closed", "the loop is closed", 1, False),
)
_SMALLEST_STACK: Final = 16384


@run_rule(
    "settings-fit",
    "Configuration keys that depend on one another fit",
    why="A value that has no effect would make two rows of one experiment, and one that is missing would "
    "make the row's name a lie.",
)
def settings_fit(run: Run) -> Iterator[Problem]:
    """Keys of waits, retries, faults, phases, stacks, snapshots are idle where nothing uses them."""
    value = run.value
    if "workload" not in value:
        return
    for key, used, words, idle, both in _DEPENDENT:
        wanted = used(value)
        if not wanted and value[key] != idle:
            yield run.found(key, f"{value[key]!r}, which is only possible when {words}", RERUN)
        elif wanted and both and value[key] == idle:
            yield run.found(key, f"{value[key]!r}, although {words}", RERUN)
    if 0 < value["stack_bytes"] < _SMALLEST_STACK:
        yield run.found("stack_bytes", f"{value['stack_bytes']} is below {_SMALLEST_STACK}", RERUN)
    if value["wait_mode"] == "yielding" and value["task_stack"] != "pooled":
        yield run.found("wait_mode", "yielding, which is only possible when task_stack is pooled", RERUN)
    if value["tasks"] % value["batches"]:
        yield run.found("batches", f"{value['tasks']} tasks are no multiple of {value['batches']}", RERUN)
