"""What a schema cannot say about a scenario: names that exist, forms that exclude each other, quotas that a
call fits into, a mix that holds something. Each rule sees a value of the right shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tallymark.agentload.distributions import Distribution
from tallymark.errors import child

Found: TypeAlias = tuple[str, str, str]  # pointer, problem, what to do

_NEEDED: Final = {
    "poisson": ("rate_per_min",),
    "constant": ("rate_per_min",),
    "recorded": ("times_s",),
    "burst": ("burst_tasks", "burst_every_s"),
    "closed": ("in_flight",),
}
_ARRIVAL_KEYS: Final = ("rate_per_min", "times_s", "burst_tasks", "burst_every_s", "in_flight", "think_s")
_FORMS: Final = ("constant", "samples", "lognormal", "exponential", "choices", "trace")
_LEAST_RATE: Final = 0.00001
_MOST_S: Final = 9_000_000
_TOKENS: Final = ("system_tokens", "tools_tokens", "document_tokens", "user_tokens")


def remedy(pointer: str, keyword: str, schema: str) -> str:
    """What to do about a violation of the schema."""
    if keyword == "exclusiveMinimum":
        return "give a number above 0, or leave the key out where it does not apply"
    if keyword == "maximum" and pointer.rpartition(".")[2] in _PROBABILITIES:
        return "give a probability between 0 and 1"
    return f"write it as {schema} describes"


_PROBABILITIES: Final = ("error", "timeout", "success", "prefix_share", "headroom_below", "margin")


def problems(value: Mapping[str, Any]) -> Iterator[Found]:
    """Everything that is wrong with a scenario of the right shape."""
    yield from _run(value)
    yield from _arrival(value["arrival"], value["run"])
    yield from _unique(value)
    yield from _mix(value)
    yield from _names(value)
    yield from _tools(value)
    shaped = tuple(_distributions(value, "$", "traces" in value))
    yield from shaped
    if not shaped:
        yield from _bounds(value)
    yield from _models(value)
    yield from _degradations(value)
    yield from _events(value)
    yield from _quotas(value)


def _run(value: Mapping[str, Any]) -> Iterator[Found]:
    run = value["run"]
    if "tasks" not in run and "horizon_s" not in run and value["arrival"]["process"] != "recorded":
        yield "$.run", "nothing bounds the arrivals", "give tasks, horizon_s or both"
    if "tasks" not in run and value["arrival"]["process"] == "closed":
        yield "$.run", "a closed loop ends with its tasks", "give tasks"
    if "tasks" in run and run.get("warmup_tasks", 0) >= run["tasks"]:
        yield "$.run.warmup_tasks", "every task is a warm-up", "give fewer than run.tasks"
    if "evaluation" in value and "tasks" in run:
        measured = run["tasks"] - run.get("warmup_tasks", 0)
        if value["evaluation"]["tasks"] > measured:
            problem = f"the subset has more tasks than the {measured} that are measured"
            yield "$.evaluation.tasks", problem, "give at most so many"


def _arrival(arrival: Mapping[str, Any], run: Mapping[str, Any]) -> Iterator[Found]:
    process = arrival["process"]
    needed = _NEEDED[process]
    for key in needed:
        if key not in arrival:
            yield "$.arrival", f"process {process} has no {key}", f"give {key}"
    allowed = (*needed, "think_s") if process == "closed" else needed
    for key in _ARRIVAL_KEYS:
        if key in arrival and key not in allowed:
            yield f"$.arrival.{key}", f"process {process} does not use it", "leave it out"
    if 0 < arrival.get("rate_per_min", 1) < _LEAST_RATE:
        yield "$.arrival.rate_per_min", "months between two arrivals", f"give at least {_LEAST_RATE:f}"
    if Distribution.declared(arrival.get("think_s", 0)).most() > _MOST_S:
        yield "$.arrival.think_s", "months between two tasks", f"give at most {_MOST_S} s"
    times = arrival.get("times_s", [])
    for index in range(1, len(times)):
        if times[index] < times[index - 1]:
            yield f"$.arrival.times_s[{index}]", "it is before the time ahead of it", "sort the times"
            break
    if process == "recorded" and run.get("tasks", 0) > len(times):
        yield "$.run.tasks", f"only {len(times)} arrival times are recorded", "give at most so many, or none"


def _unique(value: Mapping[str, Any]) -> Iterator[Found]:
    for section in ("tenants", "providers", "models", "tools", "tasks", "degradations"):
        yield from _twice(value.get(section, []), "name", section)
    yield from _twice(value.get("retries", []), "layer", "retries")


def _twice(entries: Sequence[Mapping[str, Any]], key: str, section: str) -> Iterator[Found]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry[key] in seen:
            yield f"$.{section}[{index}].{key}", f"{entry[key]!r} is there twice", "give another name"
        seen.add(entry[key])


def _mix(value: Mapping[str, Any]) -> Iterator[Found]:
    tasks = value.get("tasks", [])
    if "traces" in value and tasks:
        yield "$.traces", "there are tasks and traces", "keep one: traces take the place of tasks"
    elif "traces" not in value and not tasks:
        yield "$.tasks", "the mix is empty", "give at least one [[tasks]] class, or [traces]"
    elif tasks and not any(one.get("share", 1) for one in tasks):
        yield "$.tasks", "every class has share 0", "give at least one class a share above 0"


def _names(value: Mapping[str, Any]) -> Iterator[Found]:
    names = {
        section: [one["name"] for one in value.get(section, [])]
        for section in ("tenants", "providers", "models", "tools")
    }
    for index, model in enumerate(value["models"]):
        yield from _known(model["provider"], names["providers"], f"$.models[{index}].provider", "provider")
    for index, task in enumerate(value.get("tasks", [])):
        at = f"$.tasks[{index}]"
        yield from _known(task["model"], names["models"], f"{at}.model", "model")
        if "tenant" in task:
            yield from _known(task["tenant"], names["tenants"], f"{at}.tenant", "tenant")
        for position, use in enumerate(task.get("tool_calls", [])):
            yield from _known(use["tool"], names["tools"], f"{at}.tool_calls[{position}].tool", "tool")
    for index, degradation in enumerate(value.get("degradations", [])):
        if "model" in degradation:
            at = f"$.degradations[{index}].model"
            yield from _known(degradation["model"], names["models"], at, "model")
    for index, event in enumerate(value.get("events", [])):
        for key in ("provider", "tool"):
            if key in event:
                yield from _known(event[key], names[f"{key}s"], f"$.events[{index}].{key}", key)
    model_of_traces = value.get("traces", {}).get("model")
    if model_of_traces is not None:
        yield from _known(model_of_traces, names["models"], "$.traces.model", "model")


def _known(name: str, names: Sequence[str], pointer: str, what: str) -> Iterator[Found]:
    if name not in names:
        yield pointer, f"there is no {what} {name!r}", f"use one of {', '.join(names) or 'none: add one'}"


def _tools(value: Mapping[str, Any]) -> Iterator[Found]:
    for index, tool in enumerate(value.get("tools", [])):
        if "latency_ms" not in tool:
            problem = f"tool {tool['name']} has no latency data"
            do = "give latency_ms = { samples = […] } from recorded calls; a made-up constant hides the tail"
            yield f"$.tools[{index}]", problem, do
        if tool.get("timeout", 0) and "timeout_s" not in tool:
            yield (
                f"$.tools[{index}].timeout",
                "nobody gives up on a call that never answers",
                "give timeout_s",
            )


def _distributions(value: Any, pointer: str, traces: bool) -> Iterator[Found]:
    """Every object that is a distribution, wherever it is."""
    if isinstance(value, Mapping):
        forms = [form for form in _FORMS if form in value]
        if forms and set(value) <= {*_FORMS, "weights"}:
            yield from _distribution(value, forms, pointer, traces)
            return
        for key, member in value.items():
            yield from _distributions(member, child(pointer, key), traces)
        return
    for index, member in enumerate(value if isinstance(value, list) else ()):
        yield from _distributions(member, child(pointer, index), traces)


def _distribution(
    value: Mapping[str, Any], forms: Sequence[str], pointer: str, traces: bool
) -> Iterator[Found]:
    weights = value.get("weights")
    if len(forms) > 1:
        yield pointer, f"{' and '.join(forms)} exclude each other", "keep one of them"
    elif weights is not None and forms != ["choices"]:
        yield f"{pointer}.weights", "only choices have weights", "leave weights out"
    elif weights is not None and len(weights) != len(value["choices"]):
        problem = f"{len(weights)} weights for {len(value['choices'])} choices"
        yield f"{pointer}.weights", problem, "give each choice a weight"
    elif weights is not None and not sum(weights):
        yield f"{pointer}.weights", "every weight is 0", "give at least one choice a weight above 0"
    elif forms == ["lognormal"] and value["lognormal"]["p99"] < value["lognormal"]["median"]:
        yield f"{pointer}.lognormal.p99", "it is below the median", "give a 99th percentile above the median"
    elif forms == ["trace"] and not traces:
        yield f"{pointer}.trace", "the scenario has no traces", "add [traces], or give samples"


_MOST_TOKENS: Final = 1 << 26
_MOST_MS: Final = 9_000_000_000
_DRAWN: Final = (*_TOKENS, "output_tokens", "result_tokens")


def _bounds(value: Mapping[str, Any]) -> Iterator[Found]:
    """What the simulator's integers hold: 2^26 tokens of one draw, 104 days of one call."""
    factor = value["run"].get("context_factor_permille", 1000)
    for section in ("tools", "tasks"):
        for index, entry in enumerate(value.get(section, [])):
            for key in _DRAWN:
                most = Distribution.declared(entry.get(key, 0)).most()
                if most * (1 if key == "output_tokens" else factor / 1000) > _MOST_TOKENS:
                    yield f"$.{section}[{index}].{key}", f"{most:.0f} tokens at once", "give at most 2^26"
            latency = Distribution.declared(entry.get("latency_ms", 0)).most()
            if latency > _MOST_MS:
                yield (
                    f"$.{section}[{index}].latency_ms",
                    f"a call of {latency:.0f} ms",
                    "give at most 9·10^9 ms",
                )


