"""Pictures of built pages by a headless Chromium of the system; nothing is downloaded."""

from __future__ import annotations

import html
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tallymark.errors import UsageError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# No sandbox is needed for our own pages on disk, and none is possible as root; the rest keeps the browser
# from talking to anyone.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
# Charts are drawn when they come into view and take their time on a busy machine.
_VIRTUAL_TIME_MS = 15_000
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Picture:
    """What to photograph: a page of the site, in which colours, how wide and how high in pixels."""

    page: str = "index.html"
    dark: bool = False
    width: int = 1280
    height: int = 900


def browser() -> str:
    """The path of the system's Chromium. UsageError: none is installed."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise UsageError(
        "tallymark site screenshot",
        "no Chromium is installed",
        "install the Debian package chromium: sudo apt-get install chromium",
    )


def photograph(site: Path, picture: Picture, out: Path) -> None:
    """Write a PNG of a page of the built ``site`` to ``out``.

    UsageError: no such page, no browser, or the browser failed.
    """
    name, _, anchor = picture.page.partition("#")
    page = site / name
    if not page.is_file():
        raise UsageError(str(page), "there is no such page", "build the site, or name a page below it")
    with tempfile.TemporaryDirectory(prefix="tallymark-browser-") as profile:
        shot = Path(profile, "shot.png")
        address = _framed(page, anchor, Path(profile)) if anchor else page.absolute().as_uri()
        command = [
            browser(),
            *FLAGS,
            f"--user-data-dir={profile}",
            f"--window-size={picture.width},{picture.height}",
            f"--virtual-time-budget={_VIRTUAL_TIME_MS}",
            *(["--blink-settings=preferredColorScheme=0"] if picture.dark else []),
            f"--screenshot={shot}",
            address,
        ]
        _run(command)
        if not shot.is_file():
            raise UsageError(picture.page, "the browser wrote no picture", "try again on a less busy machine")
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shot, out)


def _framed(page: Path, anchor: str, folder: Path) -> str:
    """The address of a page that shows ``page`` at an anchor: a picture of a scrolled window is empty."""
    source = html.escape(f"{page.absolute().as_uri()}#{anchor}")
    frame = folder / "frame.html"
    frame.write_text(
        '<!doctype html><meta name="color-scheme" content="light dark"><style>'
        "html,body,iframe{margin:0;border:0;width:100vw;height:100vh;overflow:hidden;display:block}</style>"
        f'<iframe src="{source}"></iframe>',
        encoding="utf-8",
    )
    return frame.as_uri()


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        raise UsageError(
            command[0], f"did not answer within {_SECONDS} s", "try again on a less busy machine"
        ) from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UsageError(command[0], f"ended with exit code {done.returncode}: {said}", "check the browser")
