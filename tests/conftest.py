"""Settings of the whole test run, and what several folders of tests share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: a slow moment of a shared machine is not a failure.
settings.register_profile("tallymark", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("tallymark")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the shipped report on made-up data, an import, and its site; never changed."""
    from support.built import build  # pandas and the rest, only where a site is needed

    return build(tmp_path_factory.mktemp("built"))
