"""One statement about the runtime that a gate proved or did not prove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tallymark.errors import FindingsError
from tallymark.suites.model import Json
from tallymark.suites.progress import Reporter


@dataclass(frozen=True, slots=True)
class Assertion:
    """``id`` names it in the document (``smoke.drained``); ``detail`` shows the values, never a path."""

    id: str
    passed: bool
    detail: str

    def to_json(self) -> Json:
        """The entry of ``gate.assertions`` or ``gate.precheck``."""
        return {"id": self.id, "passed": self.passed, "detail": self.detail}


def require_all(assertions: Iterable[Assertion], reporter: Reporter) -> None:
    """Say each of them. FindingsError: one did not pass, so that nothing is measured."""
    failed = []
    for assertion in assertions:
        reporter.say(f"{assertion.id}: {'passed' if assertion.passed else 'FAILED'}: {assertion.detail}")
        if not assertion.passed:
            failed.append(assertion)
    if failed:
        raise FindingsError(
            failed[0].id,
            f"does not hold: {failed[0].detail}",
            "Nothing was measured; the runtime or its build is broken, so run its own tests",
        )
