"""One small site, written once and copied for each test that changes it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.published import write_site

from tallymark.recount import files, published
from tallymark.recount.published import Published


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with its site; never changed."""
    return write_site(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="session")
def read(pristine: Path) -> Published:
    """The small site as recount reads it; see ``support.published.differences``."""
    return published.read_site(files.from_folder(pristine / "build" / "site"))


@pytest.fixture
def project(pristine: Path, tmp_path: Path) -> Path:
    """A copy of the project that a test may change."""
    copy = tmp_path / "project"
    shutil.copytree(pristine, copy)
    return copy


@pytest.fixture
def site(project: Path) -> Path:
    """The site of the copied project."""
    return project / "build" / "site"


@pytest.fixture
def real(built: Path, tmp_path: Path) -> Path:
    """The site of a copy of the built project, to be changed."""
    shutil.copytree(built, tmp_path / "real")
    return tmp_path / "real" / "build" / "site"
