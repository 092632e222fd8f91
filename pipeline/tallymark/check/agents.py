"""Rules about simulated runs of an agent system: tasks, calls, tokens and money are conserved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from tallymark import schemas
from tallymark.check.rule import AGENT, Problem, Run, Subject, document_rule, run_rule
from tallymark.evidence.canonical import compact, sha256_hex
from tallymark.histogram import Histogram

_AGAIN: Final = "Simulate the scenario again; a record is never corrected by hand"
_SCENARIO: Final = "agent-scenario/1.0"
_PERCENTILES: Final = (("p50", 50, 100), ("p95", 95, 100), ("p99", 99, 100), ("max", 1, 1))
_KINDS: Final = (AGENT,)


@document_rule(
    "agent-scenario",
    "The scenario that the runs name is the one in the document",
    why="Runs of another scenario under this one's name would be compared with what they are not.",
    kinds=_KINDS,
)
def scenario_named(subject: Subject) -> Iterator[Problem]:
    """scenario fits its schema; its SHA-256 and name are those of the document and of each run."""
    scenario = subject.value["scenario"]
    for pointer, _, message in schemas.errors(_SCENARIO, scenario):
        yield Problem(f"$.scenario{pointer.removeprefix('$')}", message, _AGAIN)
    digest = sha256_hex(compact(scenario).encode("utf-8"))
    if subject.value["scenario_sha256"] != digest:
        yield Problem("$.scenario_sha256", f"the scenario has {digest}", _AGAIN)
    for run in subject.runs:
        if run.value["scenario_sha256"] != subject.value["scenario_sha256"]:
            yield run.found("scenario_sha256", "it is not that of the document", _AGAIN)


@run_rule(
    "agent-tasks",
    "Every task that arrived is accounted for",
    why="A task that was left out would make durations short and success high.",
    kinds=_KINDS,
)
def tasks_conserved(run: Run) -> Iterator[Problem]:
    """arrived = finished + failed + shed + unfinished; reasons, classes and tenants add up to the same."""
    value, failures = run.value, run.value["failures"]
    ended = sum(value[f"tasks_{key}"] for key in ("finished", "failed", "shed", "unfinished"))
    if value["tasks_arrived"] != ended:
        problem = f"{value['tasks_arrived']} arrived, but {ended} finished, failed, were shed or are left"
        yield run.found("tasks_arrived", problem, _AGAIN)
    if value["tasks_succeeded"] > value["tasks_finished"]:
        yield run.found("tasks_succeeded", f"{value['tasks_finished']} tasks finished", _AGAIN)
    if value["tasks_unfinished"] and run.completed:
        yield run.found("tasks_unfinished", "a completed run leaves no task", _AGAIN)
    if failures["calls_failed"] + failures["refused"] != value["tasks_failed"]:
        yield run.found("failures", f"its reasons do not add up to {value['tasks_failed']} failed", _AGAIN)
    if failures["shed_queue_full"] + failures["shed_degradation"] != value["tasks_shed"]:
        yield run.found("failures", f"its reasons do not add up to {value['tasks_shed']} shed", _AGAIN)
    for group in ("classes", "tenants"):
        for key in ("arrived", "finished", "succeeded", "failed", "shed"):
            total = sum(one[key] for one in value[group].values())
            if value[group] and total != value[f"tasks_{key}"]:
                problem = f"{total} {key} in all, but tasks_{key} is {value[f'tasks_{key}']}"
                yield run.found(group, problem, _AGAIN)


@run_rule(
    "agent-calls",
    "Every call ended in one way or is still in flight",
    why="Errors and 429s by provider and tool are what a load test is made for; a lost call hides one.",
    kinds=_KINDS,
)
def calls_conserved(run: Run) -> Iterator[Problem]:
    """calls = answered + failed + timed out + 429 + in flight at the end; attempts = all calls."""
    total = 0
    for group in ("providers", "tools"):
        for name, one in run.value[group].items():
            ended = sum(one[key] for key in ("ok", "errors", "timeouts", "throttled_429", "in_flight"))
            total += one["calls"]
            if one["calls"] != ended:
                problem = f"{one['calls']} calls, but {ended} ended or are in flight"
                yield Problem(run.at(group, name, "calls"), problem, _AGAIN)
    if total != run.value["attempts"]:
        problem = f"{run.value['attempts']} attempts, but {total} calls of providers and tools"
        yield run.found("attempts", problem, _AGAIN)


@run_rule(
    "agent-conservation",
    "Tokens, money and attempts are the same counted by task and by dependency",
    why="The two sums are kept apart while the run goes on; a unit lost or counted twice shows here.",
    kinds=_KINDS,
)
def conserved(run: Run) -> Iterator[Problem]:
    """by_task = by_dependency to the last unit; tokens of the run are the sums over its providers."""
    for name, pair in run.value["conservation"].items():
        if pair["by_task"] != pair["by_dependency"]:
            problem = f"{pair['by_task']} by task, {pair['by_dependency']} by dependency"
            yield Problem(run.at("conservation", name), problem, _AGAIN)
    for key in ("tokens_input", "tokens_cached", "tokens_output", "tokens_wasted"):
        total = sum(one[key] for one in run.value["providers"].values())
        if run.value[key] != total:
            yield run.found(key, f"{run.value[key]}, but its providers have {total}", _AGAIN)


@run_rule(
    "agent-money",
    "Money follows from the exact sum, and is unknown where a price is",
    why="A sum without a price is not free, and 24 times too low has been seen in the field.",
    kinds=_KINDS,
)
def money(run: Run) -> Iterator[Problem]:
    """usd_total = exact sum / 10^12; a task's share = that / tasks that finished or failed; or all null."""
    value = run.value
    if value["usd_total"] is None:
        for key in ("usd_per_task", "usd_per_success"):
            if value[key] is not None:
                yield run.found(key, "the money of the run is unknown", _AGAIN)
        return
    cost = int(value["conservation"]["cost_pusd"]["by_task"])
    ended = value["tasks_finished"] + value["tasks_failed"]
    for key, by in (("usd_total", 1), ("usd_per_task", ended), ("usd_per_success", value["tasks_succeeded"])):
        right = float(Fraction(cost, by * 10**12)) if by else None
        if value[key] != right:
            yield run.found(key, f"{value[key]!r}, but the exact sum gives {right!r}", _AGAIN)


