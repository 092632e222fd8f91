"""Which format a file looks like: so that a wrong FORMAT is answered with the right one.

The formats below that have no importer are known by sight only, from the keys their tools write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tallymark.errors import FindingsError, UsageError
from tallymark.evidence.strict_json import JsonValue
from tallymark.importers.interface import Importer


def _has(data: JsonValue, *keys: str) -> bool:
    return isinstance(data, dict) and all(key in data for key in keys)


def _first(data: JsonValue, key: str | None) -> JsonValue:
    """The first element of a list, or of the list under a key; None when there is none."""
    inner = data.get(key) if key is not None and isinstance(data, dict) else data
    return inner[0] if isinstance(inner, list) and inner else None


def _under(data: JsonValue, *keys: str) -> JsonValue:
    """What the first of the keys that is there holds; None when none is."""
    return next((data[key] for key in keys if key in data), None) if isinstance(data, dict) else None


_BY_SIGHT: tuple[tuple[str, Callable[[JsonValue], bool]], ...] = (
    (
        "google-benchmark",
        lambda d: _has(d, "context", "benchmarks") and _has(_first(d, "benchmarks"), "name"),
    ),
    ("pytest-benchmark", lambda d: _has(d, "machine_info", "benchmarks")),
    ("pyperf", lambda d: _has(d, "benchmarks", "version") and _has(_first(d, "benchmarks"), "runs")),
    ("JMH", lambda d: _has(_first(d, None), "benchmark", "primaryMetric")),
    ("BenchmarkDotNet", lambda d: _has(d, "HostEnvironmentInfo", "Benchmarks")),
    ("Criterion estimates", lambda d: _has(_under(d, "mean", "Mean"), "point_estimate")),
    ("asv", lambda d: _has(d, "commit_hash", "results")),
    ("LNT", lambda d: _has(d, "format_version", "machine", "tests")),
)

# The first bytes of hyperfine's other exports, which have no samples.
_SUMMARIES = (
    (b"command,mean,stddev", "hyperfine's CSV export"),
    (b"| Command | Mean", "hyperfine's Markdown export"),
    (b"[cols=", "hyperfine's AsciiDoc export"),
    (b"| Command  |", "hyperfine's org-mode export"),
)


def refuse_summary(data: bytes, name: str) -> None:
    """Refuse the exports of hyperfine that hold means only, before they fail as broken JSON.

    Raises FindingsError.
    """
    for start, what in _SUMMARIES:
        if data.lstrip().startswith(start):
            raise FindingsError(
                name, f"this is {what}: it has no samples", "export with hyperfine --export-json FILE"
            )


def require(importer: Importer, others: Iterable[Importer], data: JsonValue, name: str) -> None:
    """Refuse a file that does not look like ``importer``'s format, and say what it looks like.

    Raises UsageError when another importer reads it, FindingsError when none does.
    """
    if importer.detect(data):
        return
    for other in others:
        if other.detect(data):
            raise UsageError(
                name,
                f"this looks like a file of {other.made_by}, not of {importer.made_by}",
                f"import it with: tallymark import {other.name}",
            )
    if isinstance(data, dict) and isinstance(data.get("schema"), str):
        raise FindingsError(
            name,
            "this is a document with a schema of its own, not a foreign file",
            "run tallymark check on it",
        )
    looks = next((known for known, fits in _BY_SIGHT if fits(data)), None)
    guess = f"; it looks like {looks}, which has no importer" if looks else ""
    raise FindingsError(
        name, f"this does not look like a file of {importer.made_by}{guess}", "name a file of that tool"
    )
