"""The files that a report page offers beside itself: report, spec, CSV, charts, script and raw files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tallymark import units
from tallymark.evidence import canonical
from tallymark.printable import printable as visible
from tallymark.site.shown import Shown

_BYTES_PER_MIB = 1_048_576


@dataclass(frozen=True, slots=True)
class SiteFile:
    """A file of the site that no page engine makes: its path below the root, its bytes and what it is."""

    path: str
    data: bytes
    what: str


@dataclass(frozen=True, slots=True)
class Download:
    """One line of the download table."""

    href: str
    path: Shown
    what: str
    size: Shown
    mib: Shown
    sha256: Shown


def download(file: SiteFile, up: str) -> Download:
    """The line of a file on a page that is ``up`` (such as ``../``) away from the root."""
    source = f"file:{file.path}"
    size = len(file.data)
    return Download(
        href=f"{up}{file.path}",
        path=Shown(visible(file.path), f"{source}|path"),
        what=file.what,
        size=Shown(str(size), f"{source}|bytes"),
        mib=Shown(units.fixed(units.scaled(size, 1, _BYTES_PER_MIB), 2), f"{source}|mib"),
        sha256=Shown(canonical.sha256_hex(file.data), f"{source}|sha256"),
    )


def downloads(files: Iterable[SiteFile], up: str) -> tuple[Download, ...]:
    """The lines of several files, in their order."""
    return tuple(download(file, up) for file in files)