@run_rule(
    "agent-amplification",
    "Retry amplification is attempts divided by logical operations",
    why="Above 1.3 a retry policy is part of the problem; the number must follow from two counts.",
    kinds=_KINDS,
)
def amplification(run: Run) -> Iterator[Problem]:
    """attempts / logical operations, of the run and of each layer, inside its interval."""
    value = run.value
    yield from _quotient(
        run.at("retry_amplification"),
        value["retry_amplification"],
        value["attempts"],
        value["logical_operations"],
    )
    for name, layer in value["retries"].items():
        at = run.at("retries", name, "amplification")
        yield from _quotient(at, layer["amplification"], layer["attempts"], layer["logical"])
    low, high = value["retry_amplification_low"], value["retry_amplification_high"]
    seen = value["retry_amplification"] if run.completed else low
    if low is not None and not low <= seen <= high:
        problem = f"{low!r} to {high!r} does not hold {seen!r}"
        yield run.found("retry_amplification_low", problem, _AGAIN)


def _quotient(pointer: str, seen: float | None, above: int, below: int) -> Iterator[Problem]:
    right = above / below if below else None
    if seen != right:
        yield Problem(pointer, f"{seen!r}, but {above} / {below} is {right!r}", _AGAIN)


@run_rule(
    "agent-percentiles",
    "p50 ≤ p95 ≤ p99 ≤ max, each as its histogram gives it",
    why="A duration that was changed, or computed by another rule, no longer fits its histogram.",
    kinds=_KINDS,
)
def percentiles(run: Run) -> Iterator[Problem]:
    """Nearest rank, upper bound of the bucket, at most the exact maximum; null without values."""
    for prefix in ("duration", "queue_wait"):
        histogram = run.histograms.get(prefix)
        if histogram is not None:
            yield from _percentiles(run.pointer, run.value, prefix, histogram)
    for name, tool in run.value["tools"].items():
        histogram = Histogram.as_recorded(tool["latency"])
        if any(histogram.problems()):
            yield Problem(run.at("tools", name, "latency"), "the histogram contradicts itself", _AGAIN)
        else:
            yield from _percentiles(run.at("tools", name), tool, "latency", histogram)


def _percentiles(
    pointer: str, value: Mapping[str, Any], prefix: str, histogram: Histogram
) -> Iterator[Problem]:
    keys = [f"{prefix}_{label}_ms" for label, _, _ in _PERCENTILES]
    for key, (_, a, b) in zip(keys, _PERCENTILES, strict=True):
        right = histogram.percentile_ns(a, b) / 1_000_000 if histogram.count else None
        if value[key] != right:
            yield Problem(f"{pointer}.{key}", f"{value[key]!r}, but its histogram gives {right!r}", _AGAIN)
    for low, high in pairwise(keys):
        if value[low] is not None and value[high] is not None and value[low] > value[high]:
            yield Problem(f"{pointer}.{low}", f"{value[low]!r} is above {high} = {value[high]!r}", _AGAIN)


