"""Sites built once for all tests of this folder, and one browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from support.site_pages import failed_project, hostile_project, sparse_project

from tallymark.site.build import build_site
from tallymark.site.screenshot import browser as chromium


@pytest.fixture(scope="session")
def site(built: Path) -> Path:
    """The site of that project."""
    return built / "build" / "site"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site whose benchmarks, title and footnote carry markup."""
    return build_site(hostile_project(tmp_path_factory.mktemp("hostile"))).site


@pytest.fixture(scope="session")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with a run that was killed."""
    return build_site(failed_project(tmp_path_factory.mktemp("failed"))).site


@pytest.fixture(scope="session")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with cells that have no value: too few samples, and a row without a run."""
    return build_site(sparse_project(tmp_path_factory.mktemp("sparse"))).site


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium that can reach nothing but this machine."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium(),
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
        )
        yield started
        started.close()
