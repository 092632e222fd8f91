"""recount.py as a reader calls it: explicit paths, a report to compare with, or one bundle."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.evidence import runtime_execution
from support.tables import column, computed, published, spec_of

from tallymark.evidence import canonical
from tallymark.recount import recount

COLUMNS = (
    column("runs", "run_count"),
    column("elapsed", "median_of_runs", "elapsed_ms", places=3),
    column("p99", "pooled_percentile", "histograms.queue", percentile="99/100", significant=3, unit="ms"),
)


@dataclass
class Reader:
    """A folder with the published script, spec, report and raw file, and nothing of the package."""

    folder: Path

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, output and errors of ``python3 -I recount.py ARGUMENTS`` in the folder."""
        command = [sys.executable, "-I", "recount.py", *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=False)
        return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")

    def read(self, name: str) -> Any:
        return json.loads((self.folder / name).read_bytes())

    def write(self, name: str, value: Any) -> None:
        (self.folder / name).write_bytes(canonical.encode(value))

    def bundle(self, **members: bytes) -> None:
        """bundle.zip as it is published, with members replaced, added, or (None) left out."""
        held: dict[str, bytes | None] = {
            "spec.json": (self.folder / "x.spec.json").read_bytes(),
            "report.json": (self.folder / "x.json").read_bytes(),
            "data/x/0.json": (self.folder / "raw.json").read_bytes(),
            "recount.py": (self.folder / "recount.py").read_bytes(),
            **members,
        }
        with zipfile.ZipFile(self.folder / "bundle.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
            for name, data in held.items():
                if data is not None:
                    bundle.writestr(name, data)


@pytest.fixture(scope="module")
def download(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a page offers to download."""
    report = computed(tmp_path_factory.mktemp("project"), spec_of(*COLUMNS), runtime_execution())
    spec, value, [(_, data)] = published(report)
    made = Reader(tmp_path_factory.mktemp("download"))
    shutil.copy(recount.__file__, made.folder / "recount.py")
    (made.folder / "raw.json").write_bytes(data)
    made.write("x.spec.json", spec)
    made.write("x.json", value)
    return made.folder


@pytest.fixture
def reader(tmp_path: Path, download: Path) -> Reader:
    """A reader with a copy of the downloads."""
    return Reader(shutil.copytree(download, tmp_path / "reader"))


def test_it_prints_hash_keys_rules_and_table_from_explicit_paths(reader: Reader) -> None:
    code, out, err = reader.run("x.spec.json", "raw.json")
    assert (code, err) == (0, "")
    digest = canonical.sha256_hex((reader.folder / "raw.json").read_bytes())
    lines = out.splitlines()
    assert lines[0] == f"file   raw.json  sha256 {digest}"
    assert lines[1] == "rows   tasks, agents; runs of each: 3"
    assert "const  workers = 8" in lines
    assert (
        'rule   {"aggregate":"median_of_runs","factor":[1,1],"include_failed":false,"name":"elapsed",'
        '"places":3,"source":"elapsed_ms","unit":"ms"}'
    ) in lines
    assert "round  half up, on the shortest decimal that reads back as the double" in lines
    elapsed = reader.read("x.json")["rows"][0]["cells"]["elapsed"]["text"]
    assert any(line.split()[:3] == ["tasks=1000,agents=100", "3", elapsed] for line in lines)
    assert lines[-1] == "6 cells recounted from 1 files, nothing to compare with"


def test_it_agrees_with_the_report(reader: Reader) -> None:
    code, out, _ = reader.run("x.spec.json", "raw.json", "--report", "x.json")
    assert code == 0
    assert out.splitlines()[-1] == "6 cells recounted from 1 files, 0 differences"


def test_one_digit_of_one_cell_is_found_and_named(reader: Reader) -> None:
    report = reader.read("x.json")
    cell = report["rows"][1]["cells"]["elapsed"]
    right = cell["text"]
    cell["text"] = right[:-1] + str((int(right[-1]) + 1) % 10)
    reader.write("x.json", report)
    code, out, _ = reader.run("--report", "x.json", "x.spec.json", "raw.json")
    assert code == 1
    assert (
        f'tasks=1000,agents=1000:elapsed text: the report says "{cell["text"]}", the recount "{right}"'
    ) in out.splitlines()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("rows", 0, "cells", "elapsed", "exact"),
            1.5,
            "tasks=1000,agents=100:elapsed exact: the report says 1.5",
        ),
        (("rows", 0, "cells", "elapsed", "n"), 4, "tasks=1000,agents=100:elapsed n: the report says 4"),
        (("rows", 0, "cells", "p99", "samples"), 1, "tasks=1000,agents=100:p99 samples: the report says 1"),
        (("ledger", "failed"), 1, "ledger failed: the report says 1, the recount 0"),
        (("ledger", "closes"), False, "ledger closes: the report says false, the recount true"),
        (("constants", "workers"), 4, "constant workers: the report says 4, the recount 8"),
        (("data", 0, "sha256"), "0" * 64, f'file {"0" * 64}: the report says "present", the recount nothing'),
        (("digest",), "0" * 64, "digest: the report says"),
        (("spec", "repetitions"), 2, "spec: the report says"),
        (("rows", 0, "id"), "tasks=1,agents=1", "row ids: the report says"),
    ],
)
def test_whatever_differs_in_the_report_is_a_difference(
    reader: Reader, path: tuple[Any, ...], value: Any, said: str
) -> None:
    report = reader.read("x.json")
    holder = report
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    reader.write("x.json", report)
    code, out, _ = reader.run("x.spec.json", "raw.json", "--report", "x.json")
    assert code == 1
    assert any(line.startswith(said) for line in out.splitlines())


def test_a_source_that_points_elsewhere_is_a_difference(reader: Reader) -> None:
    report = reader.read("x.json")
    report["rows"][0]["cells"]["elapsed"]["sources"][0]["pointer"] = "$.runs[99].elapsed_ms"
    reader.write("x.json", report)
    code, out, _ = reader.run("x.spec.json", "raw.json", "--report", "x.json")
    assert code == 1 and "tasks=1000,agents=100:elapsed sources: the report says" in out


def test_a_cell_that_is_not_in_the_report_is_a_difference(reader: Reader) -> None:
    report = reader.read("x.json")
    del report["rows"][0]["cells"]["p99"]
    reader.write("x.json", report)
    code, out, _ = reader.run("x.spec.json", "raw.json", "--report", "x.json")
    assert code == 1 and "tasks=1000,agents=100:p99 text: the report says nothing, the recount" in out


def test_an_altered_file_is_recounted_and_differs_from_the_report(reader: Reader) -> None:
    document = reader.read("raw.json")
    document["runs"][0]["elapsed_ms"] = 1e6
    reader.write("raw.json", document)
    assert reader.run("x.spec.json", "raw.json")[0] == 0
    code, out, _ = reader.run("x.spec.json", "raw.json", "--report", "x.json")
    assert code == 1 and ': the report says "present", the recount nothing' in out


def test_json_is_the_recounted_table(reader: Reader) -> None:
    code, out, _ = reader.run("--json", "x.spec.json", "raw.json", "--report", "x.json")
    found = json.loads(out)
    assert code == 0 and found["differences"] == []
    assert found["digest"] == reader.read("x.json")["digest"]
    assert [row["id"] for row in found["rows"]] == [row["id"] for row in reader.read("x.json")["rows"]]


def test_a_bundle_needs_nothing_beside_it(reader: Reader) -> None:
    reader.bundle()
    code, out, _ = reader.run("bundle.zip")
    assert code == 0
    assert out.splitlines()[-1] == "6 cells recounted from 1 files, 0 differences"
    assert sorted(path.name for path in reader.folder.iterdir()) == [
        "bundle.zip",
        "raw.json",
        "recount.py",
        "x.json",
        "x.spec.json",
    ]


def test_a_changed_byte_in_a_bundle_is_found(reader: Reader) -> None:
    document = reader.read("raw.json")
    document["runs"][0]["cpu_user_ms"] += 1
    reader.bundle(**{"data/x/0.json": canonical.encode(document)})
    code, out, _ = reader.run("bundle.zip")
    assert code == 1 and out.splitlines()[-1].endswith("differences")


def test_an_unlisted_raw_file_in_a_bundle_is_found(reader: Reader) -> None:
    other = canonical.encode(runtime_execution(seed=2, tasks=2000))
    reader.bundle(**{"data/x/1.json": other})
    code, out, _ = reader.run("bundle.zip")
    assert code == 1 and f"file {canonical.sha256_hex(other)}: the report says nothing" in out


def test_a_bundle_without_its_report_is_misuse(reader: Reader) -> None:
    reader.bundle(**{"report.json": None})  # type: ignore[arg-type]
    assert reader.run("bundle.zip")[0] == 2


def test_a_bundle_stands_alone(reader: Reader) -> None:
    reader.bundle()
    code, _, err = reader.run("bundle.zip", "raw.json")
    assert code == 2 and "a bundle stands alone" in err


def test_a_name_twice_in_a_bundle_is_refused(reader: Reader) -> None:
    reader.bundle()
    with (
        zipfile.ZipFile(reader.folder / "bundle.zip", "a") as bundle,
        pytest.warns(UserWarning, match="Duplicate"),
    ):
        bundle.writestr("report.json", b"{}")
    code, _, err = reader.run("bundle.zip")
    assert code == 5 and "a name appears twice" in err


def test_a_damaged_bundle_is_unreadable(reader: Reader) -> None:
    reader.bundle()
    path = reader.folder / "bundle.zip"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)
    code, _, err = reader.run("bundle.zip")
    assert code == 5 and "not a readable bundle" in err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "usage:"),
        (("x.spec.json",), 2, "no run in 0 files"),
        (("x.spec.json", "nothing.json"), 2, "nothing.json: No such file"),
        (("x.spec.json", "."), 2, "Is a directory"),
        (("nothing.spec.json", "raw.json"), 2, "nothing.spec.json: No such file"),
        (("x.spec.json", "raw.json", "--report", "nothing.json"), 2, "nothing.json: No such file"),
        (("x.spec.json", "raw.json", "raw.json"), 1, "duplicate of raw.json"),
        (("x.spec.json", "x.json"), 1, "x.json: is report/1.0, not runtime-execution/1.0"),
        (("raw.json", "raw.json"), 1, "does not fit the files"),
        (("x.spec.json", "raw.json", "--report", "raw.json"), 2, "report: is none: KeyError('data')"),
        (("recount.py", "raw.json"), 5, "recount.py::$: not strict JSON"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    reader: Reader, arguments: tuple[str, ...], code: int, said: str
) -> None:
    found, out, err = reader.run(*arguments)
    assert (found, out) == (code, "")
    assert said in err and "Traceback" not in err


def test_a_broken_report_is_no_traceback(reader: Reader) -> None:
    values: list[Any] = [[], {}, {"rows": 7}, None, {"data": [], "rows": []}]
    for value in values:
        reader.write("x.json", value)
        code, _, err = reader.run("x.spec.json", "raw.json", "--report", "x.json")
        assert code in (1, 2) and "Traceback" not in err and err


def test_control_characters_of_a_file_do_not_reach_the_terminal(reader: Reader) -> None:
    spec, document = reader.read("x.spec.json"), copy.deepcopy(reader.read("raw.json"))
    for run in [*document["runs"], *(entry["configuration"] for entry in document["execution"]["plan"])]:
        run["suite"] = "a\u001b[2J\u009b"
    reader.write("raw.json", document)
    reader.write("x.spec.json", spec)
    code, out, _ = reader.run("x.spec.json", "raw.json")
    assert code == 0 and "\x1b" not in out and "\x9b" not in out


def test_no_name_in_a_bundle_steers_the_terminal_or_a_ci_log(reader: Reader) -> None:
    """A bundle is read by whoever was sent it."""
    reader.bundle(**{"data/x/\x1b[2J\u202e ##[stop-commands]a.json": b"{"})
    code, out, err = reader.run("bundle.zip")
    assert (code, out) == (5, "")
    assert err.startswith("data/x/?[2J? ?[stop-commands]a.json")

    spec = reader.read("x.spec.json")
    spec["columns"][1]["name"] = "a ##[add-mask]b \u2066"
    reader.write("x.spec.json", spec)
    code, out, _ = reader.run("x.spec.json", "raw.json")
    assert code == 0 and "##[" not in out and "\u2066" not in out and "a ?[add-mask]b ?" in out
