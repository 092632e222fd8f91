"""One run of a scenario, simulated: the record, what it took, and which tasks took longest.

The simulator runs in this process: virtual time does not depend on what else the process holds, so that a run
needs no process of its own. What depends on the machine is kept apart (`Simulated.figures`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, cast

from tallymark.agentload import overrides
from tallymark.agentload.compile import Cache, Choice, Load, compiled
from tallymark.agentload.overrides import Scalar, Setting
from tallymark.agentload.scenario import Scenario
from tallymark.agentload.scenario_file import from_value
from tallymark.evidence import strict_json
from tallymark.runtime.simulator import Figures, Simulation, Span, Task

LOADS: Final[tuple[Load, ...]] = ("idle", "loaded")
CACHES: Final[tuple[Cache, ...]] = ("cold", "warm")


@dataclass(frozen=True, slots=True)
class Simulated:
    """What one run gave. ``slowest``: the slowest hundredth, longest first; ``failures``: the first that
    failed or were shed; ``spans``: every call of the tasks that were traced.
    """

    scenario: Scenario
    choice: Choice
    record: dict[str, Any]
    figures: Figures
    slowest: tuple[Task, ...]
    failures: tuple[Task, ...]
    spans: tuple[Span, ...]

    @property
    def stopped(self) -> bool:
        """Whether the user stopped it."""
        return bool(self.record["outcome"] == "killed")


@dataclass(frozen=True, slots=True)
class Planned:
    """A run that is to be made; ``varied``: the settings that other runs of the document have otherwise."""

    scenario: Scenario
    choice: Choice
    varied: tuple[tuple[str, Scalar], ...]


def simulate(scenario: Scenario, choice: Choice) -> Simulated:
    """Simulate one run. SimulationRefusedError: the simulator cannot; BrokenRuntimeError: there is none."""
    with Simulation(compiled(scenario, choice)) as simulation:
        simulation.execute()
        record = strict_json.parse(simulation.record().encode("utf-8"), "the simulator's record")
        return Simulated(
            scenario=scenario,
            choice=choice,
            record=cast("dict[str, Any]", record),
            figures=simulation.figures(),
            slowest=simulation.slowest(),
            failures=simulation.failures(),
            spans=simulation.spans(),
        )


def planned(scenario: Scenario, settings: Sequence[Setting]) -> tuple[Planned, ...]:
    """Every run: for each combination of the settings idle and loaded, each with cold and with warm caches.

    ScenarioError: a combination is no scenario.
    """
    found = []
    for point in overrides.points(settings):
        value = overrides.changed(scenario.declared, point)
        here = from_value(value, scenario.path, scenario.folder) if point else scenario
        found += [Planned(here, Choice(load, cache), point) for load, cache in product(LOADS, CACHES)]
    return tuple(found)
