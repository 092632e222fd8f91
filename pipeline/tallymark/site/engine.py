"""mkdocs, run offline on generated pages: the one place that knows the page engine."""

from __future__ import annotations

import importlib.resources
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tallymark.errors import UsageError

CONFIGURATION = "mkdocs.yml"
# What the engine adds and no site needs: a compressed file whose bytes depend on the zlib at hand, and an
# error page whose links only work at the root of a host.
_DROPPED = ("sitemap.xml.gz", "404.html")
# a page by its title, or a section of entries
Entry: TypeAlias = "tuple[str, str | tuple[Entry, ...]]"
Navigation: TypeAlias = Sequence[Entry]


def build_pages(project: Path, pages: Path, site: Path, navigation: Navigation, epoch: int) -> None:
    """Turn the Markdown files in ``pages`` into HTML in ``site``, dated ``epoch`` (seconds since 1970).

    The project's own ``mkdocs.yml`` is used, else the one that tallymark ships. UsageError: mkdocs is not
    installed, or it refuses the pages.
    """
    if importlib.util.find_spec("material") is None:
        raise UsageError(
            "tallymark site build",
            "mkdocs-material is not installed",
            'install it with: pip install "tallymark[site]"',
        )
    own = project.absolute() / CONFIGURATION
    with importlib.resources.as_file(
        importlib.resources.files("tallymark") / "templates" / CONFIGURATION
    ) as shipped:
        derived: dict[str, Any] = {
            "INHERIT": str(own if own.is_file() else shipped.absolute()),
            "docs_dir": str(pages.absolute()),
            "site_dir": str(site.absolute()),
            "nav": [{title: _entry(target)} for title, target in navigation],
        }
        configuration = pages.with_name(f"{pages.name}.mkdocs.yml")
        # JSON is YAML, and has one way to quote
        configuration.write_text(json.dumps(derived, ensure_ascii=True, indent=1), encoding="utf-8")
        try:
            _run(configuration, epoch)
        finally:
            configuration.unlink()
    for name in _DROPPED:
        (site / name).unlink(missing_ok=True)


def _entry(target: str | tuple[Entry, ...]) -> Any:
    return target if isinstance(target, str) else [{title: _entry(inner)} for title, inner in target]


def _run(configuration: Path, epoch: int) -> None:
    command = [sys.executable, "-P", "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--config-file", str(configuration)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=_environment(os.environ, epoch),
    )
    if done.returncode != 0:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise UsageError(
            "mkdocs build",
            said[-1].strip() if said else f"ended with exit code {done.returncode}",
            "correct the page or mkdocs.yml",
        )


def _environment(outside: Mapping[str, str], epoch: int) -> dict[str, str]:
    """The caller's environment, with what could change a page or its date held fixed."""
    kept = {name: value for name, value in outside.items() if not name.startswith("MKDOCS")}
    fixed = {
        "SOURCE_DATE_EPOCH": str(epoch),
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "NO_MKDOCS_2_WARNING": "1",
    }
    return kept | fixed
