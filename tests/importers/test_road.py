"""The whole road of a foreign number: a real hyperfine run, evidence, a first spec, a table."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

from support.console import Console

ROOT = Path(__file__).resolve().parents[2]


def test_a_real_hyperfine_run_becomes_a_table(console: Console) -> None:
    """``false`` fails each time; its row says so instead of showing a time."""
    subprocess.run(
        ["hyperfine", "-N", "-i", "-w", "1", "-r", "5", "--export-json", "h.json", "true", "false"],
        check=True,
        capture_output=True,
    )
    assert console.run("import", "hyperfine", "h.json", "--out", "data/x")[0] == 0
    assert console.run("check", "data/x")[0] == 0
    assert console.run("report", "init", "data/x")[:2] == (0, "site/reports/x.toml\n")
    assert console.run("report", "init", "data/x")[0] == 2, "a spec that is there is never overwritten"
    code, out, _ = console.run("table", "x", "--format", "json")
    assert code == 0
    false, true = json.loads(out)["rows"]
    assert (false["id"], true["id"]) == ('benchmark="false"', 'benchmark="true"')
    assert [row["cells"][name]["text"] for row in (false, true) for name in ("completed", "recorded")] == [
        *("0", "5"),
        *("5", "5"),
    ]
    assert false["cells"]["median"]["absent"]["kind"] == "failed"
    samples = json.loads(Path("h.json").read_bytes())["results"][0]["times"]
    assert true["cells"]["median"]["exact"] in {sorted(samples)[2] * factor for factor in (1.0, 1e3, 1e6)}


def test_the_commands_of_the_example_work_as_they_stand(console: Console) -> None:
    """The shell block of examples/hyperfine/README.md, line by line, in an empty project."""
    text = (ROOT / "examples/hyperfine/README.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(.*?)```", text, re.DOTALL)
    assert block
    lines = [shlex.split(line) for line in block[1].splitlines()]
    assert len(lines) == 4
    for program, *arguments in lines:
        assert program == "tallymark"
        paths = [str(ROOT / word) if word.startswith("examples/") else word for word in arguments]
        assert console.run(*paths)[0] == 0, arguments
