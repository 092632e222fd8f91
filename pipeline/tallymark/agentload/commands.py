"""What ``tallymark load simulate`` does: scenario in, evidence on disk, a line for each run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tallymark.agentload import execution, overrides, scenario_file, slowest
from tallymark.agentload.overrides import Setting
from tallymark.agentload.scenario import Scenario
from tallymark.agentload.simulate import Planned, Simulated, planned
from tallymark.agentload.simulate import simulate as simulated
from tallymark.check import Finding, check_document
from tallymark.errors import UsageError
from tallymark.evidence import canonical, documents, strict_json

_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_SHOWN: Final = (
    "load",
    "cache",
    "rate_per_min",
    "context_factor_permille",
    "variant",
    "outcome",
    "first_ceiling",
)


@dataclass(frozen=True, slots=True)
class Written:
    """What is on disk now, and what there is to say of it; ``runs`` are the outcomes in a few words."""

    path: Path
    beside: tuple[Path, ...]
    runs: tuple[dict[str, Any], ...]
    unknown_limits: tuple[str, ...]
    findings: tuple[Finding, ...]
    said: tuple[str, ...]
    stopped: bool


def checked_scenario(path: Path, project: Path, settings: Sequence[Setting] = ()) -> Scenario:
    """The scenario of a file with every setting of one value in it.

    ScenarioError: everything that is wrong with it. UsageError: no such file, or a key that leads nowhere.
    """
    value, shown = scenario_file.read(path, project)
    single = [(one.key, one.values[0]) for one in settings if len(one.values) == 1]
    return scenario_file.from_value(overrides.changed(value, single), shown, path.parent)


def simulate(
    project: Path, path: Path, settings: Sequence[Setting], label: str, out: Path | None, seed: int | None
) -> Written:
    """Simulate every run and write the document and its slowest tasks. Errors: those of both parts."""
    request = requested(project, path, settings, label, seed)
    plan = planned(request.scenario, [one for one in settings if len(one.values) > 1])
    return carried_out(project, request, plan, out)[0]


def requested(
    project: Path,
    path: Path,
    settings: Sequence[Setting],
    label: str,
    seed: int | None,
    verb: str = "simulate",
) -> execution.Request:
    """What is asked for, checked: the scenario with every setting of one value in it.

    ScenarioError: everything that is wrong with it. UsageError: a bad label, no such file, a key that leads
    nowhere.
    """
    if not _LABEL.fullmatch(label):
        raise UsageError(f"--label {label}", "it is no name for evidence", "use a-z, 0-9, '.', '_' and '-'")
    seeded = () if seed is None else (Setting("seed", (seed,)),)
    base = checked_scenario(path, project, (*settings, *seeded))
    return execution.Request(base, label, _named(path, project), _texts(settings), seed, verb)


def carried_out(
    project: Path, request: execution.Request, plan: Sequence[Planned], out: Path | None
) -> tuple[Written, dict[str, Any]]:
    """Simulate the plan, write the document and its slowest tasks; also the document's value.

    A document that is there and holds the same runs stays. ConflictError: it holds others.
    """
    target = (project / "data" / request.suite if out is None else out) / f"{request.label}.json"
    started, done = execution.utc_now(), _all(plan)
    value = execution.document(request, plan, done, started, execution.utc_now())
    data = slowest.content(slowest.traced(plan, done))
    beside = target.with_name(f"{request.label}.slowest.jsonl")
    there = _kept(target, lambda old: _runs(old) == _runs(canonical.encode(value)), canonical.encode(value))
    _kept(beside, lambda old: old == data, data)
    again = f"{documents.shown_path(target, project)} is there already, and every run came out the same"
    written = Written(
        path=target,
        beside=(beside,),
        runs=tuple({key: run[key] for key in _SHOWN} for run in value["runs"]),
        unknown_limits=request.scenario.unknown_limits,
        findings=check_document(documents.load(target)),
        said=(*_said(request.scenario), *map(_line, value["runs"]), *([again] if there else [])),
        stopped=any(one.stopped for one in done),
    )
    return written, value


def _kept(path: Path, same: Callable[[bytes], bool], data: bytes) -> bool:
    """Write the file, or find that it holds the same already. ConflictError: it holds something else."""
    if path.exists() and same(path.read_bytes()):
        return True
    canonical.write_new(path, data)
    return False


def _runs(data: bytes) -> str:
    """What one seed determines of a document: its runs, as canonical text."""
    value = strict_json.parse(data, "the document")
    return canonical.compact(value["runs"]) if isinstance(value, dict) else ""


def _all(plan: Sequence[Planned]) -> list[Simulated]:
    """Every run in its order; one that the user stopped is the last."""
    done: list[Simulated] = []
    for one in plan:
        done.append(simulated(one.scenario, one.choice))
        if done[-1].stopped:
            break
    return done


def _named(path: Path, project: Path) -> str:
    """The scenario as the recorded command has it: from the project, else by its bare name."""
    inside = documents.is_inside(path, project)
    return documents.shown_path(path, project) if inside else path.name


def _texts(settings: Sequence[Setting]) -> tuple[str, ...]:
    return tuple(f"{one.key}={','.join(_text(value) for value in one.values)}" for one in settings)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _said(scenario: Scenario) -> tuple[str, ...]:
    do = "it bounds nothing here; find it out"
    return tuple(
        f"{scenario.where(pointer)}: the limit is unknown. {do}." for pointer in scenario.unknown_limits
    )


def _line(run: dict[str, Any]) -> str:
    name = f"{run['load']}, {run['cache']}"
    name += "" if run["variant"] == "none" else f", {run['variant']}"
    p99 = "no task ended" if run["duration_p99_ms"] is None else f"p99 {run['duration_p99_ms'] / 1000:.1f} s"
    ceiling = run["first_ceiling"] or "no ceiling"
    rate = "" if run["rate_per_min"] is None or run["load"] == "idle" else f" at {run['rate_per_min']:g}/min"
    return (
        f"{name}{rate}: {run['outcome']}, {run['tasks_finished']} finished, {p99}, first ceiling: {ceiling}"
    )
