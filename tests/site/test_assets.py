"""The files that every page loads."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from plotly.offline import get_plotlyjs_version  # type: ignore[import-untyped]

ASSETS = Path(__file__).parents[2] / "site" / "assets"
BUNDLE = ASSETS / "plotly-cartesian.min.js"


def test_the_chart_library_is_the_one_whose_digest_is_committed() -> None:
    """``sha256sum -c`` form, beside its licence."""
    digest, name = (ASSETS / "plotly-cartesian.min.js.sha256").read_text(encoding="utf-8").split()
    assert (digest, name) == (hashlib.sha256(BUNDLE.read_bytes()).hexdigest(), BUNDLE.name)
    assert "MIT License" in (ASSETS / "plotly-LICENSE.txt").read_text(encoding="utf-8")


def test_the_chart_library_has_the_version_that_checks_the_figures() -> None:
    """Python's plotly validates against its own plotly.js."""
    head = BUNDLE.read_text(encoding="utf-8")[:200]
    found = re.search(r"v([0-9.]+)", head)
    assert found is not None and found.group(1) == get_plotlyjs_version()


def test_our_script_and_style_name_no_address() -> None:
    """Nothing of ours asks another host for anything."""
    for name in ("tallymark.js", "tallymark.css"):
        assert not re.search(
            r"https?:|//[a-z]|@import|url\(",
            (ASSETS / name).read_text(encoding="utf-8").replace("file://", ""),
        )
