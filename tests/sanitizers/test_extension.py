"""A sanitizer in the extension module is worth what its canaries show: each must fire, and only there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tallymark import runtime

EXPECTED = os.environ.get("TALLYMARK_SANITIZE", "none")
# By the sanitizer of the build: what is called, and what the sanitizer must say of it.
CANARIES = {
    "none": {},
    "address": {
        "canary_heap": "ERROR: AddressSanitizer: heap-buffer-overflow",
        "canary_undefined": "runtime error: shift exponent 32 is too large",
    },
    "thread": {"canary_race": "WARNING: ThreadSanitizer: data race"},
}
EVERY = sorted({name for canaries in CANARIES.values() for name in canaries})
CALL = """
import ctypes, sys
from tallymark import _runtime
call = getattr(ctypes.CDLL(_runtime.__file__), sys.argv[1], None)
print("absent" if call is None else "silent" if call() is not None else "", flush=True)
"""


def called(name: str) -> subprocess.CompletedProcess[str]:
    """Call a function of the extension module in a process of its own."""
    return subprocess.run(
        (sys.executable, "-I", "-c", CALL, name), capture_output=True, text=True, check=False
    )


def test_the_module_under_test_is_of_the_build_that_was_asked_for() -> None:
    """Otherwise everything here would pass on the plain build, and prove nothing."""
    assert runtime.build_information()["sanitizer"] == EXPECTED


@pytest.mark.parametrize("name", EVERY)
def test_a_canary_fires_in_its_sanitizer_and_is_in_no_other_build(name: str) -> None:
    done = called(name)
    message = CANARIES[EXPECTED].get(name)
    if message is None:
        assert (done.returncode, done.stdout, done.stderr) == (0, "absent\n", "")
    else:
        assert done.returncode != 0
        assert "silent" not in done.stdout
        assert message in done.stderr
