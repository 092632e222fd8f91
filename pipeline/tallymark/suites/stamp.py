"""Names and times that a suite gives out: UTC to the second, identifiers of 16 hex digits."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


def utc_now() -> str:
    """Now, as every document writes time: ``YYYY-MM-DDTHH:MM:SSZ``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_id() -> str:
    """16 lower-case hex digits that no other execution or run has."""
    return secrets.token_hex(8)
