"""The plan of a load test: its size, the ceilings, what the test itself will need; only a pilot is run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from tallymark.agentload import ceilings as limits
from tallymark.agentload import demand as demands
from tallymark.agentload import pilot as pilots
from tallymark.agentload import sizing
from tallymark.agentload.arithmetic import shown
from tallymark.agentload.ceilings import Ceiling, Processor
from tallymark.agentload.demand import ClassDemand, Demand
from tallymark.agentload.pilot import Pilot
from tallymark.agentload.scenario import UNKNOWN, Scenario
from tallymark.agentload.sizing import Durations, Sizing

# A tool or agent keeps a transcript as text: about so many bytes a token, as an order of magnitude.
BYTES_OF_A_TOKEN: Final = 4
BYTES_OF_A_SIMULATED_TASK: Final = 128

ASSUMPTIONS: Final = (
    "Durations are those of tasks that nothing holds up; queues, 429s and degradations change them.",
    "A prompt that was sent before is cached where the provider has a cache: nothing is evicted from it.",
    "Tasks, and calls of a task, fail independently of each other and of the load.",
    "Each ceiling is that of one limit alone, when everything else is endless.",
)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the reader must decide or find out."""

    pointer: str
    problem: str
    do: str


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """``sizing`` is None when the arrivals have no rate; ``source`` says where the durations come from."""

    scenario: Scenario
    source: str
    pilot: Pilot
    durations: Durations
    sizing: Sizing | None
    demand: Demand
    ceilings: tuple[Ceiling, ...]
    first: Ceiling | None
    notes: tuple[Note, ...]

    @property
    def loaded_in_flight(self) -> float | None:
        """Tasks in flight when calls are as slow as the load makes them; None where that never settles."""
        if self.sizing is None:
            return None
        rate = self.sizing.rate_per_min
        held_s = limits.slot_s_at(self.scenario, self.pilot.service, rate)
        return rate * held_s / 60 if math.isfinite(held_s) else None

    @property
    def overloaded(self) -> bool:
        """Whether more tasks arrive than the first ceiling lets through: the queue then grows for ever."""
        closed = self.scenario.arrival.process == "closed"
        return not closed and self._over() > 0

    def _over(self) -> float:
        if self.sizing is None or self.first is None or self.first.tasks_per_min is None:
            return 0.0
        return self.sizing.rate_per_min - self.first.tasks_per_min

    def overload_lines(self) -> Iterator[str]:
        """What the overload does to the queue."""
        if self.overloaded and self.sizing is not None and self.first is not None:
            yield (
                f"overloaded: {shown(self.sizing.rate_per_min)} tasks/min arrive and {self.first.name} lets "
                f"{shown(self.first.tasks_per_min or 0.0)} through: the queue grows by {shown(self._over())} "
                "tasks a minute for as long as tasks arrive"
            )


def plan(scenario: Scenario, processor: Processor | None = None, tasks: int = pilots.TASKS) -> LoadPlan:
    """Size the test of a scenario. BrokenRuntimeError: the pilot cannot run here."""
    measured = pilots.run(scenario, tasks)
    demand = demands.of_mix(scenario) if scenario.tasks else measured.demand
    recorded, source = _recorded(scenario)
    known = sizing.durations(recorded or measured.durations_s)
    rate = sizing.rate_per_min(scenario.arrival, known.mean_s.value)
    size = None if rate is None else sizing.size(rate, known)
    found = limits.inventory(scenario, demand, measured.service, processor)
    if not recorded:
        number = f"{shown(measured.tasks)} tasks"
        source = (
            f"a seeded pilot of {number} by the simulator, one after another (seed {measured.seed}){source}"
        )
    made = LoadPlan(scenario, source, measured, known, size, demand, found, limits.first(found), ())
    return LoadPlan(
        scenario, source, measured, known, size, demand, found, limits.first(found), tuple(_notes(made))
    )


def _recorded(scenario: Scenario) -> tuple[tuple[float, ...], str]:
    """The durations that the traces tell and where they are from, or none and what to say of the pilot."""
    if scenario.traces is None or scenario.recorded is None:
        return (), ""
    tasks = scenario.recorded.mix.tasks
    known = tuple(task.duration_ns / 1e9 for task in tasks if task.duration_ns is not None)
    if not known:
        return (), f", whole tasks sampled from {scenario.traces.file}, which has no durations"
    return (
        known,
        f"the traces {scenario.traces.file}: {shown(len(known))} of {shown(len(tasks))} tasks have one",
    )


def _notes(made: LoadPlan) -> Iterator[Note]:
    for ceiling in made.ceilings:
        if ceiling.state == "unknown":
            yield Note(ceiling.pointer, f"{ceiling.name}: the limit is unknown", _find_out(ceiling))
    if made.scenario.slots.workers == UNKNOWN or made.scenario.unknown_limits:
        listed = {ceiling.pointer for ceiling in made.ceilings}
        for pointer in made.scenario.unknown_limits:
            if pointer not in listed:
                yield Note(pointer, "declared as unknown", "find it out")
    if made.demand.usd is None:
        yield Note(
            "$.models", "a model of the mix is unpriced, so that no sum of money is known", "give its prices"
        )
    if made.sizing is None:
        yield Note("$.arrival", "no time passes between arrivals, so there is no rate", "give later arrivals")
        return
    yield from _small_caches(made, made.sizing.in_flight.value)
    tasks = made.scenario.run.tasks
    if tasks is not None and made.sizing.ramp_tasks is not None and tasks < made.sizing.ramp_tasks:
        within = f"{shown(tasks * 60 / made.sizing.rate_per_min)} s"
        problem = (
            f"{shown(tasks)} tasks arrive within {within}, less than the p99 duration of "
            f"{shown(made.sizing.ramp_s or 0.0)} s: the load never builds up, and this is only a smoke test"
        )
        yield Note("$.run.tasks", problem, f"give at least {shown(made.sizing.ramp_tasks)}")


