"""The smoke gate: is the work done, once, and counted right? Seconds, and no threshold on speed.

A few small runs with the options pulled to their ends go through the same child processes as measured runs;
``statements`` says what their records must show.
"""

from __future__ import annotations

from dataclasses import dataclass

from tallymark.suites import statements
from tallymark.suites.assertion import Assertion, require_all
from tallymark.suites.child import COMMAND, Command, Finished, Refused, describe
from tallymark.suites.launch import run_once
from tallymark.suites.model import Json, PlannedRun, Scalar, fixture
from tallymark.suites.progress import Reporter
from tallymark.suites.stamp import new_id, utc_now
from tallymark.suites.statements import Sample
from tallymark.suites.stop import Stop

BASE = fixture("smoke", tasks=1000, context_bytes=1 << 20, sampler_interval_ms=1)

# name → what differs from the base. Together: one and many workers, one and many roles, no and many probes,
# a history of nothing, of few and of few bytes, a queue that must reject, more tasks than the window, every
# way to submit, tasks that fail, are slow, are cancelled, yield and wait, and every other workload.
VARIANTS: dict[str, dict[str, Scalar]] = {
    "plain": {},
    "again": {},
    "one of everything": {
        "agents": 1,
        "tasks": 1,
        "workers": 1,
        "aux_workers": 0,
        "probes": 1,
        "window": 1,
        "queue_limit": 1,
        "max_active": 1,
    },
    "many roles": {"agents": 10_000, "tasks": 5000, "workers": 4},
    "short history": {"history_limit_tasks": 3, "output_bytes": 100, "tasks": 2000},
    "history of few bytes": {"history_limit_bytes": 1000, "output_bytes": 300},
    "no history": {"history_limit_tasks": 0, "history_limit_bytes": 0, "output_bytes": 0, "probes": 0},
    "full queue": {"queue_limit": 8, "window": 512, "tasks": 4000, "workers": 2},
    "held": {"submission": "held", "window": 0, "priorities": 4},
    "batches": {"batches": 5, "access_pattern": "hot"},
    "faults in an open loop": {
        "submission": "poisson",
        "window": 0,
        "rate_per_s": 20_000,
        "fail_permille": 50,
        "slow_permille": 20,
        "slow_us": 500,
        "cancel_permille": 50,
        "tenants": 3,
    },
    "rollbacks while tasks run": {"snapshot": "running", "rollbacks": 5, "rewrite_permille": 200},
    "large context": {
        "workload": "context",
        "tasks": 1,
        "workers": 1,
        "aux_workers": 0,
        "context_bytes": 2 << 20,
        "rewrite_permille": 100,
    },
    "role index": {"workload": "lookup", "workers": 1, "aux_workers": 0},
    "yields and waits": {
        "tasks": 500,
        "workers": 2,
        "priorities": 3,
        "task_stack": "pooled",
        "stack_bytes": 65536,
        "max_suspended": 100,
        "yields": 2,
        "wait_mode": "yielding",
        "wait_us": 200,
        "wait_distribution": "exponential",
    },
}
REJECTING = "full queue"
REPEATED = ("plain", "again")

# what the runtime must refuse, with a status and a sentence, before it does anything
REFUSED: dict[str, dict[str, Scalar]] = {
    "0 roles": {"agents": 0},
    "0 tasks": {"tasks": 0},
    "1025 workers": {"workers": 1025},
}


@dataclass(frozen=True, slots=True)
class Proof:
    """A smoke gate that passed: when it began, and each statement with what was seen."""

    started_at: str
    assertions: tuple[Assertion, ...]

    def to_json(self) -> Json:
        """The ``gate`` of a document, before its pre-check is known."""
        return {
            "suite": "smoke",
            "passed": True,
            "started_at": self.started_at,
            "assertions": [assertion.to_json() for assertion in self.assertions],
            "precheck": [],
        }


def prove(stop: Stop, reporter: Reporter, command: Command = COMMAND) -> Proof:
    """Run the gate on the runtime that ``command`` starts.

    FindingsError: a statement does not hold. StoppedError: the user stopped it.
    """
    started_at = utc_now()
    assertions = judged(stop, command)
    require_all(assertions, reporter)
    return Proof(started_at, assertions)


def judged(stop: Stop, command: Command = COMMAND) -> tuple[Assertion, ...]:
    """Make all smoke runs and judge them, whatever comes out. StoppedError: the user stopped it."""
    samples, silent = _samples(stop, command)
    refusals = tuple(_refusal(name, values, stop, command) for name, values in REFUSED.items())
    ran = Assertion(
        "smoke.ran",
        not silent,
        "; ".join(silent) or f"{len(samples)} runs gave a record: {', '.join(VARIANTS)}",
    )
    if silent:
        return ran, *refusals
    return (
        ran,
        *statements.judge(samples),
        statements.rejected(samples[list(VARIANTS).index(REJECTING)]),
        statements.repeated(*(samples[list(VARIANTS).index(name)] for name in REPEATED)),
        *refusals,
    )


def _samples(stop: Stop, command: Command) -> tuple[list[Sample], list[str]]:
    """The runs that have a record, and a line for each that has none."""
    samples, silent = [], []
    for index, (name, values) in enumerate(VARIANTS.items()):
        planned = PlannedRun(index, 1, BASE.with_values(values))
        end = run_once(planned, new_id(), stop, command=command)
        stop.check("smoke")
        if isinstance(end, Finished):
            outcome = "overloaded" if name == REJECTING else "completed"
            samples.append(Sample(name, planned.configuration, end.run, outcome))
        else:
            silent.append(f"{name}: {describe(end)}")
    return samples, silent


def _refusal(name: str, values: dict[str, Scalar], stop: Stop, command: Command) -> Assertion:
    end = run_once(PlannedRun(0, 1, BASE.with_values(values)), new_id(), stop, command=command)
    stop.check("smoke")
    passed = isinstance(end, Refused) and bool(end.status) and bool(end.message)
    return Assertion(f"smoke.refuses_{'_'.join(name.split())}", passed, describe(end))
