"""A scenario file: TOML, checked by its schema and by rules, turned into a `Scenario`."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tallymark import schemas
from tallymark.agentload import recorded, scenario_rules
from tallymark.agentload.distributions import Distribution
from tallymark.agentload.scenario import (
    Arrival,
    Breaker,
    Degradation,
    Evaluation,
    Event,
    Model,
    Provider,
    Retry,
    RetryBudget,
    RunPlan,
    Scenario,
    Slots,
    TaskClass,
    Tenant,
    Tool,
    ToolUse,
    Traces,
)
from tallymark.errors import SpecError, message_line
from tallymark.evidence import canonical, documents

SCHEMA: Final = "agent-scenario/1.0"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong at one place of a scenario, and what to do."""

    pointer: str
    problem: str
    do: str


class ScenarioError(SpecError):
    """A scenario that cannot be simulated; ``problems`` holds everything that is wrong with it."""

    def __init__(self, shown: str, problems: Sequence[Problem]) -> None:
        first, *rest = problems
        self.shown = shown
        self.problems = tuple(problems)
        more = f" (and {len(rest)} more)" if rest else ""
        super().__init__(f"{shown}::{first.pointer}", f"{first.problem}{more}", first.do)

    def lines(self) -> tuple[str, ...]:
        """A line for each problem: ``file::$.pointer: problem. What to do.``"""
        return tuple(
            message_line(f"{self.shown}::{one.pointer}", one.problem, one.do) for one in self.problems
        )


def load(path: Path, project: Path) -> Scenario:
    """Read and check a scenario.

    UsageError: no such file. UnreadableError: it cannot be read. SpecError: not TOML; ScenarioError (one of
    them): against the schema or a rule.
    """
    value, shown = read(path, project)
    return from_value(value, shown, path.parent)


