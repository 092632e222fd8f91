"""A document of ``agent-execution/1.0``: plan, scenario, every run, and apart from them the machine."""

from __future__ import annotations

import json
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from tallymark import __version__
from tallymark.agentload import measures, subset
from tallymark.agentload.scenario import Scenario
from tallymark.agentload.simulate import Planned, Simulated
from tallymark.runtime import Run, RunOptions
from tallymark.runtime.simulator import digest

SCHEMA: Final = "agent-execution/1.0"
# settings that are configuration keys of their own; any other one is named in ``variant``
_KEYS: Final = ("arrival.rate_per_min", "run.tasks", "slots.workers", "run.context_factor_permille", "seed")
ASSUMPTIONS: Final = (
    "Everything here is simulated in virtual time; nothing was sent to a provider or a tool.",
    "The tool calls of a step run one after another, and the last step of a task calls no tool.",
    "The prompt of a step holds the whole transcript so far: the tokens of a task grow with the square of its"
    " steps.",
    "Quotas are buckets that hold one minute and are refilled continuously; who waits is served in order.",
    "A retry of a layer repeats the operation that failed, not the whole task.",
    "The transcript of a task leaves the prefix cache when the task ends; shared prefixes stay until"
    " their room is needed.",
    "Success is drawn from the probability of the class, lowered once by each degradation that a task meets.",
    "Idle is one task after another, of the same tasks, without the scenario's events.",
)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for. ``scenario`` is without the settings that vary between the runs."""

    scenario: Scenario
    label: str
    file: str
    texts: tuple[str, ...]
    seed: int | None
    verb: str = "simulate"

    @property
    def suite(self) -> str:
        """The suite of the evidence."""
        return f"agent-{self.scenario.name}"

    @property
    def command(self) -> str:
        """The call that makes the document again."""
        words = ["tallymark", "load", self.verb, self.file, "--label", self.label]
        words += [] if self.seed is None else ["--seed", str(self.seed)]
        return shlex.join(words + [f"--set={text}" for text in self.texts])


def utc_now() -> str:
    """Now, as every document writes time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def configuration(plan: Planned, base: Scenario) -> Json:
    """The configuration of a planned run."""
    varied = [f"{key}={json.dumps(value)}" for key, value in plan.varied if key not in _KEYS]
    return measures.configuration(
        plan.scenario, plan.choice, base.sha256, ",".join(varied) or measures.NO_VARIANT
    )


def document(
    request: Request, plan: Sequence[Planned], done: Sequence[Simulated], started_at: str, finished_at: str
) -> Json:
    """The whole document; ``runs`` depends on the scenario and its seed alone."""
    base = request.scenario
    configurations = [configuration(one, base) for one in plan]
    return {
        "schema": SCHEMA,
        "execution": {
            "id": secrets.token_hex(8),
            "suite": request.suite,
            "label": request.label,
            "started_at": started_at,
            "finished_at": finished_at,
            "seed": base.seed,
            "command": request.command,
            "tool_version": __version__,
            "complete": len(done) == len(plan) and not any(one.stopped for one in done),
            "warmup_runs": 0,
            "repetitions": 1,
            "plan": [
                {"index": index, "repetition": 1, "configuration": config}
                for index, config in enumerate(configurations)
            ],
            "host": _host(done),
        },
        "scenario": dict(base.declared),
        "scenario_sha256": base.sha256,
        "assumptions": [*ASSUMPTIONS, *base.assumptions],
        "unknown_limits": list(base.unknown_limits),
        "gate": None,
        "warmups": [],
        "runs": runs(base, configurations, done),
    }


def runs(base: Scenario, configurations: Sequence[Json], done: Sequence[Simulated]) -> list[Json]:
    """The runs of a document: nothing in them depends on the machine or the time."""
    subsets = [
        {**config, "outcome": one.record["outcome"], "evaluation": one.record["evaluation"]}
        for config, one in zip(configurations, done, strict=False)
    ]
    compared = subset.compared(subsets, base.evaluation)
    return [
        measures.run(index, configurations[index], one.scenario, one.record, compared[index])
        for index, one in enumerate(done)
    ]


def _host(done: Sequence[Simulated]) -> Json:
    options = RunOptions(suite="manifest", agents=1, tasks=1, workers=1, aux_workers=0, context_bytes=4096)
    with Run(options) as machine:
        manifest = json.loads(machine.manifest())
    return {
        "manifest": manifest,
        "simulator_digest": digest(),
        "runs": [
            {
                "index": index,
                "cpu_ms": one.figures.cpu_ns / 1_000_000,
                "rss_anon_growth_bytes": one.figures.rss_anon_growth_bytes,
                "bytes_of_a_task": one.figures.bytes_of_a_task,
                "event_pops": one.figures.pops,
            }
            for index, one in enumerate(done)
        ],
    }