def _small_caches(made: LoadPlan, in_flight: float) -> Iterator[Note]:
    """Caches that do not hold the prompts in flight: then the ceiling of a cold start is the nearer one."""
    for at, provider in enumerate(made.scenario.providers):
        names = [one.name for one in made.scenario.models if one.provider == provider.name]
        busy = sum(made.pilot.service.model_s.get(name, 0.0) for name in names)
        if not provider.cache_tokens or not busy:
            continue
        context = made.pilot.service.kv_token_s[provider.name] / busy
        if in_flight * context > provider.cache_tokens:
            problem = (
                f"{shown(in_flight)} tasks in flight × {shown(context)} tokens do not fit into a cache of "
                f"{shown(provider.cache_tokens)}: prompts are read anew, and count as if they were cold"
            )
            yield Note(
                f"$.providers[{at}].cache_tokens", problem, "plan with the cold ceiling, or a larger cache"
            )


def _find_out(ceiling: Ceiling) -> str:
    if ceiling.name == "cpu":
        return "measure it and give --cpu-ms and --cores"
    return (
        "ask the vendor or find it by load simulate with a guess on either side; until then it may come first"
    )


def growth_lines(made: LoadPlan) -> Iterator[str]:
    """How input tokens grow with the square of the steps, class by class, then the mean."""
    for one in made.demand.classes:
        yield _class_line(one)
    if made.demand.classes:
        terms = " + ".join(f"{shown(one.share)} × {shown(one.input_tokens)}" for one in made.demand.classes)
        mean = sum(one.share * one.input_tokens for one in made.demand.classes)
        total = sum(use.input_tokens for use in made.demand.models.values())
        yield f"mean: {terms} = {shown(mean)} input tokens/task when every call succeeds at once"
        yield f"with failed attempts sent again and failed tasks cut short: {shown(total)} input tokens/task"


def _class_line(one: ClassDemand) -> str:
    again = one.resends * one.growth_tokens
    return (
        f"{one.name}: {shown(one.steps)} steps × {shown(one.prompt_tokens)} tokens of first prompt + "
        f"{shown(one.resends)} (mean of k·(k-1)/2) × {shown(one.growth_tokens)} tokens that each step adds = "
        f"{shown(one.input_tokens)} input tokens/task, of which {shown(again)} are the transcript sent again"
    )


def needs(made: LoadPlan) -> dict[str, Any]:
    """What the test itself takes: tokens at each provider, money, memory, time on the clock of the system."""
    tasks = made.scenario.run.tasks
    if tasks is None and made.sizing is not None and made.scenario.run.horizon_s is not None:
        tasks = round(made.scenario.run.horizon_s * made.sizing.rate_per_min / 60)
    if tasks is None:
        tasks = len(made.scenario.arrival.times_s)
    providers = {}
    for provider in made.scenario.providers:
        use = made.demand.of_provider(made.scenario, provider.name)
        providers[provider.name] = {
            "calls": use.calls * tasks,
            "tokens": (use.input_tokens + use.output_tokens) * tasks,
            "counted_tokens": use.counted_tokens * tasks,
        }
    usd = made.demand.usd
    in_flight = None if made.sizing is None else made.sizing.in_flight.value
    context = sum(made.pilot.service.kv_token_s.values()) / max(
        sum(made.pilot.service.model_s.values()), 1e-9
    )
    return {
        "tasks": tasks,
        "seconds": None if made.sizing is None else tasks * 60 / made.sizing.rate_per_min,
        "providers": providers,
        "tools": {name: calls * tasks for name, calls in made.demand.tools.items()},
        "usd": None if usd is None else usd * tasks,
        "simulator_bytes": None if in_flight is None else in_flight * BYTES_OF_A_SIMULATED_TASK,
        "transcript_bytes": None if in_flight is None else in_flight * context * BYTES_OF_A_TOKEN,
        "mean_context_tokens": context,
    }


def to_json(made: LoadPlan) -> dict[str, Any]:
    """The plan for a program: full numbers, and the same lines of arithmetic."""
    first = made.first
    return {
        "scenario": made.scenario.name,
        "scenario_sha256": made.scenario.sha256,
        "durations": {"source": made.source, "failed": made.pilot.failed, **asdict(made.durations)},
        "sizing": None
        if made.sizing is None
        else {**asdict(made.sizing), "loaded_in_flight": made.loaded_in_flight},
        "demand": {
            **asdict(made.demand),
            "usd": made.demand.usd,
            "lines": list(growth_lines(made)),
        },
        "ceilings": [asdict(one) for one in made.ceilings],
        "first_ceiling": None if first is None else first.name,
        "first_tasks_per_min": None if first is None else first.tasks_per_min,
        "overloaded": made.overloaded,
        "overload": next(made.overload_lines(), None),
        "test": needs(made),
        "findings": [asdict(note) for note in made.notes],
        "assumptions": [*ASSUMPTIONS, *made.scenario.assumptions],
    }