def _models(value: Mapping[str, Any]) -> Iterator[Found]:
    providers = {one["name"]: one for one in value["providers"]}
    for index, model in enumerate(value["models"]):
        provider = providers.get(model["provider"], {})
        reference = model.get("load_reference", provider.get("concurrency"))
        if model.get("load_slope", 0) and not isinstance(reference, int):
            problem = "load_slope has no number of calls that it is about"
            yield (
                f"$.models[{index}].load_slope",
                problem,
                "give load_reference, or the provider's concurrency",
            )
        if provider.get("reserve") == "max_tokens" and "max_output_tokens" not in model:
            problem = "its provider reserves max_output_tokens, which it has not"
            yield f"$.models[{index}]", problem, "give max_output_tokens"
    for index, task in enumerate(value.get("tasks", [])):
        steps = Distribution.declared(task["steps"])
        whole = all(float(one).is_integer() and 1 <= one <= 65_535 for one in steps.values)
        if steps.form not in ("samples", "weighted") or not whole:
            problem = "steps are whole numbers between 1 and 65,535"
            yield f"$.tasks[{index}].steps", problem, "give a number, samples, or choices with weights"


_EFFECTS: Final = {
    "fallback_model": ("model",),
    "truncate_context": ("keep_tokens",),
    "lower_effort": ("steps_factor_permille", "output_factor_permille"),
    "drop_retry": (),
    "shed": (),
}
_EFFECT_KEYS: Final = ("model", "keep_tokens", "steps_factor_permille", "output_factor_permille")


