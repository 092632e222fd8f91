"""Trace files of the tests and what importing them gives."""

from __future__ import annotations

from pathlib import Path

from tallymark.agentload.traces import own
from tallymark.agentload.traces.corpus import Source, Task
from tallymark.agentload.traces.importing import Import
from tallymark.agentload.traces.mapped_csv import MappedCsv
from tallymark.errors import TallymarkError
from tallymark.evidence.personal import KnownNames

FILES = Path(__file__).parents[1] / "agentload" / "files"
NOBODY = KnownNames(user=None, host=None, home=None)


def imported(
    folder: Path, *files: Path, redact: bool = False, mapping: MappedCsv | None = None
) -> tuple[tuple[Source, ...], list[Task]]:
    """The sources and tasks of files that are all imported, after a way through a corpus on disk."""
    with Import(NOBODY, redact=redact, mapping=mapping) as found:
        for file in files:
            found.add(file)
        assert [refusal.error.line() for refusal in found.refusals] == []
        found.write(folder / "corpus.jsonl")
        sources, tasks = own.read(folder / "corpus.jsonl")
        assert list(sources) == found.sources
        return sources, list(tasks)


def refused(file: Path, *, mapping: MappedCsv | None = None) -> TallymarkError:
    """Why a file is refused; of it nothing may be left."""
    with Import(NOBODY, mapping=mapping) as found:
        found.add(file)
        assert found.sources == []
        assert len(found.refusals) == 1
        return found.refusals[0].error
