"""``tallymark schema``: the released schemas, their lock, and evidence against them."""

from __future__ import annotations

from pathlib import Path

import click

from tallymark import schemas
from tallymark.check import CheckOutcome, Finding, check_paths
from tallymark.check.schema_lock import FILE, extended_lock, lock_findings
from tallymark.check.schema_rules import schema_findings
from tallymark.cli.talk import talk
from tallymark.errors import CLEAN, FINDINGS, UsageError
from tallymark.evidence import canonical
from tallymark.schemas import SchemaSet


@click.group()
def schema() -> None:
    """Check the released schemas and lock new ones."""


@schema.command("check")
@click.pass_obj
def check_schemas(project: Path) -> int:
    """Fail when a released schema changed, is not locked or not sound, or evidence no longer passes.

    Reads schemas/ of the project (those that came with the package when it has none) and data/.

    Exit codes: 0 clean, 1 findings, 2 misuse, 5 evidence is unreadable; the highest that applies.
    """
    found = _schemas(project)
    findings = [*lock_findings(found), *schema_findings(found)]
    evidence = _evidence(project)
    for finding in [*findings, *(evidence.findings if evidence else ())]:
        click.echo(finding.line())
    checked = len(evidence.files) if evidence else 0
    talk(f"{len(found.ids)} schemas, {checked} documents of data/")
    return max(_exit_code(findings), evidence.exit_code if evidence else CLEAN)


def _exit_code(findings: list[Finding]) -> int:
    return FINDINGS if any(finding.severity == "error" for finding in findings) else CLEAN


def _evidence(project: Path) -> CheckOutcome | None:
    """The project's evidence, checked; None when there is none yet."""
    data = project / "data"
    outcome = check_paths([data]) if data.is_dir() else None
    return outcome if outcome is not None and outcome.files else None


@schema.command("lock")
@click.pass_obj
def lock(project: Path) -> None:
    """Add new schemas and definitions to schemas/lock.json; a changed one is refused."""
    folder = project / "schemas"
    if not folder.is_dir():
        raise UsageError(str(folder), "the project has no schemas", "Run this in a checkout of Tallymark")
    canonical.write_replacing(folder / FILE, extended_lock(SchemaSet(folder)).to_bytes())
    talk(f"{folder / FILE} holds {len(SchemaSet(folder).ids)} schemas")


def _schemas(project: Path) -> SchemaSet:
    folder = project / "schemas"
    return SchemaSet(folder) if folder.is_dir() else schemas.shipped()
