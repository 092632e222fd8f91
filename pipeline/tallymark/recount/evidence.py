"""The published raw files are the ones that the project holds: all of them, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tallymark.errors import TallymarkError
from tallymark.evidence import documents
from tallymark.evidence.canonical import sha256_hex
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.published import Published, Report


def compare_project(published: Published, project: Path) -> Iterator[Difference]:
    """Published raw files that are not the bytes of the project's ``data/``; files it lacks are skipped."""
    for document in published.raw.values():
        path = project / document.path
        if not path.is_file() and not path.is_symlink():
            path = project / document.path.removeprefix("data/")
        if not path.is_file():
            continue
        try:
            digest = sha256_hex(documents.read_bytes(path, document.path))
        except TallymarkError as error:
            yield Difference(document.path, "", error.problem, error.do)
            continue
        if digest != document.sha256:
            do = "Evidence is never edited: restore the file, then build the site again"
            yield mismatch(document.path, "SHA-256 of the project's file", document.sha256, digest, do)


def compare_globs(report: Report, file: str, project: Path) -> Iterator[Difference]:
    """Files of the project that the spec's globs match and the report leaves out."""
    listed = {entry["path"] for entry in report.value["data"]}
    for pattern in report.spec["data"]:
        try:
            every = sorted(path for path in project.glob(pattern) if path.is_file())
            matches = [path for path in every if not documents.is_aside(path, pattern)]
        except (ValueError, NotImplementedError):
            yield Difference(file, "$.spec.data", f"{pattern!r} is not a glob", "Correct the report spec")
            continue
        for path in matches:
            shown = path.relative_to(project).as_posix()
            if shown not in listed:
                problem = f"leaves out {shown}, which its spec's {pattern!r} matches"
                yield Difference(file, "$.data", problem, "Build the site again")
