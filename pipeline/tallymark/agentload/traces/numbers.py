"""Numbers and times in the texts of foreign files, exact: no float between a text and its nanoseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from tallymark.agentload.traces.entry import MOST_NS, MOST_TOKENS, shown
from tallymark.errors import FindingsError

_WHOLE: Final = re.compile(r"-?[0-9]{1,20}(\.0{1,9})?", re.ASCII)
_DECIMAL: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,12})?", re.ASCII)
_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\s?(Z|UTC|[+-]\d\d:?\d\d)?", re.ASCII
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DO: Final = "correct the value or remove the row"


def whole(text: str, where: str, most: int = MOST_TOKENS) -> int:
    """A whole number from 0 on; ``12.0`` is one. FindingsError: it is none, negative or too large."""
    if not _WHOLE.fullmatch(text.strip()):
        raise FindingsError(where, f"{shown(text)} is no whole number", _DO)
    value = int(text.strip().partition(".")[0])
    if value < 0:
        raise FindingsError(where, f"{value} is negative", _DO)
    if value > most:
        raise FindingsError(where, f"{value} is above {most}", _DO)
    return value


def duration_ns(text: str, where: str, unit_ns: int, most_ns: int = MOST_NS) -> int:
    """A time of ``unit_ns`` each, as whole nanoseconds. FindingsError: no number, negative or too long."""
    if not _DECIMAL.fullmatch(text.strip()):
        raise FindingsError(where, f"{shown(text)} is no number", _DO)
    value = int((Decimal(text.strip()) * unit_ns).to_integral_value())
    if value < 0:
        raise FindingsError(where, f"{text.strip()} is negative", _DO)
    if value > most_ns:
        raise FindingsError(where, f"{text.strip()} is too long a time", _DO)
    return value


def clock_ns(text: str, where: str) -> int:
    """Nanoseconds since 1970 of an ISO 8601 time with up to nine decimals; without a zone it is UTC.

    FindingsError: it is no such time.
    """
    match = _TIME.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        zone = match.group(4) or "Z"
        base = datetime.fromisoformat(f"{match.group(1)}T{match.group(2)}{'Z' if zone == 'UTC' else zone}")
    except ValueError:
        raise FindingsError(
            where, f"{shown(text)} is no time", "write it as 2026-01-31T12:00:00.5Z"
        ) from None
    past = base - _EPOCH
    return (past.days * 86_400 + past.seconds) * 10**9 + int((match.group(3) or "").ljust(9, "0"))


def clock_text(ns: int) -> str:
    """The UTC time of nanoseconds since 1970: ``2023-11-16T18:17:03.979960000Z``."""
    seconds, rest = divmod(ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
