"""``[traces]`` of a scenario: the corpus that it names, bound to its tools, and as the simulator takes it.

Whole recorded tasks stand in the place of classes. A recorded latency is used as it is; one that was not
recorded is drawn from the tool's own distribution, or follows from the model's law. Errors are not replayed:
they are drawn with the scenario's probabilities, so that load can change them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

from tallymark.agentload.distributions import Distribution, integer, threshold
from tallymark.agentload.mix import Mix, MixCall, MixTask, Recorded, read_mix
from tallymark.agentload.scenario import Scenario, Tool
from tallymark.agentload.traces.files import TraceFile

Found: TypeAlias = tuple[str, str, str]

NONE: Final = 2**32 - 1
MOST_PROMPT_TOKENS: Final = 2**26 - 1
MOST_STEPS: Final = 65_535
_CERTAIN: Final = 2**32
_GOLDEN: Final = 0x9E3779B97F4A7C15
_SHOWN: Final = 20
_NAME: Final = re.compile(r"[^a-z0-9]+")
_ERRORS: Final = (
    "Recorded errors are not replayed: tools and providers fail with the scenario's probabilities."
)
_SUCCESS: Final = (
    "Whether it reached its goal was not recorded for {unknown} of {all} tasks: success is {success:g}."
)
_LATENCY: Final = (
    "Latencies that were not recorded ({missing} of {all} tool calls) are drawn from the tool's own."
)


def digest(value: Mapping[str, Any], folder: Path) -> str | None:
    """The digest of the corpus that a scenario names; None without one. TallymarkError: it cannot be read."""
    return TraceFile(folder / value["traces"]["file"]).sha256() if "traces" in value else None


def bound(scenario: Scenario) -> tuple[Scenario, list[Found]]:
    """The scenario with its mix, and everything that is missing or wrong. TallymarkError: no corpus."""
    traces = scenario.traces
    if traces is None:
        return scenario, []
    assert traces.sha256 is not None  # the digest was looked up before
    mix = _mix(scenario.folder / traces.file, traces.sha256, traces.characters_per_token)
    names = _names(scenario.tools, mix)
    found = [*_tool_findings(scenario, mix, names), *_size_findings(scenario, mix)]
    if found:
        return scenario, found
    tools = tuple(_with_samples(tool, mix) for tool in scenario.tools)
    assumptions = (*scenario.assumptions, *mix.assumptions, *_assumptions(scenario, mix))
    return replace(scenario, tools=tools, recorded=Recorded(mix, names), assumptions=assumptions), []


@functools.lru_cache(maxsize=4)
def _mix(path: Path, sha256: str, characters_per_token: float | None) -> Mix:
    """Kept: a sweep asks for the same corpus at every point. The digest is part of the key."""
    ratio = None if characters_per_token is None else Fraction(str(characters_per_token))
    return read_mix(path, ratio)


def _names(tools: tuple[Tool, ...], mix: Mix) -> dict[str, int]:
    """Recorded name → place of the tool: the one whose latencies are of that name, else the one called so."""
    by_trace = {tool.latency_ms.trace: place for place, tool in enumerate(tools) if tool.latency_ms.trace}
    by_name = {tool.name: place for place, tool in enumerate(tools)}
    found = {name: by_trace.get(name, by_name.get(plain(name))) for name in mix.tools}
    return {name: place for name, place in found.items() if place is not None}


def plain(name: str) -> str:
    """A recorded name as names of a scenario are: lower case, other characters as hyphens."""
    return _NAME.sub("-", name.lower()).strip("-")


def _tool_findings(scenario: Scenario, mix: Mix, names: Mapping[str, int]) -> Iterator[Found]:
    unknown = [name for name in mix.tools if name not in names]
    for name in unknown[:_SHOWN]:
        problem = f"the traces call {name!r} {mix.tools[name].calls} times, and no tool describes it"
        yield (
            "$.tools",
            problem,
            f'add a tool named "{plain(name)}", or with latency_ms = {{trace = "{name}"}}',
        )
    if len(unknown) > _SHOWN:
        more = f"{len(unknown) - _SHOWN} more recorded tools are not described"
        yield "$.tools", more, "add them, too"
    for place, tool in enumerate(scenario.tools):
        for key, given in (("latency_ms", tool.latency_ms), ("result_tokens", tool.result_tokens)):
            if given.form == "trace" and not _samples(given, key, mix):
                what = "latency" if key == "latency_ms" else "size of a result"
                known = ", ".join(name for name in list(mix.tools)[:_SHOWN]) or "none"
                do = f"give samples, or one of the recorded tools: {known}"
                yield f"$.tools[{place}].{key}.trace", f"no {what} of {given.trace!r} was recorded", do


def _size_findings(scenario: Scenario, mix: Mix) -> Iterator[Found]:
    factor = scenario.run.context_factor_permille
    for task in mix.tasks:
        if len(task.steps) > MOST_STEPS:
            problem = f"the task {task.id!r} has {len(task.steps)} steps, more than {MOST_STEPS}"
            yield "$.traces.file", problem, "split it"
            return
        if any(
            _scaled(step.input_tokens, factor) + step.output_tokens > MOST_PROMPT_TOKENS
            for step in task.steps
        ):
            problem = f"the task {task.id!r} has a step of more than {MOST_PROMPT_TOKENS} tokens"
            yield "$.traces.file", problem, "correct or remove it"
            return


def _samples(given: Distribution, key: str, mix: Mix) -> tuple[float, ...]:
    """What was recorded under the name of a distribution, in the scenario's unit."""
    tool = mix.tools.get(given.trace or "")
    if tool is None:
        return ()
    if key == "latency_ms":
        return tuple(ns / 1_000_000 for ns in tool.latencies_ns)
    return tuple(float(tokens) for tokens in tool.result_tokens)


