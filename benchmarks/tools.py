"""How long ``tallymark check`` and ``recount.py`` take on our own evidence, measured by hyperfine.

    python benchmarks/tools.py [--label LABEL] [--machine data/runtime-scale/1m.json]

Needs hyperfine and the evidence in ``data/runtime-scale``. Writes ``build/benchmarks/tools.json`` (what
hyperfine wrote) and imports it as ``data/command-tools/LABEL.json``, the evidence of the report
``command-tools``. Each command has a name without paths: names are published. ``--machine`` names evidence
of the runtime that was made on this machine, so that the page can say where the commands ran.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tallymark import tables
from tallymark.evidence import canonical
from tallymark.tables import spec

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "benchmarks"
REPORT = "runtime-scale"
RUNS, WARMUPS = 20, 3


def commands() -> dict[str, list[str]]:
    """Published name to command line: two checks, one recount, and the bare interpreter as the floor."""
    python = sys.executable
    checked = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "data" / REPORT).glob("*.json"))
    recount = str(ROOT / "pipeline/tallymark/recount/recount.py")
    resolved = FOLDER / f"{REPORT}.spec.json"
    names = {
        "python3 -c pass": [python, "-c", "pass"],
        f"python3 recount.py {REPORT}.spec.json": [python, recount, str(resolved), *checked],
    }
    for path in checked:
        names[f"tallymark check {path}"] = [str(Path(python).with_name("tallymark")), "check", path]
    return names


def write_resolved_spec() -> None:
    """The spec as the site publishes it, which is what recount.py reads."""
    report = tables.compute(ROOT, spec.by_name(ROOT, REPORT)).to_json()
    canonical.write_replacing(FOLDER / f"{REPORT}.spec.json", canonical.encode(report["spec"]))


def measure(target: Path) -> None:
    """Run hyperfine over all commands, without a shell, and leave its own file at ``target``."""
    if shutil.which("hyperfine") is None:
        sys.exit("benchmarks/tools.py: hyperfine is missing. Install the Debian package hyperfine.")
    call = ["hyperfine", "-N", "--warmup", str(WARMUPS), "--runs", str(RUNS), "--style", "basic"]
    call += ["--export-json", str(target)]
    for name, command in commands().items():
        call += ["--command-name", name, shlex.join(command)]
    subprocess.run(call, check=True, cwd=ROOT)


def main() -> int:
    """Measure, import, and say where the evidence is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--label", default="tools", help="label of the evidence (default: tools)")
    parser.add_argument("--machine", help="evidence of the runtime that was made on this machine")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_resolved_spec()
    target = FOLDER / "tools.json"
    measure(target)
    call = [sys.executable, "-m", "tallymark", "import", "hyperfine", str(target)]
    call += ["--out", "data/command-tools", "--label", options.label]
    call += ["--machine", options.machine] if options.machine else []
    return subprocess.run(call, check=False, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
