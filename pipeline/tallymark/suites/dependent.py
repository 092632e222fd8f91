"""Keys that follow from other keys: what nobody chose is brought in line with what somebody chose.

``--set submission=paced`` alone would leave the window of a closed loop, which the runtime rightly refuses.
A key that was chosen is never touched, for a contradiction between two choices is for the runtime to refuse;
with one exception: where the key that it depends on is itself varied, a choice counts in the combinations
that have a use for it (``--set submission=closed,paced --set rate_per_s=1000``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from tallymark.suites.model import Configuration, Scalar

Condition = Callable[[Configuration], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """When ``applies``, ``key`` takes ``value``; ``of`` is the key that it depends on."""

    key: str
    value: Scalar
    of: str
    applies: Condition
    removes: bool


def _only(key: str, empty: Scalar, of: str, needed: Condition) -> Rule:
    """The key has its empty value wherever what it needs is missing."""
    return Rule(key, empty, of, lambda chosen: not needed(chosen), removes=True)


def _with(key: str, value: Scalar, of: str, needed: Condition, empty: Scalar = 0) -> Rule:
    """The key has a value wherever one is needed and there is none."""
    return Rule(
        key, value, of, lambda chosen: needed(chosen) and getattr(chosen, key) == empty, removes=False
    )


def _open(chosen: Configuration) -> bool:
    return chosen.submission in ("paced", "poisson")


def _closed(chosen: Configuration) -> bool:
    return chosen.submission == "closed"


def _suspends(chosen: Configuration) -> bool:
    return chosen.yields > 0 or chosen.wait_mode == "yielding"


def _pooled(chosen: Configuration) -> bool:
    return chosen.task_stack == "pooled"


def _waits(chosen: Configuration) -> bool:
    return chosen.wait_mode != "none"


def _retries(chosen: Configuration) -> bool:
    return chosen.retry_policy != "none"


def _backs_off(chosen: Configuration) -> bool:
    return chosen.retry_policy == "backoff"


def _slow(chosen: Configuration) -> bool:
    return chosen.slow_permille > 0


def _rolls_back(chosen: Configuration) -> bool:
    return chosen.snapshot != "none"


# In this order: a rule sees what the rules before it decided.
RULES: tuple[Rule, ...] = (
    _only("window", 0, "submission", _closed),
    _with("window", 1024, "submission", _closed),
    _only("rate_per_s", 0, "submission", _open),
    _only("steady_ms", 0, "submission", _open),
    _only("pause_ms", 0, "submission", lambda chosen: chosen.steady_ms > 0),
    _only("burst_ms", 0, "submission", lambda chosen: chosen.steady_ms > 0),
    _only("burst_factor", 1, "submission", lambda chosen: chosen.burst_ms > 0),
    _with("task_stack", "pooled", "wait_mode", _suspends, "inline"),
    _with("stack_bytes", 65536, "task_stack", _pooled),
    _only("stack_bytes", 0, "task_stack", _pooled),
    _only("max_suspended", 0, "task_stack", _pooled),
    _with("wait_us", 1000, "wait_mode", _waits),
    _only("wait_us", 0, "wait_mode", _waits),
    _only("wait_distribution", "constant", "wait_mode", _waits),
    _only("outage_ms", 0, "wait_mode", _waits),
    _only("outage_start_ms", 0, "outage_ms", lambda chosen: chosen.outage_ms > 0),
    _only("retry_policy", "none", "wait_mode", _waits),
    _with("retry_attempts", 3, "retry_policy", _retries),
    _only("retry_attempts", 0, "retry_policy", _retries),
    _with("retry_delay_us", 1000, "retry_policy", _backs_off),
    _only("retry_delay_us", 0, "retry_policy", _backs_off),
    _with("slow_us", 10_000, "slow_permille", _slow),
    _only("slow_us", 0, "slow_permille", _slow),
    _with("rollbacks", 10, "snapshot", _rolls_back),
    _only("rollbacks", 0, "snapshot", _rolls_back),
)


def consistent(
    configuration: Configuration, chosen: Collection[str], varied: Collection[str] = ()
) -> Configuration:
    """The configuration in which every key outside of ``chosen`` agrees with the others.

    ``varied``: those of the chosen keys that have several values.
    """
    for rule in RULES:
        free = rule.key not in chosen or (rule.removes and rule.of in varied and rule.key not in varied)
        if free and rule.applies(configuration):
            configuration = configuration.with_values({rule.key: rule.value})
    return configuration
