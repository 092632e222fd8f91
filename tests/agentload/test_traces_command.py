"""``tallymark load traces import``: what is printed, written and returned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.console import Console
from support.traces import FILES

from tallymark.agentload.traces import own

SHARED = Path(__file__).parents[3] / "shared" / "corpus" / "traces"
"""Samples of public traces beside the checkout, where there are some; never part of the project."""

OWN = sorted(path for path in FILES.iterdir() if path.name not in ("own.csv", "own.toml"))
NO_GENAI = "no span has GenAI attributes"
NOT_KNOWN = "not recognised"


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(tmp_path, monkeypatch, capsys)


def test_rows_reconcile_and_every_loss_is_said(console: Console) -> None:
    code, out, err = console.run(
        "load", "traces", "import", str(FILES / "burstgpt_v1.csv"), "--out", "c.jsonl"
    )
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "burstgpt_v1.csv: burstgpt, 2 tasks; rows: 3 read = 2 used + 1 dropped",
        "  dropped 1: no tokens: the request failed or was not served",
        "  loss at $: the format records neither tool calls, prefixes nor errors",
        "1 files imported, 0 refused; 2 tasks",
        "c.jsonl",
    ]
    sources, tasks = own.read(Path("c.jsonl"))
    assert (sources[0].name, len(list(tasks))) == ("burstgpt_v1.csv", 2)


def test_a_refused_file_does_not_stop_the_others(console: Console) -> None:
    Path("x.md").write_text("# hello\n", encoding="utf-8")
    files = ["x.md", str(FILES / "azure.csv"), "none.csv"]
    code, out, err = console.run("load", "traces", "import", *files, "--json", "--out", "c.jsonl")
    report = json.loads(out)
    assert (code, report["files"], report["tasks"], report["corpus"]) == (1, 3, 2, "c.jsonl")
    assert [source["name"] for source in report["imported"]] == ["azure.csv"]
    assert report["imported"][0]["rows"]["read"] == 3
    assert [(refusal["name"], refusal["where"]) for refusal in report["refused"]] == [
        ("x.md", "x.md::$"),
        ("none.csv", "none.csv"),
    ]
    assert len(err.splitlines()) == 2
    assert len(list(own.read(Path("c.jsonl"))[1])) == 2


def test_nothing_is_written_when_nothing_was_imported(console: Console) -> None:
    Path("x.md").write_text("# hello\n", encoding="utf-8")
    assert console.run("load", "traces", "import", "x.md", "--out", "c.jsonl")[0] == 1
    assert not Path("c.jsonl").exists()


def test_a_corpus_is_never_overwritten(console: Console) -> None:
    Path("c.jsonl").write_text("mine", encoding="utf-8")
    code, _, err = console.run("load", "traces", "import", str(FILES / "azure.csv"), "--out", "c.jsonl")
    assert (code, "the file is already there" in err) == (2, True)
    assert Path("c.jsonl").read_text(encoding="utf-8") == "mine"


def test_a_mapping_is_for_what_no_format_knows(console: Console) -> None:
    files = [str(FILES / "own.csv"), str(FILES / "azure.csv")]
    code, out, _ = console.run(
        "load", "traces", "import", *files, "--mapping", str(FILES / "own.toml"), "--json"
    )
    assert (code, [source["format"] for source in json.loads(out)["imported"]]) == (
        0,
        ["mapped-csv", "azure"],
    )
    code, _, err = console.run("load", "traces", "import", files[0])
    assert (code, "or a CSV with --mapping" in err) == (1, True)


def test_no_name_of_a_file_is_a_command_to_a_terminal_or_a_ci_log(console: Console) -> None:
    hostile = "##[add-mask]\x1b[2J\u202e"
    Path(hostile).write_text((FILES / "azure.csv").read_text(encoding="utf-8"), encoding="utf-8")
    Path("bad" + hostile).write_text("x", encoding="utf-8")
    for flags in ((), ("--json",)):
        code, out, err = console.run("load", "traces", "import", hostile, "bad" + hostile, *flags)
        assert code == 1
        assert "\x1b" not in out + err and "\u202e" not in out + err
        assert "##[" not in err


@pytest.mark.parametrize("arguments", [(), ("--mapping", "none.toml", "a.csv")])
def test_misuse_is_misuse(console: Console, arguments: tuple[str, ...]) -> None:
    assert console.run("load", "traces", "import", *arguments)[0] == 2


def test_every_sample_imports_or_is_refused_for_the_right_reason(console: Console) -> None:
    """The own files, and the samples beside the checkout as far as they are there."""
    due = {path.name: "" for path in OWN}
    shared = sorted(SHARED.iterdir()) if SHARED.is_dir() else []
    due |= {path.name: "" for path in shared}
    if shared:
        due |= {"INDEX.md": NOT_KNOWN, "otlp_proto_example_trace.json": NO_GENAI}
    code, out, _ = console.run(
        "load", "traces", "import", *map(str, [*OWN, *shared]), "--json", "--out", "c.jsonl"
    )
    report = json.loads(out)
    assert code == (1 if shared else 0)
    found = {source["name"]: "" for source in report["imported"]}
    for refusal in report["refused"]:
        name = Path(refusal["name"]).name
        found[name] = next(
            (why for why in (NO_GENAI, NOT_KNOWN) if why in refusal["problem"]), refusal["problem"]
        )
    assert found == due
    for source in report["imported"]:
        assert source["rows"]["read"] == source["rows"]["used"] + sum(source["rows"]["dropped"].values())
    assert len(list(own.read(Path("c.jsonl"))[1])) == report["tasks"]
