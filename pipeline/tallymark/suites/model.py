"""The frozen values that pass between the steps of a suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType
from typing import TypeAlias

from tallymark.runtime import RunOptions

Scalar: TypeAlias = int | str
Json: TypeAlias = dict[str, object]

SCHEMA = "runtime-execution/1.1"
PRESETS = ("smoke", "quick", "full")
DEFAULT_PRESET = "quick"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Every scalar configuration key of a run, by the name that the run record uses.

    The suffix of a name is its unit: ``_bytes``, ``_us``, ``_ms``, ``_permille`` (thousandths);
    ``rate_per_s`` is in tasks a second (0: no open loop). What each key means is in the schema.
    """

    suite: str
    benchmark_version: str
    agents: int
    tasks: int
    workers: int
    aux_workers: int
    probes: int
    context_bytes: int
    access_pattern: str
    queue_limit: int
    max_active: int
    history_limit_tasks: int
    history_limit_bytes: int
    output_bytes: int
    submission: str
    window: int
    rate_per_s: int
    task_stack: str
    sampler_interval_ms: int
    workload: str
    workload_seed: int
    variant: str
    priorities: int
    batches: int
    yields: int
    stack_bytes: int
    max_suspended: int
    wait_mode: str
    wait_us: int
    wait_distribution: str
    timeout_us: int
    fail_permille: int
    slow_permille: int
    cancel_permille: int
    slow_us: int
    fault_ramp: str
    memory_limit_bytes: int
    kill_after_tasks: int
    outage_start_ms: int
    outage_ms: int
    retry_policy: str
    retry_attempts: int
    retry_delay_us: int
    tenants: int
    steady_ms: int
    pause_ms: int
    burst_ms: int
    burst_factor: int
    snapshot: str
    rollbacks: int
    rewrite_permille: int
    overview_bytes: int

    def to_json(self) -> Json:
        """The keys and values in the order of the run record."""
        return asdict(self)

    def with_values(self, values: Mapping[str, Scalar]) -> Configuration:
        """A copy in which ``values`` replace the fields of their names."""
        return replace(self, **values)  # type: ignore[arg-type]  # settings checked name and type

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Configuration:
        """The configuration of a plan entry; ``TypeError`` or ``KeyError`` when a key is missing."""
        return cls(**{name: value[name] for name in KEYS})  # type: ignore[arg-type]


KEYS: tuple[str, ...] = tuple(field.name for field in fields(Configuration))


def fixture(suite: str, **values: Scalar) -> Configuration:
    """The runtime's own defaults (the fixture of the reference system) under the name of ``suite``."""
    return Configuration.from_json(RunOptions(suite=suite).to_json()).with_values(values)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run that is to be made: its place in the order, its repetition (from 1), its configuration."""

    index: int
    repetition: int
    configuration: Configuration

    def to_json(self) -> Json:
        """The entry of ``execution.plan``."""
        return {
            "index": self.index,
            "repetition": self.repetition,
            "configuration": self.configuration.to_json(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> PlannedRun:
        """The run that an entry of ``execution.plan`` stands for."""
        index, repetition, configuration = value["index"], value["repetition"], value["configuration"]
        assert isinstance(index, int) and isinstance(repetition, int) and isinstance(configuration, dict)
        return cls(index, repetition, Configuration.from_json(configuration))


@dataclass(frozen=True, slots=True)
class Preset:
    """How large a suite is by default: tasks a run and counted runs of each configuration."""

    tasks: int
    repetitions: int


@dataclass(frozen=True, slots=True)
class SuiteDefinition:
    """A measuring suite: its fixture, the keys that make its configurations, its presets.

    ``free_factors``: up to so many keys of the user's choice may take several values and then make the
    configurations in place of ``axes``; with 0 only the axes vary.
    """

    name: str
    title: str
    base: Configuration
    axes: Mapping[str, tuple[Scalar, ...]]
    presets: Mapping[str, Preset]
    warmup_runs: int = 1
    free_factors: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """What ``--set`` asked for: key → values in the order given."""

    values: Mapping[str, tuple[Scalar, ...]]

    @classmethod
    def none(cls) -> Settings:
        """Nothing asked for: the suite's own fixture."""
        return cls(MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Plan:
    """A suite decided to the last run: nothing that happens later changes it."""

    suite: str
    label: str
    seed: int
    repetitions: int
    command: str
    warmups: tuple[PlannedRun, ...]
    runs: tuple[PlannedRun, ...]
