"""Build a site: compute, write, let the engine make pages, add files and digests, recount, swap in.

The old site stays untouched until the new one is complete and has been recounted without a difference.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tallymark import tables
from tallymark.errors import ConflictError, FindingsError, NothingCheckedError, UsageError
from tallymark.evidence import documents
from tallymark.recount.verify import Outcome, verify
from tallymark.site import checksums, engine
from tallymark.site.content import SiteContent, assets, site_content
from tallymark.site.engine import Entry
from tallymark.site.status import seconds
from tallymark.site.templating import front_matter_title
from tallymark.tables.report import Report

_HAND_WRITTEN = Path("site", "docs")
_HEADING = re.compile(r"^# +(.+?) *(?:\{#[\w-]+\} *)?$", re.MULTILINE)
_SHOWN_DIFFERENCES = 20
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuildOutcome:
    """A built site: where it is, its reports and files, and what recounting it found."""

    site: Path
    reports: tuple[str, ...]
    files: int
    recounted: Outcome


def build_site(
    project: Path,
    reports: Sequence[Path] = (),
    out: Path | None = None,
    say: Say = lambda line: None,
) -> BuildOutcome:
    """Build the site of a project into ``out`` (default ``build/site`` of the project).

    Every ``site/reports/*.toml`` is published, then the spec files named in ``reports``. ``say`` takes
    progress lines. SOURCE_DATE_EPOCH in the environment is published as the time of the recount.

    SpecError, FindingsError, UnreadableError: a report cannot be computed or its evidence is refused.
    FindingsError: the recount of the new site differs. ConflictError: ``out`` holds something else.
    NothingCheckedError: there is no report.
    """
    build = (project / "build").absolute()
    site = build / "site" if out is None else out.absolute()
    _require_replaceable(site)
    computed = _compute(project, reports, say)
    content = site_content(computed, _publisher_epoch())
    site.parent.mkdir(parents=True, exist_ok=True)
    with _scratch(site) as scratch:
        pages, new = scratch / "pages", scratch / "site"
        say("writing pages")
        navigation = _write_pages(project, content, pages)
        say("making HTML")
        engine.build_pages(project, pages, new, navigation, seconds(content.status.evidence_until))
        for file in content.files:
            _write(new / file.path, file.data)
        files = checksums.write_sums(new) + 1
        say("recounting the new site")
        outcome = _verified(new, project, computed, say)
        if site.parent == build:
            _keep_pages(pages, build / "pages")
        _swap(new, site)
    return BuildOutcome(site, tuple(report.name for report in computed), files, outcome)


def _compute(project: Path, extra: Sequence[Path], say: Say) -> list[Report]:
    declared = [tables.spec.by_name(project, name) for name in tables.report_names(project)]
    specs = declared + [tables.spec.load(path, project) for path in extra]
    if not specs:
        raise NothingCheckedError(
            "site/reports", "there is no report spec", "write one: tallymark report init data/SUITE"
        )
    names = [spec.name for spec in specs]
    for spec in specs:
        if names.count(spec.name) > 1:
            raise UsageError(spec.path, f"the report name {spec.name!r} is used twice", "rename one of them")
    computed = []
    for spec in specs:
        if spec in declared and _unmeasured(project, spec):
            say(f"{spec.name} has no evidence yet and is left out")
            continue
        say(f"computing {spec.name}")
        computed.append(tables.compute(project, spec))
    if not computed:
        raise NothingCheckedError("data", "no report has evidence", "make some: tallymark run SUITE")
    return computed


def _unmeasured(project: Path, spec: tables.Spec) -> bool:
    """Whether a declared report waits for its first evidence; one that was frozen must still have it."""
    frozen = project / tables.spec.REPORTS / f"{spec.name}.frozen.json"
    found = (project.glob(pattern) for pattern in spec.data)
    return not frozen.exists() and not any(any(paths) for paths in found)


def _publisher_epoch() -> int | None:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return None
    if not re.fullmatch(r"[0-9]{1,11}", given):
        raise UsageError("SOURCE_DATE_EPOCH", f"{given!r} is no number of seconds", "unset it or correct it")
    return int(given)


def _write_pages(project: Path, content: SiteContent, pages: Path) -> list[Entry]:
    """Generated pages, hand-written pages and assets; returns the navigation of all of them."""
    for path, text in content.pages.items():
        _write(pages / path, text.encode("utf-8"))
    for path, data in assets().items():
        _write(pages / path, data)
    navigation: list[Entry] = list(content.navigation)
    folder = project / _HAND_WRITTEN
    for source in sorted(path for path in folder.rglob("*") if path.is_file()):
        path = source.relative_to(folder).as_posix()
        target = pages / path
        if target.exists():
            raise ConflictError(f"site/docs/{path}", "a generated page has this name", "rename the page")
        data = documents.read_bytes(source, f"site/docs/{path}")
        _write(target, data)
        if path.endswith(".md"):
            navigation.append((_title(path, data), path))
    return navigation


def _title(path: str, data: bytes) -> str:
    heading = _HEADING.search(data.decode("utf-8", "replace"))
    return front_matter_title(heading.group(1) if heading else Path(path).stem)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _verified(new: Path, project: Path, computed: Sequence[Report], say: Say) -> Outcome:
    # no table is computed from a raw file that did not pass the check; the same bytes pass it again
    checked = frozenset(document.sha256 for report in computed for document in report.documents)
    outcome = verify(new, project, checked=checked)
    for difference in outcome.differences[:_SHOWN_DIFFERENCES]:
        say(difference.line())
    if outcome.differences:
        first, count = outcome.differences[0], len(outcome.differences)
        more = f" (and {count - 1} more)" if count > 1 else ""
        where = f"{first.file}::{first.place}" if first.place else first.file
        raise FindingsError(where, f"{first.problem}{more}", first.do)
    return outcome


def _require_replaceable(site: Path) -> None:
    """Only an empty folder or an earlier site is ever replaced."""
    ours = not site.exists() or (site / checksums.NAME).is_file()
    if not ours and (not site.is_dir() or any(site.iterdir())):
        raise ConflictError(
            str(site), "there is something else than a built site", "choose another folder with --out"
        )


@contextlib.contextmanager
def _scratch(site: Path) -> Iterator[Path]:
    """A new folder beside the site, on the same file system, gone afterwards."""
    folder = site.with_name(f".{site.name}.{secrets.token_hex(6)}")
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _keep_pages(pages: Path, kept: Path) -> None:
    """The generated Markdown, for whoever runs the page engine by hand; only in a build folder of ours."""
    shutil.rmtree(kept, ignore_errors=True)
    pages.rename(kept)


def _swap(new: Path, site: Path) -> None:
    """Put the new site in the place of the old one by two renames; undo the first if the second fails."""
    old = new.with_name("old")
    if site.exists():
        site.rename(old)
    try:
        new.rename(site)
    except OSError:
        if old.exists():
            old.rename(site)
        raise
