"""The table as text: plain, Markdown and CSV, with footnotes; foreign text stays text."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from support.evidence import runtime_execution
from support.tables import column, computed, samples, spec_of

from tallymark.tables import formats
from tallymark.tables.report import Report


@pytest.fixture
def report(tmp_path: Path) -> Report:
    """Elapsed 0.5 s and 2 s, shown in ms; b was declared and c not measured."""
    spec = spec_of(
        column("runs", "run_count"),
        column("longest", "max_of_runs", "elapsed_s", unit="ms", places=1, footnote="As the clock goes"),
        rows=["benchmark"],
        repetitions=1,
        expected_rows={"benchmark": ["a", "b", "c"]},
    )
    return computed(tmp_path, spec, samples(a=[0.5], b=[2]))


def test_plain_text_is_aligned_and_has_a_footnote_for_each_column(report: Report) -> None:
    lines = formats.plain(report).splitlines()
    assert lines[:6] == [
        "benchmark      runs [1]  longest (ms)",
        "                                  [2]",
        "        a             1         500.0",
        "        b             1        2000.0",
        "        c  not measured  not measured",
        "",
    ]
    assert lines[7] == (
        "[2] largest of the runs' elapsed_s (completed runs), in ms, rounded half up to 1 places."
        " n = 0 or 1 runs a cell. As the clock goes. " + report.resolved.columns[1].definition
    )
    assert (
        "ledger: 2 runs found = 2 published + 0 failed + 0 excluded + 0 duplicate;"
        " 3 expected = 2 found + 1 missing; 0 warm-ups not counted"
    ) in lines
    assert f"file: data/x/0.json sha256 {report.documents[0].sha256}" in lines
    assert f"digest: {report.digest}" in lines


def test_markdown_is_a_table_of_the_same_texts(report: Report) -> None:
    lines = formats.markdown(report).splitlines()
    assert lines[1] == "| ---: | ---: | ---: |"
    assert lines[2:5] == ["| a | 1 | 500.0 |", "| b | 1 | 2000.0 |", "| c | not measured | not measured |"]


def test_a_row_key_is_read_by_its_title_and_exported_by_its_name(tmp_path: Path) -> None:
    spec = spec_of(rows=["benchmark"], repetitions=1, row_titles={"benchmark": "what ran"})
    report = computed(tmp_path, spec, samples(a=[0.5]))
    assert formats.plain(report).splitlines()[0] == "what ran  runs [1]"
    assert formats.markdown(report).splitlines()[0] == "| what ran | runs \\[1\\] |"
    assert formats.csv_text(report).splitlines()[0] == "benchmark,runs,runs_exact"
    assert list(report.to_json()["rows"][0]["key"]) == ["benchmark"]
    assert report.to_json()["spec"]["row_titles"] == {"benchmark": "what ran"}


def test_a_title_of_a_row_key_changes_no_digest(tmp_path: Path) -> None:
    rows = {"rows": ["benchmark"], "repetitions": 1}
    bare = computed(tmp_path, spec_of(**rows), samples(a=[0.5]))
    titled = computed(tmp_path, spec_of(**rows, row_titles={"benchmark": "what ran"}), samples(a=[0.5]))
    assert titled.digest == bare.digest


def test_csv_has_the_shown_text_and_the_exact_value_of_each_cell(report: Report) -> None:
    assert list(csv.reader(io.StringIO(formats.csv_text(report)))) == [
        ["benchmark", "runs", "runs_exact", "longest", "longest_exact"],
        ["a", "1", "1", "500.0", "500.0"],
        ["b", "1", "1", "2000.0", "2000"],
        ["c", "not measured", "", "not measured", ""],
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-x", "@x", " =1", "-1+1"])
def test_a_name_that_a_spreadsheet_would_run_is_disarmed(tmp_path: Path, name: str) -> None:
    spec = spec_of(rows=["benchmark"], repetitions=1)
    text = formats.csv_text(computed(tmp_path, spec, samples(**{name: [0.5]})))
    assert list(csv.reader(io.StringIO(text)))[1][0] == "'" + name


@pytest.mark.parametrize("name", ["-1.5", "sleep 0.1", "a=b"])
def test_a_name_that_no_spreadsheet_would_run_stays_as_it_is(tmp_path: Path, name: str) -> None:
    spec = spec_of(rows=["benchmark"], repetitions=1)
    text = formats.csv_text(computed(tmp_path, spec, samples(**{name: [0.5]})))
    assert list(csv.reader(io.StringIO(text)))[1][0] == name


def test_foreign_text_is_no_markdown_no_html_and_steers_no_terminal(tmp_path: Path) -> None:
    title = "\x1b[J"
    spec = spec_of(column("runs", "run_count", title=title), rows=["benchmark"], repetitions=1)
    report = computed(tmp_path, spec, samples(**{"a|b<script>&amp;`x`": [0.5]}))
    markdown = formats.markdown(report)
    assert r"| a\|b\<script\>&amp;amp;\`x\` |" in markdown
    assert r"\\u001b\[J" in markdown
    assert "\x1b" not in markdown and "\x1b" not in formats.plain(report)


def test_the_number_of_samples_and_the_population_are_in_the_footnote(tmp_path: Path) -> None:
    more = {"percentile": "1/2", "significant": 2, "population": "every task that started"}
    spec = spec_of(column("p50", "pooled_percentile", "histograms.queue", **more))
    assert (
        "population: every task that started"
        in formats.footnotes(computed(tmp_path, spec, runtime_execution()))[0]
    )