def _with_samples(tool: Tool, mix: Mix) -> Tool:
    """The tool with recorded values in the place of their name."""
    latency, result = tool.latency_ms, tool.result_tokens
    if latency.form == "trace":
        latency = Distribution("samples", _samples(latency, "latency_ms", mix))
    if result.form == "trace":
        result = Distribution("samples", _samples(result, "result_tokens", mix))
    return replace(tool, latency_ms=latency, result_tokens=result)


def _assumptions(scenario: Scenario, mix: Mix) -> Iterator[str]:
    assert scenario.traces is not None
    yield _ERRORS
    unknown = sum(task.succeeded is None for task in mix.tasks)
    if unknown:
        yield _SUCCESS.format(unknown=unknown, all=len(mix.tasks), success=scenario.traces.success)
    calls = sum(tool.calls for tool in mix.tools.values())
    missing = calls - sum(len(tool.latencies_ns) for tool in mix.tools.values())
    if missing:
        yield _LATENCY.format(missing=missing, all=calls)
    for reason, count in sorted(mix.dropped.items()):
        yield f"{count} recorded tasks are left out: {reason}."


def tables(scenario: Scenario) -> dict[str, Any]:
    """The arrays of recorded tasks, steps, calls and prefixes. The scenario is a bound one with a mix."""
    recorded, traces = scenario.recorded, scenario.traces
    assert recorded is not None and traces is not None
    factor = scenario.run.context_factor_permille
    model = 0 if traces.model is None else [one.name for one in scenario.models].index(traces.model)
    drawn = _Drawn(scenario.tools)
    tasks: list[dict[str, int]] = []
    steps: list[dict[str, int]] = []
    calls: list[dict[str, int]] = []
    for task in recorded.mix.tasks:
        tasks.append(_task(task, len(steps), model, factor, traces.success))
        for step in task.steps:
            steps.append(
                {
                    "input_tokens": _scaled(step.input_tokens, factor),
                    "output_tokens": step.output_tokens,
                    "latency_ns": step.latency_ns or 0,
                    "first_call": len(calls),
                    "calls": len(step.calls),
                }
            )
            for call in step.calls:
                place = recorded.tools[call.tool]
                calls.append({"tool": place, "latency_ns": drawn.latency_ns(call, place)})
    return {
        "recorded": tasks,
        "recorded_steps": steps,
        "recorded_calls": calls,
        "prefix_tokens": [_scaled(tokens, factor) for tokens in recorded.mix.prefix_tokens],
    }


def _task(task: MixTask, first_step: int, model: int, factor: int, success: float) -> dict[str, int]:
    known = {True: _CERTAIN, False: 0, None: threshold(success)}
    return {
        "first_step": first_step,
        "steps": len(task.steps),
        "tenant": NONE,
        "model": model,
        "prefix": NONE if task.prefix is None else task.prefix,
        "shared_tokens": _scaled(task.shared_tokens, factor),
        "success": known[task.succeeded],
    }


def _scaled(tokens: int, permille: int) -> int:
    return tokens * permille // 1000


class _Drawn:
    """Latencies of calls that have none: spread evenly over the tool's own, the same every time."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self._tools = tools
        self._count = 0

    def latency_ns(self, call: MixCall, place: int) -> int:
        """The recorded latency, else the next one of the tool's."""
        if call.latency_ns is not None:
            return call.latency_ns
        self._count += 1
        at = (self._count * _GOLDEN % 2**64) * 1023 >> 64
        return integer(self._tools[place].latency_ms.percentile(at + 1, 1024), 1_000_000)
