"""One statement about the runtime that a gate proved or did not prove."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tallymark.suites.model import Json


@dataclass(frozen=True, slots=True)
class Assertion:
    """``id`` names it in the document (``smoke.drained``); ``detail`` shows the values, never a path."""

    id: str
    passed: bool
    detail: str

    def to_json(self) -> Json:
        """The entry of ``gate.assertions`` or ``gate.precheck``."""
        return {"id": self.id, "passed": self.passed, "detail": self.detail}


def failures(assertions: Iterable[Assertion]) -> tuple[Assertion, ...]:
    """Those that did not pass."""
    return tuple(assertion for assertion in assertions if not assertion.passed)
