"""File permissions that bind, even where the tests run as root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Inside, root is nobody; anybody else stays who they are. Modules must have been imported before."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
