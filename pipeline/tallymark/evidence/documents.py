"""Finding documents on disk and reading them: which files, their bytes, digest and declared schema."""

from __future__ import annotations

import math
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tallymark.errors import FindingsError, UnreadableError, UsageError, child
from tallymark.evidence import strict_json
from tallymark.evidence.canonical import sha256_hex
from tallymark.evidence.strict_json import JsonValue

PROFILE_SUFFIX = ".profile.json"
"""How the name of a profile ends: it stands beside the document whose first configuration it profiles."""

_SCHEMA_NAME = re.compile(r"([a-z][a-z0-9-]{0,63})/[0-9]{1,4}\.[0-9]{1,4}\Z")


@dataclass(frozen=True, slots=True)
class Document:
    """One file as it was read: its shown path, its very bytes with their digest, and its value.

    ``schema`` is what the document declares (``"runtime-execution/1.0"``), empty when it declares none;
    ``kind`` is the part before the slash.
    """

    path: str
    data: bytes
    sha256: str
    schema: str
    kind: str
    value: dict[str, JsonValue]


def load(path: Path, root: Path | None = None, *, follow: bool = False) -> Document:
    """Read one document: JSON, or TOML when the name ends in ``.toml``.

    ``root`` (default: the working directory) is what shown paths are relative to.

    A symbolic link is read only with ``follow``: a link among evidence may point anywhere.
    UnreadableError: not a regular file, too large, or not strict JSON. FindingsError: not a JSON object.
    UsageError: there is no such file.
    """
    shown = shown_path(path, root)
    data = read_bytes(path, shown, follow=follow)
    return from_toml(data, shown) if path.suffix == ".toml" else from_bytes(data, shown)


def from_bytes(data: bytes, shown: str) -> Document:
    """The document in ``data``. UnreadableError: not strict JSON. FindingsError: not a JSON object."""
    value = strict_json.parse(data, shown)
    if not isinstance(value, dict):
        raise FindingsError(
            f"{shown}::$", "the document is not a JSON object", 'write an object that starts with "schema"'
        )
    return _document(value, data, shown)


def from_toml(data: bytes, shown: str) -> Document:
    """The document in a TOML file. UnreadableError: not TOML, or a value that JSON does not have."""
    try:
        value = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{shown}::$", f"byte {error.start} is not UTF-8", "Save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnreadableError(f"{shown}::$", f"not TOML ({error})", "Correct the file") from None
    foreign = next(_not_json(value, "$"), None)
    if foreign is not None:
        raise UnreadableError(f"{shown}::{foreign}", "not a JSON value", "Write it as text or as a number")
    return _document(value, data, shown)


def _not_json(value: object, pointer: str) -> Iterator[str]:
    """Pointers of dates, times and non-finite numbers, which TOML has and JSON has not."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _not_json(member, child(pointer, key))
    elif isinstance(value, list):
        for position, member in enumerate(value):
            yield from _not_json(member, child(pointer, position))
    elif not isinstance(value, (str, int, float)) or (isinstance(value, float) and not math.isfinite(value)):
        yield pointer


def _document(value: dict[str, JsonValue], data: bytes, shown: str) -> Document:
    declared = value.get("schema")
    match = _SCHEMA_NAME.match(declared) if isinstance(declared, str) else None
    return Document(
        path=shown,
        data=data,
        sha256=sha256_hex(data),
        schema=declared if isinstance(declared, str) else "",
        kind=match.group(1) if match else "",
        value=value,
    )


def read_bytes(path: Path, shown: str, *, follow: bool = False) -> bytes:
    """The bytes of a regular file; a pipe or a device is refused without ever being read.

    UnreadableError: not a regular file, a link without ``follow``, or too large. UsageError: no such file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        if not follow and path.is_symlink():
            raise UnreadableError(f"{shown}::$", "it is a symbolic link", "put the file itself here")
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableError(
                f"{shown}::$", "it is not a regular file", "name a file that holds a document"
            )
        with os.fdopen(os.open(path, flags), "rb") as file:
            _refuse_larger(os.fstat(file.fileno()).st_size, shown)
            data = file.read()  # with a length it would reserve all of it, and fail where memory is short
    except FileNotFoundError:
        raise UsageError(shown, "there is no such file", "check the path") from None
    except OSError as error:
        raise UnreadableError(f"{shown}::$", f"cannot be read ({error.strerror})", "check the file") from None
    except ValueError:
        raise UsageError(shown, "the path holds a NUL character", "check the path") from None
    _refuse_larger(len(data), shown)  # it may have grown
    return data


def _refuse_larger(size_bytes: int, shown: str) -> None:
    if size_bytes > strict_json.MAX_BYTES:
        raise UnreadableError(
            f"{shown}::$", f"larger than the limit of {strict_json.MAX_BYTES >> 20} MiB", "split the document"
        )


def find(paths: Iterable[Path]) -> list[Path]:
    """The documents that ``paths`` mean: a named file whatever its suffix, a folder's ``**/*.json`` sorted.

    Hidden folders and links to folders are not entered; a link to a file is listed (and ``load`` refuses it).
    UsageError: a path does not exist. UnreadableError: it, or a folder below it, cannot be looked into.
    """
    return list(dict.fromkeys(found for path in paths for found in _meant(path)))


def _meant(path: Path) -> list[Path]:
    try:
        return _inside(path) if stat.S_ISDIR(path.stat().st_mode) else [path]
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL character
        if path.is_symlink():
            return [path]
        raise UsageError(shown_path(path), "there is no such file or folder", "check the path") from None
    except OSError as error:
        raise _unreadable(error.filename or path, error) from None


def _inside(folder: Path) -> list[Path]:
    found = []
    for parent, folders, files in os.walk(folder, onerror=_stop, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(parent, name) for name in files if name.endswith(".json") and not name.startswith(".")]
    return sorted(found)


def _stop(error: OSError) -> None:
    """A folder that is left out in silence would make the check of the rest look complete."""
    raise error


def _unreadable(path: Path | str, error: OSError) -> UnreadableError:
    return UnreadableError(
        f"{shown_path(Path(path))}::$",
        f"cannot be read ({error.strerror})",
        "check the path and its permissions",
    )


def shown_path(path: Path, root: Path | None = None) -> str:
    """``path`` as messages show it: relative to ``root`` when inside it, else as it was given.

    Bytes of a file name that are not UTF-8 are shown as escapes, so that every message can be printed.
    """
    shown = _whole(path).relative_to(_base(root)) if is_inside(path, root) else path
    return shown.as_posix().encode("utf-8", "backslashreplace").decode("utf-8")


def is_inside(path: Path, root: Path | None = None) -> bool:
    """Whether ``path`` is below ``root`` (default: the working directory), links not followed."""
    return _whole(path).is_relative_to(_base(root))


def _base(root: Path | None) -> Path:
    return (root or Path()).absolute()


def _whole(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def is_aside(path: Path, pattern: str) -> bool:
    """Whether a glob for evidence passes over this file: a profile that it does not name itself."""
    named = PurePosixPath(pattern).name.endswith(PROFILE_SUFFIX)
    return path.name.endswith(PROFILE_SUFFIX) and not named
