"""From spans to whole tasks: a trace is a task, a model call a step, and nothing is counted twice.

What is dropped, each with its reason: spans without GenAI attributes; wrappers (agents, workflows), whose
calls are spans of their own; a model call around another one without a tool between them (the same call,
recorded by two instrumentations); a tool call around model calls, which is how a sub-agent is asked; a tool
call inside another one, whose time it is part of; a span that was sent twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tallymark.agentload.traces import genai
from tallymark.agentload.traces.corpus import UNNAMED, Agent, Call, Prefixes, Step, Task
from tallymark.agentload.traces.genai import Named, Role
from tallymark.agentload.traces.interface import Tally, span_of
from tallymark.errors import FindingsError

_DEPTH: Final = 256
_NOT_GENAI: Final = "not a GenAI span"
_WRAPPER: Final = "wrapper span: the calls inside it are counted"
_SAME_CALL: Final = "model call around another one: the same call recorded twice"
_DELEGATES: Final = "tool call around model calls: the calls inside it are counted"
_INSIDE: Final = "tool call inside another one: its time is part of that"
_TWICE: Final = "span sent twice"
_OTHER: Final = "operation that is neither a model call nor a tool call"
_NO_MODEL: Final = "tool call in a trace without a model call"


@dataclass(frozen=True, slots=True)
class Span:
    """One span of any envelope. ``start_ns`` and ``end_ns`` are since 1970."""

    trace: str
    id: str
    parent: str | None
    start_ns: int
    end_ns: int
    failed: bool
    named: Named


def tasks(spans: Iterable[Span], tally: Tally, shown: str) -> Iterator[Task]:
    """A task for each trace with a model call, by its first start. FindingsError: there is no GenAI span."""
    traces: dict[str, dict[str, Span]] = {}
    genai_found = False
    for span in spans:
        tally.read()
        genai_found |= genai.role(span.named) != "foreign"
        members = traces.setdefault(span.trace, {})
        if span.id in members:
            tally.drop(_TWICE)
        else:
            members[span.id] = span
    if not genai_found:
        problem = "no span has GenAI attributes (gen_ai.*): there is nothing to load a model with"
        do = "export the spans of an instrumented agent, following the GenAI semantic conventions"
        raise FindingsError(f"{shown}::$", problem, do)
    for members in sorted(traces.values(), key=lambda found: min(span.start_ns for span in found.values())):
        task = _Trace(members, tally).task()
        if task is not None:
            yield task


class _Trace:
    """The spans of one trace."""

    def __init__(self, spans: dict[str, Span], tally: Tally) -> None:
        self._spans = spans
        self._tally = tally
        self._roles: dict[str, Role] = {key: genai.role(span.named) for key, span in spans.items()}
        self._agents: dict[str, Agent] = {}

    def task(self) -> Task | None:
        """The task, or None when nothing of the trace is used."""
        models, tools = self._kept()
        if not models:
            self._tally.drop(_NO_MODEL, len(tools))
            return None
        self._tally.use(len(models) + len(tools))
        first_ns = min(span.start_ns for span in (*models, *tools))
        steps = [self._step(span, first_ns) for span in models]
        owners = _Owners(models, [step.agent for step in steps])
        for span in tools:
            place = self._step_of(span, owners)
            steps[place] = replace(steps[place], calls=(*steps[place].calls, self._call(span, first_ns)))
        blocks = any(step.blocks for step in steps)
        where = models[0].named.where("traceId")
        return Task(
            self._tally.name(models[0].trace, where),
            self._tally.source,
            tuple(steps),
            start_ns=self._tally.since_start(first_ns),
            duration_ns=span_of(steps),
            prefixes=Prefixes("import", "characters") if blocks else None,
            agents=tuple(self._agents.values()),
        )

    def _kept(self) -> tuple[list[Span], list[Span]]:
        """The model calls and the tool calls that count, each by start; the others are dropped by reason."""
        doubled = {outer for key in self._spans for outer in self._same_call(key)}
        models = [key for key, role in self._roles.items() if role == "model"]
        delegating = {outer for key in models for outer in self._around(key) if self._roles[outer] == "tool"}
        kept: dict[str, list[Span]] = {"model": [], "tool": []}
        for key, span in self._spans.items():
            role = self._roles[key]
            reason = {"foreign": _NOT_GENAI, "wrapper": _WRAPPER, "other": _OTHER}.get(role)
            if role == "model" and key in doubled:
                reason = _SAME_CALL
            if role == "tool":
                reason = self._tool_reason(key, delegating)
            if reason is None:
                kept[role].append(span)
            else:
                self._tally.drop(reason)
        order = {
            name: sorted(spans, key=lambda s: (s.start_ns, s.end_ns, s.id)) for name, spans in kept.items()
        }
        return order["model"], order["tool"]

    def _tool_reason(self, key: str, delegating: set[str]) -> str | None:
        """Why a tool call is not counted; None when it is."""
        if key in delegating:
            return _DELEGATES
        tools = (outer for outer in self._around(key) if self._roles[outer] == "tool")
        return _INSIDE if any(outer not in delegating for outer in tools) else None

    def _around(self, key: str) -> Iterator[str]:
        """The spans around one, inside out, up to a depth that no agent has; so a circle of parents ends."""
        parent = self._spans[key].parent
        for _ in range(_DEPTH):
            if parent is None or parent not in self._spans or parent == key:
                return
            yield parent
            parent = self._spans[parent].parent

    def _same_call(self, key: str) -> Iterator[str]:
        """The model calls around this one up to the next tool or agent: they record the same call."""
        if self._roles[key] != "model":
            return
        for outer in self._around(key):
            if self._roles[outer] in ("tool", "wrapper"):
                return
            if self._roles[outer] == "model":
                yield outer

    def _step(self, span: Span, first_ns: int) -> Step:
        tally, named = self._tally, span.named
        usage = genai.usage(named)
        pieces = genai.prompt(named)
        if usage.input is None or usage.output is None:
            tally.lose(
                "$.attributes", "a model call has no token counts: characters are kept where there are some"
            )
        return Step(
            agent=self._agent(span),
            model=tally.optional_name(genai.model(named), named.where("gen_ai.request.model")),
            start_ns=span.start_ns - first_ns,
            latency_ns=span.end_ns - span.start_ns,
            input_tokens=usage.input,
            cached_tokens=usage.cached,
            output_tokens=usage.output,
            input_characters=sum(map(len, pieces)) if pieces else None,
            output_characters=genai.answer_characters(named),
            error=self._error(span),
            blocks=tally.identities.blocks(pieces),
        )

    def _call(self, span: Span, first_ns: int) -> Call:
        name = span.named.text("gen_ai.tool.name", "traceloop.entity.name")
        return Call(
            UNNAMED if name is None else self._tally.name(name, span.named.where("gen_ai.tool.name")),
            start_ns=span.start_ns - first_ns,
            latency_ns=span.end_ns - span.start_ns,
            result_characters=genai.result_characters(span.named),
            error=self._error(span),
        )

    def _error(self, span: Span) -> str | None:
        text = span.named.text("error.type")
        if text is not None:
            return self._tally.name(text, span.named.where("error.type"))
        return "error" if span.failed else None

    def _agent(self, span: Span) -> str | None:
        """The innermost agent around a call, by the id of its span; the outermost agent is the main one."""
        agents = [
            key for key in self._around(span.id) if genai.operation(self._spans[key].named) == "invoke_agent"
        ]
        if len(agents) < 2:
            return None
        inner = self._spans[agents[0]]
        label = self._tally.name(inner.id, inner.named.where("spanId"))
        kind = inner.named.text("gen_ai.agent.name")
        name = self._tally.optional_name(kind, inner.named.where("gen_ai.agent.name"))
        self._agents.setdefault(label, Agent(label, name))
        return label

    def _step_of(self, tool: Span, owners: _Owners) -> int:
        """The step that made this call: the model call around it, else the last one of its agent before."""
        for key in self._around(tool.id):
            if key in owners.places:
                return owners.places[key]
        place = owners.before(tool.start_ns, self._agent(tool))
        if place is None:
            self._tally.lose("$", "a tool was called before any model: it is kept with the first step")
        return place or 0


class _Owners:
    """The model calls of a trace, to find the last one before a moment; in order of their start."""

    def __init__(self, models: list[Span], agents: list[str | None]) -> None:
        self.places = {span.id: place for place, span in enumerate(models)}
        self._all = [span.start_ns for span in models]
        self._by_agent: dict[str | None, tuple[list[int], list[int]]] = {}
        for place, agent in enumerate(agents):
            starts, places = self._by_agent.setdefault(agent, ([], []))
            starts.append(self._all[place])
            places.append(place)

    def before(self, start_ns: int, agent: str | None) -> int | None:
        """The last call of the agent that began before, else of any; None when none did."""
        starts, places = self._by_agent.get(agent, ([], []))
        count = bisect_right(starts, start_ns)
        if count:
            return places[count - 1]
        count = bisect_right(self._all, start_ns)
        return count - 1 if count else None
