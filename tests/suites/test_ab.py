"""A/B with two real builds: alternating blocks, two documents that name each other, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.console import Console

from tallymark import schemas
from tallymark.errors import ConflictError, SpecError, UsageError
from tallymark.suites import ab, ab_plan, library, smoke
from tallymark.suites.ab_plan import AbPlan
from tallymark.suites.assertion import Assertion
from tallymark.suites.model import Json, PlannedRun
from tallymark.suites.stop import StoppedError

ROOT = Path(__file__).parents[2]
PLAN = """
schema = "ab-plan/1.0"
name = "test"
suite = "scale"
settings = {{ agents = 10, tasks = 300, probes = 4, context_bytes = 65536, workers = 2 }}
blocks = {blocks}
seed = {seed}
{more}
[a]
library = "{a}"
[b]
library = "{b}"
"""


@pytest.fixture(scope="session")
def other_builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two more runtimes: the same sources with other flags, and a revision with another workload."""
    folder = tmp_path_factory.mktemp("ab")
    sources = shutil.copytree(ROOT / "runtime_c", folder / "runtime_c")
    build = folder / "build"
    tools = Path(sys.executable).parent
    cmake = shutil.which("cmake", path=str(tools)) or "cmake"
    options = ("-DSKBUILD=ON", "-DCMAKE_BUILD_TYPE=Debug", f"-DPython_EXECUTABLE={sys.executable}")
    subprocess.run((cmake, "-S", sources, "-B", build, *options), check=True, capture_output=True)

    def built(name: str) -> Path:
        subprocess.run((cmake, "--build", build, "--parallel", "2"), check=True, capture_output=True)
        return Path(shutil.copy(build / "_runtime.abi3.so", folder / name))

    flags = built("flags.so")
    header = sources / "src" / "rt_options.h"
    text = header.read_text("utf-8")
    changed = text.replace('#define RT_BENCHMARK_VERSION "1"', '#define RT_BENCHMARK_VERSION "2"')
    assert changed != text
    header.write_text(changed, "utf-8")
    return {"flags": flags, "workload": built("workload.so")}


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    return Console(tmp_path, monkeypatch, capsys)


Writer = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Writer:
    def write(
        a: object = "installed", b: object = "installed", blocks: int = 2, seed: int = 1, more: str = ""
    ) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(PLAN.format(a=a, b=b, blocks=blocks, seed=seed, more=more), "utf-8")
        return path

    return write


def document(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


def loaded(path: Path) -> AbPlan:
    return ab_plan.load(path, path.parent)


# --- the plan ---


def test_the_example_is_a_plan_of_the_schema_that_compares_one_configuration() -> None:
    plan = ab_plan.load(ROOT / "examples" / "ab.toml", ROOT)
    assert (plan.name, plan.file, plan.blocks) == ("lto", "examples/ab.toml", 5)
    assert plan.libraries["a"] is None
    made = plan.of_side("b", "1")
    assert {run.configuration.suite for run in made.runs} == {"ab"}
    assert {run.configuration.variant for run in made.runs} == {"b"}
    assert [run.repetition for run in made.runs] == list(range(1, 11))
    assert made.command == "tallymark ab examples/ab.toml"


def test_blocks_are_abba_or_baab_as_the_seed_says(written: Writer) -> None:
    orders = {loaded(written(blocks=6, seed=seed)).order for seed in range(20)}
    blocks = {order[start : start + 4] for order in orders for start in range(0, 24, 4)}
    assert blocks == {"abba", "baab"}
    assert len(orders) > 10
    # the first values of SplitMix64 from seed 1 (see test_plan): 10451216379200822465, 13757245211066428519,
    # 17911839290282890590, ...; an odd one is baab
    assert loaded(written(blocks=3, seed=1)).order == "baabbaababba"


def test_runs_of_one_number_stand_beside_each_other(written: Writer) -> None:
    order = [
        (side, index) for section, side, index in ab.places(loaded(written(blocks=3))) if section == "runs"
    ]
    for start in range(0, len(order), 2):
        (one, first), (two, second) = order[start : start + 2]
        assert {one, two} == {"a", "b"} and first == second == start // 2


@pytest.mark.parametrize(
    ("changed", "pointer", "problem"),
    [
        (("blocks = 2", "blocks = 0"), "$.blocks", "below the minimum"),
        (("blocks = 2", ""), "$", "'blocks' is missing"),
        (("blocks = 2", "blocks = 2\nrounds = 2"), "$.rounds", "the key is unknown"),
        (('name = "test"', 'name = "a/b"'), "$.name", "is not of the form"),
        (("agents = 10, ", ""), "$.settings", "suite scale has 2 configurations there"),
        (('suite = "scale"', 'suite = "scale"\npreset = "huge"'), "$.preset", "has no preset 'huge'"),
        (("schema = ", "schema ="), "", ""),
    ],
)
def test_what_is_no_plan_is_refused_with_its_place(
    written: Writer, changed: tuple[str, str], pointer: str, problem: str
) -> None:
    path = written()
    path.write_text(path.read_text("utf-8").replace(*changed), "utf-8")
    if not problem:
        assert loaded(path).name == "test"
        return
    with pytest.raises(SpecError) as refused:
        loaded(path)
    assert refused.value.where == f"plan.toml::{pointer}"
    assert problem in refused.value.problem
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (('suite = "scale"', 'suite = "speed"'), "there is no such suite"),
        (("probes = 4", "threads = 4"), "'threads' is not a configuration key"),
        (("probes = 4", 'probes = "four"'), "'four' is not a whole number"),
    ],
)
def test_what_no_suite_knows_is_misuse(written: Writer, changed: tuple[str, str], problem: str) -> None:
    path = written()
    path.write_text(path.read_text("utf-8").replace(*changed), "utf-8")
    with pytest.raises(UsageError, match=problem):
        loaded(path)


