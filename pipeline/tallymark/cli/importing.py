"""``tallymark import`` makes evidence of another tool's file; ``tallymark report init`` starts its spec."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tallymark import check, importers
from tallymark.cli.talk import talk
from tallymark.errors import UsageError
from tallymark.evidence import canonical, documents, personal, strict_json
from tallymark.importers import compose, privacy


@click.command("import")
@click.argument("format_name", metavar="FORMAT")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    show_default="data/FORMAT",
    help="Folder of the evidence; the file becomes DIR/LABEL.json.",
)
@click.option("--suite", show_default="name of the folder", help="What the evidence is about.")
@click.option("--label", show_default="name of the file", help="What sets it apart within the suite.")
@click.option(
    "--redact", is_flag=True, help="Replace home folders, users and hosts in names by placeholders."
)
@click.option(
    "--machine",
    type=click.Path(path_type=Path),
    help="A runtime-execution document made on the machine that FILE was measured on: its machine is taken.",
)
@click.pass_obj
def import_(
    project: Path,
    format_name: str,
    file: Path,
    out: Path | None,
    suite: str | None,
    label: str | None,
    redact: bool,
    machine: Path | None,
) -> None:
    """Turn another tool's result file into evidence: one sample is one run.

    FORMAT is hyperfine (a file of hyperfine --export-json) or benchmark (a file of Tallymark's own
    benchmarks/*.py); FILE - reads standard input. The path of the document is printed; what could not be
    carried over is listed on standard error and kept in the document.
    """
    chosen = importers.importer(format_name)
    folder = out if out is not None else project / "data" / chosen.name
    source = _source(file)
    request = compose.Request(
        suite=compose.chosen_name(suite if suite is not None else folder.absolute().name, "--suite"),
        label=compose.chosen_name(label if label is not None else Path(source.name).stem, "--label"),
        imported_at=datetime.now(UTC),
        redact=redact,
        machine=_machine(machine) if machine is not None else None,
    )
    known = personal.known_here()
    for option, text in _chosen_names(source, request):
        privacy.verify_name(text, known, option)
    document = compose.document(importers.read(chosen, source, known, redact), source, request)
    target = folder / f"{request.label}.json"
    _write(target, canonical.encode(document), project)
    for line in _loss_report(document["loss"]):
        talk(f"{source.shown}: {line}")
    click.echo(documents.shown_path(target))


def _chosen_names(source: compose.Source, request: compose.Request) -> list[tuple[str, str]]:
    """The option and the text of every name that the user chose and the document repeats."""
    names = [("FILE", source.name), ("--suite", request.suite), ("--label", request.label)]
    return names + ([("--machine", request.machine.shown)] if request.machine is not None else [])


def _source(file: Path) -> compose.Source:
    """The foreign file, or standard input. Raises UsageError or UnreadableError."""
    if str(file) == "-":
        data = sys.stdin.buffer.read(strict_json.MAX_BYTES + 1)
        return compose.Source(name="stdin", shown="stdin", data=data)
    shown = documents.shown_path(file)
    return compose.Source(name=file.name, shown=shown, data=documents.read_bytes(file, shown, follow=True))


def _machine(path: Path) -> compose.Machine:
    """The machine of an execution of the runtime. Raises FindingsError when it does not pass its check."""
    document = check.checked_execution(documents.load(path, follow=True)).document
    if document.kind != "runtime-execution":
        raise UsageError(
            "--machine", f"{document.path} is {document.schema}", "name a runtime-execution document"
        )
    manifest: dict[str, Any] = document.value["manifest"]  # type: ignore[assignment]
    execution: dict[str, Any] = document.value["execution"]  # type: ignore[assignment]
    return compose.Machine(path.name, execution["id"], manifest["machine"], manifest["unavailable"])


def _write(target: Path, data: bytes, project: Path) -> None:
    """Check the document as ``tallymark check`` would, then write it where nothing is yet.

    Raises FindingsError (nothing is written) or ConflictError.
    """
    check.checked_execution(documents.from_bytes(data, documents.shown_path(target, project)))
    canonical.write_new(target, data)


def _loss_report(loss: Any) -> list[str]:
    """The document's losses, those of one reason together: ``loss at $.results[*].user (2 places): …``."""
    places: dict[tuple[str, str], int] = {}
    for entry in loss:
        key = (re.sub(r"\[\d+\]", "[*]", entry["pointer"]), entry["reason"])
        places[key] = places.get(key, 0) + 1
    return [
        f"loss at {pointer}{f' ({count} places)' if count > 1 else ''}: {reason}"
        for (pointer, reason), count in places.items()
    ]


@click.group()
def report() -> None:
    """Start a report: what its table shows, from which evidence."""


@report.command("init", short_help="Write a first spec for the evidence in DATA.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--name", show_default="from the folder or file", help="Name of the report.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    show_default="site/reports/NAME.toml",
    help="Where the spec is written; nothing is overwritten.",
)
@click.pass_obj
def init(project: Path, data: Path, name: str | None, out: Path | None) -> None:
    """Write a spec of at most 15 lines for the evidence in DATA (a document or a folder).

    The rows are the configuration keys that vary; the columns are what such evidence is usually asked
    for. It computes as it stands (tallymark table NAME); its scope sentences wait to be made yours.
    """
    from tallymark.tables import starting

    draft = starting.draft(project, data, name)
    target = out if out is not None else project / "site" / "reports" / f"{draft.name}.toml"
    canonical.write_new(target, draft.text.encode("utf-8"))
    click.echo(documents.shown_path(target))
