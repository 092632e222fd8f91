r"""Write the header that tells the runtime how it was built. Called by CMake at every build.

    python build_information.py OUTPUT.h COMPILER VERSION SANITIZER LTO FLAGS RELEASED_DIGEST FILE... \
        --simulator FLAGS FILE...

FILEs are the sources and headers of the library, relative to this folder. The source digest is the SHA-256
of, for each file in the order of its name: name, NUL, decimal length, NUL, content; and at the end of FLAGS.
The simulator's digest is made in the same way of the flags and files behind --simulator, and of no others.
The output is touched only when its text changes, so that an unchanged build compiles nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def source_digest(names: list[str], flags: str, folder: Path = HERE) -> str:
    """Hex SHA-256 that stands for the library's text and its flags."""
    digest = hashlib.sha256()
    for name in sorted(names):
        content = (folder / name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    digest.update(flags.encode())
    return digest.hexdigest()


def git(*arguments: str) -> str | None:
    """Output of a git command in the project, or None when there is no git or no repository."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(HERE.parent), *arguments],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def revision() -> tuple[str | None, bool | None]:
    """The commit of the tree that is built and whether the tree differs from it; None when unknown.

    A source tree unpacked inside somebody else's repository is not at that repository's revision.
    """
    top = git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != HERE.parent:
        return None, None
    changes = git("status", "--porcelain")
    return git("rev-parse", "HEAD"), None if changes is None else changes != ""


def without_paths(flags: str) -> str:
    """The flags with every word that holds a path cut at it: evidence carries no path of a machine."""
    words = [word if "/" not in word else word[: word.index("/")] + "..." for word in flags.split()]
    return " ".join(words)


def c_string(text: str | None) -> str:
    """A C literal; the texts are ASCII, for which JSON's escapes are C's."""
    return "NULL" if text is None else json.dumps(text)


def main(arguments: list[str]) -> None:
    """Compose the header and write it when it differs from what is there."""
    mark = arguments.index("--simulator")
    arguments, simulator = arguments[:mark], arguments[mark + 1 :]
    output, compiler, version, sanitizer, lto, flags, released = arguments[:7]
    flags = without_paths(flags)
    digest = source_digest(arguments[7:], flags)
    commit, dirty = revision()
    values = {
        "SOURCE_DIGEST": c_string(digest),
        "COMPILER": c_string(compiler),
        "COMPILER_VERSION": c_string(version),
        "FLAGS": c_string(flags),
        "SANITIZER": c_string(sanitizer),
        "LTO": "1" if lto.upper() in ("1", "ON", "TRUE", "YES") else "0",
        "REVISION": c_string(commit),
        "DIRTY": "-1" if dirty is None else str(int(dirty)),
        "RELEASED_DIGEST": c_string(released or None),
        "SIMULATOR_DIGEST": c_string(source_digest(simulator[1:], without_paths(simulator[0]))),
    }
    lines = ["/* Written by build_information.py; not a source. */"]
    lines += [f"#define RT_BUILD_{key} {value}" for key, value in values.items()]
    text = "\n".join(lines) + "\n"
    path = Path(output)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
