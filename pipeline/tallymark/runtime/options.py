"""What one run is told: its configuration, and its place in the plan of its suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from tallymark.errors import UsageError

# what a JSON reader keeps exact, and every number of a run record stays below
_LARGEST = 2**53 - 1


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Every scalar configuration key under its name in the run record, with the defaults of suite ``scale``.

    The suffix of a name is its unit: ``_bytes``, ``_us``, ``_ms``, ``_permille``; ``rate_per_s`` is in tasks
    a second (0 when not an open loop), ``window`` in tasks (0 unless closed). ``run_id`` is 16 lower-case
    hexadecimal digits, or None to have one drawn. Ranges are judged by the runtime itself when the run is
    made.
    """

    suite: str = "scale"
    benchmark_version: str = "1"
    agents: int = 100
    tasks: int = 100_000
    workers: int = 8
    aux_workers: int = 8
    probes: int = 64
    context_bytes: int = 8 << 20
    access_pattern: str = "uniform"
    queue_limit: int = 1 << 20
    max_active: int = 1024
    history_limit_tasks: int = 64
    history_limit_bytes: int = 1 << 20
    output_bytes: int = 64
    submission: str = "closed"
    window: int = 1024
    rate_per_s: int = 0
    task_stack: str = "inline"
    sampler_interval_ms: int = 10
    workload: str = "tasks"
    workload_seed: int = 1
    variant: str = "none"
    priorities: int = 1
    batches: int = 1
    yields: int = 0
    stack_bytes: int = 0
    max_suspended: int = 0
    wait_mode: str = "none"
    wait_us: int = 0
    wait_distribution: str = "constant"
    timeout_us: int = 0
    fail_permille: int = 0
    slow_permille: int = 0
    cancel_permille: int = 0
    slow_us: int = 0
    fault_ramp: str = "none"
    memory_limit_bytes: int = 0
    kill_after_tasks: int = 0
    outage_start_ms: int = 0
    outage_ms: int = 0
    retry_policy: str = "none"
    retry_attempts: int = 0
    retry_delay_us: int = 0
    tenants: int = 1
    steady_ms: int = 0
    pause_ms: int = 0
    burst_ms: int = 0
    burst_factor: int = 1
    snapshot: str = "none"
    rollbacks: int = 0
    rewrite_permille: int = 0
    overview_bytes: int = 3900
    index: int = 0
    repetition: int = 1
    run_id: str | None = None

    @classmethod
    def from_json(cls, value: object) -> RunOptions:
        """The options in a JSON object; keys that are not there take their defaults.

        UsageError: not an object, an unknown key, or a value of the wrong type.
        """
        if not isinstance(value, Mapping):
            raise UsageError("options", "they are not a JSON object", "send one with option names as keys")
        kinds = {field.name: str(field.type) for field in fields(cls)}
        for key, item in value.items():
            if key not in kinds:
                raise UsageError(str(key), "there is no such option", f"use {', '.join(kinds)}")
            _check_kind(key, kinds[key], item)
        return cls(**value)

    def to_json(self) -> dict[str, int | str | None]:
        """The object that ``from_json`` reads."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _check_kind(key: str, kind: str, value: object) -> None:
    if kind == "int":
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(key, f"{value!r} is not a whole number", "give a whole number without a point")
        if not 0 <= value <= _LARGEST:
            raise UsageError(key, f"{value} is out of range", f"use 0 to {_LARGEST}")
    elif isinstance(value, str):
        if not (value.isascii() and value.isprintable()):
            raise UsageError(key, f"{value!r} is not a plain word", "use printable ASCII characters")
    elif not (value is None and "None" in kind):
        raise UsageError(key, f"{value!r} is not a text", "give a text in quotes")