def test_the_example_of_the_schema_is_the_example_of_the_readme() -> None:
    (example,) = schemas.shipped().examples("ab-plan/1.0")
    value = json.loads(example[1])
    assert (value["a"]["library"], value["b"]["library"]) == ("installed", "build/ab/lto/_runtime.abi3.so")
    assert schemas.errors("ab-plan/1.0", value) == []


# --- what cannot be compared ---


def test_libraries_of_two_workloads_are_refused_before_anything_runs(
    console: Console, tmp_path: Path, written: Writer, other_builds: dict[str, Path]
) -> None:
    code, out, err = console.run("ab", str(written(b=other_builds["workload"])))
    assert (code, out) == (2, "")
    assert err.startswith("plan.toml: the libraries do other work: benchmark version 1 and 2. ")
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


@pytest.mark.parametrize(
    ("named", "problem"), [("nowhere.so", "is not there"), ("plan.toml", "it is no runtime that runs here")]
)
def test_a_library_that_is_none_is_refused(
    console: Console, written: Writer, named: str, problem: str
) -> None:
    code, out, err = console.run("ab", str(written(b=named)))
    assert (code, out) == (2, "")
    assert err.startswith("plan.toml::$.b.library: ") and problem in err


def test_one_library_on_both_sides_must_be_meant(console: Console, written: Writer) -> None:
    code, out, err = console.run("ab", str(written()))
    assert (code, out) == (2, "")
    assert "both sides are the same library" in err and "same_library = true" in err


def test_two_libraries_are_no_check_of_the_method(
    console: Console, written: Writer, other_builds: dict[str, Path]
) -> None:
    code, _, err = console.run("ab", str(written(b=other_builds["flags"], more="same_library = true")))
    assert code == 2
    assert "the two libraries are not the same" in err


# --- what is measured ---


