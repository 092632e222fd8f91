"""The files of a published site or of a bundle, by the name that the page uses for them.

Only regular files below the root are read. A link could point anywhere and a pipe never ends, so both are
reported and neither is opened.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tallymark.errors import UnreadableError, UsageError
from tallymark.evidence.canonical import sha256_hex
from tallymark.evidence.documents import read_bytes
from tallymark.recount.difference import Difference

MAX_BUNDLE_BYTES = 2 << 30


@dataclass(frozen=True, slots=True)
class Files:
    """Names (relative, with ``/``) of the regular files, and what stands there that is none.

    ``shown`` is what the whole is called in messages: the folder or the zip.
    """

    shown: str
    names: tuple[str, ...]
    odd: tuple[Difference, ...]
    _open: Callable[[str], bytes]
    _digests: dict[str, str] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def read(self, name: str) -> bytes:
        """The bytes of a file. UnreadableError: it cannot be read. UsageError: there is no such file."""
        if name not in self.names:
            raise UsageError(name, "is not published", "build the site again")
        return self._open(name)

    def text(self, name: str) -> str:
        """The text of a file. UnreadableError: it is not UTF-8."""
        try:
            return self.read(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableError(name, f"is not UTF-8 ({error.reason})", "build the site again") from None

    def sha256(self, name: str) -> str:
        """The digest of a file, read once."""
        if name not in self._digests:
            self._digests[name] = sha256_hex(self.read(name))
        return self._digests[name]

    def under(self, folder: str, suffix: str) -> list[str]:
        """The names below ``folder`` that end with ``suffix``."""
        return [name for name in self.names if name.startswith(folder) and name.endswith(suffix)]


def from_folder(root: Path) -> Files:
    """The files of a published folder. UsageError: it is not a folder."""
    if not root.is_dir():
        raise UsageError(str(root), "is not a folder", "build the site first, or name the folder it is in")
    names: list[str] = []
    odd: list[Difference] = []
    closed: list[OSError] = []
    for parent, folders, files in os.walk(root, followlinks=False, onerror=closed.append):
        folders.sort()
        for name in sorted([*files, *(one for one in folders if Path(parent, one).is_symlink())]):
            path = Path(parent, name)
            shown = path.relative_to(root).as_posix()
            if path.is_symlink() or not path.is_file():
                odd.append(Difference(shown, "", "is not a regular file", "Publish the file itself"))
            else:
                names.append(shown)
    for error in closed:
        shown = Path(str(error.filename)).relative_to(root).as_posix()
        odd.append(Difference(shown, "", f"cannot be read ({error.strerror})", "Make the folder readable"))
    return Files(
        root.as_posix(), tuple(sorted(names)), tuple(odd), lambda name: read_bytes(root / name, name)
    )


def from_bundle(path: Path) -> Files:
    """The members of a zip, in memory; nothing is unpacked to disk.

    UnreadableError: not a zip, damaged, or larger than the limit once unpacked. Names that leave the
    bundle, stand twice or are links are reported and not used.
    """
    try:
        with zipfile.ZipFile(path) as bundle:
            members = [one for one in bundle.infolist() if not one.is_dir()]
            if sum(one.file_size for one in members) > MAX_BUNDLE_BYTES:
                raise UnreadableError(str(path), "is too large once unpacked", "make a smaller report")
            held: dict[str, bytes] = {}
            odd: list[Difference] = []
            for member in members:
                problem = _odd_member(member, held)
                if problem:
                    odd.append(Difference(member.filename, "", problem, "Make the bundle again"))
                else:
                    held[member.filename] = bundle.read(member)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError) as error:
        raise UnreadableError(str(path), f"is not a readable zip ({error})", "download it again") from None
    return from_memory(path.name, held, odd)


def from_memory(shown: str, held: Mapping[str, bytes], odd: list[Difference] | None = None) -> Files:
    """Files that are already in memory."""
    return Files(shown, tuple(sorted(held)), tuple(odd or ()), held.__getitem__)


def _odd_member(member: zipfile.ZipInfo, held: Mapping[str, bytes]) -> str:
    name = member.filename
    if name in held:
        return "stands twice in the bundle"
    if (member.external_attr >> 16) & 0o170000 == 0o120000:
        return "is a link"
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name or str(pure) != name:
        return "is a name that leaves the bundle"
    return ""
