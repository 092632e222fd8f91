"""The mix: the empirical joint distribution of recorded tasks, sampled as whole tasks.

Steps, tokens, tool latencies and prefixes of a task belong together: a task of forty steps also has the long
prompts and the slow tools. Drawing them one by one from their own means would make a mix that nobody has.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from tallymark.agentload.traces.corpus import Block, Step, Task
from tallymark.agentload.traces.own import read
from tallymark.errors import FindingsError
from tallymark.evidence import documents

NO_TOKENS: Final = "a step without token counts (give characters per token to estimate them)"
_ESTIMATED: Final = (
    "Tokens that the traces do not have are estimated at {ratio} characters each; {tasks} of {all} tasks."
)
_SEQUENCE: Final = (
    "Calls of sub-agents and parallel tool calls are run one after another, in order of their start."
)
_PREFIX: Final = (
    "A task shares the longest beginning of its first prompt that another recorded task has, too; with tasks"
    " that share a shorter one only, it shares nothing."
)


@dataclass(frozen=True, slots=True)
class MixCall:
    """A recorded tool call; a latency or size of None was not recorded."""

    tool: str
    latency_ns: int | None
    failed: bool
    result_tokens: int | None


@dataclass(frozen=True, slots=True)
class MixStep:
    """A recorded model call: the whole prompt, what of it was cached then, and the answer."""

    model: str | None
    input_tokens: int
    cached_tokens: int | None
    output_tokens: int
    latency_ns: int | None
    failed: bool
    calls: tuple[MixCall, ...]


@dataclass(frozen=True, slots=True)
class MixTask:
    """A whole recorded task. ``prefix`` is a place in ``Mix.prefix_tokens``; None: it shares no beginning."""

    id: str
    kind: str | None
    steps: tuple[MixStep, ...]
    prefix: int | None
    shared_tokens: int
    succeeded: bool | None
    start_ns: int | None
    duration_ns: int | None

    @property
    def model(self) -> str | None:
        """The model of the first step."""
        return self.steps[0].model


@dataclass(frozen=True, slots=True)
class ToolSamples:
    """What was recorded of one tool: sorted latencies and result sizes, calls and failures."""

    latencies_ns: tuple[int, ...]
    result_tokens: tuple[int, ...]
    calls: int
    failed: int


@dataclass(frozen=True, slots=True)
class Mix:
    """The tasks with what they share, what was left out of them and what was assumed."""

    tasks: tuple[MixTask, ...]
    prefix_tokens: tuple[int, ...]
    tools: Mapping[str, ToolSamples]
    dropped: Mapping[str, int]
    assumptions: tuple[str, ...]

    def sample(self, count: int, seed: int) -> Iterator[MixTask]:
        """Whole tasks, each as likely, with replacement; a seed always gives the same ones."""
        draw = random.Random(seed)
        return (self.tasks[draw.randrange(len(self.tasks))] for _ in range(count))


@dataclass(frozen=True, slots=True)
class Recorded:
    """The mix of a scenario, and for each recorded tool its place in the scenario's tools."""

    mix: Mix
    tools: Mapping[str, int]


def read_mix(path: Path, characters_per_token: Fraction | None = None) -> Mix:
    """The mix of a corpus. With ``characters_per_token`` unknown tokens are estimated; an assumption says so.

    TallymarkError: it is no corpus, or no task of it can be used.
    """
    mix = mix_of(read(path)[1], characters_per_token)
    if not mix.tasks:
        why = "; ".join(f"{count} tasks have {reason}" for reason, count in mix.dropped.items())
        problem = f"no task can be sampled: {why or 'there is none'}"
        raise FindingsError(f"{documents.shown_path(path)}::$", problem, "import traces with token counts")
    return mix


def mix_of(tasks: Iterable[Task], characters_per_token: Fraction | None = None) -> Mix:
    """The mix of recorded tasks; one with an unknown number of tokens is left out whole, and counted."""
    dropped: Counter[str] = Counter()
    estimated = 0
    kept: list[tuple[Task, tuple[MixStep, ...]]] = []
    for task in tasks:
        steps = [_step(step, characters_per_token) for step in task.steps]
        known = tuple(step for step in steps if step is not None)
        if len(known) < len(steps):
            dropped[NO_TOKENS] += 1
            continue
        estimated += any(step.input_tokens is None or step.output_tokens is None for step in task.steps)
        kept.append((task, known))
    prefixes = _Prefixes(task for task, _ in kept)
    found = tuple(_task(task, steps, prefixes) for task, steps in kept)
    assumptions = [_SEQUENCE, _PREFIX]
    if estimated and characters_per_token is not None:
        said = _ESTIMATED.format(ratio=float(characters_per_token), tasks=estimated, all=len(found))
        assumptions.insert(0, said)
    return Mix(found, prefixes.tokens, _tools(found), dict(dropped), tuple(assumptions))