def _degradations(value: Mapping[str, Any]) -> Iterator[Found]:
    for index, one in enumerate(value.get("degradations", [])):
        at, effects = f"$.degradations[{index}]", _EFFECTS[one["state"]]
        if len(one["when"]) != 1:
            yield f"{at}.when", f"{len(one['when'])} conditions", "give exactly one"
        if effects and not any(key in one for key in effects):
            yield at, f"state {one['state']} has no effect", f"give {' or '.join(effects)}"
        for key in _EFFECT_KEYS:
            if key in one and key not in effects:
                yield f"{at}.{key}", f"state {one['state']} does not use it", "leave it out"


def _events(value: Mapping[str, Any]) -> Iterator[Found]:
    for index, event in enumerate(value.get("events", [])):
        at = f"$.events[{index}]"
        named = [key for key in ("provider", "tool") if key in event]
        if event["kind"] == "outage":
            if len(named) != 1:
                yield at, "an outage has one provider or one tool", "name it"
            if "for_s" not in event:
                yield at, "an outage has no end", "give for_s"
        elif "tool" in event or "for_s" in event:
            yield at, "caches are those of providers, and are invalid at once", "leave tool and for_s out"


def _quotas(value: Mapping[str, Any]) -> Iterator[Found]:
    """A limit that not even the smallest call of a class fits into: no such task could ever do a step."""
    models = {one["name"]: one for one in value["models"]}
    positions = {one["name"]: at for at, one in enumerate(value["providers"])}
    factor = value["run"].get("context_factor_permille", 1000)
    for task in value.get("tasks", []):
        model = models.get(task["model"])
        if model is None or model["provider"] not in positions:
            continue
        at = positions[model["provider"]]
        yield from _too_small(task, model, value["providers"][at], f"$.providers[{at}]", factor)
        prompt, output = _least(task, factor)
        context = model.get("context_tokens")
        if context is not None and prompt + output > context:
            where = f"$.models[{value['models'].index(model)}].context_tokens"
            problem = (
                f"the smallest call of {task['name']} has {prompt + output:.0f} tokens, the context {context}"
            )
            yield where, problem, "give a larger context or shorter prompts"


def _too_small(
    task: Mapping[str, Any], model: Mapping[str, Any], provider: Mapping[str, Any], at: str, factor: int
) -> Iterator[Found]:
    prompt, output = _least(task, factor)
    reserved = model.get("max_output_tokens", output) if provider.get("reserve") == "max_tokens" else output
    cached = provider.get("cache_tokens", 0) and not provider.get("count_cached", False)
    for key, needed in (("tokens_per_min", prompt + reserved), ("kv_tokens", prompt + output)):
        limit = provider.get(key)
        if key == "tokens_per_min" and cached:
            needed = reserved
        if isinstance(limit, int) and needed > limit:
            problem = f"the smallest call of {task['name']} needs {needed:.0f} tokens, the limit is {limit}"
            yield f"{at}.{key}", problem, "give a limit that a call fits into, or shorter prompts"


def _least(task: Mapping[str, Any], factor: int) -> tuple[float, float]:
    prompt = sum(Distribution.declared(task.get(key, 0)).least() for key in _TOKENS)
    return prompt * factor / 1000, Distribution.declared(task.get("output_tokens", 0)).least()
