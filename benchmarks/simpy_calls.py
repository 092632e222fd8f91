"""The calls of the simpy model: what stops one, how long it takes, how it ends, who tries again."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import simpy

from simpy_draws import FAULT, JITTER, TOOL_LATENCY, TOOL_RESULT, Draws, sampler
from simpy_gates import NEVER_NS, Gate
from tallymark.runtime.simulator import constant

NONE = 2**32 - 1
CALL = 65535  # the operation of a step that is its model call; smaller ones are its tools
C = {
    name: constant(name)
    for name in (
        *("CALL_OK", "CALL_429", "CALL_ERROR", "CALL_TIMEOUT", "CALL_BREAKER", "CALL_REFUSED"),
        *("SPAN_TASK", "SPAN_MODEL", "SPAN_TOOL", "FINISHED", "FAILED", "SHED_TASK", "REJECT", "PRIORITY"),
        *(
            "FALLBACK_MODEL",
            "TRUNCATE_CONTEXT",
            "LOWER_EFFORT",
            "DROP_RETRY",
            "SHED",
            "QUEUE_AGE",
            "QUEUE_DEPTH",
        ),
        *("HEADROOM_BELOW", "MODEL_CALLS", "TOOL_CALLS", "BACKOFF_NONE", "BACKOFF_EXPONENTIAL"),
        *("INVALIDATE_CACHES", "OUTAGE_TOOL", "POISSON"),
    )
}
OK, ERROR, TIMEOUT = C["CALL_OK"], C["CALL_ERROR"], C["CALL_TIMEOUT"]
Life = Generator[simpy.Event, Any, None]
Span = tuple[int, ...]
"""Task, step, kind, dependency, outcome, tokens (input, cached, output), times (asked, started, ended)."""


class Task:
    """A task in flight."""

    __slots__ = (
        *(
            "arrived_ns",
            "asked_ns",
            "begun_ns",
            "cache",
            "cached",
            "degraded",
            "effort",
            "fixed",
            "gate",
            "model",
        ),
        *(
            "number",
            "origin",
            "outcome",
            "output",
            "prefix",
            "prompt",
            "queued_ns",
            "repeat",
            "repeats",
            "shared",
        ),
        *("started_ns", "step", "steps", "tenant", "ticket", "transcript", "tries", "use"),
    )
    begun_ns: int
    queued_ns: int
    asked_ns: int
    started_ns: int
    fixed: int
    shared: int
    prompt: int
    output: int
    outcome: int
    tries: list[int]
    gate: Gate
    ticket: simpy.Event

    def __init__(self, number: int, origin: int, tenant: int, model: int, now_ns: int) -> None:
        self.number, self.origin, self.tenant, self.model = number, origin, tenant, model
        self.arrived_ns = now_ns
        self.steps = self.step = self.degraded = self.transcript = self.repeat = self.repeats = (
            self.cached
        ) = 0
        self.effort = False
        self.use = CALL
        self.prefix: int | None = None
        self.cache: Gate | None = None


@dataclass(slots=True)
class Counts:
    """What came of the tasks, and how often a process was resumed."""

    finished: int = 0
    succeeded: int = 0
    failed: int = 0
    shed: int = 0
    attempts: int = 0
    logical: int = 0
    retries: int = 0
    tokens_input: int = 0


class Calls:
    """The gates of a compiled scenario and what goes through them. ``spans`` is None unless wanted."""

    def __init__(self, scenario: Mapping[str, Any], draws: Draws, traced: bool) -> None:
        self.env: Any = simpy.Environment()  # simpy's times are int | float, and here int alone
        self.draws, self.counts = draws, Counts()
        self.spans: list[Span] | None = [] if traced else None
        self.of, self.models, self.classes = scenario, scenario["models"], scenario["classes"]
        self.uses, self.providers, self.tools = (
            scenario["tool_uses"],
            scenario["providers"],
            scenario["tools"],
        )
        self.gates = [
            *(
                Gate(i, one, one["tokens_per_min"], one["requests_per_min"])
                for i, one in enumerate(self.providers)
            ),
            *(Gate(i, one, 0, one["rate_per_min"]) for i, one in enumerate(self.tools, len(self.providers))),
        ]
        values = scenario["values"]
        self.latency = [sampler(draws, values, one["latency_ns"]) for one in self.tools]
        self.result = [sampler(draws, values, one["result_tokens"]) for one in self.tools]
        self.layers = scenario["retries"]

    def _degrade(self, task: Task, state: str) -> Mapping[str, Any] | None:
        raise NotImplementedError

    def _use(self, task: Task) -> int:
        return int(self.classes[task.origin]["first_tool_use"] + task.use)

    def _attempt(self, task: Task) -> int | None:
        """The result, or None: the ticket of the task says when it is there."""
        is_model = task.use == CALL
        index = self.models[task.model]["provider"] if is_model else len(self.providers) + self._tool(task)
        gate = task.gate = self.gates[index]
        task.asked_ns = task.started_ns = self.env.now
        if self.env.now < gate.open_until_ns:
            return self._span(task, C["CALL_BREAKER"])
        if is_model and 0 < self.models[task.model]["context_tokens"] < task.prompt + task.output:
            return self._span(task, C["CALL_REFUSED"])
        stopped, when_ns = self._stopped(task, gate)
        if stopped == "never":
            return self._span(task, C["CALL_REFUSED"])
        task.ticket = self.env.event()
        if not stopped and not gate.line:
            self._send(task, gate)
            return None
        if gate.overflow == C["REJECT"] and stopped:
            gate.calls += 1
            self.counts.attempts += 1
            return self._span(task, C["CALL_429"])
        gate.line.append(task)
        if len(gate.line) == 1:
            self._wake_at(gate, when_ns)
        return None

    def _tool(self, task: Task) -> int:
        return int(self.uses[self._use(task)]["tool"])

    def _stopped(self, task: Task, gate: Gate) -> tuple[str, int | None]:
        """What stops a call now, and when the buckets will not."""
        tokens = 0
        if task.use == CALL:
            task.cached = self._match(task, gate) if gate.cache_tokens else 0
            tokens = self._tokens(task, gate)
            if 0 < gate.tokens.per_min < tokens:
                return "never", None
        if 0 < gate.concurrency <= gate.in_flight:
            return "concurrency", None
        now_ns = self.env.now
        has_request, has_tokens = gate.requests.has(1, now_ns), gate.tokens.has(tokens, now_ns)
        if has_request and has_tokens:
            return "", None
        request_ns = 0 if has_request else gate.requests.when(1)
        tokens_ns = 0 if has_tokens else gate.tokens.when(tokens)
        return "bucket", max(request_ns, tokens_ns)

    def _reserved(self, task: Task, gate: Gate) -> int:
        most = self.models[task.model]["max_output_tokens"]
        return int(most if gate.of["reserve_max_tokens"] and most else task.output)

    def _tokens(self, task: Task, gate: Gate) -> int:
        return task.prompt - (0 if gate.of["count_cached"] else task.cached) + self._reserved(task, gate)

    def _match(self, task: Task, gate: Gate) -> int:
        shared = 0
        if task.prefix is not None:
            wanted = min(task.shared, task.prompt)
            shared = min(gate.cached.get(-1 - task.prefix, 0), wanted)
            if shared < wanted:
                return shared
        own = gate.cached.get(task.number, 0)
        return min(shared + own, task.prompt) if own else shared

    def _send(self, task: Task, gate: Gate) -> None:
        gate.in_flight += 1
        gate.calls += 1
        self.counts.attempts += 1
        gate.requests.take(1)
        if task.use == CALL:
            gate.tokens.take(self._tokens(task, gate))
            if gate.cache_tokens:
                self._remember(task, gate)
            latency_ns = self._model_latency(task, gate)
        else:
            latency_ns = self._tool_latency(task, gate)
        task.started_ns = self.env.now
        ticket = task.ticket
        ticket._ok, ticket._value = True, None
        self.env.schedule(ticket, delay=latency_ns)

    def _remember(self, task: Task, gate: Gate) -> None:
        if task.cache is not None and task.cache is not gate:
            task.cache.forget(task.number)
        task.cache = gate
        shared = 0 if task.prefix is None else min(task.shared, task.prompt)
        gate.remember(task.number, task.prompt - shared)
        if shared and task.prefix is not None:
            gate.remember(-1 - task.prefix, max(shared, gate.cached.get(-1 - task.prefix, 0)))

    def _drawn(self, task: Task, purpose: int) -> int:
        tries = task.tries
        attempts = tries[0] | tries[1] << 8 | tries[2] << 16
        return self.draws.key(task.number, purpose, task.step, task.use, task.repeat, attempts)

    def _model_latency(self, task: Task, gate: Gate) -> int:
        model = self.models[task.model]
        whole = 1000 * model["load_reference"]
        slowed = whole + model["load_slope_permille"] * gate.in_flight
        read = (task.prompt - task.cached) * model["input_ns_per_1024_tokens"] >> 10
        written = task.output * model["output_ns_per_1024_tokens"] >> 10
        latency_ns = (model["base_ns"] + read) * slowed // whole + written * slowed // whole
        fails = gate.of["error"] > 0 and self._drawn(task, FAULT) >> 32 < gate.of["error"]
        task.outcome = OK
        if gate.down_until_ns > self.env.now or fails:
            task.outcome, latency_ns = ERROR, model["base_ns"] * slowed // whole
        if 0 < gate.of["timeout_ns"] < latency_ns:
            task.outcome, latency_ns = TIMEOUT, gate.of["timeout_ns"]
        return int(latency_ns)

    def _tool_latency(self, task: Task, gate: Gate) -> int:
        tool = gate.of
        latency_ns = self.latency[self._tool(task)](self._drawn(task, TOOL_LATENCY))
        fault = self._drawn(task, FAULT) if tool["error"] or tool["timeout"] else 2**64 - 1
        fails = gate.down_until_ns > self.env.now or fault >> 32 < tool["error"]
        task.outcome = ERROR if fails else OK
        if fault & 0xFFFFFFFF < tool["timeout"] or 0 < tool["timeout_ns"] < latency_ns:
            task.outcome, latency_ns = TIMEOUT, tool["timeout_ns"] or latency_ns
        return latency_ns

    # ---- its end ----

    def _ended(self, task: Task) -> int:
        """A call that was on its way has ended: count it, and let those that wait go on."""
        gate, outcome = task.gate, task.outcome
        gate.in_flight -= 1
        if task.use == CALL:
            gate.tokens.give(self._reserved(task, gate) - task.output, self.env.now)
        if outcome == OK:
            gate.ok += 1
            gate.failures = 0
            if task.use == CALL:
                self.counts.tokens_input += task.prompt
                task.transcript += task.output
            else:
                task.transcript += self.result[self._tool(task)](self._drawn(task, TOOL_RESULT))
        else:
            gate.failed(self.env.now, self.of["breaker_failures"], self.of["breaker_open_ns"])
        self._span(task, outcome)
        self._pump(gate)
        return outcome

    def _pump(self, gate: Gate) -> None:
        """Whoever waits in line goes, the first one first, until one is stopped."""
        while gate.line:
            task = gate.line[0]
            stopped, when_ns = self._stopped(task, gate)
            if stopped and stopped != "never":
                self._wake_at(gate, when_ns)
                return
            gate.line.popleft()
            if stopped:
                task.ticket.succeed(self._span(task, C["CALL_REFUSED"]))
            else:
                self._send(task, gate)

    def _wake_at(self, gate: Gate, when_ns: int | None) -> None:
        if when_ns is not None and when_ns < gate.wake_ns:
            gate.wake_ns = when_ns
            self.env.process(self._wake(gate, when_ns))

    def _wake(self, gate: Gate, when_ns: int) -> Life:
        yield self.env.timeout(when_ns - self.env.now)
        if gate.wake_ns == when_ns:  # else tokens that were given back made an earlier one
            gate.wake_ns = NEVER_NS
            self._pump(gate)

    def _span(self, task: Task, outcome: int) -> int:
        if self.spans is not None:
            done = outcome == OK
            if task.use == CALL:
                kind, dependency = C["SPAN_MODEL"], task.model
                tokens = (task.prompt, task.cached, task.output if done else 0)
            else:
                kind, dependency = C["SPAN_TOOL"], self._tool(task)
                result = self.result[dependency](self._drawn(task, TOOL_RESULT)) if done else 0
                tokens = (0, 0, result)
            times = (task.asked_ns, task.started_ns, self.env.now)
            self.spans.append((task.number, task.step, kind, dependency, outcome, *tokens, *times))
        return outcome

    # ---- once more ----

    def _try_again(self, task: Task, result: int) -> int | None:
        """How long to wait before the next attempt; None: there is none."""
        kind = C["MODEL_CALLS"] if task.use == CALL else C["TOOL_CALLS"]
        for i, layer in enumerate(self.layers):
            if layer["operations"] & kind and layer["on"] & result and task.tries[i] + 1 < layer["attempts"]:
                break
        else:
            return None
        if self._degrade(task, "DROP_RETRY") is not None or not self._within_budget():
            return None
        self.counts.retries += 1
        task.tries[i] += 1
        task.tries[:i] = [0] * i
        delay_ns = 0 if layer["backoff"] == C["BACKOFF_NONE"] else int(layer["delay_ns"])
        if layer["backoff"] == C["BACKOFF_EXPONENTIAL"]:
            delay_ns = min(delay_ns << task.tries[i] - 1, 2**62)
        if layer["cap_ns"]:
            delay_ns = min(delay_ns, layer["cap_ns"])
        if layer["full_jitter"]:
            delay_ns = self._drawn(task, JITTER) * (delay_ns + 1) >> 64
        return max(delay_ns, task.gate.of["retry_after_ns"]) if result == C["CALL_429"] else delay_ns

    def _within_budget(self) -> bool:
        permille, reserve = int(self.of["retry_budget_permille"]), int(self.of["retry_budget_reserve"])
        return permille == 0 or self.counts.retries * 1000 < self.counts.logical * permille + reserve * 1000
