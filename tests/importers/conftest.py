"""The command line in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.console import Console


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    """Commands run in a new, empty folder."""
    return Console(tmp_path, monkeypatch, capsys)
