"""Where the cases are: the project's own, and a folder of external ones when there is one."""

from __future__ import annotations

import os
from pathlib import Path

OWN = Path(__file__).parents[1] / "cases" / "own"
BESIDE = Path(__file__).parents[3] / "shared" / "cases"


def case_folders() -> list[Path]:
    """The own folder, then TALLYMARK_CASES, or ``../shared/cases`` beside the checkout where it exists.

    A folder that is named and missing is an error: cases that silently do not run prove nothing.
    """
    named = os.environ.get("TALLYMARK_CASES")
    if named:
        if not Path(named).is_dir():
            raise FileNotFoundError(f"TALLYMARK_CASES={named}: there is no such folder")
        return [OWN, Path(named)]
    return [OWN, BESIDE] if BESIDE.is_dir() else [OWN]
