"""Other tools' result files as evidence: one importer a format, one interface, a loss report each."""

from __future__ import annotations

from tallymark.errors import UsageError
from tallymark.evidence import strict_json
from tallymark.evidence.personal import KnownNames
from tallymark.importers import compose, crosscheck, privacy, recognition
from tallymark.importers.hyperfine import Hyperfine
from tallymark.importers.interface import Imported, Importer
from tallymark.importers.tallymark_benchmark import TallymarkBenchmark

FORMATS: dict[str, Importer] = {importer.name: importer for importer in (Hyperfine(), TallymarkBenchmark())}


def importer(name: str) -> Importer:
    """The importer of a format. Raises UsageError that lists those there are."""
    if name not in FORMATS:
        raise UsageError(
            "FORMAT", f"there is no importer for {name!r}", f"choose one of: {', '.join(sorted(FORMATS))}"
        )
    return FORMATS[name]


def read(chosen: Importer, source: compose.Source, known: KnownNames, redact: bool = False) -> Imported:
    """Read a foreign file and verify it: strict JSON, the right format, no series twice, its own figures
    reproduced from its samples, nobody's name in it.

    Raises UnreadableError, UsageError (another importer's format) or FindingsError.
    """
    recognition.refuse_summary(source.data, source.shown)
    data = strict_json.parse(source.data, source.shown)
    recognition.require(chosen, FORMATS.values(), data, source.shown)
    imported = chosen.read(data, source.shown)
    crosscheck.verify_distinct(imported, source.shown)
    crosscheck.verify_reported(imported, source.shown)
    cleaned = privacy.clean(imported, known, source.shown, redact)
    crosscheck.verify_distinct(cleaned, source.shown)  # two home folders may become one placeholder
    return cleaned
