"""Rules about imported executions: samples in order, and the foreign tool's own figures follow from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tallymark.check.rule import IMPORTED, Problem, Run, Subject, document_rule, run_rule
from tallymark.evidence.canonical import compact
from tallymark.stats.order import median

# both sides are sums of the same doubles in another order; far below any digit that is printed
_RELATIVE: Final = 1e-9
# a standard deviation of equal samples is rounding noise around 0
_ABSOLUTE_S: Final = 1e-12
_AGAIN: Final = "Import the file again, unchanged"


def _series_of(entry: dict[str, Any]) -> str:
    return compact([entry["benchmark"], entry["parameters"]])


def _series(subject: Subject) -> dict[str, list[Run]]:
    """The runs of each benchmark with its parameters, in order."""
    found: dict[str, list[Run]] = {}
    for run in subject.runs:
        found.setdefault(_series_of(run.value), []).append(run)
    return found


@document_rule(
    "sample-order",
    "Samples are numbered without gap, and as many as declared",
    why="A sample taken out, or one put in, breaks the numbering.",
    kinds=(IMPORTED,),
)
def sample_order(subject: Subject) -> Iterator[Problem]:
    """index = 0, 1, 2 …; repetition = 1, 2, 3 … in each series; execution.repetitions is their number."""
    for position, run in enumerate(subject.runs):
        if run.value["index"] != position:
            yield run.found("index", f"{run.value['index']} at place {position}", _AGAIN)
    series = _series(subject)
    for runs in series.values():
        for number, run in enumerate(runs, start=1):
            if run.value["repetition"] != number:
                yield run.found(
                    "repetition", f"{run.value['repetition']} is sample {number} of its series", _AGAIN
                )
    sizes = {len(runs) for runs in series.values()}
    declared = subject.value["execution"]["repetitions"]
    if declared != (sizes.copy().pop() if len(sizes) == 1 else None):
        problem = f"{declared} repetitions are declared, the series have {', '.join(map(str, sorted(sizes)))}"
        yield Problem("$.execution.repetitions", problem, _AGAIN)


@run_rule(
    "exit-code",
    "A completed sample ended with exit code 0",
    why="The time of a command that failed at once must not enter a mean.",
    kinds=(IMPORTED,),
)
def exit_code(run: Run) -> Iterator[Problem]:
    """completed ⇔ 0, where an exit code is recorded."""
    code = run.value.get("exit_code")
    if code is not None and (code == 0) != run.completed:
        yield run.found("exit_code", f"{code} with outcome {run.value['outcome']}", _AGAIN)


@document_rule(
    "reported-agrees",
    "The foreign tool's figures follow from its samples",
    why="A file whose mean is not the mean of its samples was converted, cut or edited on the way.",
    kinds=(IMPORTED,),
)
def reported_agrees(subject: Subject) -> Iterator[Problem]:
    """Mean, median, minimum, maximum and standard deviation, each recomputed from the samples."""
    series = _series(subject)
    for position, entry in enumerate(subject.value["reported"]):
        runs = series.get(_series_of(entry))
        if runs is None:
            yield Problem(f"$.reported[{position}]", "there are figures but no samples", _AGAIN)
            continue
        for key, right in figures([run.value["elapsed_s"] for run in runs]).items():
            if key in entry and not agree(entry[key], right):
                problem = f"{entry[key]!r}, but the {len(runs)} samples give {right!r}"
                yield Problem(f"$.reported[{position}].{key}", problem, _AGAIN)


def agree(reported: float, computed: float) -> bool:
    """Whether a figure of the foreign tool is the one that its samples give, in seconds."""
    return math.isclose(reported, computed, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE_S)


def figures(samples: Sequence[float]) -> dict[str, float]:
    """``mean_s``, ``median_s``, ``min_s``, ``max_s`` and, of two samples or more, ``stddev_s``."""
    mean = math.fsum(samples) / len(samples)
    found = {
        "mean_s": mean,
        "median_s": median(samples),
        "min_s": min(samples),
        "max_s": max(samples),
    }
    if len(samples) > 1:
        squares = math.fsum((sample - mean) ** 2 for sample in samples)
        found["stddev_s"] = math.sqrt(squares / (len(samples) - 1))
    return found
