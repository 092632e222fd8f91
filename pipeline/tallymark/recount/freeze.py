"""Freezing a report: the digest of its data, rules and cells under its version, never of its prose.

``site/reports/NAME.frozen.json`` is committed. A later build of the same version with another digest is an
error; a changed table is a new version of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tallymark.errors import ConflictError, TallymarkError
from tallymark.evidence import canonical, documents, strict_json
from tallymark.evidence.canonical import sha256_hex
from tallymark.recount import recount as script
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.published import Published, Report

SUFFIX = ".frozen.json"
_FOLDER = Path("site", "reports")
_RAISE = "Raise version in the report spec and say in the changelog what changed"


def frozen(report: Report) -> dict[str, Any]:
    """What is kept of a recounted report."""
    spec, table = report.spec, report.table
    rules = {key: spec.get(key) for key in ("rows", "repetitions", "expected_rows", "exclude")}
    rules["columns"] = [{key: column.get(key) for key in script.RULE} for column in spec["columns"]]
    cells = {
        row["id"]: {name: [cell.get("exact"), cell["text"]] for name, cell in row["cells"].items()}
        for row in table["rows"]
    }
    return {
        "report": report.name,
        "version": spec["version"],
        "digest": table["digest"],
        "data": [{"path": one.path, "sha256": one.sha256} for one in report.data],
        "rules_sha256": sha256_hex(script.compact(rules).encode("utf-8")),
        "cells_sha256": sha256_hex(script.compact(cells).encode("utf-8")),
    }


def prepared(project: Path, report: Report) -> tuple[Path, bytes]:
    """(path, bytes) of the freeze of a report, to be written.

    ConflictError: this version, or a later one, is frozen with other data, rules or cells.
    """
    path = project / _FOLDER / f"{report.name}{SUFFIX}"
    wanted = frozen(report)
    if path.exists():
        shown = documents.shown_path(path, project)
        kept = _read(path, shown)
        for difference in _compare(kept, wanted, shown):
            raise ConflictError(f"{shown}::{difference.place}", difference.problem, difference.do)
    return path, canonical.encode(wanted)


def compare_frozen(published: Published, project: Path, *, whole: bool) -> Iterator[Difference]:
    """Every frozen report of the project that is published with another digest; of a ``whole`` site also
    those that it does not publish."""
    for path in sorted((project / _FOLDER).glob(f"*{SUFFIX}")):
        shown = documents.shown_path(path, project)
        name = path.name.removesuffix(SUFFIX)
        try:
            kept = _read(path, shown)
        except TallymarkError as error:
            yield Difference(shown, "", error.problem, error.do)
            continue
        if kept.get("report") != name:
            yield mismatch(shown, "$.report", str(kept.get("report")), name, "Freeze the report again")
        elif name in published.reports:
            yield from _compare(kept, frozen(published.reports[name]), shown)
        elif whole and name not in published.broken:
            yield Difference(shown, "", "is frozen and not published", "Publish it, or mark it as withdrawn")


def _read(path: Path, shown: str) -> dict[str, Any]:
    value = strict_json.parse(documents.read_bytes(path, shown), shown)
    return value if isinstance(value, dict) else {}


def _compare(kept: dict[str, Any], now: dict[str, Any], shown: str) -> Iterator[Difference]:
    """Differences under one version; a higher version may differ in everything."""
    version = kept.get("version")
    if not isinstance(version, int) or version > now["version"]:
        yield mismatch(shown, "$.version", str(version), str(now["version"]), "A version never goes back")
        return
    if version < now["version"] or kept == now:
        return
    for key in now:
        if kept.get(key) != now[key]:
            problem = f"version {version} is frozen and its {key.removesuffix('_sha256')} changed"
            yield Difference(shown, f"$.{key}", problem, _RAISE, str(kept.get(key)), str(now[key]))
