"""A computed report: table with lineage, ledger, sentences, and a digest over everything but prose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallymark import runtime
from tallymark.evidence import canonical
from tallymark.evidence.documents import Document
from tallymark.runtime import simulator
from tallymark.tables import cells, claims, evidence, groups, ledger, provenance, resolve
from tallymark.tables.claims import Table, Verdict
from tallymark.tables.prose import Sentence
from tallymark.tables.resolve import ResolvedSpec
from tallymark.tables.spec import Spec

# What a column computes. Title, footnote, definition and the sentence of the rule are prose.
_RULE_KEYS = (
    "name",
    "source",
    "over",
    "baseline",
    "aggregate",
    "percentile",
    "samples",
    "unit",
    "factor",
    "places",
    "significant",
    "include_failed",
)
# What came with report-spec/1.1 counts where it is used: a rule without it has the digest that it always had.
_LATER_RULE_KEYS = ("outcome", "skip", "resolution")


@dataclass(frozen=True, slots=True)
class Report:
    """A report as it is published. ``documents`` are its raw files, by path."""

    resolved: ResolvedSpec
    documents: tuple[Document, ...]
    table: Table
    verdicts: tuple[Verdict, ...]
    scope: Mapping[str, Any]
    notes: tuple[Sentence, ...]
    generated: Mapping[str, Any]
    current: Mapping[str, bool | None]

    @property
    def name(self) -> str:
        """The name of the report and of its files."""
        return self.resolved.spec.name

    @property
    def digest(self) -> str:
        """SHA-256 over the digests of the data, the rules and the cells: what a frozen version keeps."""
        spec = self.resolved.to_json()
        rules = {key: spec.get(key) for key in ("rows", "repetitions", "expected_rows", "exclude")}
        rules |= {key: spec[key] for key in ("determined",) if key in spec}
        rules["columns"] = [
            {key: column.get(key) for key in _RULE_KEYS}
            | {key: column[key] for key in _LATER_RULE_KEYS if key in column}
            for column in spec["columns"]
        ]
        found = {
            row.id: {name: [cell.exact, cell.text] for name, cell in own.items()}
            for row, own in zip(self.table.rows, self.table.cells, strict=True)
        }
        data = sorted(document.sha256 for document in self.documents)
        return canonical.sha256_hex(
            canonical.compact({"data": data, "rules": rules, "cells": found}).encode("utf-8")
        )

    def spec_json(self) -> dict[str, Any]:
        """The resolved spec, published as ``NAME.spec.json``: all that an independent recount needs."""
        return self.resolved.to_json()

    def to_json(self) -> dict[str, Any]:
        """The report; its minor version is that of its spec."""
        spec = self.resolved.spec
        version = str(spec.declared["schema"]).rpartition("/")[2]
        return {
            "schema": f"report/{version}",
            "name": spec.name,
            "version": spec.version,
            "title": spec.title,
            "generated": dict(self.generated),
            "spec": self.spec_json(),
            "data": [self._data(document) for document in self.documents],
            "constants": dict(self.table.constants),
            "rows": [
                {"id": row.id, "key": dict(row.key), "cells": {name: c.to_json() for name, c in own.items()}}
                for row, own in zip(self.table.rows, self.table.cells, strict=True)
            ],
            "ledger": self.table.ledger.to_json(),
            "claims": [verdict.to_json() for verdict in self.verdicts],
            "notes": [note.text for note in self.notes],
            "prose": {
                "scope": dict(self.scope),
                "claims": [verdict.sentence.to_json() for verdict in self.verdicts],
                "notes": [note.to_json() for note in self.notes],
            },
            "digest": self.digest,
        }

    def _data(self, document: Document) -> dict[str, Any]:
        execution: Any = document.value["execution"]
        runs: Any = document.value["runs"]
        return {
            "path": document.path,
            "sha256": document.sha256,
            "bytes": len(document.data),
            "schema": document.schema,
            "runs": len(runs),
            "execution_id": execution["id"],
            # a foreign file does not say when it was measured; then this is the moment of import
            "started_at": execution.get("started_at") or execution["imported_at"],
            "current": self.current[document.sha256],
        }


def compute(project: Path, spec: Spec) -> Report:
    """Compute a report from the evidence under ``project``.

    UnreadableError, FindingsError: a raw file is refused. SpecError: the spec does not fit its data; it
    names the key that varies, the row with a missing run, the source or unit that does not exist.
    """
    data = evidence.read(project, spec)
    resolved = resolve.resolve(spec, data.schema, data.older)
    grouped = groups.group(resolved, data)
    located = [(one, spec.where(f"$.columns[{index}]")) for index, one in enumerate(resolved.columns)]
    found = [
        {
            one.column.name: cells.compute(
                one, row, where, groups.baseline(grouped, one.column.baseline, where)
            )
            for one, where in located
        }
        for row in grouped.rows
    ]
    table = Table(
        rows=grouped.rows,
        cells=tuple(cells.mark_ties(found)),
        constants=grouped.constants,
        ledger=ledger.close(data, grouped.rows, spec),
        targets=claims.targets(spec),
    )
    return Report(
        resolved=resolved,
        documents=data.documents,
        table=table,
        verdicts=claims.verdicts(spec, table),
        scope=claims.scope(spec, table),
        notes=claims.notes(resolved, table),
        generated=provenance.generated(project),
        current=_current(data.documents),
    )


def _current(documents: Sequence[Document]) -> dict[str, bool | None]:
    """Whether each document comes from today's runtime or simulator; None when that cannot be told."""
    runtime_today, simulator_today = runtime.source_digest_of_build(), simulator.digest_of_build()
    found: dict[str, bool | None] = {}
    for document in documents:
        manifest: Any = document.value.get("manifest") or {}
        execution: Any = document.value["execution"]
        simulated = (execution.get("host") or {}).get("simulator_digest")
        measured = simulated or (manifest.get("build") or {}).get("source_digest")
        today = runtime_today if simulated is None else simulator_today
        found[document.sha256] = None if today is None or measured is None else measured == today
    return found
