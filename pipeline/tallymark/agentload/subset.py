"""The fixed subset of each loaded run beside the same tasks of the idle run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tallymark import units
from tallymark.agentload import quality
from tallymark.agentload.scenario import Evaluation

_UNFINISHED: Final = 3
_DIGITS: Final = 12  # what every library of mathematics agrees in, so that the bytes are the same everywhere
_KEYS: Final = ("cache", "context_factor_permille", "seed")
Json = dict[str, Any]


def compared(runs: Sequence[Mapping[str, Any]], evaluation: Evaluation | None) -> list[Json | None]:
    """For each (configuration, ``evaluation`` rows and outcome of a) run what its ``quality`` is."""
    idle = [run for run in runs if run["load"] == "idle" and run["outcome"] == "completed"]
    found: list[Json | None] = []
    for run in runs:
        partner = None if run["load"] == "idle" or evaluation is None else _partner(run, idle)
        found.append(None if partner is None or evaluation is None else _quality(partner, run, evaluation))
    return found


def _partner(run: Mapping[str, Any], idle: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The idle run with the same caches, context and seed, and where there is one the same other settings."""
    alike = [one for one in idle if all(one[key] == run[key] for key in _KEYS)]
    return next((one for one in alike if one["variant"] == run["variant"]), alike[0] if alike else None)


def _quality(idle: Mapping[str, Any], loaded: Mapping[str, Any], evaluation: Evaluation) -> Json | None:
    before, after = _ended(idle), _ended(loaded)
    tasks = sorted(before)
    if not tasks:
        return None
    # what the loaded run never ended did not succeed: else the worst overload would look best
    pairs = quality.paired([before[task] for task in tasks], [after.get(task, False) for task in tasks])
    test = quality.mcnemar(pairs)
    found = quality.difference(pairs, evaluation.margin, evaluation.confidence)
    return {
        "pairs": pairs.count,
        "gained": pairs.only_loaded,
        "lost": pairs.only_idle,
        "difference": (pairs.only_loaded - pairs.only_idle) / pairs.count,
        "difference_low": _same_everywhere(found.low),
        "difference_high": _same_everywhere(found.high),
        "confidence": evaluation.confidence,
        "margin": evaluation.margin,
        "p_value": _same_everywhere(test.p),
        "verdict": found.verdict,
    }


def _ended(run: Mapping[str, Any]) -> dict[int, bool]:
    return {row[0]: bool(row[2]) for row in run["evaluation"] if row[1] != _UNFINISHED}


def _same_everywhere(value: float) -> float:
    return float(units.significant(value, _DIGITS))
