"""Many files, checked: what was read, what was found, and the exit code that follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tallymark.check.finding import SHAPE, UNREADABLE, Finding
from tallymark.check.judge import Assertion, judge
from tallymark.errors import CLEAN, FINDINGS, NOTHING_CHECKED, FindingsError, UnreadableError
from tallymark.errors import UNREADABLE as EXIT_UNREADABLE
from tallymark.evidence import documents
from tallymark.evidence.documents import Document


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of one file. ``document`` is None when the strict reader refused it, or it is no object."""

    path: str
    document: Document | None
    verdict: str
    assertions: tuple[Assertion, ...]


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a check over many files.

    ``checked`` are the documents that could be read, ``empty`` the named folders that hold none. ``outside``
    says for each path that leaves the root how it is published.
    """

    findings: tuple[Finding, ...]
    checked: tuple[Document, ...]
    files: tuple[FileResult, ...]
    empty: tuple[str, ...]
    outside: Mapping[str, str]
    exit_code: int

    def public(self) -> CheckOutcome:
        """The same without the folders of paths outside of the root: a log that is uploaded names no home."""
        path = self._public_path
        return replace(
            self,
            findings=tuple(replace(finding, file=path(finding.file)) for finding in self.findings),
            checked=tuple(replace(document, path=path(document.path)) for document in self.checked),
            files=tuple(replace(result, path=path(result.path)) for result in self.files),
            empty=tuple(map(path, self.empty)),
        )

    def _public_path(self, shown: str) -> str:
        return self.outside.get(shown, shown)


def check_paths(paths: Iterable[Path], root: Path | None = None) -> CheckOutcome:
    """Check every document that ``paths`` mean; ``root`` is what shown paths are relative to.

    UsageError: a path does not exist. UnreadableError: a folder cannot be listed. Everything else is in the
    outcome: a check over nothing, also of one of several folders, has exit code 4, an unreadable file 5.
    """
    meant = {path: documents.find([path]) for path in paths}
    findings: list[Finding] = []
    files: list[FileResult] = []
    for path in dict.fromkeys(path for found in meant.values() for path in found):
        result, found_here = _check_file(path, root, follow=path in meant)
        files.append(result)
        findings += found_here
    empty = tuple(documents.shown_path(path, root) for path, found in meant.items() if not found)
    return CheckOutcome(
        findings=tuple(findings),
        checked=tuple(result.document for result in files if result.document is not None),
        files=tuple(files),
        empty=empty,
        outside=_outside(meant, root),
        exit_code=_exit_code(files, nothing=bool(empty) or not meant),
    )


def _outside(meant: Mapping[Path, list[Path]], root: Path | None) -> dict[str, str]:
    """Shown path → ``outside-1/…``, numbered by the folder named, for each path outside of ``root``."""
    numbers: dict[Path, int] = {}
    public: dict[str, str] = {}
    for named, found in meant.items():
        folder = named.parent if named in found else named
        for path in found or [named]:
            shown = documents.shown_path(path, root)
            if documents.is_inside(path, root) or shown in public:
                continue
            number = numbers.setdefault(folder, len(numbers) + 1)
            public[shown] = documents.shown_path(Path(f"outside-{number}", path.relative_to(folder)))
    return public


def _check_file(path: Path, root: Path | None, *, follow: bool) -> tuple[FileResult, tuple[Finding, ...]]:
    shown = documents.shown_path(path, root)
    try:
        document = documents.load(path, root, follow=follow)
    except UnreadableError as error:
        return _refused(shown, error.where, error.problem, error.do, UNREADABLE, "unreadable")
    except FindingsError as error:
        return _refused(shown, error.where, error.problem, error.do, SHAPE, "failed")
    judgement = judge(document)
    verdict = "failed" if judgement.failed else "warned" if judgement.findings else "passed"
    return FileResult(shown, document, verdict, judgement.assertions), judgement.findings


def _refused(
    shown: str, where: str, problem: str, do: str, rule: str, verdict: str
) -> tuple[FileResult, tuple[Finding, ...]]:
    pointer = where.removeprefix(shown).removeprefix("::") or "$"
    assertions = (Assertion(rule, "failed", 1),)
    return FileResult(shown, None, verdict, assertions), (Finding(shown, pointer, rule, problem, do),)


def _exit_code(files: list[FileResult], *, nothing: bool) -> int:
    verdicts = {result.verdict for result in files}
    if "unreadable" in verdicts:
        return EXIT_UNREADABLE
    if nothing:
        return NOTHING_CHECKED
    return FINDINGS if "failed" in verdicts else CLEAN
