"""What the runtime says about its own build, against the files and the compiler that made it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.runtime import spoken

from tallymark import runtime
from tallymark.errors import BrokenRuntimeError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "runtime_c"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """runtime_c/build_information.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("build_information", FOLDER / "build_information.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = spoken('{"tasks": 1}').last["manifest"]
    return found


def test_the_digest_covers_names_contents_and_flags(script: ModuleType, tmp_path: Path) -> None:
    """By hand: name NUL length NUL content, in the order of the names, then the flags."""
    (tmp_path / "b.c").write_bytes(b"int b;")
    (tmp_path / "a.h").write_bytes(b"")
    by_hand = hashlib.sha256(b"a.h\x000\x00" + b"b.c\x006\x00int b;" + b"-O2").hexdigest()
    assert script.source_digest(["b.c", "a.h"], "-O2", tmp_path) == by_hand
    assert script.source_digest(["b.c", "a.h"], "-O1", tmp_path) != by_hand


def test_flags_keep_no_path(script: ModuleType) -> None:
    flags = "-O2 -ffile-prefix-map=/home/someone/x=. -isystem /opt/y -DNDEBUG"
    assert script.without_paths(flags) == "-O2 -ffile-prefix-map=... -isystem ... -DNDEBUG"


def test_a_folder_inside_another_repository_is_at_no_revision(tmp_path: Path) -> None:
    """An unpacked source package must not take the revision of whoever unpacked it."""
    inner = tmp_path / "unpacked"
    (inner / "runtime_c").mkdir(parents=True)
    copy = inner / "runtime_c" / "build_information.py"
    copy.write_bytes((FOLDER / "build_information.py").read_bytes())
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "theirs"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *command], check=True)
    told = subprocess.run(
        [sys.executable, "-c", "import build_information as b; print(b.revision())"],
        cwd=copy.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "(None, None)"


def test_the_manifest_tells_the_build_of_the_library_that_ran(manifest: dict[str, Any]) -> None:
    assert manifest["build"] == runtime.build_information()
    assert runtime.source_digest_of_build() == manifest["build"]["source_digest"]
    from tallymark import _runtime

    library = Path(str(importlib.import_module(_runtime.__name__).__file__)).read_bytes()
    assert manifest["library_sha256"] == hashlib.sha256(library).hexdigest()
    assert bytes.fromhex(manifest["build_id"]) in library
    assert "-O2" in manifest["build"]["flags"] and "march" not in manifest["build"]["flags"]


def test_what_the_manifest_does_not_know_has_a_reason(manifest: dict[str, Any]) -> None:
    flat = manifest | manifest["machine"]
    missing = {key for key, value in flat.items() if value is None}
    assert missing == set(manifest["unavailable"])
    assert all(reason and "/" not in reason for reason in manifest["unavailable"].values())
    assert [stamp["stage"] for stamp in manifest["timestamps"]] == [
        "submitted",
        "admitted",
        "dequeued",
        "runner_start",
        "runner_end",
        "finalised",
    ]


def test_a_missing_module_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """None in sys.modules is how the import system marks what is known not to be there."""
    monkeypatch.setitem(sys.modules, "tallymark._runtime", None)
    with pytest.raises(BrokenRuntimeError) as caught:
        runtime.build_information()
    assert "no C compiler" in caught.value.problem
    assert caught.value.do == "install gcc (and python3-dev), then pip install ."
    assert runtime.source_digest_of_build() is None
