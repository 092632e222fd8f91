"""The wrong file for a format: the answer names what it looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.hyperfine import NOBODY, entry

from tallymark import importers
from tallymark.errors import FindingsError, UsageError
from tallymark.evidence.strict_json import JsonValue
from tallymark.importers import recognition
from tallymark.importers.compose import Source
from tallymark.importers.hyperfine import Hyperfine
from tallymark.importers.interface import Imported


class Cheese:
    """A second importer, so that one format can be mistaken for the other."""

    name = "cheese"
    made_by = "cheese --json"

    def detect(self, data: JsonValue) -> bool:
        """An object with a key ``cheese``."""
        return isinstance(data, dict) and "cheese" in data

    def read(self, data: JsonValue, name: str) -> Imported:
        """An import of nothing."""
        return Imported(self.name, None, (), (), ())


def refused(data: bytes) -> str:
    with pytest.raises(FindingsError) as caught:
        importers.read(importers.importer("hyperfine"), Source("f", "f", data), NOBODY)
    return caught.value.line()


# The smallest file of each tool, written by hand from the keys that it documents.
OTHERS: list[tuple[Any, str]] = [
    ({"context": {}, "benchmarks": [{"name": "BM_x", "real_time": 1}]}, "google-benchmark"),
    ({"machine_info": {}, "benchmarks": [], "version": "5"}, "pytest-benchmark"),
    ({"benchmarks": [{"runs": []}], "version": "1.0"}, "pyperf"),
    ([{"benchmark": "a.b", "primaryMetric": {}}], "JMH"),
    ({"HostEnvironmentInfo": {}, "Benchmarks": []}, "BenchmarkDotNet"),
    ({"mean": {"point_estimate": 1}, "median": {}}, "Criterion"),
    ({"Mean": {"point_estimate": 1}}, "Criterion"),
    ({"commit_hash": "a", "results": {}}, "asv"),
    ({"format_version": "2", "machine": {}, "tests": []}, "LNT"),
]


@pytest.mark.parametrize(("data", "name"), OTHERS)
def test_a_file_of_another_tool_is_named(data: Any, name: str) -> None:
    line = refused(json.dumps(data).encode())
    assert "does not look like a file of hyperfine --export-json" in line
    assert f"it looks like {name}" in line


@pytest.mark.parametrize("data", ["{}", "[]", "3", '"a"', "null", '{"results": {}}', '{"results": [3]}'])
def test_a_file_that_looks_like_nothing_gets_no_guess(data: str) -> None:
    assert "looks like" not in refused(data.encode()).replace("does not look like", "")


def test_our_own_evidence_is_no_foreign_file() -> None:
    assert "Run tallymark check" in refused(b'{"schema": "imported-execution/1.0"}')


@pytest.mark.parametrize(
    ("start", "export"),
    [
        (b"command,mean,stddev,median,user,system,min,max\nsleep 0.1,0.1,,0.1,0,0,0.1,0.1\n", "CSV"),
        (b"| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n", "Markdown"),
        (b'[cols="<,>,>,>,>"]\n|===\n', "AsciiDoc"),
        (b"| Command  |  Mean [ms] |  Min [ms] |  Max [ms] |  Relative |\n", "org-mode"),
    ],
)
def test_an_export_that_holds_only_means_is_named(start: bytes, export: str) -> None:
    line = refused(start)
    assert f"hyperfine's {export} export" in line
    assert "--export-json" in line


def test_a_file_of_another_importer_is_answered_with_that_importer() -> None:
    data: JsonValue = {"results": [entry()]}
    with pytest.raises(UsageError) as caught:
        recognition.require(Cheese(), [Cheese(), Hyperfine()], data, "f")
    assert "looks like a file of hyperfine --export-json" in caught.value.problem
    assert caught.value.do == "import it with: tallymark import hyperfine"


def test_an_unknown_format_is_answered_with_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        importers.importer("jmh\x1b[2J")
    assert caught.value.exit_code == 2
    assert "hyperfine" in caught.value.do
    assert caught.value.line().isprintable()
