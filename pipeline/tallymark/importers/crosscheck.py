"""The figures a foreign tool reports, recomputed from its own samples.

A file whose mean is not the mean of its times was converted, cut or edited on the way. The usual case
is a unit: milliseconds beside seconds, which differ by exactly 1000 and are called by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallymark.check import imports
from tallymark.errors import FindingsError
from tallymark.evidence import canonical
from tallymark.importers.interface import Imported, Reported

_UNIT_FAULTS = {1e3: "milliseconds", 1e6: "microseconds", 1e9: "nanoseconds", 1 / 60: "minutes"}


def series_key(benchmark: str, parameters: Mapping[str, str]) -> tuple[str, str]:
    """What makes two entries the same series: the name and all parameters, in any order."""
    return benchmark, canonical.compact(dict(parameters))


def verify_distinct(imported: Imported, name: str) -> None:
    """Refuse two entries of one benchmark with the same parameters: their runs would be pooled unseen.

    Raises FindingsError that names both places.
    """
    seen: dict[tuple[str, str], str] = {}
    for entry in imported.reported:
        key = series_key(entry.benchmark, entry.parameters)
        if key in seen:
            raise FindingsError(
                f"{name}::{entry.pointer}",
                f"has the same command and parameters as {seen[key]}",
                "give the two commands different names with --command-name, or import two files",
            )
        seen[key] = entry.pointer


def verify_reported(imported: Imported, name: str) -> None:
    """Recompute mean, median, minimum, maximum and deviation of every entry from its samples.

    Raises FindingsError with the pointer, both values and, for a unit fault, the unit.
    """
    samples: dict[tuple[str, str], list[float]] = {}
    for run in imported.runs:
        samples.setdefault(series_key(run.benchmark, run.parameters), []).append(run.elapsed_s)
    for entry in imported.reported:
        _verify_entry(entry, samples[series_key(entry.benchmark, entry.parameters)], name)


def _verify_entry(entry: Reported, times: Sequence[float], name: str) -> None:
    """Compare one entry's figures with those of its samples, as ``tallymark check`` does with the document.

    Here the message has the place in the file that the user has, and can name a unit.
    """
    reported = {
        "mean_s": entry.mean_s,
        "median_s": entry.median_s,
        "min_s": entry.min_s,
        "max_s": entry.max_s,
        "stddev_s": entry.stddev_s,
    }
    for key, computed in imports.figures(times).items():
        found, figure = reported[key], key.removesuffix("_s")
        if found is not None and not imports.agree(found, computed):
            raise FindingsError(
                f"{name}::{entry.pointer}.{figure}",
                f"{found} is not the {figure} of its {len(times)} times, which is {computed}"
                f"{_fault(found, computed)}",
                "export the file again and import it unchanged",
            )


def _fault(reported: float, computed: float) -> str:
    """`` (…)`` when the two differ by the factor between seconds and another unit, else nothing."""
    for factor, unit in _UNIT_FAULTS.items():
        if imports.agree(reported, computed * factor):
            return f" (it looks like {unit}, the times like seconds)"
        if imports.agree(reported * factor, computed):
            return f" (it looks like seconds, the times like {unit})"
    return ""
