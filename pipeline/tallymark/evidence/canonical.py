"""Values to bytes in one way, digests of bytes, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tallymark.errors import ConflictError, UsageError


def encode(value: Any) -> bytes:
    """``value`` as a JSON document: one space of indentation, keys in their order, UTF-8, a final newline.

    ValueError: NaN, Infinity or a lone surrogate, which no strict reader would take back.
    """
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def compact(value: Any) -> str:
    """``value`` on one line with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of the bytes as they are (never of a normalised text), 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def write_new(path: Path, data: bytes) -> None:
    """Write a file that must not exist yet; a reader sees all of it or nothing, also after a power cut.

    ConflictError: the file is already there and stays untouched. UsageError: the folder cannot be written.
    """
    write_new_pieces(path, [data])


def write_new_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """``write_new`` of a file that is made a piece at a time, for what does not fit into memory."""
    with _finished_beside(path, pieces) as temporary:
        try:
            _claim(temporary, path)
        except FileExistsError:
            raise ConflictError(
                str(path),
                "the file is already there",
                "choose another label or folder; evidence is never overwritten",
            ) from None


def write_replacing(path: Path, data: bytes) -> None:
    """Write a file in one step, in place of what is there. UsageError: the folder cannot be written."""
    with _finished_beside(path, [data]) as temporary:
        temporary.replace(path)


def _claim(temporary: Path, path: Path) -> None:
    """Give the finished file its name unless the name is taken; a link, unlike a rename, never replaces."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # a file system without hard links: the short gap between test and rename is accepted there
        if path.exists():
            raise FileExistsError(path) from None
        temporary.rename(path)


@contextlib.contextmanager
def _finished_beside(path: Path, pieces: Iterable[bytes]) -> Iterator[Path]:
    """A temporary file in the folder of ``path`` that already holds all bytes on disk; removed at the end."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
        _sync_folder(path.parent)
    except OSError as error:
        raise UsageError(
            str(path), f"cannot be written ({error.strerror})", "choose a folder that can"
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself durable; a folder that cannot be synced is no reason to fail."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
