"""The README's digests are those of the published evidence and of the frozen reports (E10).

``python tests/test_readme.py`` writes them into the README after a freeze.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def expected_block() -> str:
    """What must stand between the fences: ``sha256sum -c`` reads it, comments and all."""
    lines = []
    for frozen in sorted((ROOT / "site/reports").glob("*.frozen.json")):
        report = json.loads(frozen.read_bytes())
        lines.append(f"# {report['report']} version {report['version']}: report digest {report['digest']}")
        for file in report["data"]:
            lines.append(f"{file['sha256']}  {file['path']}")
    return "\n".join(lines)


def with_block(readme: str) -> str:
    """The README with the block of today in the place of the one that it holds."""
    found = re.search(r"```\n# [a-z0-9_-]+ version [0-9]+: report digest .*?\n```", readme, re.DOTALL)
    assert found is not None, "README.md has no block of digests"
    return readme.replace(found[0], f"```\n{expected_block()}\n```")


def test_the_readme_holds_the_digests_of_what_is_published() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = expected_block()
    assert block.count("report digest") >= 3
    assert f"```\n{block}\n```" in readme, "run: python tests/test_readme.py"


def test_the_digests_are_those_of_the_files() -> None:
    """Recomputed here with hashlib, beside the freeze that recorded them."""
    listed = re.findall(
        r"^([0-9a-f]{64})  (data/\S+)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(listed) >= 4
    for digest, path in listed:
        assert hashlib.sha256((ROOT / path).read_bytes()).hexdigest() == digest, path


def test_writing_the_block_again_changes_nothing() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_block(readme) == readme
    assert with_block(with_block(readme.replace("report digest ", "report digest 0"))) == readme


if __name__ == "__main__":
    path = ROOT / "README.md"
    path.write_text(with_block(path.read_text(encoding="utf-8")), encoding="utf-8")
