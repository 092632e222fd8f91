"""``tallymark site`` as it is typed."""

from __future__ import annotations

import struct
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support.console import Console

from tallymark.site import screenshot
from tallymark.site.serve import HOST, server


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    """Commands run in an empty folder."""
    return Console(tmp_path, monkeypatch, capsys)


def test_build_without_a_report_exits_4(console: Console) -> None:
    """Nothing was published; silence would read as success."""
    code, out, error = console.run("site", "build")
    assert (code, out) == (4, "")
    assert error.startswith("site/reports: there is no report spec.")


def test_a_screenshot_is_a_picture_of_the_page(console: Console, site: Path, tmp_path: Path) -> None:
    """PNG header: width and height are the 4-byte numbers at offset 16."""
    out = tmp_path / "pictures" / "charts.png"
    arguments = ["--site", str(site), "--page", "reports/runtime-scale.html#charts", "--dark"]
    code, printed, _ = console.run("site", "screenshot", *arguments, "--width", "640", "--out", str(out))
    assert (code, printed.strip()) == (0, str(out))
    data = out.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (640, 900)
    assert len(data) > 10_000  # an empty picture of that size is smaller


def test_a_screenshot_of_nothing_is_refused(console: Console, site: Path) -> None:
    """A page that is not there would be photographed as the browser's error page."""
    code, _, error = console.run(
        "site", "screenshot", "--site", str(site), "--page", "no.html", "--out", "x.png"
    )
    assert code == 2 and "there is no such page" in error


def test_without_a_browser_the_package_is_named(
    console: Console, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PATH without Chromium."""
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, error = console.run("site", "screenshot", "--site", str(site), "--out", "x.png")
    assert code == 2
    assert "no Chromium is installed" in error and "apt-get install chromium" in error
    assert screenshot.BROWSERS == ("chromium", "chromium-browser", "google-chrome")


def test_serve_needs_a_site(console: Console) -> None:
    """It says how to get one."""
    code, _, error = console.run("site", "serve")
    assert code == 2 and "tallymark site build" in error


def test_the_server_gives_files_of_the_site_to_this_machine_and_takes_nothing(site: Path) -> None:
    """GET works; POST, folders and paths outside are refused."""
    with server(site, 0) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            assert http.server_address[0] == HOST == "127.0.0.1"
            base = f"http://127.0.0.1:{http.server_address[1]}"
            with urllib.request.urlopen(f"{base}/") as answer:
                assert b"<article" in answer.read()
            assert _status(f"{base}/reports/") == 404
            assert _status(f"{base}/../../site/docs/design.md") == 404
            assert _status(f"{base}/index.html", b"x") == 501
        finally:
            http.shutdown()
            thread.join()


def _status(url: str, body: bytes | None = None) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(url, data=body))
    code = refused.value.code
    refused.value.close()
    return code
