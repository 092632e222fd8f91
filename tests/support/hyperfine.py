"""Files as hyperfine writes them, for tests.

The two files in ``tests/importers/files`` were written by hyperfine 1.15.0 and are unchanged:

    hyperfine -N -w 1 --runs 4 -L n 0.01,0.02 --export-json scan.json 'sleep {n}'
    hyperfine -N -i --runs 3 --export-json failing.json 'false' 'true'

Everything else is built here in the same shape; its figures come from the ``statistics`` module, which the
importer does not use.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tallymark import importers
from tallymark.evidence.personal import KnownNames
from tallymark.importers.compose import Source
from tallymark.importers.interface import Imported

FILES = Path(__file__).resolve().parents[1] / "importers" / "files"
NOBODY = KnownNames(user=None, host=None, home=None)


def written(name: str) -> dict[str, Any]:
    """One of the files that hyperfine itself wrote."""
    value = json.loads((FILES / name).read_bytes())
    assert isinstance(value, dict)
    return value


def entry(command: str = "sleep 0.1", times: Sequence[float] = (0.102, 0.101, 0.106), **changes: Any) -> Any:
    """One element of ``results`` in the form of hyperfine 1.20; a change to ``...`` removes the key."""
    whole = {
        "command": command,
        "mean": statistics.fmean(times),
        "stddev": statistics.stdev(times) if len(times) > 1 else None,
        "median": statistics.median(times),
        "user": 0.0007,
        "system": 0.0013,
        "min": min(times),
        "max": max(times),
        "times": list(times),
        "memory_usage_byte": [1_900_544] * len(times),
        "exit_codes": [0] * len(times),
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def export(*entries: Any, **extra: Any) -> bytes:
    """The bytes of a file with these entries."""
    return json.dumps({"results": list(entries), **extra}, indent=2).encode()


def imported(*entries: Any, redact: bool = False, known: KnownNames = NOBODY, **extra: Any) -> Imported:
    """The entries, written to a file called ``h.json`` and imported."""
    source = Source(name="h.json", shown="h.json", data=export(*entries, **extra))
    return importers.read(importers.importer("hyperfine"), source, known, redact)
