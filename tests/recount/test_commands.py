"""The commands: exit codes, the last line, JSON, and messages that say what to do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.console import Console
from support.published import NAME, edit, replace_once

PAGE = f"reports/{NAME}.html"
CELL = "tasks=1000,agents=100:elapsed"


@pytest.fixture
def console(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(project, monkeypatch, capsys)


def test_a_clean_site_ends_with_the_counts_and_exits_zero(console: Console) -> None:
    code, out, err = console.run("recount")
    assert code == 0
    assert re.fullmatch(r"10 cells, \d+ prose numbers, 0 differences\n", out)
    assert "1 reports" in err


def test_a_difference_exits_one_and_names_the_cell(console: Console, site: Path) -> None:
    edit(
        site,
        PAGE,
        replace_once('data-from="cell:~:runs" data-exact="3">3', 'data-from="cell:~:runs" data-exact="3">4'),
    )
    code, out, _ = console.run("recount", "build/site")
    first, last = out.splitlines()
    assert code == 1
    assert first == (
        f'{PAGE}::report {NAME}, row tasks=1000,agents=100, column runs: shown "4", recomputed "3". '
        "Build the site again, or find out who edited the page."
    )
    assert last.endswith(" prose numbers, 1 differences")


def test_the_outcome_as_json(console: Console, site: Path) -> None:
    edit(site, PAGE, replace_once('/found">6<', '/found">7<'))
    code, out, _ = console.run("recount", "--format", "json")
    value = json.loads(out)
    assert code == 1
    assert value["cells"] == 10
    assert [(one["shown"], one["recomputed"]) for one in value["differences"]] == [("7", "6")]


def test_a_folder_without_reports_is_nothing_to_recount(console: Console, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, out, err = console.run("recount", str(tmp_path / "empty"))
    assert (code, out) == (4, "")
    assert "publishes no report" in err


def test_a_missing_site_is_misuse(console: Console) -> None:
    code, _, err = console.run("recount", "nowhere")
    assert code == 2
    assert err.startswith("nowhere: is not a folder. Build the site first")


def test_a_published_text_cannot_speak_through_an_explanation(console: Console, site: Path) -> None:
    """A reviewer explains sites of others: neither the terminal nor a CI log obeys what stands there."""
    path = f"reports/{NAME}.json"
    report = json.loads((site / path).read_bytes())
    report["rows"][0]["cells"]["elapsed"]["text"] = "5\x1b[2J\n::stop-commands::a\n##[error]b"
    edit(site, path, lambda _: json.dumps(report))
    for arguments in (("explain", NAME, CELL), ("recount", "--sample", "99", "--seed", "1"), ("recount",)):
        code, out, err = console.run(*arguments)
        assert code == 1
        assert "\x1b" not in out + err and "##[" not in out + err and "\n::" not in out + err
        assert "5\\u001b[2J\\u000a::stop-commands::a\\u000a##\\u005berror]b" in out


def test_expect_takes_a_cited_digest(console: Console, site: Path) -> None:
    digest = json.loads((site / f"reports/{NAME}.json").read_bytes())["digest"]
    assert console.run("recount", "--expect", digest)[0] == 0
    code, out, _ = console.run("recount", "--expect", "f" * 64)
    assert code == 1
    assert "no recounted report and no published file has this digest" in out


def test_raw_files_are_compared_with_the_project_only_when_the_site_is_its_own(
    console: Console, project: Path, site: Path, tmp_path: Path
) -> None:
    raw = project / "data" / NAME / "1k.json"
    raw.write_bytes(raw.read_bytes() + b"\n")
    site.rename(tmp_path / "elsewhere")
    assert console.run("recount", str(tmp_path / "elsewhere"))[0] == 0
    assert console.run("--project", str(project), "recount", str(tmp_path / "elsewhere"))[0] == 1


def test_a_sample_prints_hand_calculations_of_the_cells_that_the_seed_draws(console: Console) -> None:
    code, out, _ = console.run("recount", "--sample", "2", "--seed", "7")
    assert code == 0
    assert out.startswith("seed 7: 2 of 10 cells")
    assert out.count("report runtime-scale, row ") == 2
    assert out.count("  check    jq -n ") == 2
    assert out.endswith("\n2 cells calculated by hand, 0 differences\n")
    assert console.run("recount", "--sample", "2", "--seed", "7")[1] == out


def test_a_sample_without_a_seed_says_which_it_took(console: Console) -> None:
    _, out, _ = console.run("recount", "--sample", "1", "--format", "json")
    seed = json.loads(out)["seed"]
    _, again, _ = console.run("recount", "--sample", "1", "--format", "json", "--seed", str(seed))
    assert again == out


def test_a_sample_that_does_not_agree_exits_one(console: Console, site: Path) -> None:
    name = f"reports/{NAME}.json"
    value = json.loads((site / name).read_bytes())
    for row in value["rows"]:
        for cell in row["cells"].values():
            cell["text"] = "9"
    (site / name).write_text(json.dumps(value))
    code, _, err = console.run("recount", "--sample", "1", "--seed", "7")
    assert code == 1
    assert "by hand it is" in err


def test_a_seed_without_a_sample_is_misuse(console: Console) -> None:
    code, _, err = console.run("recount", "--seed", "7")
    assert code == 2
    assert "--sample" in err


def test_explain_goes_from_the_value_to_the_files(console: Console, site: Path) -> None:
    code, out, _ = console.run("explain", NAME, CELL)
    assert code == 0
    for step in ("rule", "file", "value", "sorted", "median", "round", "shown", "check"):
        assert re.search(rf"^  {step} ", out, re.MULTILINE)
    line = re.search(r"^  check +(jq .*)$", out, re.MULTILINE)
    assert line is not None
    done = subprocess.run(["sh", "-c", line[1]], cwd=site, capture_output=True, text=True, check=True)
    value = json.loads((site / f"reports/{NAME}.json").read_bytes())
    assert json.loads(done.stdout) == value["rows"][0]["cells"]["elapsed"]["exact"]


def test_explain_without_a_cell_lists_them(console: Console) -> None:
    code, out, _ = console.run("explain", NAME)
    assert code == 0
    assert len(out.splitlines()) == 10
    assert CELL in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((NAME, "tasks=1000,agents=100:elapsd"), f"The closest are: {CELL}"),
        (("other", CELL), f"choose from: {NAME}"),
    ],
)
def test_explain_of_nothing_says_what_there_is(
    console: Console, arguments: tuple[str, ...], said: str
) -> None:
    code, _, err = console.run("explain", *arguments)
    assert code == 2
    assert said in err


def test_explain_of_a_report_that_cannot_be_recounted_says_why(console: Console, site: Path) -> None:
    edit(site, f"reports/{NAME}.spec.json", replace_once('"max_of_runs"', '"mean"'))
    code, _, err = console.run("explain", NAME, CELL)
    assert code == 1
    assert err.startswith(f"reports/{NAME}.spec.json::$.columns[")


def test_freeze_writes_and_refuses_another_digest(console: Console, project: Path) -> None:
    code, out, _ = console.run("freeze", NAME)
    path = project / "site" / "reports" / f"{NAME}.frozen.json"
    digest = json.loads(path.read_bytes())["digest"]
    assert code == 0
    assert out == f"site/reports/{NAME}.frozen.json: version 1, digest {digest}\n"
    assert console.run("freeze", NAME)[0] == 0
    path.write_text(path.read_text().replace(digest, "0" * 64))
    code, _, err = console.run("freeze", NAME)
    assert code == 2
    assert "Raise version in the report spec" in err


def test_freeze_refuses_what_does_not_recount(console: Console, project: Path, site: Path) -> None:
    edit(site, PAGE, replace_once('/found">6<', '/found">7<'))
    code, _, err = console.run("freeze", NAME)
    assert code == 1
    assert 'shown "7", recomputed "6"' in err
    assert not (project / "site" / "reports" / f"{NAME}.frozen.json").exists()


def test_a_bundle_is_written_and_recounts_with_python_alone(console: Console, project: Path) -> None:
    code, out, _ = console.run("bundle", NAME, "--out", "small.zip")
    assert code == 0
    assert out.startswith("small.zip: 6 files, sha256 ")
    before = (project / "small.zip").read_bytes()
    assert console.run("bundle", NAME, "--out", "small.zip")[0] == 0
    assert (project / "small.zip").read_bytes() == before
    script = project / "build" / "site" / "recount.py"
    command = [sys.executable, "-I", str(script), str(project / "small.zip")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert console.run("recount", "small.zip")[1] == "10 cells, 0 prose numbers, 0 differences\n"
    assert console.run("explain", NAME, CELL, "--site", "small.zip")[0] == 0


def test_a_bundle_of_a_bundle_is_the_same_bundle(console: Console, project: Path) -> None:
    assert console.run("bundle", NAME, "--out", "first.zip")[0] == 0
    assert console.run("bundle", NAME, "--site", "first.zip", "--out", "second.zip")[0] == 0
    assert (project / "first.zip").read_bytes() == (project / "second.zip").read_bytes()


def test_a_bundle_stands_in_build_by_default(console: Console, project: Path) -> None:
    assert console.run("bundle", NAME)[0] == 0
    with zipfile.ZipFile(project / "build" / f"{NAME}.zip") as archive:
        assert "spec.json" in archive.namelist()


def test_a_leak_stops_the_bundle(console: Console, project: Path, site: Path) -> None:
    name = f"reports/{NAME}.json"
    edit(site, name, replace_once('"tool_version"', '"revision_of": "/home/alice", "tool_version"'))
    code, _, _ = console.run("bundle", NAME)
    assert code == 1
    assert not (project / "build" / f"{NAME}.zip").exists()


def test_recount_needs_neither_the_tables_nor_the_site_builder_nor_pandas(site: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tallymark.recount.verify import verify\n"
        "import tallymark.cli.recount\n"
        "print(len(verify(Path(sys.argv[1])).differences))\n"
        "heavy = ('pandas', 'numpy', 'jinja2', 'plotly', 'mkdocs', 'tallymark.tables', 'tallymark.site')\n"
        "print(sorted(m for m in sys.modules if m.startswith(heavy)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(site)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n[]\n"
