"""``SHA256SUMS``: every file of a folder but itself, in the form that ``sha256sum --strict -c`` reads."""

from __future__ import annotations

from pathlib import Path

from tallymark.evidence import canonical

NAME = "SHA256SUMS"


def write_sums(folder: Path) -> int:
    """Write the digests of all files below ``folder``; returns how many there are."""
    paths = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).as_posix() != NAME
    )
    lines = [f"{canonical.sha256_hex((folder / path).read_bytes())}  {path}\n" for path in paths]
    (folder / NAME).write_text("".join(lines), encoding="utf-8", newline="\n")
    return len(paths)
