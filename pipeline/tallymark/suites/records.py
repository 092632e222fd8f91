"""The record of a run whose process ended before it could write one: what is known, and who says so."""

from __future__ import annotations

from tallymark.suites import host
from tallymark.suites.child import Died
from tallymark.suites.model import Json
from tallymark.suites.session import Attempt

# the counts of a progress line that a record may keep; whatever was never told is absent, not 0
COUNTS = (
    "tasks_submitted",
    "tasks_admitted",
    "tasks_completed",
    "tasks_failed",
    "tasks_cancelled",
    "tasks_timed_out",
    "tasks_rejected",
)
FIRST_PHASE = "setup"


def of_death(attempt: Attempt, died: Died) -> Json:
    """The record of a child that died while the suite watched it."""
    return _record(attempt, died.outcome, died.cause, died.last)


def of_failure(attempt: Attempt, cause: str) -> Json:
    """The record of a run that never got as far as a record of its own, although its child ended well."""
    return _record(attempt, "failed", cause, {})


def of_loss(attempt: Attempt) -> Json:
    """The record of a run whose suite itself went down; the cause is as much as the machine still tells."""
    return _record(attempt, "killed", host.why_lost(attempt.host), attempt.progress)


def _record(attempt: Attempt, outcome: str, cause: str, last: Json) -> Json:
    phase = last.get("phase", FIRST_PHASE)
    return {
        "index": attempt.planned.index,
        "repetition": attempt.planned.repetition,
        "run_id": attempt.run_id,
        "started_at": attempt.at,
        "recorded_by": "parent",
        **attempt.planned.configuration.to_json(),
        "outcome": outcome,
        "phase": phase,
        "cause": cause,
        **{name: last[name] for name in COUNTS if name in last},
    }
