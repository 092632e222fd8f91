"""Rules about the shared context and the role index: what was rolled back, moved and looked up is right."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from tallymark.check.rule import RERUN, Problem, Run, run_rule

_CHUNK_BYTES: Final = 65536
_RELATIVE: Final = 1e-9
_STEP_MS: Final = 1e-6
_PARTS: Final = ("load", "overview", "snapshot", "rewrite", "rollback", "serialise", "spill", "restore")
_PASSED: Final = "the context is not what it was"


def _share(run: Run) -> int:
    """Chunks that `rewrite_permille` of the context are, rounded up."""
    chunks: int = -(-run.value["context_bytes"] // _CHUNK_BYTES)
    permille: int = run.value["rewrite_permille"]
    return -(-chunks * permille // 1000)


@run_rule(
    "rollback-proved",
    "After every roll back the context is what it was",
    why="A roll back that leaves one byte behind is fast; the checksum over the whole context proves that "
    "none is.",
)
def rollback_proved(run: Run) -> Iterator[Problem]:
    """Checksum before = after, no mismatch; cycles and share as configured, timed; copied ≤ rewritten."""
    found: dict[str, Any] | None = run.value.get("rollback")
    if found is None or not run.completed:
        return
    if found["checksum_before"] != found["checksum_after"]:
        problem = f"{found['checksum_after']} instead of {found['checksum_before']}: {_PASSED}"
        yield Problem(run.at("rollback", "checksum_after"), problem, RERUN)
    if found["mismatches"]:
        yield Problem(run.at("rollback", "mismatches"), f"{found['mismatches']} chunks: {_PASSED}", RERUN)
    if found["cycles"] != run.value["rollbacks"]:
        problem = f"{found['cycles']} cycles of {run.value['rollbacks']} that were planned"
        yield Problem(run.at("rollback", "cycles"), problem, RERUN)
    if found["chunks_rewritten"] != found["cycles"] * _share(run):
        problem = f"{found['chunks_rewritten']}, but each of {found['cycles']} cycles rewrites {_share(run)}"
        yield Problem(run.at("rollback", "chunks_rewritten"), problem, RERUN)
    limits = (
        ("cycles_while_tasks_ran", found["cycles"] if run.value["snapshot"] == "running" else 0),
        ("bytes_copied", found["chunks_rewritten"] * _CHUNK_BYTES),
    )
    for key, limit in limits:
        if found[key] > limit:
            yield Problem(run.at("rollback", key), f"{found[key]} is above the possible {limit}", RERUN)
    for stage in ("snapshot", "rollback"):
        histogram = run.histograms.get(stage)
        if histogram is not None and histogram.sample_every == 1 and histogram.count != found["cycles"]:
            problem = f"{histogram.count} values for {found['cycles']} cycles"
            yield Problem(run.at("histograms", stage, "count"), problem, RERUN)


@run_rule(
    "context-proved",
    "The context survives rewriting, rolling back and the COLD tier unchanged",
    why="Each step is only worth its time if the content is the same afterwards, and the multiple of memory "
    "only if both numbers are of this run.",
)
def context_proved(run: Run) -> Iterator[Problem]:
    """All checksums are the expected one; sizes, share, overview and multiple fit, steps into the run."""
    found: dict[str, Any] | None = run.value.get("context")
    if found is None or not run.completed:
        return
    for key in ("checksum", "checksum_after_rollback", "checksum_restored"):
        if found[key] != found["checksum_expected"]:
            problem = f"{found[key]} instead of {found['checksum_expected']}: {_PASSED}"
            yield Problem(run.at("context", key), problem, RERUN)
    yield from _sizes(run, found)
    peak, multiple = found["peak_rss_bytes"], found["peak_over_canonical"]
    size = found["canonical_bytes"]
    if (peak is None) != (multiple is None) or (
        peak is not None and size and not math.isclose(multiple, peak / size, rel_tol=_RELATIVE)
    ):
        problem = f"{multiple!r}, but {peak} bytes at the peak for {size}"
        yield Problem(run.at("context", "peak_over_canonical"), problem, RERUN)
    spent = math.fsum(found[f"{part}_ms"] for part in _PARTS)
    if spent > run.value["elapsed_ms"] * (1 + _RELATIVE) + len(_PARTS) * _STEP_MS:
        problem = f"the steps took {spent!r} ms, the whole run {run.value['elapsed_ms']!r}"
        yield Problem(run.at("context"), problem, RERUN)


def _sizes(run: Run, found: dict[str, Any]) -> Iterator[Problem]:
    """Size and share are the configured ones, the overview is bounded, what is not shared was rewritten."""
    size, chunks = found["canonical_bytes"], found["chunks"]
    if size != run.value["context_bytes"]:
        problem = f"{size} instead of context_bytes = {run.value['context_bytes']}"
        yield Problem(run.at("context", "canonical_bytes"), problem, RERUN)
    if chunks != -(-size // _CHUNK_BYTES):
        yield Problem(run.at("context", "chunks"), f"{chunks} chunks for {size} bytes", RERUN)
    if found["overview_bytes"] > run.value["overview_bytes"]:
        problem = f"{found['overview_bytes']} is above {run.value['overview_bytes']}"
        yield Problem(run.at("context", "overview_bytes"), problem, RERUN)
    rewritten = found["chunks_rewritten"]
    if rewritten != _share(run):
        yield Problem(run.at("context", "chunks_rewritten"), f"{rewritten} instead of {_share(run)}", RERUN)
    if found["chunks_shared"] != chunks - rewritten:
        problem = f"{found['chunks_shared']} of {chunks} with {rewritten} rewritten"
        yield Problem(run.at("context", "chunks_shared"), problem, RERUN)
    if (found["checksum_rewritten"] != found["checksum"]) != (rewritten > 0):
        problem = f"{found['checksum_rewritten']} after {rewritten} rewritten chunks"
        yield Problem(run.at("context", "checksum_rewritten"), problem, RERUN)


@run_rule(
    "lookup-answers",
    "Every lookup found what is there and nothing else",
    why="An index that answers wrongly is faster than any other.",
)
def lookup_answers(run: Run) -> Iterator[Problem]:
    """wrong = 0; answers = lookups; roles = agents; costs follow from totals; p50 ≤ p99; mean ≤ longest."""
    found: dict[str, Any] | None = run.value.get("lookup")
    if found is None or not run.completed:
        return
    equal = (
        ("wrong", found["wrong"], 0),
        ("roles", found["roles"], run.value["agents"]),
        ("found", found["found"] + found["not_found"], run.value["tasks_completed"]),
        ("found", found["found"] - found["not_found"], run.value["tasks_completed"] % 2),
        ("removed", found["removed"], found["roles"] // 2),
        ("found_after_removal", found["found_after_removal"], found["found"]),
        ("not_found_after_removal", found["not_found_after_removal"], found["not_found"]),
    )
    for key, value, right in equal:
        if value != right:
            yield Problem(run.at("lookup", key), f"{value} instead of {right}", RERUN)
            return
    right_cost = found["build_ms"] * 1e6 / found["roles"]
    cost = found["build_ns_per_role"]
    if cost is None or not math.isclose(cost, right_cost, rel_tol=_RELATIVE, abs_tol=1 / found["roles"]):
        problem = f"{cost!r}, but the total gives {right_cost!r}"
        yield Problem(run.at("lookup", "build_ns_per_role"), problem, RERUN)
    for end in ("", "_after_removal"):
        mean, longest = found[f"mean_probe{end}"], found[f"longest_probe{end}"]
        if mean is not None and not 1 <= mean <= longest <= found["roles"]:
            problem = f"{mean!r} with a longest of {longest}"
            yield Problem(run.at("lookup", f"mean_probe{end}"), problem, RERUN)
    if found["collisions"] >= found["roles"]:
        problem = f"{found['collisions']} of {found['roles']} roles"
        yield Problem(run.at("lookup", "collisions"), problem, RERUN)
    yield from _lookup_percentiles(run, found)


def _lookup_percentiles(run: Run, found: dict[str, Any]) -> Iterator[Problem]:
    """The percentiles of hits and misses are those of their histograms, as far as these are recorded."""
    for what in ("hit", "miss"):
        low, high = found[f"{what}_ns_p50"], found[f"{what}_ns_p99"]
        if None not in (low, high) and low > high:
            yield Problem(run.at("lookup", f"{what}_ns_p50"), f"{low!r} is above the p99 of {high!r}", RERUN)
        histogram = run.histograms.get(f"lookup_{what}")
        if histogram is None or not histogram.count:
            continue
        answers, every = found["found" if what == "hit" else "not_found"], found["lookups_per_reading"]
        if histogram.count != -(-answers // every) or histogram.sample_every != every:
            problem = f"{histogram.count} values for {answers} lookups, {every} to a reading"
            yield Problem(run.at("histograms", f"lookup_{what}", "count"), problem, RERUN)
        for value, a, name in ((low, 50, "p50"), (high, 99, "p99")):
            right = histogram.percentile_ns(a, 100)
            if value != right:
                problem = f"{value!r}, but its histogram gives {right!r}"
                yield Problem(run.at("lookup", f"{what}_ns_{name}"), problem, RERUN)
