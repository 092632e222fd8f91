"""``agent-traces/1.0``: whole recorded tasks as lengths, names, times and prefix identities, never as text.

JSON Lines. The first line is the header (schema, sources), every further line one task, so that a corpus of
any size is read and written a task at a time. What a source does not say is None here, and not in the line.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tallymark.evidence import canonical

SCHEMA: Final = "agent-traces/1.0"
UNNAMED: Final = "unnamed"
"""The tool of a call that its source does not name."""


MAX_BLOCKS: Final = 5_000_000
"""Blocks of all steps of a task: each step holds those of the one before, so they grow with the square."""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a prompt. Two prompts of one scope begin alike as far as their blocks are the same."""

    id: str
    """A number of up to 64 bits as text: many readers of JSON round above 2^53."""

    length: int
    """In the unit of the task's prefixes."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Where the identities of a task's blocks are comparable, and what their lengths count."""

    scope: str
    unit: str
    """``tokens`` or ``characters``."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, made with the output of its step."""

    tool: str
    start_ns: int | None = None
    """From the start of the task, as all ``start_ns`` below the task."""

    latency_ns: int | None = None
    result_tokens: int | None = None
    result_characters: int | None = None
    error: str | None = None
    """The kind of error; None when the source records none."""


@dataclass(frozen=True, slots=True)
class Step:
    """One model call and the tool calls that follow from it."""

    agent: str | None = None
    """The sub-agent that made it; None is the main one."""

    model: str | None = None
    start_ns: int | None = None
    latency_ns: int | None = None
    input_tokens: int | None = None
    """The whole prompt, cached tokens included."""

    cached_tokens: int | None = None
    output_tokens: int | None = None
    input_characters: int | None = None
    output_characters: int | None = None
    error: str | None = None
    blocks: tuple[Block, ...] = ()
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """A sub-agent of a task, with an id of its own."""

    id: str
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One whole task. ``id`` is what its source calls it; ``source`` is the place in the header's list."""

    id: str
    source: int
    steps: tuple[Step, ...]
    kind: str | None = None
    start_ns: int | None = None
    """From the first task of its source; below 0 where the source is not in order."""

    duration_ns: int | None = None
    succeeded: bool | None = None
    system_tokens: int | None = None
    tools_tokens: int | None = None
    prefixes: Prefixes | None = None
    agents: tuple[Agent, ...] = ()


@dataclass(frozen=True, slots=True)
class Loss:
    """What the source has and the corpus does not, or what it never had; ``places`` of the same form."""

    pointer: str
    reason: str
    places: int = 1


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a source: lines, spans, requests or messages. ``read`` = ``used`` + all of ``dropped``."""

    read: int
    used: int
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Source:
    """One file that was imported."""

    name: str
    format: str
    sha256: str
    tasks: int
    rows: Rows
    clock_start: str | None = None
    """UTC time of ``start_ns`` 0; None when the source has no wall clock."""

    loss: tuple[Loss, ...] = ()


def write(path: Path, sources: Sequence[Source], tasks: Iterable[Task]) -> None:
    """Write a corpus that must not exist yet, a task at a time. ConflictError, UsageError: as write_new."""
    lines = (task_line(task) for task in tasks)
    canonical.write_new_pieces(path, itertools.chain([header_line(sources)], lines))


def header_line(sources: Sequence[Source]) -> bytes:
    """The first line of a corpus."""
    tasks = sum(source.tasks for source in sources)
    return _line({"schema": SCHEMA, "tasks": tasks, "sources": [source_value(s) for s in sources]})


def task_line(task: Task) -> bytes:
    """The line of one task."""
    return _line(task_value(task))


def _line(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8") + b"\n"


def source_value(source: Source) -> dict[str, Any]:
    """A source as the header holds it."""
    return _known(
        name=source.name,
        format=source.format,
        sha256=source.sha256,
        tasks=source.tasks,
        rows={
            "read": source.rows.read,
            "used": source.rows.used,
            "dropped": dict(sorted(source.rows.dropped.items())),
        },
        clock_start=source.clock_start,
        loss=[
            {"pointer": loss.pointer, "reason": loss.reason, "places": loss.places} for loss in source.loss
        ],
    )


def task_value(task: Task) -> dict[str, Any]:
    """A task as its line holds it; blocks that a step shares with the one before are only counted."""
    before = itertools.chain([()], (step.blocks for step in task.steps))
    return _known(
        id=task.id,
        source=task.source,
        kind=task.kind,
        **_start(task.start_ns),
        duration_ns=task.duration_ns,
        succeeded=task.succeeded,
        system_tokens=task.system_tokens,
        tools_tokens=task.tools_tokens,
        prefixes=None
        if task.prefixes is None
        else {"scope": task.prefixes.scope, "unit": task.prefixes.unit},
        agents=[_known(id=agent.id, kind=agent.kind) for agent in task.agents] or None,
        steps=[_step_value(step, blocks) for step, blocks in zip(task.steps, before, strict=False)],
    )


def _start(start_ns: int | None) -> dict[str, int]:
    """A start in two numbers: a trace goes over months, and 104 days are 2^53 nanoseconds."""
    if start_ns is None:
        return {}
    return {"start_s": start_ns // 10**9, "start_ns": start_ns % 10**9}


def _step_value(step: Step, before: tuple[Block, ...]) -> dict[str, Any]:
    kept = shared_blocks(before, step.blocks)
    return _known(
        agent=step.agent,
        model=step.model,
        start_ns=step.start_ns,
        latency_ns=step.latency_ns,
        input_tokens=step.input_tokens,
        cached_tokens=step.cached_tokens,
        output_tokens=step.output_tokens,
        input_characters=step.input_characters,
        output_characters=step.output_characters,
        error=step.error,
        kept_blocks=kept or None,
        blocks=[[block.id, block.length] for block in step.blocks[kept:]] or None,
        calls=[_call_value(call) for call in step.calls] or None,
    )


def _call_value(call: Call) -> dict[str, Any]:
    return _known(
        tool=call.tool,
        start_ns=call.start_ns,
        latency_ns=call.latency_ns,
        result_tokens=call.result_tokens,
        result_characters=call.result_characters,
        error=call.error,
    )


def _known(**members: Any) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not None}


def shared_blocks(one: Sequence[Block], other: Sequence[Block]) -> int:
    """How many blocks both begin with."""
    pairs: Iterator[tuple[Block, Block]] = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
