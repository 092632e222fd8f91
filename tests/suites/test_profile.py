"""``--profile``: the tools, what is read from them, and the record that it adds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.console import Console

from tallymark.errors import UsageError
from tallymark.suites import profile, profilers
from tallymark.suites.profilers import Function, Profile

SMALL = ("--set", "tasks=2000", "--set", "context_bytes=65536", "--repetitions", "1", "--label", "small")

# As perf 6.1 prints it (fields chosen, |); the shares are those of 1000 samples.
PERF = """\
# Samples: 1K of event 'cpu-clock:u'
#
# Children|Overhead|     Samples|Shared Object       |Symbol
 58.29% | 0.00%  | 0          |_runtime.abi3.so    |[.] rt_worker_main
 41.20% | 41.20% | 412        |_runtime.abi3.so    |[.] rt_context_table_probe
 30.00% | 30.00% | 300        |libc.so.6           |[.] operator|(a, b)
 36.90% | 20.00% | 200        |[unknown]           |[.] 0x00007f53aa001234
  8.80% |  8.80% | 88         |[unknown]           |[.] 0x00007f53aa009999
"""

# Two functions of one library and a recursive one of another; by the manual's grammar.
CALLGRIND = """\
# callgrind format
version: 1
positions: line
events: Ir
summary: 1060

ob=/somewhere/_runtime.abi3.so
fl=/src/a.c
fn=work
10 100
fi=/src/a.h
+3 50
cob=/somewhere/libpython3.11.so.1.0
cfi=/src/b.c
cfn=visit
calls=2 20
11 900
ob=/somewhere/libpython3.11.so.1.0
fl=/src/b.c
fn=visit
20 400
cfn=visit'2
calls=1 20
21 500
fn=visit'2
20 500

ob=/somewhere/_runtime.abi3.so
fl=/src/a.c
fn=0x0000000000012340
7 10
totals: 1060
"""


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(tmp_path, monkeypatch, capsys)


def test_the_fields_of_perf_are_read_and_addresses_have_no_name() -> None:
    assert list(profilers.parse_perf(PERF)) == [
        Function("rt_worker_main", "_runtime.abi3.so", 0, 58.29),
        Function("rt_context_table_probe", "_runtime.abi3.so", 412, 41.2),
        Function("operator|(a, b)", "libc.so.6", 300, 30.0),
        Function("(unknown)", "(unknown)", 200, 36.9),
        Function("(unknown)", "(unknown)", 88, 8.8),
    ]


def test_callgrind_counts_lines_and_calls_apart_and_recursion_once() -> None:
    """By hand: work 100 + 50 of its own and 900 called; visit 400 + 500, its call of itself left out."""
    assert sorted(profilers.parse_callgrind(CALLGRIND.splitlines()), key=lambda one: one.name) == [
        Function("(unknown)", "_runtime.abi3.so", 10, 100 * 10 / 1060),
        Function("visit", "libpython3.11.so.1.0", 900, 100 * 900 / 1060),
        Function("work", "_runtime.abi3.so", 150, 100 * 1050 / 1060),
    ]


class Tool(profilers.Callgrind):
    """A tool that is or is not there."""

    def __init__(self, name: str, version: str | None, refusal: str | None = None) -> None:
        self.name = name
        self._version, self._refusal = version, refusal

    def version(self) -> str | None:
        return self._version

    def refusal(self) -> str | None:
        return self._refusal


def test_the_first_tool_that_works_is_taken_and_says_why_not_the_others() -> None:
    good = Tool("callgrind", "3.19")
    refused = Tool("perf", "6.1", "the kernel does not allow it (perf_event_paranoid is 4)")
    tool, version, rejected = profilers.choose((refused, good))
    assert (tool, version) == (good, "3.19")
    assert rejected == {"perf": "the kernel does not allow it (perf_event_paranoid is 4)"}


def test_without_a_tool_there_is_one_sentence_and_nothing_runs(
    console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = console.run("run", "scale", *SMALL, "--profile", "--out", "out")
    assert (code, out) == (2, "")
    assert err == (
        "--profile: no profiler works here (perf: it is not installed; callgrind: it is not installed)."
        " Install linux-perf or valgrind, or leave it out.\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A measured document and the profile beside it, by the tool that needs no permission."""
    from tallymark.suites import catalogue, measure
    from tallymark.suites.plan import Request
    from tallymark.suites.progress import Lines
    from tallymark.suites.settings import parse

    folder = tmp_path_factory.mktemp("profiled")
    definition = catalogue.named("scale")
    settings = parse(("tasks=2000", "context_bytes=65536", "agents=100"), definition)
    request = Request(suite=definition, settings=settings, repetitions=1, label="small")
    with (folder / "talk").open("w") as stream:
        written = measure.run(request, folder / "data", Lines(stream))
    tool = profilers.Callgrind()
    version = tool.version()
    assert version is not None, "valgrind is missing"
    profiled = profile.add(written.path, profile.Profiler(tool, version, {"perf": "it is not installed"}))
    assert profiled.findings == ()
    return written.path


def record_of(document: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(document.with_name("small.profile.json").read_bytes())
    return value


def test_the_profile_names_the_functions_of_the_runtime_and_the_run_that_it_is_of(made: Path) -> None:
    record, document = record_of(made), json.loads(made.read_bytes())
    names = {entry["name"] for entry in record["functions"] if entry["object"].startswith("_runtime")}
    assert "rt_context_table_probe" in names or "rt_context_store_probe" in names, names
    assert record["profile"]["execution_id"] == document["execution"]["id"]
    assert record["profile"]["timed"] is False
    assert record["build"] == document["manifest"]["build"]
    assert record["configuration"] == document["execution"]["plan"][0]["configuration"]
    assert record["outcome"] == "completed"
    assert not [text for text in json.dumps(record).split('"') if text.startswith("/")], "no path"


def test_the_measured_document_does_not_know_of_it(made: Path) -> None:
    assert "profile" not in made.read_text("utf-8")
    assert len(json.loads(made.read_bytes())["runs"]) == 1


def test_more_tasks_than_the_tool_can_bear_are_cut_to_whole_batches(made: Path) -> None:
    from tallymark.evidence import documents
    from tallymark.suites.profile import _planned

    document = documents.load(made)
    execution: Any = document.value["execution"]
    execution["plan"][0]["configuration"].update(tasks=2000, batches=4)
    assert _planned(document, 1002).configuration.tasks == 1000
    assert _planned(document, 5000).configuration.tasks == 2000


def test_a_label_cannot_take_the_name_of_a_profile(console: Console) -> None:
    code, _, err = console.run("run", "scale", "--label", "quick.profile", "--preset", "smoke")
    assert code == 2
    assert "names that end so are those of profiles" in err


def test_a_tool_that_leaves_nothing_is_an_error() -> None:
    with pytest.raises(Exception, match="left no profile that can be read"):
        profilers._whole("perf", ())
    assert profilers._whole("perf", (Function("a", "b", 1, None),)) == Profile(
        1, (Function("a", "b", 1, None),)
    )


def test_choosing_of_nothing_is_an_error() -> None:
    with pytest.raises(UsageError):
        profilers.choose((Tool("perf", None),))
