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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the skipped tests: `pytest_sessionfinish` below turns them into a failure."""
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"skipped, which counts as failed: {report.nodeid}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A skipped test is a failure: what could not be tried is not known to work."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == pytest.ExitCode.OK and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
