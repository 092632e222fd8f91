"""A look at a built site over HTTP on this machine alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tallymark.errors import UsageError

HOST = "127.0.0.1"


class _ReadOnly(SimpleHTTPRequestHandler):
    """Files of one folder by GET and HEAD; nothing is logged, cached or listed."""

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not reported."""

    def end_headers(self) -> None:
        """A rebuilt page is shown, never a stored one."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def list_directory(self, path: object) -> None:
        """A folder without an index page is not listed."""
        self.send_error(404)


def server(site: Path, port: int) -> ThreadingHTTPServer:
    """A server of ``site`` on 127.0.0.1, not yet running; port 0 takes a free one.

    UsageError: there is no built site, or the port is taken.
    """
    if not (site / "index.html").is_file():
        raise UsageError(str(site), "there is no built site", "build it first: tallymark site build")
    handler: Callable[..., _ReadOnly] = functools.partial(_ReadOnly, directory=str(site))
    try:
        return ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        raise UsageError(
            f"--port {port}",
            f"cannot be opened ({error.strerror})",
            "choose another port, or 0 for a free one",
        ) from None
