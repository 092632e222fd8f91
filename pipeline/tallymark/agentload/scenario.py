"""A checked scenario as frozen values; `scenario_file` makes them of a TOML file.

Units are in the names. A limit is a number, ``None`` where there is none, or ``UNKNOWN``: nobody knows it,
which the results say and no table shows as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from tallymark.agentload.distributions import Distribution
from tallymark.agentload.mix import Recorded
from tallymark.errors import child

UNKNOWN: Final = "unknown"
Limit: TypeAlias = int | Literal["unknown"] | None
_TEXTS: Final = ("schema", "name", "title", "provider", "model", "tool", "tenant", "trace", "assumptions")
Overflow: TypeAlias = Literal["wait", "reject"]


@dataclass(frozen=True, slots=True)
class RunPlan:
    """How much is simulated. ``tasks`` or ``horizon_s`` bounds the arrivals, ``deadline_s`` the run."""

    tasks: int | None
    horizon_s: float | None
    warmup_tasks: int
    deadline_s: float
    context_factor_permille: int


@dataclass(frozen=True, slots=True)
class Arrival:
    """When tasks arrive; what a process does not use is None."""

    process: Literal["poisson", "constant", "recorded", "burst", "closed"]
    rate_per_min: float | None
    times_s: tuple[float, ...]
    burst_tasks: int | None
    burst_every_s: float | None
    in_flight: int | None
    think_s: Distribution


@dataclass(frozen=True, slots=True)
class Slots:
    """Our own worker slots and the queue before them."""

    workers: Limit
    queue_limit: int
    discipline: Literal["fifo", "priority", "fair"]


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose tasks they are."""

    name: str
    share: float
    priority: int
    weight: int


@dataclass(frozen=True, slots=True)
class Provider:
    """Who answers model calls. ``error`` is a probability; ``cache_tokens`` 0: no prefix cache."""

    name: str
    tokens_per_min: Limit
    requests_per_min: Limit
    concurrency: Limit
    reserve: Literal["actual", "max_tokens"]
    count_cached: bool
    overflow: Overflow
    retry_after_s: float
    kv_tokens: Limit
    kv_policy: Literal["queue", "preempt"]
    cache_tokens: int
    error: float
    timeout_s: float | None


@dataclass(frozen=True, slots=True)
class Model:
    """A model; a price is in USD per million tokens, None when nobody knows it."""

    name: str
    provider: str
    base_ms: float
    input_tokens_per_s: float
    output_tokens_per_s: float
    load_slope: float
    load_reference: int | None
    context_tokens: int | None
    max_output_tokens: int | None
    usd_per_million_input: float | None
    usd_per_million_cached: float | None
    usd_per_million_output: float | None

    @property
    def priced(self) -> bool:
        """Whether money can be counted; one unknown price makes every sum unknown."""
        prices = (self.usd_per_million_input, self.usd_per_million_cached, self.usd_per_million_output)
        return None not in prices


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; ``error`` and ``timeout`` are probabilities."""

    name: str
    latency_ms: Distribution
    result_tokens: Distribution
    rate_per_min: Limit
    concurrency: Limit
    overflow: Overflow
    retry_after_s: float
    error: float
    timeout: float
    timeout_s: float | None
    optional: bool
    write: bool


@dataclass(frozen=True, slots=True)
class ToolUse:
    """How often a class calls a tool after each step but the last, in the mean."""

    tool: str
    per_step: float


@dataclass(frozen=True, slots=True)
class TaskClass:
    """A class of tasks. Every step is one model call whose prompt holds the whole transcript so far."""

    name: str
    share: float
    tenant: str | None
    model: str
    steps: Distribution
    system_tokens: Distribution
    tools_tokens: Distribution
    document_tokens: Distribution
    user_tokens: Distribution
    output_tokens: Distribution
    tool_calls: tuple[ToolUse, ...]
    prefixes: int
    prefix_share: float
    success: float


@dataclass(frozen=True, slots=True)
class Traces:
    """An imported corpus whose whole tasks are sampled; ``file`` is relative to the scenario's folder."""

    file: str
    model: str | None
    sha256: str | None = None
    """Of the corpus; a bound scenario has it, so that the digest of the scenario covers its tasks."""

    characters_per_token: float | None = None
    success: float = 1
    """Probability of success of tasks for which it was not recorded."""


@dataclass(frozen=True, slots=True)
class Retry:
    """A layer of retries; ``attempts`` counts the first one too."""

    layer: Literal["client", "tool", "workflow"]
    attempts: int
    backoff: Literal["none", "fixed", "exponential"]
    delay_ms: float
    cap_ms: float | None
    jitter: Literal["none", "full"]
    on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetryBudget:
    """Retries by logical operations at most, and how many are allowed before any."""

    ratio: float
    reserve: int


@dataclass(frozen=True, slots=True)
class Breaker:
    """Consecutive failures that open the circuit breaker, and for how long."""

    failures: int
    open_s: float


@dataclass(frozen=True, slots=True)
class Degradation:
    """A named state of worse service; ``condition`` is the one key of ``when``, ``threshold`` its value."""

    name: str
    state: Literal["fallback_model", "truncate_context", "lower_effort", "drop_retry", "shed"]
    condition: Literal["queue_age_s", "queue_depth", "headroom_below", "context_above"]
    threshold: float
    model: str | None
    keep_tokens: int | None
    steps_factor_permille: int
    output_factor_permille: int
    success_delta: float


@dataclass(frozen=True, slots=True)
class Event:
    """What happens at a chosen moment."""

    at_s: float
    kind: Literal["invalidate_caches", "outage"]
    provider: str | None
    tool: str | None
    for_s: float | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The fixed subset whose quality is compared idle and loaded."""

    tasks: int
    margin: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Scenario:
    """A checked scenario. ``path`` is how messages show its file, ``folder`` what its paths are relative to;
    ``declared`` is its whole content as JSON and ``sha256`` the digest of that in canonical form.
    """

    path: str
    folder: Path
    name: str
    title: str
    seed: int
    run: RunPlan
    arrival: Arrival
    slots: Slots
    tenants: tuple[Tenant, ...]
    providers: tuple[Provider, ...]
    models: tuple[Model, ...]
    tools: tuple[Tool, ...]
    tasks: tuple[TaskClass, ...]
    traces: Traces | None
    retries: tuple[Retry, ...]
    retry_budget: RetryBudget | None
    breaker: Breaker | None
    degradations: tuple[Degradation, ...]
    events: tuple[Event, ...]
    evaluation: Evaluation | None
    assumptions: tuple[str, ...]
    declared: Mapping[str, Any]
    sha256: str
    recorded: Recorded | None = None
    """The corpus of ``traces``, read."""

    def where(self, pointer: str) -> str:
        """``file::$.pointer`` for messages."""
        return f"{self.path}::{pointer}"

    def provider_of(self, model: str) -> Provider:
        """The provider of a model by the model's name."""
        wanted = next(one.provider for one in self.models if one.name == model)
        return next(one for one in self.providers if one.name == wanted)

    @property
    def unknown_limits(self) -> tuple[str, ...]:
        """The pointer of every limit that is declared as unknown: each is a finding, none is a zero."""
        return tuple(_unknown(self.declared, "$"))


def _unknown(value: Any, pointer: str) -> Iterator[str]:
    if value == UNKNOWN:
        yield pointer
    elif isinstance(value, dict):
        for key, member in value.items():
            # a name may be "unknown"; a limit is a key that says so of its value
            if key not in _TEXTS:
                yield from _unknown(member, child(pointer, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _unknown(member, child(pointer, index))
