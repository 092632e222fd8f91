"""Simulated evidence for tests: the example of ``agent-execution/1.0``, cut down to what a test needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tallymark.evidence.canonical import compact, sha256_hex

EXAMPLE = Path(__file__).parents[2] / "schemas" / "agent-execution" / "examples" / "small.json"
Document = dict[str, Any]


def loaded_run() -> Document:
    """One loaded run with cold caches: it met ceilings, retried and was degraded; three moments of it."""
    document: Document = json.loads(EXAMPLE.read_bytes())
    run = document["runs"][2]
    document["runs"], document["execution"]["plan"] = [run], [document["execution"]["plan"][2]]
    document["execution"]["host"]["runs"] = document["execution"]["host"]["runs"][2:3]
    for holder in (run, document["execution"]["plan"][0], document["execution"]["host"]["runs"][0]):
        holder["index"] = 0
    for series in ("timeline", "buckets"):
        run[series]["rows"] = run[series]["rows"][:3]
    run["timeline"]["samples"] = 3
    return document


def renamed(document: Document, scenario: dict[str, Any]) -> None:
    """Put a scenario into the document and its digest everywhere."""
    document["scenario"] = scenario
    digest = sha256_hex(compact(scenario).encode("utf-8"))
    document["scenario_sha256"] = digest
    for run, entry in zip(document["runs"], document["execution"]["plan"], strict=True):
        run["scenario_sha256"] = entry["configuration"]["scenario_sha256"] = digest
