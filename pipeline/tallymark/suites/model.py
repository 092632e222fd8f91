"""The frozen values that pass between the steps of a suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

from tallymark.runtime import RunOptions

Scalar: TypeAlias = int | str
Json: TypeAlias = dict[str, object]

SCHEMA = "runtime-execution/1.1"
DEFAULT_PRESET = "quick"
COMPLETED = ("completed",)
NO_VARIANT = "none"


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


def frozen(**values: Any) -> Mapping[str, Any]:
    """The keywords as a mapping that nobody can change."""
    return MappingProxyType(values)


@dataclass(frozen=True, slots=True)
class Point:
    """One configuration of a suite and how its runs are meant to end.

    ``expected``: the outcomes that are no surprise. ``deadline_ms``: the time limit of a run, where the suite
    sets one; a run that is not done by then is ended, with outcome ``timed_out``.
    """

    configuration: Configuration
    expected: tuple[str, ...] = COMPLETED
    deadline_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run that is to be made: its place in the order, its repetition (from 1), and what it is."""

    index: int
    repetition: int
    configuration: Configuration
    expected: tuple[str, ...] = COMPLETED
    deadline_ms: int | None = None

    @classmethod
    def of(cls, index: int, repetition: int, point: Point) -> PlannedRun:
        """The run of a point at its place."""
        return cls(index, repetition, point.configuration, point.expected, point.deadline_ms)

    def to_json(self) -> Json:
        """The entry of ``execution.plan``; what is not special about the run is not in it."""
        return {
            "index": self.index,
            "repetition": self.repetition,
            "configuration": self.configuration.to_json(),
            **({} if self.expected == COMPLETED else {"expected_outcomes": list(self.expected)}),
            **({} if self.deadline_ms is None else {"deadline_ms": self.deadline_ms}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> PlannedRun:
        """The run that an entry of ``execution.plan`` stands for."""
        index, repetition, configuration = value["index"], value["repetition"], value["configuration"]
        assert isinstance(index, int) and isinstance(repetition, int) and isinstance(configuration, dict)
        expected, deadline_ms = value.get("expected_outcomes", [*COMPLETED]), value.get("deadline_ms")
        assert isinstance(expected, list) and (deadline_ms is None or isinstance(deadline_ms, int))
        return cls(index, repetition, Configuration.from_json(configuration), tuple(expected), deadline_ms)


@dataclass(frozen=True, slots=True)
class Preset:
    """How large a suite is: tasks a run, counted runs of each configuration, and what else differs.

    ``axes`` take the place of the suite's axes of the same name, ``values`` that of its fixture.
    """

    tasks: int
    repetitions: int
    axes: Mapping[str, tuple[Scalar, ...]] = field(default_factory=frozen)
    values: Mapping[str, Scalar] = field(default_factory=frozen)


@dataclass(frozen=True, slots=True)
class Case:
    """A named configuration of a suite whose configurations are no product; the name is its ``variant``.

    ``shares``: keys whose value is this share of the tasks.
    """

    name: str
    values: Mapping[str, Scalar]
    shares: Mapping[str, Fraction] = field(default_factory=frozen)
    expected: tuple[str, ...] = COMPLETED
    deadline_ms: int | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the case decides."""
        return ("variant", *self.values, *self.shares)

    def of(self, tasks: int) -> dict[str, Scalar]:
        """The values of the case for so many tasks."""
        shares = {key: int(share * tasks) for key, share in self.shares.items()}
        return {"variant": self.name, **self.values, **shares}


@dataclass(frozen=True, slots=True)
class SuiteDefinition:
    """A measuring suite: its fixture, the keys that make its configurations, its presets.

    The configurations are the product of the ``axes``, in each ``case`` where there are cases.
    ``asks``: what it asks, in a line. ``free_factors``: up to so many keys of the user's choice may take
    several values and then make the configurations in place of ``axes``; with 0 only the axes vary.
    ``steps``: the suite looks for the rate at which an open loop is too much, so ``overloaded`` is an answer.
    """

    name: str
    title: str
    asks: str
    base: Configuration
    axes: Mapping[str, tuple[Scalar, ...]]
    presets: Mapping[str, Preset]
    warmup_runs: int = 1
    free_factors: int = 0
    cases: tuple[Case, ...] = ()
    steps: bool = False

    @property
    def decided(self) -> frozenset[str]:
        """The keys that the cases decide: nobody else can."""
        return frozenset(key for case in self.cases for key in case.keys)


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
