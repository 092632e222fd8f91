"""The proof of work recomputed here from the documented formulas, without a line of the runtime's code.

rt_random.h: ``at(seed, i)`` is the i-th number of splitmix64 (Steele, Lea, Flood 2014). rt_context_store.h:
byte o of the context is byte o % 8 (little endian) of ``at(seed, o // 8)``. Benchmark version 1 has seed 1.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.runtime import run

SEED = 1
MASK = (1 << 64) - 1
TASKS, PROBES, CONTEXT_BYTES, AGENTS = 53, 7, 1003, 10
INSTRUCTION = (
    "You hold this role for one task. Use only the shared context, quote the passage that you rely on, "
    "say so when the context does not answer, and stop after one paragraph."
)


def mix(value: int) -> int:
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


def at(seed: int, counter: int) -> int:
    return mix((seed + (counter + 1) * 0x9E3779B97F4A7C15) & MASK)


def context() -> bytes:
    words = b"".join(at(SEED, i).to_bytes(8, "little") for i in range(CONTEXT_BYTES // 8 + 1))
    return words[:CONTEXT_BYTES]


def offset(task: int, probe: int) -> int:
    value = (mix((task + 0x5851F42D4C957F2D) & MASK) + probe * 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ value >> 32) * 0xD6E8FEB86659FD93) & MASK
    return value * CONTEXT_BYTES >> 64


def probe_checksum() -> int:
    buffer, total = context(), 0
    for task in range(TASKS):
        read = 1
        for probe in range(PROBES):
            read = (read * 31 + buffer[offset(task, probe)]) & MASK
        total += mix((read + mix(task)) & MASK)
    return total & MASK


def context_checksum() -> int:
    buffer = context()
    total = len(buffer)
    padded = buffer + bytes(8 - len(buffer) % 8)
    for i in range(0, len(padded), 8):
        total ^= int.from_bytes(padded[i : i + 8], "little")
        total = ((total << 29 | total >> 35) & MASK) * 0x9FB21C651E98DF25 & MASK
    return total


def prompt_bytes() -> int:
    """Of every task: ``[role-N] instruction``, a newline, and the task's own text."""
    total = 0
    for task in range(TASKS):
        role = at(~SEED & MASK, task) * AGENTS >> 64
        text = f"Task {task}: probe the shared context and report the sum of what you read."
        total += len(f"[role-{role}] {INSTRUCTION}\n{text}")
    return total


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return run(tasks=TASKS, probes=PROBES, context_bytes=CONTEXT_BYTES, agents=AGENTS, output_bytes=5)


def test_the_probes_read_what_the_formula_says(record: dict[str, Any]) -> None:
    assert record["checks"]["probe_checksum"] == f"{probe_checksum():016x}"
    assert record["checks"]["probe_checksum_expected"] == f"{probe_checksum():016x}"


def test_the_context_holds_what_the_formula_says(record: dict[str, Any]) -> None:
    assert record["checks"]["context_checksum"] == f"{context_checksum():016x}"
    assert record["checks"]["context_checksum_expected"] == f"{context_checksum():016x}"


def test_the_prompts_are_as_long_as_their_parts(record: dict[str, Any]) -> None:
    assert record["prompt_bytes"] == prompt_bytes()
    assert record["checks"]["prompt_bytes_expected"] == prompt_bytes()


def test_the_work_does_not_depend_on_the_workers() -> None:
    fixed = {"tasks": TASKS, "probes": PROBES, "context_bytes": CONTEXT_BYTES, "agents": AGENTS}
    sums = {run(**fixed, workers=workers)["checks"]["probe_checksum"] for workers in (1, 2, 16)}
    assert sums == {f"{probe_checksum():016x}"}
