"""What one task asks of every limit, in the mean over the mix: computed from the scenario, not measured.

A task of k steps sends its prompt k times, and each time what the steps before it added is sent again: with
a first prompt of P tokens and g more after each step that is k·P + (k·(k-1)/2)·g input tokens. Attempts that
fail are sent again, and a task ends at an operation that failed for good. What load adds (429s, degradations,
evictions from a cache, calls that are cut off because they became slow) is not in here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tallymark.agentload.distributions import Distribution
from tallymark.agentload.scenario import Model, Retry, Scenario, TaskClass, Tool

# Which operations a layer of retries stands around.
LAYERS_OF_MODELS: Final = ("client", "workflow")
LAYERS_OF_TOOLS: Final = ("tool", "workflow")


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Attempts and tokens of a task at one model. ``counted_tokens`` are those that its provider's tokens a
    minute are about; ``usd`` is None when the model is unpriced.
    """

    calls: float = 0.0
    input_tokens: float = 0.0
    cached_tokens: float = 0.0
    output_tokens: float = 0.0
    counted_tokens: float = 0.0
    usd: float | None = 0.0

    def times(self, share: float) -> ModelUse:
        """The same for a share of the tasks."""
        usd = None if self.usd is None else self.usd * share
        return ModelUse(
            self.calls * share,
            self.input_tokens * share,
            self.cached_tokens * share,
            self.output_tokens * share,
            self.counted_tokens * share,
            usd,
        )

    def plus(self, other: ModelUse) -> ModelUse:
        """Both together; a price that is unknown makes the sum unknown."""
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return ModelUse(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.counted_tokens + other.counted_tokens,
            usd,
        )


@dataclass(frozen=True, slots=True)
class ClassDemand:
    """One class of tasks. ``resends`` is the mean of k·(k-1)/2; input tokens without a failure are
    ``steps * prompt_tokens + resends * growth_tokens``.
    """

    name: str
    share: float
    steps: float
    resends: float
    prompt_tokens: float
    growth_tokens: float
    use: ModelUse

    @property
    def input_tokens(self) -> float:
        """Input tokens of a task whose calls all succeed at once."""
        return self.steps * self.prompt_tokens + self.resends * self.growth_tokens


@dataclass(frozen=True, slots=True)
class Demand:
    """Of one task in the mean, by name; ``classes`` is empty where whole recorded tasks are sampled."""

    models: Mapping[str, ModelUse]
    tools: Mapping[str, float]
    classes: tuple[ClassDemand, ...] = field(default=())

    @property
    def usd(self) -> float | None:
        """Money of a task; None when a model that it uses has no price."""
        total = ModelUse()
        for use in self.models.values():
            total = total.plus(use)
        return total.usd

    def of_provider(self, scenario: Scenario, provider: str) -> ModelUse:
        """All models of a provider together."""
        total = ModelUse()
        for model in scenario.models:
            if model.provider == provider and model.name in self.models:
                total = total.plus(self.models[model.name])
        return total


def of_mix(scenario: Scenario) -> Demand:
    """The mean over the classes of the scenario. ValueError: it has none (its tasks are recorded)."""
    if not scenario.tasks:
        raise ValueError("the scenario has no classes of tasks")
    whole = sum(one.share for one in scenario.tasks)
    models: dict[str, ModelUse] = {}
    tools: defaultdict[str, float] = defaultdict(float)
    classes = []
    for task in scenario.tasks:
        found, calls = _of_class(scenario, task, task.share / whole)
        classes.append(found)
        models[task.model] = models.get(task.model, ModelUse()).plus(found.use.times(found.share))
        for tool, number in calls.items():
            tools[tool] += number * found.share
    return Demand(models, dict(tools), tuple(classes))


@dataclass(frozen=True, slots=True)
class _Operation:
    """A call with its retries: how often it is tried, and how often it ends well."""

    failing: float
    attempts: int

    @property
    def tries(self) -> float:
        if self.failing == 1:
            return self.attempts
        return (1 - self.failing**self.attempts) / (1 - self.failing)

    @property
    def ends_well(self) -> float:
        return 1 - self.failing**self.attempts