def test_two_builds_run_alternately_and_leave_a_document_each(
    console: Console, tmp_path: Path, written: Writer, other_builds: dict[str, Path]
) -> None:
    path = written(b=other_builds["flags"])
    code, out, err = console.run("ab", str(path))
    assert (code, out) == (0, "data/ab/test-a.json\ndata/ab/test-b.json\n"), err
    assert console.run("check", "data")[0] == 0
    one, two = (document(tmp_path / "data" / "ab" / f"test-{side}.json") for side in "ab")
    sides = {"a": one, "b": two}
    order = one["execution"]["ab"]["order"]
    assert order == two["execution"]["ab"]["order"] == loaded(path).order
    ran = sorted(
        (run["started_at"], order_of(err, side, run["index"]), side)
        for side, value in sides.items()
        for run in value["runs"]
    )
    assert "".join(side for _, _, side in sorted(ran, key=lambda entry: entry[1])) == order
    for side, value in sides.items():
        other = sides["b" if side == "a" else "a"]
        said = value["execution"]["ab"]
        assert (said["variant"], said["partner"]) == (side, other["execution"]["id"])
        assert said["plan_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert said["library_sha256"] == value["manifest"]["library_sha256"]
        assert said["partner_library_sha256"] == other["manifest"]["library_sha256"]
        assert {run["variant"] for run in value["runs"]} == {side}
        assert [run["repetition"] for run in value["runs"]] == [1, 2, 3, 4]
        assert len(value["warmups"]) == 1
        assert all(assertion["passed"] for assertion in value["gate"]["assertions"])
    assert "-O2" not in two["manifest"]["build"]["flags"]
    assert one["manifest"]["build"] != two["manifest"]["build"]
    assert one["manifest"]["machine"] == two["manifest"]["machine"]


def order_of(said: str, side: str, index: int) -> int:
    """The place of a run among the lines that tell of a start."""
    starts = [line for line in said.splitlines() if line.startswith("run ") and ": started as" in line]
    wanted = f"run {index + 1}/4: started as"
    return next(
        place for place, line in enumerate(starts) if line.startswith(wanted) and f", {side}: agents" in line
    )


def test_a_library_is_described_by_the_process_that_loads_it(other_builds: dict[str, Path]) -> None:
    made = library.load(other_builds["workload"], "test")
    assert made.benchmark_version == "2"
    assert made.sha256 == hashlib.sha256(other_builds["workload"].read_bytes()).hexdigest()
    assert made.command[-2:] == ("--library", str(other_builds["workload"]))


class StoppingAt:
    """A reporter that stops the suite, as Ctrl-C does, while run ``number`` is made."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.started_runs = 0

    def say(self, text: str) -> None: ...

    def begin(self, tasks: int) -> None: ...

    def started(self, planned: PlannedRun, name: str, pid: int) -> None:
        self.started_runs += 1

    def advanced(self, progress: Json) -> None:
        if self.started_runs == self._number:
            os.kill(os.getpid(), signal.SIGINT)

    def finished(self, run: Json) -> None: ...

    def close(self) -> None: ...


def test_a_comparison_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, written: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smoke, "judged", lambda *_: (Assertion("smoke.drained", True, "queue_at_end = 0"),))
    path = written(more="same_library = true")
    plan = loaded(path)
    with pytest.raises(StoppedError) as stopped:
        ab.run(plan, tmp_path, StoppingAt(5))
    assert stopped.value.problem == "stopped by the user; 4 of 10 runs are kept in the journals of both sides"
    assert stopped.value.do.startswith("continue with `tallymark ab plan.toml --resume`")
    with pytest.raises(ConflictError, match="a suite that was killed left its journal"):
        ab.run(plan, tmp_path, StoppingAt(0))
    with pytest.raises(UsageError, match="the plan or a library is not what the comparison began with"):
        ab.run(loaded(written(more="same_library = true", seed=2)), tmp_path, StoppingAt(0), resume=True)
    rest = StoppingAt(0)
    made = ab.run(loaded(written(more="same_library = true")), tmp_path, rest, resume=True)
    assert rest.started_runs == 10 - 4
    one, two = (document(result.path) for result in made)
    assert one["execution"]["ab"]["partner"] == two["execution"]["id"]
    assert two["execution"]["ab"]["partner"] == one["execution"]["id"]
    assert (one["execution"]["complete"], two["execution"]["complete"]) == (True, True)
    cut_short = [*one["execution"].get("interruptions", []), *two["execution"].get("interruptions", [])]
    assert [entry["outcome"] for entry in cut_short] in (["killed"], [])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["plan.toml", "test-a.json", "test-b.json"]


def test_resuming_what_never_began_is_refused(console: Console, written: Writer) -> None:
    code, out, err = console.run("ab", str(written(more="same_library = true")), "--resume")
    assert (code, out) == (2, "")
    assert "there is no journal to resume" in err
