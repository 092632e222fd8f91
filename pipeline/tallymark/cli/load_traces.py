"""``tallymark load traces``: files of recorded traces become one corpus of whole tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tallymark.agentload.traces.corpus import Source, source_value
from tallymark.agentload.traces.importing import Import
from tallymark.agentload.traces.mapped_csv import MappedCsv, read_mapping
from tallymark.cli.talk import talk
from tallymark.errors import CLEAN, FINDINGS
from tallymark.evidence import documents, personal
from tallymark.printable import log_line


@click.group()
def traces() -> None:
    """Recorded traces of agents: what a scenario's mix is sampled from."""


@traces.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The corpus (.jsonl) that is written."
)
@click.option(
    "--mapping",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Which column of a CSV is what (TOML); see examples/traces-mapping.toml.",
)
@click.option(
    "--redact", is_flag=True, help="Replace home folders, users and hosts in names by placeholders."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def import_(
    files: tuple[Path, ...], out: Path | None, mapping: Path | None, redact: bool, as_json: bool
) -> int:
    """Read traces of any known format and say what is in them, row by row.

    Formats: OTLP/JSON and flat spans with GenAI attributes, Mooncake, Azure, BurstGPT, SWE-agent, Weka, a
    corpus of this command, any CSV with --mapping. Lengths, names, times and identities of prefixes are kept;
    prompts and results of tools never are.

    Exit codes: 0 every file was imported, 1 a file was refused (the others are imported), 2 misuse.
    """
    chosen = MappedCsv(read_mapping(mapping)) if mapping is not None else None
    with Import(personal.known_here(), redact=redact, mapping=chosen) as imported:
        for file in files:
            imported.add(file)
        if out is not None and imported.sources:
            imported.write(out)
        for refusal in imported.refusals:
            talk(refusal.error.line())
        if as_json:
            click.echo(json.dumps(_report(imported, out), indent=1, ensure_ascii=False))
        else:
            for line in _lines(imported, out):
                click.echo(log_line(line))
    return FINDINGS if imported.refusals else CLEAN


def _report(imported: Import, out: Path | None) -> dict[str, Any]:
    """The report of ``--json``: the sources as the corpus has them, and every refusal."""
    written = out is not None and bool(imported.sources)
    return {
        "files": len(imported.sources) + len(imported.refusals),
        "tasks": sum(source.tasks for source in imported.sources),
        "corpus": documents.shown_path(out) if out is not None and written else None,
        "imported": [source_value(source) for source in imported.sources],
        "refused": [
            {
                "name": log_line(refusal.name),
                "where": log_line(refusal.error.where),
                "problem": log_line(refusal.error.problem),
                "do": log_line(refusal.error.do),
            }
            for refusal in imported.refusals
        ],
    }


def _lines(imported: Import, out: Path | None) -> Iterator[str]:
    for source in imported.sources:
        yield from _source_lines(source)
    for refusal in imported.refusals:
        yield f"{refusal.name}: refused"
    tasks = sum(source.tasks for source in imported.sources)
    yield f"{len(imported.sources)} files imported, {len(imported.refusals)} refused; {tasks} tasks"
    if out is not None and imported.sources:
        yield documents.shown_path(out)


def _source_lines(source: Source) -> Iterator[str]:
    rows = source.rows
    yield (
        f"{source.name}: {source.format}, {source.tasks} tasks; "
        f"rows: {rows.read} read = {rows.used} used + {sum(rows.dropped.values())} dropped"
    )
    for reason, count in sorted(rows.dropped.items()):
        yield f"  dropped {count}: {reason}"
    for loss in source.loss:
        places = f" ({loss.places} places)" if loss.places > 1 else ""
        yield f"  loss at {loss.pointer}{places}: {loss.reason}"
