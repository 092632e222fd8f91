"""Weka's agentic coding traces, also AgentX: a session with its requests, and sub-agents among them.

A sub-agent's requests have times of their own, from its start. Each becomes part of the same whole task,
under an id of its own: the parent's session and its sub-agents are different conversations with different
prefixes. The format names no tools: a request that ended to use one is followed by one call of ``unnamed``,
which took the ``think_time`` before the next request if that brings a tool's result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tallymark.agentload.traces.corpus import UNNAMED, Agent, Block, Call, Prefixes, Step, Task
from tallymark.agentload.traces.entry import Entry
from tallymark.agentload.traces.files import TraceFile
from tallymark.agentload.traces.interface import Tally, span_of
from tallymark.agentload.traces.mooncake import hash_id
from tallymark.evidence.strict_json import JsonValue

_TOTALS = ("duration_ms", "total_tokens", "tool_use_count", "status")
_DEPTH = 16


class Weka:
    """The importer of one such session, or of one a line."""

    name = "weka"

    def fits(self, value: JsonValue, columns: Sequence[str]) -> bool:
        """An object with requests and a block size."""
        return isinstance(value, dict) and "requests" in value and "block_size" in value

    def tasks(self, file: TraceFile, document: JsonValue, tally: Tally) -> Iterator[Task]:
        """One task a session."""
        tally.lose("$.requests", f"the format names no tools: each call is of {UNNAMED!r}")
        tally.lose("$.requests", "the format records neither cached tokens, sizes of results nor errors")
        values = [(file.shown, document)] if document is not None else file.json_lines()
        for place, value in values:
            yield _session(Entry(value, place, "$"), tally)


def _session(top: Entry, tally: Tally) -> Task:
    label = tally.name(top.text("id"), top.where("id"))
    block_tokens = top.whole("block_size", 1)
    scope = top.optional_text("hash_id_scope") or "local"
    if scope not in ("local", "global"):
        raise top.refusal("hash_id_scope", f"is {scope!r}, neither 'local' nor 'global'")
    reader = _Reader(block_tokens, tally)
    top.has("models")  # each request has its own
    system_tokens, tools_tokens = top.optional_whole("system_tokens"), top.optional_whole("tool_tokens")
    reader.requests(top, None, 0, 0)
    tally.ignored("$", top.unread())
    if not reader.steps:
        raise top.refusal("requests", "is empty: nothing was asked", "export a session with requests")
    steps = tuple(sorted(reader.steps, key=lambda step: step.start_ns or 0))
    return Task(
        label,
        tally.source,
        steps,
        start_ns=None,
        duration_ns=span_of([replace(step, calls=_timed(step.calls)) for step in steps]),
        system_tokens=system_tokens,
        tools_tokens=tools_tokens,
        prefixes=Prefixes("weka" if scope == "global" else f"source {tally.source}: {label}", "tokens"),
        agents=tuple(reader.agents),
    )


def _timed(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    return tuple(call for call in calls if call.latency_ns is not None)


class _Reader:
    """Requests and sub-agents of one session, in file order."""

    def __init__(self, block_tokens: int, tally: Tally) -> None:
        self.steps: list[Step] = []
        self.agents: list[Agent] = []
        self._block_tokens = block_tokens
        self._tally = tally

    def requests(self, owner: Entry, agent: str | None, start_ns: int, depth: int) -> None:
        """The requests of the session or of one sub-agent, whose start is ``start_ns``."""
        if depth > _DEPTH:
            raise owner.refusal("requests", f"sub-agents are nested more than {_DEPTH} deep")
        open_step: int | None = None  # whose tool calls the next request brings back
        for request in owner.entries("requests"):
            if request.text("type") == "subagent":
                self._subagent(request, start_ns, depth)
                continue
            self._tally.read()
            self._tally.use()
            think_ns = request.seconds_ns("think_time") if request.has("think_time") else None
            if open_step is not None and "tool_result" in _texts(request, "input_types"):
                self.steps[open_step] = _answered(self.steps[open_step], think_ns)
            step = self._step(request, agent, start_ns)
            open_step = len(self.steps) if step.calls else None
            self.steps.append(step)
            self._tally.ignored(request.pointer, request.unread())

    def _subagent(self, request: Entry, start_ns: int, depth: int) -> None:
        label = self._tally.name(request.text("agent_id"), request.where("agent_id"))
        if any(agent.id == label for agent in self.agents):
            raise request.refusal(
                "agent_id", "is there twice in one session", "give each sub-agent its own id"
            )
        kind = self._tally.optional_name(
            request.optional_text("subagent_type"), request.where("subagent_type")
        )
        self.agents.append(Agent(label, kind))
        at_ns = start_ns + request.seconds_ns("t")
        for key in _TOTALS:
            if request.has(key):
                self._tally.lose(f"{request.pointer}.{key}", "totals of a sub-agent: its requests are kept")
        self.requests(request, label, at_ns, depth + 1)
        self._tally.ignored(request.pointer, request.unread())

    def _step(self, request: Entry, agent: str | None, start_ns: int) -> Step:
        tokens = request.whole("in")
        for key in ("ttft", "input_types"):
            request.has(key)
        stop = request.optional_text("stop")
        called = "tool_use" in _texts(request, "output_types") or stop == "tool_use"
        return Step(
            agent=agent,
            model=self._tally.optional_name(request.optional_text("model"), request.where("model")),
            start_ns=start_ns + request.seconds_ns("t"),
            latency_ns=request.seconds_ns("api_time") if request.has("api_time") else None,
            input_tokens=tokens,
            output_tokens=request.whole("out"),
            blocks=self._blocks(request, tokens),
            calls=(Call(UNNAMED),) if called else (),
        )

    def _blocks(self, request: Entry, tokens: int) -> tuple[Block, ...]:
        """The prompt's blocks: every full one, and the last that is not full where the file has it."""
        if not request.has("hash_ids"):
            return ()
        ids, size = request.array("hash_ids"), self._block_tokens
        if len(ids) not in (tokens // size, -(-tokens // size)):
            problem = f"{len(ids)} blocks of {size} tokens do not make {tokens} tokens"
            raise request.refusal("hash_ids", problem, "correct block_size, or export the session again")
        return tuple(
            Block(hash_id(request, "hash_ids", index, found), min(size, tokens - index * size))
            for index, found in enumerate(ids)
        )


def _answered(step: Step, took_ns: int | None) -> Step:
    """The step with the time of its tool call, which ended when the next request began."""
    known = step.start_ns is not None and step.latency_ns is not None
    start_ns = (step.start_ns or 0) + (step.latency_ns or 0) if known else None
    return replace(step, calls=(Call(UNNAMED, start_ns=start_ns, latency_ns=took_ns),))


def _texts(request: Entry, key: str) -> list[JsonValue]:
    return request.array(key) if request.has(key) else []
