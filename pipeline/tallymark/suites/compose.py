"""The document of a suite: put together from what was finished, written once, then checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tallymark.check import Finding, check_document
from tallymark.evidence import canonical, documents
from tallymark.suites.model import COMPLETED, NO_VARIANT, SCHEMA, Json, Plan, PlannedRun
from tallymark.suites.session import Section, Session, entries, header
from tallymark.suites.stamp import utc_now


def document(session: Session, finished_at: str) -> Json:
    """The execution as evidence: complete only when every planned run has its record.

    A run that was cut short (by Ctrl-C, or because its suite died) stands in it with what is known of it;
    once it was made again, the attempt is listed under ``interruptions``.
    """
    execution = session.execution
    interruptions = [_interruption(section, run) for section, run in session.superseded]
    return {
        "schema": SCHEMA,
        "execution": {
            **{key: execution[key] for key in ("id", "suite", "label", "started_at")},
            "finished_at": finished_at,
            **{key: execution[key] for key in ("seed", "command", "tool_version")},
            "complete": session.complete,
            **{key: execution[key] for key in ("warmup_runs", "repetitions")},
            "plan": [planned.to_json() for planned in session.plan.runs],
            **({"interruptions": interruptions} if interruptions else {}),
            **({"ab": execution["ab"]} if "ab" in execution else {}),
        },
        "manifest": session.manifest,
        "gate": session.gate,
        "warmups": _records(session, "warmups", session.plan.warmups),
        "runs": _records(session, "runs", session.plan.runs),
    }


def _interruption(section: Section, run: Json) -> Json:
    """An attempt that gave way to a later one: it is not counted, and not forgotten."""
    kept = ("index", "run_id", "started_at", "outcome", "phase", "cause")
    return {"section": section, **{key: run[key] for key in kept}}


def _records(session: Session, section: Section, planned: Iterable[PlannedRun]) -> list[Json]:
    known = {**session.cut_short, **session.finished}
    places = ((section, run.index) for run in planned)
    return [known[place] for place in places if place in known]


def unexpected(session: Session) -> tuple[str, ...]:
    """A line for each run that ended as it was not meant to: it is in the document; the user must hear it.

    A run that was meant to fail and completed is such a run too: what it was to prove is not proved.
    """
    lines = []
    for section, planned in entries(session.plan):
        place = (section, planned.index)
        run = session.finished.get(place)
        if place in session.cut_short:
            lines.append(_surprise(section, planned, session.cut_short[place]))
        elif run is not None and run["outcome"] not in planned.expected:
            lines.append(_surprise(section, planned, run))
    return tuple(lines)


def _surprise(section: Section, planned: PlannedRun, run: Json) -> str:
    name = f"{'warm-up' if section == 'warmups' else 'run'} {planned.index}"
    if planned.configuration.variant != NO_VARIANT:
        name += f" ({planned.configuration.variant})"
    ended = f"{name}: {run['outcome']} in phase {run['phase']}"
    meant = "" if planned.expected == COMPLETED else f", expected {' or '.join(planned.expected)}"
    return f"{ended}{meant}" if run["cause"] is None else f"{ended}: {run['cause']}{meant}"


def write(value: Json, target: Path) -> tuple[Finding, ...]:
    """Write the document, which must not exist yet, and check it as anybody would: from its bytes.

    ConflictError: the file is there. UsageError: it cannot be written.
    """
    canonical.write_new(target, canonical.encode(value))
    return check_document(documents.load(target))


def around(plan: Plan, planned: PlannedRun, manifest: Json, gate: Json, run: Json) -> Json:
    """A document that holds one run of its own plan: what the pre-check shows to the schema."""
    alone = replace(plan, repetitions=1, warmups=(), runs=(planned,))
    execution = header(alone)["execution"]
    assert isinstance(execution, dict)
    session = Session(
        execution=execution,
        plan=alone,
        manifest=manifest,
        gate=gate,
        finished={("runs", planned.index): run},
        cut_short={},
        superseded=(),
        open_attempt=None,
        last_at=utc_now(),
    )
    return document(session, utc_now())
