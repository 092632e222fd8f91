"""What ``support.rule_files`` writes for the rules about simulated runs of an agent system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support import agents
from support.agents import loaded_run
from support.whole_rule_files import both, of_run, same

Document = dict[str, Any]
Change = Callable[[Document], None]


def titled(document: Document) -> None:
    """The scenario has another title; nothing else follows."""
    document["scenario"]["title"] = "Another one"


def retitled(document: Document) -> None:
    """The scenario has another title, and everything follows."""
    agents.renamed(document, document["scenario"] | {"title": "Another one"})


def misshapen(document: Document) -> None:
    """A scenario that is none, with its own digest."""
    agents.renamed(document, document["scenario"] | {"run": {"tasks": 24}})


def other_digest(document: Document) -> None:
    """The run and its plan entry name another scenario than the document."""
    for holder in (document["runs"][0], document["execution"]["plan"][0]["configuration"]):
        holder["scenario_sha256"] = "0" * 64


def more(*path: str, by: Any = 1) -> Change:
    """Add to a number of the run."""

    def change(document: Document) -> None:
        holder: Any = document["runs"][0]
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] += by

    return change


def moment(column: int, to: Any) -> Change:
    """Set one value of the first row of the timeline."""
    return of_run("timeline", "rows", 0, column, to=to)


def turned(document: Document) -> None:
    """The first two tasks of the subset change their places."""
    rows = document["runs"][0]["evaluation"]
    rows[0], rows[1] = rows[1], rows[0]


FILES: dict[str, dict[str, tuple[Callable[[], Document], Change]]] = {
    "agent-scenario": {
        "pass": (loaded_run, retitled),
        "fail-title": (loaded_run, titled),
        "fail-shape": (loaded_run, misshapen),
        "fail-run": (loaded_run, other_digest),
    },
    "agent-tasks": {
        "pass": (loaded_run, same),
        "fail-lost": (loaded_run, more("tasks_arrived")),
        "fail-left": (loaded_run, both(more("tasks_arrived"), more("tasks_unfinished"))),
        "fail-reason": (loaded_run, more("failures", "refused")),
        "fail-class": (loaded_run, more("classes", "short", "finished")),
    },
    "agent-calls": {
        "pass": (loaded_run, both(more("tools", "crm", "ok", by=-1), more("tools", "crm", "errors"))),
        "fail-lost": (loaded_run, more("tools", "crm", "throttled_429")),
        "fail-attempts": (
            loaded_run,
            both(more("providers", "vendor", "calls"), more("providers", "vendor", "ok")),
        ),
    },
    "agent-conservation": {
        "pass": (loaded_run, same),
        "fail-token": (loaded_run, of_run("conservation", "tokens_output", "by_task", to="1")),
        "fail-provider": (loaded_run, more("providers", "vendor", "tokens_wasted")),
    },
    "agent-money": {
        "pass": (loaded_run, same),
        "fail-total": (loaded_run, more("usd_total", by=1.0)),
        "fail-task": (loaded_run, more("usd_per_task", by=0.001)),
    },
    "agent-amplification": {
        "pass": (loaded_run, same),
        "fail-run": (loaded_run, of_run("retry_amplification", to=1.0)),
        "fail-layer": (loaded_run, more("retries", "tool", "amplification", by=0.5)),
        "fail-interval": (loaded_run, of_run("retry_amplification_low", to=9.0)),
    },
    "agent-percentiles": {
        "pass": (loaded_run, same),
        "fail-duration": (loaded_run, of_run("duration_p95_ms", to=1.0)),
        "fail-tool": (loaded_run, more("tools", "crm", "latency_p50_ms", by=1.0)),
    },
    "agent-first-ceiling": {
        "pass": (loaded_run, of_run("slots", "ceiling", "waited_ms", to=0.0)),
        "fail-name": (loaded_run, of_run("first_ceiling", to="provider:vendor:kv")),
        "fail-never": (loaded_run, of_run("slots", "ceiling", "hits", to=0)),
        "fail-moment": (loaded_run, more("first_ceiling_ms", by=1.0)),
    },
    "agent-headroom": {
        "pass": (loaded_run, moment(5, 1000)),
        "fail-moment": (loaded_run, moment(7, 0)),
        "fail-limit": (loaded_run, of_run("providers", "vendor", "requests_headroom_min_permille", to=7)),
    },
    "agent-littles-law": {
        "pass": (loaded_run, same),
        "fail-area": (loaded_run, of_run("littles_law", "sojourn_ns", to="1")),
        "fail-mean": (loaded_run, more("in_flight_mean", by=0.001)),
    },
    "agent-subset": {
        "pass": (loaded_run, same),
        "fail-count": (loaded_run, more("evaluated")),
        "fail-order": (loaded_run, turned),
        "fail-failed": (loaded_run, both(of_run("evaluation", 0, 1, to=1), of_run("evaluation", 0, 2, to=1))),
    },
}  # fmt: skip
