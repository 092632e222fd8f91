"""Every suite by its name, and ``smoke``, which is all of them at their smallest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tallymark.errors import UsageError
from tallymark.suites import measure, smoke
from tallymark.suites.backlog import BACKLOG
from tallymark.suites.batches import BATCHES
from tallymark.suites.context import CONTEXT
from tallymark.suites.faults import FAULTS
from tallymark.suites.lookup import LOOKUP
from tallymark.suites.model import SuiteDefinition
from tallymark.suites.plan import Request
from tallymark.suites.progress import Reporter
from tallymark.suites.rollback import ROLLBACK
from tallymark.suites.scale import SCALE
from tallymark.suites.stability import STABILITY
from tallymark.suites.stop import Stop
from tallymark.suites.sweep import SWEEP
from tallymark.suites.waits import WAITS
from tallymark.suites.written import Written

SMOKE = "smoke"
SUITES: Mapping[str, SuiteDefinition] = MappingProxyType(
    {
        suite.name: suite
        for suite in (SCALE, BACKLOG, ROLLBACK, SWEEP, BATCHES, STABILITY, CONTEXT, FAULTS, WAITS, LOOKUP)
    }
)


def named(name: str) -> SuiteDefinition:
    """The suite called so. UsageError: there is none."""
    if name not in SUITES:
        known = ", ".join((*SUITES, SMOKE))
        raise UsageError(f"suite {name}", "there is no such suite", f"use one of {known}")
    return SUITES[name]


def asks() -> dict[str, str]:
    """Every name that ``tallymark run`` takes, with what it asks in a line."""
    return {
        **{name: suite.asks for name, suite in SUITES.items()},
        SMOKE: "Every suite, in seconds, judged on correctness alone.",
    }


def run_smoke(directory: Path, reporter: Reporter) -> tuple[Written, ...]:
    """The gate, then every suite at preset smoke into ``directory/<suite>/smoke.json``.

    ConflictError: one of the documents is there already. FindingsError: a statement does not hold.
    """
    requests = [Request(suite, preset=SMOKE) for suite in SUITES.values()]
    for request in requests:
        measure.refuse_existing(directory / request.suite.name / f"{request.label_name}.json")
    measure.require_runtime()
    with Stop() as stop:
        proof = smoke.prove(stop, reporter)
    return tuple(
        measure.run(request, directory / request.suite.name, reporter, proof=proof) for request in requests
    )
