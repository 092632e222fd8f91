"""The shape of the tree: what would break quietly if somebody moved it."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("pipeline/**/*.py", "runtime_c/**/*.[ch]", "site/assets/tallymark*.js", "benchmarks/**/*.py")


# recount.py is downloaded and must stay one file; everything else can be taken apart.
WALLS = {"pipeline/tallymark/recount/recount.py": 560}


def test_no_source_file_grows_past_the_wall() -> None:
    """A file answers one question; about 400 lines is the wall (10 % of grace)."""
    files = [path.relative_to(ROOT).as_posix() for pattern in SOURCES for path in ROOT.glob(pattern)]
    assert len(files) > 40
    too_long = {
        name: lines
        for name in files
        if (lines := len((ROOT / name).read_text(encoding="utf-8").splitlines())) > WALLS.get(name, 440)
    }
    assert too_long == {}


def test_mkdocs_never_uses_its_default_folders() -> None:
    """With its defaults ``mkdocs build`` deletes ``site/``, which holds our sources."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "docs_dir: build/pages" in text
    assert "site_dir: build/site" in text
    assert "use_directory_urls: false" in text


def test_the_version_is_said_once() -> None:
    """``pyproject.toml`` and the package agree."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    package = (ROOT / "pipeline/tallymark/__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{declared}"' in package


def test_committed_evidence_was_made_from_a_clean_tree() -> None:
    """Published runtime evidence says ``dirty: false``; an unreadable flag (null) does not count as clean."""
    listed = subprocess.run(
        ["git", "ls-files", "data/*.json"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert listed, "the project publishes evidence of its own"
    for name in listed:
        document = json.loads((ROOT / name).read_bytes())
        if document["schema"].startswith("runtime-execution/"):
            assert document["manifest"]["dirty"] is False, name