def read(path: Path, project: Path) -> tuple[dict[str, Any], str]:
    """The parsed TOML and how messages show its file; nothing is checked. Errors: see `load`."""
    shown = documents.shown_path(path, project)
    data = documents.read_bytes(path, shown, follow=True)
    try:
        return tomllib.loads(data.decode("utf-8")), shown
    except UnicodeDecodeError as error:
        raise SpecError(shown, f"byte {error.start} is not UTF-8", "save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SpecError(shown, f"not TOML: {error}", "correct the file") from None


def from_value(value: Mapping[str, Any], shown: str, folder: Path = Path()) -> Scenario:
    """The scenario that a parsed TOML (or JSON) value declares. ScenarioError: everything wrong with it."""
    found = problems(value)
    if found:
        raise ScenarioError(shown, found)
    scenario, unbound = recorded.bound(_scenario(_with_digest(value, shown, folder), shown, folder))
    if unbound:
        raise ScenarioError(shown, [Problem(*one) for one in unbound])
    return scenario


def _with_digest(value: Mapping[str, Any], shown: str, folder: Path) -> Mapping[str, Any]:
    """The value with the digest of its corpus, when it names one. ScenarioError: it has another one."""
    digest = recorded.digest(value, folder)
    if digest is None:
        return value
    declared = value["traces"].get("sha256", digest)
    if declared != digest:
        problem = f"the corpus is another one: {digest}"
        raise ScenarioError(
            shown, [Problem("$.traces.sha256", problem, "leave sha256 out, or restore the corpus")]
        )
    return {**value, "traces": {**value["traces"], "sha256": digest}}


def problems(value: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Everything that is wrong with a parsed scenario; the rules see only one of the right shape."""
    shape = [
        Problem(pointer, message, scenario_rules.remedy(pointer, keyword, SCHEMA))
        for pointer, keyword, message in schemas.errors(SCHEMA, dict(value))
    ]
    return tuple(shape or (Problem(*found) for found in scenario_rules.problems(value)))


def _scenario(value: Mapping[str, Any], shown: str, folder: Path) -> Scenario:
    get = value.get
    return Scenario(
        path=shown,
        folder=folder,
        name=value["name"],
        title=value["title"],
        seed=get("seed", 1),
        run=_run(value["run"]),
        arrival=_arrival(value["arrival"]),
        slots=_slots(get("slots", {})),
        tenants=tuple(_tenant(one) for one in get("tenants", [{"name": "all"}])),
        providers=tuple(_provider(one) for one in value["providers"]),
        models=tuple(_model(one) for one in value["models"]),
        tools=tuple(_tool(one) for one in get("tools", [])),
        tasks=tuple(_task(one) for one in get("tasks", [])),
        traces=_traces(get("traces")),
        retries=tuple(_retry(one) for one in get("retries", [])),
        retry_budget=_budget(get("retry_budget")),
        breaker=Breaker(value["breaker"]["failures"], value["breaker"]["open_s"])
        if "breaker" in value
        else None,
        degradations=tuple(_degradation(one) for one in get("degradations", [])),
        events=tuple(_event(one) for one in get("events", [])),
        evaluation=_evaluation(get("evaluation")),
        assumptions=tuple(get("assumptions", [])),
        declared=value,
        sha256=hashlib.sha256(canonical.compact(value).encode("utf-8")).hexdigest(),
    )


def _run(value: Mapping[str, Any]) -> RunPlan:
    return RunPlan(
        tasks=value.get("tasks"),
        horizon_s=value.get("horizon_s"),
        warmup_tasks=value.get("warmup_tasks", 0),
        deadline_s=value["deadline_s"],
        context_factor_permille=value.get("context_factor_permille", 1000),
    )


def _arrival(value: Mapping[str, Any]) -> Arrival:
    return Arrival(
        process=value["process"],
        rate_per_min=value.get("rate_per_min"),
        times_s=tuple(value.get("times_s", ())),
        burst_tasks=value.get("burst_tasks"),
        burst_every_s=value.get("burst_every_s"),
        in_flight=value.get("in_flight"),
        think_s=_distribution(value, "think_s"),
    )


def _slots(value: Mapping[str, Any]) -> Slots:
    return Slots(value.get("workers"), value.get("queue_limit", 0), value.get("discipline", "fifo"))


def _tenant(value: Mapping[str, Any]) -> Tenant:
    return Tenant(value["name"], value.get("share", 1), value.get("priority", 0), value.get("weight", 1))


def _provider(value: Mapping[str, Any]) -> Provider:
    return Provider(
        name=value["name"],
        tokens_per_min=value.get("tokens_per_min"),
        requests_per_min=value.get("requests_per_min"),
        concurrency=value.get("concurrency"),
        reserve=value.get("reserve", "actual"),
        count_cached=value.get("count_cached", False),
        overflow=value.get("overflow", "wait"),
        retry_after_s=value.get("retry_after_s", 0),
        kv_tokens=value.get("kv_tokens"),
        kv_policy=value.get("kv_policy", "queue"),
        cache_tokens=value.get("cache_tokens", 0),
        error=value.get("error", 0),
        timeout_s=value.get("timeout_s"),
    )


def _model(value: Mapping[str, Any]) -> Model:
    return Model(
        name=value["name"],
        provider=value["provider"],
        base_ms=value["base_ms"],
        input_tokens_per_s=value["input_tokens_per_s"],
        output_tokens_per_s=value["output_tokens_per_s"],
        load_slope=value.get("load_slope", 0),
        load_reference=value.get("load_reference"),
        context_tokens=value.get("context_tokens"),
        max_output_tokens=value.get("max_output_tokens"),
        usd_per_million_input=_price(value, "input"),
        usd_per_million_cached=_price(value, "cached" if "usd_per_million_cached" in value else "input"),
        usd_per_million_output=_price(value, "output"),
    )


def _price(value: Mapping[str, Any], what: str) -> float | None:
    price = value.get(f"usd_per_million_{what}", "unpriced")
    return None if price == "unpriced" else price


def _tool(value: Mapping[str, Any]) -> Tool:
    return Tool(
        name=value["name"],
        latency_ms=_distribution(value, "latency_ms"),
        result_tokens=_distribution(value, "result_tokens"),
        rate_per_min=value.get("rate_per_min"),
        concurrency=value.get("concurrency"),
        overflow=value.get("overflow", "wait"),
        retry_after_s=value.get("retry_after_s", 0),
        error=value.get("error", 0),
        timeout=value.get("timeout", 0),
        timeout_s=value.get("timeout_s"),
        optional=value.get("optional", False),
        write=value.get("write", False),
    )


def _task(value: Mapping[str, Any]) -> TaskClass:
    return TaskClass(
        name=value["name"],
        share=value.get("share", 1),
        tenant=value.get("tenant"),
        model=value["model"],
        steps=_distribution(value, "steps"),
        system_tokens=_distribution(value, "system_tokens"),
        tools_tokens=_distribution(value, "tools_tokens"),
        document_tokens=_distribution(value, "document_tokens"),
        user_tokens=_distribution(value, "user_tokens"),
        output_tokens=_distribution(value, "output_tokens"),
        tool_calls=tuple(ToolUse(use["tool"], use["per_step"]) for use in value.get("tool_calls", ())),
        prefixes=value.get("prefixes", 0),
        prefix_share=value.get("prefix_share", 1 if value.get("prefixes") else 0),
        success=value.get("success", 1),
    )


def _distribution(value: Mapping[str, Any], key: str) -> Distribution:
    return Distribution.declared(value.get(key, 0))


def _traces(value: Mapping[str, Any] | None) -> Traces | None:
    if value is None:
        return None
    return Traces(
        file=value["file"],
        model=value.get("model"),
        sha256=value.get("sha256"),
        characters_per_token=value.get("characters_per_token"),
        success=value.get("success", 1),
    )


def _retry(value: Mapping[str, Any]) -> Retry:
    return Retry(
        layer=value["layer"],
        attempts=value["attempts"],
        backoff=value.get("backoff", "none"),
        delay_ms=value.get("delay_ms", 0),
        cap_ms=value.get("cap_ms"),
        jitter=value.get("jitter", "none"),
        on=tuple(value.get("on", ("429", "error", "timeout"))),
    )


def _budget(value: Mapping[str, Any] | None) -> RetryBudget | None:
    return None if value is None else RetryBudget(value["ratio"], value.get("reserve", 0))


def _degradation(value: Mapping[str, Any]) -> Degradation:
    ((condition, threshold),) = value["when"].items()
    return Degradation(
        name=value["name"],
        state=value["state"],
        condition=condition,
        threshold=threshold,
        model=value.get("model"),
        keep_tokens=value.get("keep_tokens"),
        steps_factor_permille=value.get("steps_factor_permille", 1000),
        output_factor_permille=value.get("output_factor_permille", 1000),
        success_delta=value.get("success_delta", 0),
    )


def _event(value: Mapping[str, Any]) -> Event:
    return Event(value["at_s"], value["kind"], value.get("provider"), value.get("tool"), value.get("for_s"))


def _evaluation(value: Mapping[str, Any] | None) -> Evaluation | None:
    if value is None:
        return None
    return Evaluation(value["tasks"], value.get("margin", 0.05), value.get("confidence", 0.95))
