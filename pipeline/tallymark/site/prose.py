"""Sentences that the tables stage has filled from the data, with the reference of each number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark.printable import printable as visible
from tallymark.site.shown import Sentence, Shown


def sentence(value: Mapping[str, Any]) -> Sentence:
    """A sentence of a report: ``{"parts": [{"text", "from"?}]}``."""
    return tuple(Shown(visible(part["text"]), part.get("from", "")) for part in value["parts"])