@run_rule(
    "agent-first-ceiling",
    "The first ceiling is the one that was hit first",
    why="Which limit bites first is the answer of a load test.",
    kinds=_KINDS,
)
def first_ceiling(run: Run) -> Iterator[Problem]:
    """Hit at least once ⇔ has a first moment; the earliest of these is the first ceiling's; null: none."""
    found = dict(_ceilings(run.value))
    for name, one in found.items():
        if (one["hits"] == 0) != (one["first_hit_ms"] is None):
            problem = f"{name} was hit {one['hits']} times, first at {one['first_hit_ms']!r}"
            yield run.found("first_ceiling", problem, _AGAIN)
    moments = [one["first_hit_ms"] for one in found.values() if one["first_hit_ms"] is not None]
    earliest = min(moments, default=None)
    named = run.value["first_ceiling"]
    seen = None if named is None else found.get(named, {}).get("first_hit_ms")
    if seen != earliest or run.value["first_ceiling_ms"] != earliest:
        problem = (
            f"{named or 'none'} at {run.value['first_ceiling_ms']!r}, the earliest hit is at {earliest!r}"
        )
        yield run.found("first_ceiling", problem, _AGAIN)


def _ceilings(value: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "slots", value["slots"]["ceiling"]
    for kind, group in (("provider", "providers"), ("tool", "tools")):
        for name, one in value[group].items():
            for limit, ceiling in one["ceilings"].items():
                yield f"{kind}:{name}:{limit}", ceiling


@run_rule(
    "agent-headroom",
    "There is headroom exactly where there is a limit, and no moment has less than the least",
    why="Headroom announces an incident; a total, or a headroom of no limit, announces nothing.",
    kinds=_KINDS,
)
def headroom(run: Run) -> Iterator[Problem]:
    """null ⇔ no limit; no moment of the timeline is below the least (0 to 1000: the schema)."""
    tokens: list[int | None] = []
    requests: list[int | None] = []
    rates: list[int | None] = []
    for name, one in run.value["providers"].items():
        for key, limit, seen in (
            ("tokens_headroom_min_permille", "tokens", tokens),
            ("requests_headroom_min_permille", "requests", requests),
        ):
            seen.append(one[key])
            yield from _there(run.at("providers", name, key), one[key], one["ceilings"][limit])
    for name, one in run.value["tools"].items():
        rates.append(one["headroom_min_permille"])
        at = run.at("tools", name, "headroom_min_permille")
        yield from _there(at, one["headroom_min_permille"], one["ceilings"]["rate"])
    for position, seen in ((5, tokens), (6, requests), (7, rates)):
        least = min((value for value in seen if value is not None), default=None)
        rows = [row[position] for row in run.value["timeline"]["rows"] if row[position] is not None]
        if rows and (least is None or min(rows) < least):
            column = run.value["timeline"]["columns"][position]
            yield run.found("timeline", f"{column} falls to {min(rows)}, the least is {least!r}", _AGAIN)


def _there(pointer: str, seen: int | None, ceiling: Mapping[str, Any]) -> Iterator[Problem]:
    if (seen is None) != (ceiling["limit"] is None):
        yield Problem(pointer, f"headroom {seen!r} of the limit {ceiling['limit']!r}", _AGAIN)


@run_rule(
    "agent-littles-law",
    "The integral of the tasks in flight is the sum of their times in the system",
    why="Both are counted apart, event by event; they are equal or one of them is wrong.",
    kinds=_KINDS,
)
def littles_law(run: Run) -> Iterator[Problem]:
    """area = sum of times, to the nanosecond; the mean in flight is that over the length of the run."""
    law, value = run.value["littles_law"], run.value
    if law["area_ns"] != law["sojourn_ns"]:
        problem = f"{law['area_ns']} task-nanoseconds, but {law['sojourn_ns']} nanoseconds of tasks"
        yield run.found("littles_law", problem, _AGAIN)
    right = int(law["area_ns"]) / 1_000_000 / value["virtual_ms"] if value["virtual_ms"] else None
    mean = value["in_flight_mean"]
    if (mean is None) != (right is None) or (right and abs(mean - right) > 1e-9 * right):
        yield run.found("in_flight_mean", f"{mean!r}, but the integral gives {right!r}", _AGAIN)


@run_rule(
    "agent-subset",
    "The evaluated tasks are those that are listed",
    why="Quality idle and loaded is compared task by task; a task that is missing on one side is no pair.",
    kinds=_KINDS,
)
def subset(run: Run) -> Iterator[Problem]:
    """evaluated and evaluated_succeeded count the rows of evaluation; who did not finish did not succeed."""
    rows = run.value["evaluation"]
    counted = (len(rows), sum(row[2] for row in rows))
    if (run.value["evaluated"], run.value["evaluated_succeeded"]) != counted:
        yield run.found("evaluated", f"the list has {counted[0]} tasks, {counted[1]} succeeded", _AGAIN)
    for position, (left, right) in enumerate(pairwise(rows)):
        if left[0] >= right[0]:
            yield Problem(run.at("evaluation", position + 1), "the tasks are not in ascending order", _AGAIN)
    for position, row in enumerate(rows):
        if row[2] and row[1] != 0:
            yield Problem(run.at("evaluation", position), "it succeeded and did not finish", _AGAIN)
