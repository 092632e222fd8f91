"""The scenario of the agent benchmark in simpy, as somebody would write it there: one process a task.

It takes what ``tallymark.agentload.compile`` makes of a scenario file and covers open Poisson arrivals,
worker slots in order or by priority, buckets, concurrency, breakers, retries, degradations, prefix caches and
events; not closed loops, fair share, KV memory and recorded tasks. Where the draws are shared it does the
same calls at the same times as the simulator, which the tests compare call by call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Mapping
from itertools import accumulate
from typing import Any

import simpy

from simpy_calls import CALL, NONE, OK, C, Calls, Life, Task
from simpy_draws import (
    DOCUMENT,
    GAP,
    ORIGIN,
    OUTPUT,
    PREFIX,
    STEPS,
    SUCCESS,
    SYSTEM,
    TENANT,
    TOOLS,
    USER,
    USES,
    Draws,
    sampler,
)


class Model(Calls):
    """One run of a compiled scenario."""

    def __init__(self, scenario: Mapping[str, Any], draws: Draws, traced: bool) -> None:
        if scenario["arrival"] != C["POISSON"]:
            raise ValueError("the model in simpy knows Poisson arrivals only")
        super().__init__(scenario, draws, traced)
        values = scenario["values"]
        self.degradations: Mapping[str, list[tuple[int, Mapping[str, Any]]]] = {
            state: [(i, one) for i, one in enumerate(scenario["degradations"]) if one["state"] == C[state]]
            for state in ("FALLBACK_MODEL", "TRUNCATE_CONTEXT", "LOWER_EFFORT", "DROP_RETRY", "SHED")
        }
        names = ("steps", "system_tokens", "tools_tokens", "document_tokens", "user_tokens", "output_tokens")
        self.wanted = [{name: sampler(draws, values, one[name]) for name in names} for one in self.classes]
        self.class_shares = list(accumulate(one["share"] for one in self.classes))
        self.tenant_shares = list(accumulate(one["share"] for one in scenario["tenants"]))
        lines = 16 if scenario["discipline"] == C["PRIORITY"] else 1
        self.lines: list[deque[Task]] = [deque() for _ in range(lines)]
        self.waiting = self.busy = 0

    def run(self) -> None:
        for event in self.of["events"]:
            self.env.process(self._event(event))
        self.env.process(self._arrivals())
        self.env.run()

    # ---- what happens by itself ----

    def _event(self, event: Mapping[str, Any]) -> Life:
        yield self.env.timeout(event["at_ns"])
        first, every = event["dependency"], event["dependency"] == NONE
        if event["kind"] == C["INVALIDATE_CACHES"]:
            for gate in self.gates[: len(self.providers)] if every else [self.gates[first]]:
                gate.clear()
            return
        gate = self.gates[first + (len(self.providers) if event["kind"] == C["OUTAGE_TOOL"] else 0)]
        gate.down_until_ns = max(gate.down_until_ns, self.env.now + event["for_ns"])

    def _arrivals(self) -> Life:
        env, key, gap_ns = self.env, self.draws.key, self.of["gap_ns"]
        for number in range(self.of["tasks"]):
            wait_ns = self.draws.exponential(key(1 << 32, GAP, 0, number >> 16, number & 0xFFFF), gap_ns)
            if 0 < self.of["horizon_ns"] <= env.now + wait_ns:
                return
            yield env.timeout(wait_ns)
            env.process(self._life(self._arrived(number)))

    def _arrived(self, number: int) -> Task:
        origin = self._by_share(number, ORIGIN, self.class_shares)
        tenant = self.classes[origin]["tenant"]
        if tenant == NONE:
            tenant = self._by_share(number, TENANT, self.tenant_shares)
        return Task(number, origin, tenant, self.classes[origin]["model"], self.env.now)

    def _by_share(self, number: int, purpose: int, shares: list[int]) -> int:
        if len(shares) == 1:
            return 0
        at = self.draws.key(number, purpose) * shares[-1] >> 64
        return next(i for i, share in enumerate(shares) if at < share)

    # ---- worker slots ----

    def _life(self, task: Task) -> Life:
        """A task from its arrival to its end."""
        workers, limit = self.of["workers"], self.of["queue_limit"]
        if self._degrade(task, "SHED") is not None:
            return self._end(task, C["SHED_TASK"])
        if self.waiting > 0 or 0 < workers <= self.busy:
            if 0 < limit <= self.waiting:
                return self._end(task, C["SHED_TASK"])
            task.queued_ns, task.ticket = self.env.now, self.env.event()
            priority = self.of["tenants"][task.tenant]["priority"] if len(self.lines) > 1 else 0
            self.lines[priority].append(task)
            self.waiting += 1
            yield task.ticket
        else:
            self.busy += 1
        self._start(task)
        outcome = yield from self._operations(task)
        self.busy -= 1
        self._end(task, outcome)
        while self.waiting > 0 and (workers == 0 or self.busy < workers):
            self.waiting -= 1
            self.busy += 1
            next(line for line in self.lines if line).popleft().ticket.succeed()

    def _degrade(self, task: Task, state: str) -> Mapping[str, Any] | None:
        for i, one in self.degradations[state]:
            if self._holds(task, one):
                task.degraded |= 1 << i
                return one
        return None

    def _holds(self, task: Task, one: Mapping[str, Any]) -> bool:
        condition, threshold = one["condition"], one["threshold"]
        if condition == C["QUEUE_AGE"]:
            return self.waiting > 0 and self._queue_age() >= threshold
        if condition == C["QUEUE_DEPTH"]:
            return bool(self.waiting >= threshold)
        if condition == C["HEADROOM_BELOW"]:
            bucket = self.gates[self.models[task.model]["provider"]].tokens
            bucket.refill(self.env.now)
            return bool(bucket.level * 1000 < bucket.size * threshold)
        return bool(task.prompt > threshold)

    def _queue_age(self) -> int:
        return max((self.env.now - int(line[0].queued_ns) for line in self.lines if line), default=0)

    def _end(self, task: Task, outcome: int) -> None:
        counts = self.counts
        if task.cache is not None:
            task.cache.forget(task.number)
        if self.spans is not None:
            begun = task.begun_ns if task.steps > 0 else self.env.now
            self.spans.append(
                (
                    task.number,
                    task.step,
                    C["SPAN_TASK"],
                    NONE,
                    outcome,
                    0,
                    0,
                    0,
                    task.arrived_ns,
                    begun,
                    self.env.now,
                )
            )
        counts.finished += outcome == C["FINISHED"]
        counts.failed += outcome == C["FAILED"]
        counts.shed += outcome == C["SHED_TASK"]
        if outcome == C["FINISHED"]:
            threshold = self.classes[task.origin]["success"]
            for i, one in enumerate(self.of["degradations"]):
                threshold += one["success_delta"] if task.degraded >> i & 1 else 0
            counts.succeeded += self.draws.key(task.number, SUCCESS) >> 32 < threshold

    # ---- the course of a task ----

    def _start(self, task: Task) -> None:
        key, number, wanted, of = (
            self.draws.key,
            task.number,
            self.wanted[task.origin],
            self.classes[task.origin],
        )
        task.begun_ns = self.env.now
        system = wanted["system_tokens"](key(number, SYSTEM)) + wanted["tools_tokens"](key(number, TOOLS))
        own = wanted["document_tokens"](key(number, DOCUMENT)) + wanted["user_tokens"](key(number, USER))
        task.steps = min(max(wanted["steps"](key(number, STEPS)), 1), 65535)
        task.fixed = system + own
        task.shared = system * of["prefix_share"] >> 32 if of["prefixes"] else 0
        if of["prefixes"]:
            task.prefix = of["first_prefix"] + (
                key(number, PREFIX) * of["prefixes"] >> 64 if of["prefixes"] > 1 else 0
            )

    def _operations(self, task: Task) -> Generator[simpy.Event, Any, int]:
        """All operations one after another; how the task ends."""
        self._begin_model(task)
        while True:
            result = self._attempt(task)
            if result is None:
                result = yield task.ticket
                if result is None:
                    result = self._ended(task)
            if result != OK:
                delay_ns = self._try_again(task, result)
                if delay_ns is not None:
                    if delay_ns > 0:
                        yield self.env.timeout(delay_ns)
                    continue
                if task.use == CALL or not self.tools[self.uses[self._use(task)]["tool"]]["optional"]:
                    return C["FAILED"]
            if not self._next_operation(task):
                return C["FINISHED"]

    def _begin_model(self, task: Task) -> None:
        task.use, task.repeat, task.model = CALL, 0, self.classes[task.origin]["model"]
        task.prompt = task.fixed + task.transcript
        output = self.wanted[task.origin]["output_tokens"](self.draws.key(task.number, OUTPUT, task.step))
        fallback = self._degrade(task, "FALLBACK_MODEL")
        task.model = task.model if fallback is None else fallback["model"]
        cut = self._degrade(task, "TRUNCATE_CONTEXT")
        if cut is not None and task.prompt > cut["keep_tokens"]:
            task.transcript -= min(task.prompt - cut["keep_tokens"], task.transcript)
            task.prompt = cut["keep_tokens"]
            if task.cache is not None:
                task.cache.forget(task.number)
        lower = self._degrade(task, "LOWER_EFFORT")
        if lower is not None:
            output = output * lower["output_factor_permille"] // 1000
            if not task.effort:
                left = ((task.steps - task.step) * lower["steps_factor_permille"] + 500) // 1000
                task.steps, task.effort = max(min(task.step + left, 65535), task.step + 1), True
        most = self.models[task.model]["max_output_tokens"]
        task.output = min(output, most) if most else output
        self._begin_operation(task)

    def _begin_operation(self, task: Task) -> None:
        self.counts.logical += 1
        task.tries = [0, 0, 0]

    def _next_operation(self, task: Task) -> bool:
        if task.use == CALL:
            task.use = task.repeat = task.repeats = 0
            task.use = -1
        else:
            task.repeat += 1
            if task.repeat < task.repeats:
                self._begin_operation(task)
                return True
        uses = 0 if task.step + 1 >= task.steps else self.classes[task.origin]["tool_uses"]
        while task.use + 1 < uses:
            task.use, task.repeat = task.use + 1, 0
            permille = self.uses[self._use(task)]["per_step_permille"]
            task.repeats = permille // 1000
            if permille % 1000:
                key = self.draws.key(task.number, USES, task.step, task.use)
                task.repeats += (key * 1000 >> 64) < permille % 1000
            if task.repeats:
                self._begin_operation(task)
                return True
        if task.step + 1 >= task.steps:
            return False
        task.step += 1
        self._begin_model(task)
        return True