def _step(step: Step, ratio: Fraction | None) -> MixStep | None:
    """The step with whole numbers of tokens; None where they are unknown."""
    tokens = _tokens(step.input_tokens, step.input_characters, ratio)
    output = _tokens(step.output_tokens, step.output_characters, ratio)
    if tokens is None or output is None:
        return None
    calls = tuple(
        MixCall(
            call.tool,
            call.latency_ns,
            call.error is not None,
            _tokens(call.result_tokens, call.result_characters, ratio),
        )
        for call in step.calls
    )
    return MixStep(
        step.model, tokens, step.cached_tokens, output, step.latency_ns, step.error is not None, calls
    )


def _tokens(tokens: int | None, characters: int | None, ratio: Fraction | None) -> int | None:
    """The tokens as recorded, else estimated from the characters (rounded up), else None."""
    if tokens is not None or characters is None or ratio is None:
        return tokens
    return -(-characters * ratio.denominator // ratio.numerator)


def _task(task: Task, steps: tuple[MixStep, ...], prefixes: _Prefixes) -> MixTask:
    prefix, shared = prefixes.of(task, steps[0].input_tokens)
    return MixTask(task.id, task.kind, steps, prefix, shared, task.succeeded, task.start_ns, task.duration_ns)


def _tools(tasks: Iterable[MixTask]) -> dict[str, ToolSamples]:
    calls: dict[str, list[MixCall]] = {}
    for call in (call for task in tasks for step in task.steps for call in step.calls):
        calls.setdefault(call.tool, []).append(call)
    return {
        name: ToolSamples(
            latencies_ns=tuple(sorted(c.latency_ns for c in found if c.latency_ns is not None)),
            result_tokens=tuple(sorted(c.result_tokens for c in found if c.result_tokens is not None)),
            calls=len(found),
            failed=sum(c.failed for c in found),
        )
        for name, found in sorted(calls.items())
    }


class _Prefixes:
    """Which beginnings of first prompts at least two tasks share, and how long each is in tokens."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._numbers: dict[object, int] = {}
        self._lengths: list[int] = []
        self._parents: dict[tuple[object, str], int] = {}
        self._seen: Counter[int] = Counter()
        for task in tasks:
            self._seen.update(self._nodes(task))

    @property
    def tokens(self) -> tuple[int, ...]:
        """Length of each shared beginning, by its number."""
        return tuple(self._lengths)

    def of(self, task: Task, input_tokens: int) -> tuple[int | None, int]:
        """The number of the longest beginning that another task shares, and its tokens in this prompt."""
        depth = 0
        node = None
        for depth, found in enumerate(self._nodes(task), start=1):
            if self._seen[found] < 2:
                depth -= 1
                break
            node = found
        if node is None or task.prefixes is None:
            return None, 0
        shared = _length(task.steps[0].blocks[:depth], task, input_tokens)
        shared = min(shared, input_tokens)
        if shared == 0:
            return None, 0
        number = self._numbers.setdefault(node, len(self._lengths))
        if number == len(self._lengths):
            self._lengths.append(shared)
        return number, shared

    def _nodes(self, task: Task) -> Iterator[int]:
        """A number for each beginning of the first prompt, the shortest first."""
        if task.prefixes is None:
            return
        node: object = task.prefixes.scope
        for block in task.steps[0].blocks:
            number = self._parents.setdefault((node, block.id), len(self._parents))
            yield number
            node = number


def _length(blocks: Iterable[Block], task: Task, input_tokens: int) -> int:
    """The blocks in tokens; characters are converted as the whole prompt's are."""
    length = sum(block.length for block in blocks)
    assert task.prefixes is not None
    if task.prefixes.unit == "tokens":
        return length
    whole = sum(block.length for block in task.steps[0].blocks)
    return length * input_tokens // whole if whole else 0
