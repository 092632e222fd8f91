"""The package as its users get it: a wheel in a clean place, and an install without a C compiler."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from support.evidence import write_project

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def clean_environment(**more: str) -> dict[str, str]:
    """What a new user's shell holds: no virtual environment, no PYTHONPATH, no compiler settings."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG", "TMPDIR") if key in os.environ}
    kept |= {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
    return kept | more


def installed(folder: Path, what: str | Path, **environment: str) -> Path:
    """The programs of a new virtual environment with ``what`` installed in it.

    Without a pip of its own and without compiling every module of every dependency: neither is under test,
    and together they take longer than the rest.
    """
    venv.create(folder, with_pip=False)
    into = ("--python", folder / "bin" / "python", "install", "--quiet", "--no-compile")
    run(sys.executable, "-m", "pip", *into, what, cwd=folder, **environment)
    return folder / "bin"


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built in an isolated environment as pip does it for a user."""
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, ROOT, cwd=out)
    (built,) = out.glob("tallymark-*.whl")
    return built


def test_the_wheel_runs_checks_and_tabulates_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    """One abi3 wheel holds the runtime, the schemas, the templates and the assets."""
    assert "cp311-abi3" in wheel.name
    bin_ = installed(tmp_path / "venv", f"{wheel}[all]")
    work = tmp_path / "elsewhere"
    work.mkdir()
    run(bin_ / "tallymark", "run", "scale", "--preset", "smoke", "--out", "data/scale", cwd=work)
    run(bin_ / "tallymark", "check", "data", cwd=work)
    run(bin_ / "tallymark", "report", "init", "data/scale", cwd=work)
    run(bin_ / "tallymark", "table", "scale", cwd=work)
    run(bin_ / "tallymark", "schema", "check", cwd=work)
    run(bin_ / "tallymark", "site", "build", cwd=work)
    recounted = run(bin_ / "tallymark", "recount", cwd=work)
    assert recounted.stdout.rstrip().endswith("0 differences")


def test_without_a_compiler_the_base_install_checks_and_recounts(wheel: Path, tmp_path: Path) -> None:
    """``CC=false``: CMake fails, the install does not; running a suite says what is missing."""
    project = write_project(tmp_path / "project")
    bin_ = installed(tmp_path / "venv", ROOT, CC="false", CXX="false")
    run(bin_ / "tallymark", "check", "data", cwd=project)
    bundle = tmp_path / "bundle.zip"
    maker = Path(sys.executable).with_name("tallymark")
    run(maker, "site", "build", cwd=project)
    run(maker, "bundle", "runtime-scale", "--out", bundle, cwd=project)
    assert run(bin_ / "tallymark", "recount", cwd=project).stdout.rstrip().endswith("0 differences")
    run(bin_ / "tallymark", "recount", bundle, cwd=tmp_path)
    refused = subprocess.run(
        [str(bin_ / "tallymark"), "run", "scale", "--preset", "smoke"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2
    assert "compiler" in refused.stderr
