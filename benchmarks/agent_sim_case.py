"""One process of the agent benchmark: a variant of a scenario, simulated by us or by the model in simpy.

    agent_sim_case.py events TASKS SECONDS       a closed loop, until the virtual time has passed
    agent_sim_case.py memory TASKS SECONDS       the same; its memory
    agent_sim_case.py day TASKS PER_MINUTE       an open loop
    agent_sim_case.py desk TASKS                 the scenario as its file has it, with so many tasks
    agent_sim_case.py simpy TASKS                the same in simpy, random numbers of Python
    agent_sim_case.py simpy-shared TASKS         the same in simpy, random numbers of the simulator

Prints a line of JSON as all programs of the benchmarks do. What grows, grows in proportion: a system for
n times the tasks has n times the workers, quotas and caches, so that each task meets the limits of the file.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from zlib import crc32

from tallymark.agentload import compile as compiling
from tallymark.agentload import scenario_file
from tallymark.runtime.simulator import Simulation, constant

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = ROOT / "examples" / "support-desk.toml"
Raw = dict[str, int | float | str]
_QUOTAS = {
    "providers": ("tokens_per_min", "requests_per_min", "concurrency", "cache_tokens", "kv_tokens"),
    "models": ("load_reference",),
    "tools": ("rate_per_min", "concurrency"),
}


def scenario(tasks: int) -> compiling.Compiled:
    """The scenario of the file with so many tasks."""
    found = scenario_file.load(SCENARIO, ROOT)
    run = replace(found.run, tasks=tasks, deadline_s=9_000_000)
    return compiling.compiled(replace(found, run=run), compiling.Choice())


def grown(given: compiling.Compiled, times: Fraction) -> compiling.Compiled:
    """The same system, that many times as large."""
    larger = {
        **given,
        "workers": int(given["workers"] * times),
        "queue_limit": int(given["queue_limit"] * times),
    }
    for group, members in _QUOTAS.items():
        larger[group] = [
            {**one, **{name: int(one[name] * times) for name in members if one[name]}} for one in given[group]
        ]
    larger["breaker_failures"] = int(given["breaker_failures"] * times)
    larger["degradations"] = [
        {**one, "threshold": int(one["threshold"] * times)}
        if one["condition"] == constant("QUEUE_DEPTH")
        else one
        for one in given["degradations"]
    ]
    return larger


def in_flight(tasks: int, seconds: int) -> compiling.Compiled:
    """A closed loop that keeps every worker busy, one for each of the tasks, for so long in virtual time.

    The events of the file come at the same shares of the run.
    """
    given = scenario(4 * tasks + 1_000_000)
    deadline_ns, whole_ns = seconds * 10**9, 6_667 * 10**9  # 4,000 tasks at 36 a minute
    for event in given["events"]:
        event["at_ns"] = event["at_ns"] * deadline_ns // whole_ns
        event["for_ns"] = event["for_ns"] * deadline_ns // whole_ns
    return {
        **grown(given, Fraction(tasks, given["workers"])),
        "arrival": constant("CLOSED"),
        "in_flight": tasks,
        "workers": tasks,
        "values": [*given["values"], 0],
        "think_ns": {"kind": constant("SAMPLES"), "first": len(given["values"]), "count": 1},
        "deadline_ns": deadline_ns,
    }


def measured(run: Callable[[], None]) -> Raw:
    """Elapsed and CPU time of a call."""
    elapsed_ns, cpu_ns = time.monotonic_ns(), time.process_time_ns()
    run()
    return {"elapsed_ns": time.monotonic_ns() - elapsed_ns, "cpu_ns": time.process_time_ns() - cpu_ns}


def checksum(*counts: int) -> str:
    return f"{crc32(repr(counts).encode()):08x}"


def ours(given: compiling.Compiled, outcome: str) -> tuple[Raw, Mapping[str, Any]]:
    """What a run cost, and its record. The figures of a run that ended otherwise are worth nothing."""
    with Simulation(given) as simulation:
        times = measured(simulation.execute)
        figures, record = simulation.figures(), json.loads(simulation.record())
    if record["outcome"] != outcome:
        sys.exit(f"agent_sim_case.py: the run ended as {record['outcome']}, not {outcome}")
    cpu_s, ended = figures.cpu_ns / 1e9, record["tasks"]["arrived"] - record["tasks"]["unfinished"]
    calls = sum(one["calls"] for one in (*record["providers"], *record["tools"]))
    tasks = record["tasks"]
    work = (tasks["finished"], tasks["succeeded"], tasks["failed"], tasks["shed"], calls)
    return {
        **times,
        "tasks": ended,
        "events": figures.events,
        "run_cpu_ns": figures.cpu_ns,
        "events_per_cpu_s": figures.events / cpu_s,
        "tasks_per_cpu_s": ended / (float(times["cpu_ns"]) / 1e9),
        "growth_per_task_in_flight": figures.rss_anon_growth_bytes / figures.in_flight_peak,
        "growth_bytes": figures.rss_anon_growth_bytes,
        "tasks_in_flight": figures.in_flight_peak,
        "virtual_s": figures.virtual_ns / 1e9,
        "checksum": checksum(*work, sum(int(one["tokens_input"]) for one in record["providers"])),
    }, record


def in_simpy(given: compiling.Compiled, shared: bool) -> Raw:
    """The same scenario in simpy."""
    from simpy_draws import OwnDraws, SharedDraws
    from simpy_model import Model

    seed = int(given["seed"])
    model = Model(given, SharedDraws(seed) if shared else OwnDraws(seed), traced=False)
    times, counts = measured(model.run), model.counts
    tasks = counts.finished + counts.failed + counts.shed
    work = (counts.finished, counts.succeeded, counts.failed, counts.shed, counts.attempts)
    return {
        **times,
        "tasks": tasks,
        "tasks_per_cpu_s": tasks / (float(times["cpu_ns"]) / 1e9),
        "checksum": checksum(*work, counts.tokens_input),
    }


def case(kind: str, numbers: Sequence[int]) -> Raw:
    """Run one case; in ``events`` a task is an event, in ``memory`` one of those in flight."""
    if kind in ("events", "memory"):
        raw, _ = ours(in_flight(*numbers), "overloaded")  # the deadline ends it
        if raw["tasks_in_flight"] != numbers[0]:
            sys.exit(f"agent_sim_case.py: {raw['tasks_in_flight']} tasks in flight instead of {numbers[0]}")
        memory = {"tasks": numbers[0], "backlog_bytes": raw["growth_bytes"]}
        of_events = {"tasks": raw["events"], "cpu_ns": raw["run_cpu_ns"]}
        return raw | (memory if kind == "memory" else of_events)
    given = scenario(numbers[0])
    if kind == "day":
        gap_ns = 60 * 10**9 // numbers[1]
        given = {**grown(given, Fraction(given["gap_ns"], gap_ns)), "gap_ns": gap_ns}
    if kind in ("day", "desk"):
        return ours(given, "completed")[0]
    return in_simpy(given, shared=kind == "simpy-shared")


def main(arguments: Sequence[str]) -> None:
    print(json.dumps(case(arguments[0], [int(number) for number in arguments[1:]])))


if __name__ == "__main__":
    main(sys.argv[1:])