def _of_class(scenario: Scenario, task: TaskClass, share: float) -> tuple[ClassDemand, dict[str, float]]:
    model = next(one for one in scenario.models if one.name == task.model)
    call = _Operation(scenario.provider_of(task.model).error, _attempts(scenario.retries, LAYERS_OF_MODELS))
    factor = scenario.run.context_factor_permille / 1000
    uses = [_uses(scenario, use.tool, use.per_step, factor) for use in task.tool_calls]
    system = task.system_tokens.mean() + task.tools_tokens.mean()
    prompt = (system + task.document_tokens.mean() + task.user_tokens.mean()) * factor
    output = task.output_tokens.mean()
    if model.max_output_tokens is not None:
        output = min(output, model.max_output_tokens)
    growth = output + sum(use.result_tokens for use in uses)
    shared = system * factor * task.prefix_share if task.prefixes else 0.0
    step = _Step(scenario, model, call, output)
    total, calls, reached = ModelUse(), defaultdict[str, float](float), 1.0
    at_least = _at_least(task.steps)
    for number, there in enumerate(at_least):
        begun = there * reached
        fresh = prompt - shared if number == 0 else growth
        total = total.plus(step.use(prompt + number * growth, fresh).times(begun))
        goes_on = at_least[number + 1] if number + 1 < len(at_least) else 0.0
        reached *= call.ends_well
        for use in uses:
            calls[use.tool] += use.calls * goes_on * reached
            reached *= use.ends_well
    steps = sum(at_least)
    resends = sum(number * there for number, there in enumerate(at_least))
    return ClassDemand(task.name, share, steps, resends, prompt, growth, total), calls


@dataclass(frozen=True, slots=True)
class _Step:
    scenario: Scenario
    model: Model
    call: _Operation
    output: float

    def use(self, prompt: float, fresh: float) -> ModelUse:
        """One model operation; a prompt that was sent before is cached, ``fresh`` is what is new in it."""
        provider = self.scenario.provider_of(self.model.name)
        again = self.call.tries - 1
        is_cached = provider.cache_tokens > 0
        cached = (prompt - fresh + again * prompt) if is_cached else 0.0
        sent = self.call.tries * prompt
        output = self.call.ends_well * self.output  # a call that fails writes nothing
        counted = sent + output - (0.0 if provider.count_cached else cached)
        return ModelUse(
            calls=self.call.tries,
            input_tokens=sent,
            cached_tokens=cached,
            output_tokens=output,
            counted_tokens=counted,
            usd=self._usd(prompt, fresh if is_cached else prompt, is_cached),
        )

    def _usd(self, prompt: float, fresh: float, is_cached: bool) -> float | None:
        """Only the call that ended well is billed; after a failure all of its prompt is in the cache."""
        price, written = self.model.usd_per_million_input, self.model.usd_per_million_output
        if price is None or written is None:
            return None
        kept = self.model.usd_per_million_cached
        kept = price if kept is None else kept
        first = 1 - self.call.failing
        later = self.call.ends_well - first
        new = first * fresh + (0.0 if is_cached else later * prompt)
        old = self.call.ends_well * prompt - new
        return (new * price + old * kept + self.call.ends_well * self.output * written) / 1e6


@dataclass(frozen=True, slots=True)
class _Use:
    """The calls of a tool in one step."""

    tool: str
    calls: float
    result_tokens: float
    ends_well: float


def _uses(scenario: Scenario, name: str, per_step: float, factor: float) -> _Use:
    tool = next(one for one in scenario.tools if one.name == name)
    call = _Operation(failing(tool), _attempts(scenario.retries, LAYERS_OF_TOOLS))
    whole, rest = divmod(per_step, 1)
    passes = 1.0 if tool.optional else call.ends_well
    begun = sum(passes**number for number in range(int(whole))) + rest * passes**whole
    ends_well = passes**whole * (1 - rest + rest * passes)
    result = per_step * tool.result_tokens.mean() * factor * (call.ends_well if tool.optional else 1.0)
    return _Use(name, begun * call.tries, result, ends_well)


def failing(tool: Tool) -> float:
    """The share of a tool's calls that end in an error or a time-out."""
    slow = 0.0 if tool.timeout_s is None else above(tool.latency_ms, tool.timeout_s * 1000)
    return 1 - (1 - tool.error) * (1 - tool.timeout) * (1 - slow)


def above(distribution: Distribution, limit: float) -> float:
    """The share of draws above ``limit``, to one part in 1,024 where the law is continuous."""
    if distribution.form in ("samples", "weighted"):
        weights = distribution.weights or (1.0,) * len(distribution.values)
        beyond = sum(w for v, w in zip(distribution.values, weights, strict=True) if v > limit)
        return beyond / sum(weights)
    points = [distribution.percentile(at, 1024) for at in range(1024)] if distribution.form != "trace" else []
    return sum(point > limit for point in points) / 1024


def _attempts(retries: Sequence[Retry], layers: Sequence[str]) -> int:
    """Attempts at an operation at most: layers that do not know of each other multiply."""
    number = 1
    for retry in retries:
        if retry.layer in layers and ({"error", "timeout"} & set(retry.on)):
            number *= retry.attempts
    return number


def _at_least(steps: Distribution) -> list[float]:
    """The shares of the tasks that have at least 1, 2, 3, … steps."""
    weights = steps.weights or (1.0,) * len(steps.values)
    total = sum(weights)
    counts: defaultdict[int, float] = defaultdict(float)
    for value, weight in zip(steps.values, weights, strict=True):
        counts[int(value)] += weight / total
    left, found = 1.0, []
    for number in range(1, max(counts) + 1):
        found.append(left)
        left -= counts.get(number, 0.0)
    return found
