"""Sentences take their numbers from the data; claims are judged; notes are said without being asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.evidence import runtime_execution
from support.tables import column, computed, samples, spec_of

from tallymark.errors import SpecError
from tallymark.tables import prose
from tallymark.tables.report import Report

ROW = 'benchmark="a"'
OTHER = 'benchmark="b"'
NUMBERS = " {ledger:found} {ledger:published} {ledger:failed}"


def report_of(folder: Path, **more: Any) -> Report:
    """Two benchmarks of one run each: a took 0.5 s, b 2 s."""
    spec = spec_of(
        column("s", "max_of_runs", "elapsed_s", places=1),
        column("memory", "max_of_runs", "memory_bytes"),
        rows=["benchmark"],
        repetitions=1,
        **more,
    )
    return computed(folder, spec, samples(a=[0.5], b=[2]))


def verdict(folder: Path, op: str, tolerance: float | None = None, **than: Any) -> bool | None:
    claim: dict[str, Any] = {"id": "c", "text": NUMBERS, "test": {"cell": f"{ROW}:s", "op": op, **than}}
    if tolerance is not None:
        claim["tolerance"] = tolerance
    return report_of(folder, claims=[claim]).verdicts[0].holds


def test_a_claim_is_filled_with_shown_texts_and_lists_its_numbers(tmp_path: Path) -> None:
    text = f"a: {{{ROW}:s}} s, b: {{{OTHER}:s}} s, {{ledger:published}} runs of {{key:{ROW}/benchmark}}."
    found = report_of(tmp_path, claims=[{"id": "c", "text": text}]).to_json()
    assert found["claims"] == [
        {
            "id": "c",
            "text": "a: 0.5 s, b: 2.0 s, 2 runs of a.",
            "holds": None,
            "numbers": [{"cell": f"{ROW}:s", "text": "0.5"}, {"cell": f"{OTHER}:s", "text": "2.0"}],
        }
    ]
    assert found["prose"]["claims"][0]["parts"] == [
        {"text": "a: "},
        {"text": "0.5", "from": f"cell:x/{ROW}:s"},
        {"text": " s, b: "},
        {"text": "2.0", "from": f"cell:x/{OTHER}:s"},
        {"text": " s, "},
        {"text": "2", "from": "ledger:x/published"},
        {"text": " runs of "},
        {"text": "a", "from": f"key:x/{ROW}/benchmark"},
        {"text": "."},
    ]


@pytest.mark.parametrize(
    ("op", "than", "tolerance", "holds"),
    [
        ("<", {"value": 1}, None, True),
        (">", {"value": 1}, None, False),
        ("<=", {"value": 0.5}, None, True),
        (">=", {"value": 0.5}, None, True),
        ("<", {"value": 0.5}, None, False),
        ("==", {"value": 0.5}, None, True),
        ("==", {"value": 0.51}, None, False),
        # 0.5 is within 10 % of 0.55, and not within 10 % of 0.56
        ("==", {"value": 0.55}, 0.1, True),
        ("==", {"value": 0.56}, 0.1, False),
        # an order within the tolerance cannot be told, in either direction
        ("<", {"value": 0.55}, 0.1, None),
        (">", {"value": 0.55}, 0.1, None),
        ("<", {"value": 0.56}, 0.1, True),
        ("<", {"than": f"{OTHER}:s"}, None, True),
        (">", {"than": f"{OTHER}:s"}, None, False),
        # a cell that was not measured decides nothing
        ("<", {"than": f"{OTHER}:memory"}, None, None),
    ],
)
def test_a_claim_holds_fails_or_cannot_be_told(
    tmp_path: Path, op: str, than: dict[str, Any], tolerance: float | None, holds: bool | None
) -> None:
    assert verdict(tmp_path, op, tolerance, **than) is holds


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ('benchmark="c":s', "there is no cell"),
        (f"{ROW}:t", "there is no cell"),
        ("s", "there is no cell 's'"),
        (f"key:{ROW}/agents", "there is no row .* with a key 'agents'"),
        ("constant:cores", "no constant 'cores'"),
        ("constant:benchmark", "a key that makes rows is none"),
        ("constant:machine/cores/x", "no constant 'machine/cores/x'"),
        ("ledger:lost", "the ledger has no 'lost'"),
        ("constant:machine|places=1", "only a number can be rounded"),
    ],
)
def test_a_placeholder_that_leads_to_nothing_is_refused(tmp_path: Path, reference: str, problem: str) -> None:
    claims = [{"id": "c", "text": f"{{{reference}}} {NUMBERS}"}]
    with pytest.raises(SpecError, match=rf"x\.toml::\$\.claims\[0\]\.text: .*{problem}"):
        report_of(tmp_path, claims=claims)


def test_a_test_that_names_no_cell_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"x\.toml::\$\.claims\[0\]\.test: there is no cell 'a:b'"):
        verdict(tmp_path, "<", than="a:b")


def test_scope_sentences_may_take_constants_in_another_unit(tmp_path: Path) -> None:
    text = "{constant:probes} probes of {constant:context_bytes|factor=1/1048576|places=0} MiB"
    report = computed(tmp_path, spec_of(scope={"completion": text}), runtime_execution())
    assert report.scope == {
        "completion": {
            "text": "64 probes of 8 MiB",
            "parts": [
                {"text": "64", "from": "constant:x/probes"},
                {"text": " probes of "},
                {"text": "8", "from": "constant:x/context_bytes|factor=1/1048576|places=0"},
                {"text": " MiB"},
            ],
        }
    }


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["places=2"], "1536.00"),
        (["significant=2"], "1500"),
        (["factor=1/1024", "places=2"], "1.50"),
        (["factor=3", "places=0"], "4608"),
    ],
)
def test_a_constant_can_be_scaled_and_rounded(options: list[str], text: str) -> None:
    assert prose.rounded(1536, options) == text


@pytest.mark.parametrize(
    "options", [["factor=1/2"], ["places=1", "significant=1"], ["unit=ms"], ["places=x"]]
)
def test_a_rounding_that_is_none_is_refused(options: list[str]) -> None:
    with pytest.raises(ValueError, match=r"rounding|invalid literal"):
        prose.rounded(1, options)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("p99 and SHA-256 on x86-64, log-linear and UTF-8", []),
        ("8 workers, 99.9 % and 2026-11-29.", ["8", "99.9", "2026-11-29"]),
        ("−3 to +4, 1,000 × 2", ["−3", "+4", "1,000", "2"]),
        ("耗时12", []),
        ("12ms", ["12"]),
    ],
)
def test_numbers_are_digits_that_no_letter_leads(text: str, numbers: list[str]) -> None:
    assert prose.bare_numbers(text) == numbers


def test_workers_above_cores_are_said_without_being_asked(tmp_path: Path) -> None:
    report = computed(tmp_path, spec_of(), runtime_execution())
    assert report.notes[0].to_json() == {
        "text": "8 workers on 2 cores: latency contains their wait for a processor.",
        "parts": [
            {"text": "8", "from": "constant:x/workers"},
            {"text": " workers on "},
            {"text": "2", "from": "constant:x/machine/cores"},
            {"text": " cores: latency contains their wait for a processor."},
        ],
    }


def test_workers_above_cores_are_said_once_for_each_number_when_they_make_rows(tmp_path: Path) -> None:
    report = computed(tmp_path, spec_of(rows=["workers", "agents"]), runtime_execution())
    said = [note.text for note in report.notes]
    assert said == ["8 workers on 2 cores: latency contains their wait for a processor."]
    assert report.notes[0].parts[0].source == "key:x/workers=8,agents=100/workers"


def test_enough_cores_need_no_note(tmp_path: Path) -> None:
    document = runtime_execution()
    document["manifest"]["machine"]["cores"] = 8
    assert computed(tmp_path, spec_of(), document).notes == ()


def test_the_population_of_a_percentile_is_said_once_for_the_columns_that_share_it(tmp_path: Path) -> None:
    more = {"percentile": "1/2", "significant": 2, "population": "every task", "outside": "rejected tasks"}
    spec = spec_of(
        column("one", "pooled_percentile", "histograms.queue", **more),
        column("two", "pooled_percentile", "histograms.execution", **more),
    )
    document = runtime_execution()
    document["manifest"]["machine"]["cores"] = 8
    note = computed(tmp_path, spec, document).notes[0]
    assert note.text == "Population of one; two: every task. Outside it: rejected tasks."
    assert [part.source for part in note.parts if part.source] == [
        "spec:x/$.columns[0].title",
        "spec:x/$.columns[1].title",
    ]


def test_missing_rows_are_said(tmp_path: Path) -> None:
    report = report_of(tmp_path, expected_rows={"benchmark": ["a", "b", "c"]})
    assert "1 declared runs belong to rows that were not measured; nothing is interpolated." in [
        note.text for note in report.notes
    ]


def test_what_nobody_recorded_is_not_passed_off_as_equal(tmp_path: Path) -> None:
    said = [note.text for note in report_of(tmp_path).notes]
    assert said == ["Not recorded in the data, and so not known to be equal in all runs: machine."]


def test_a_part_that_nobody_recorded_is_named(tmp_path: Path) -> None:
    document = samples(a=[0.5])
    known = {"cpu_model": "Example CPU", "cores": 2}
    document["manifest"]["machine"] |= known
    for part in known:
        del document["manifest"]["unavailable"][part]
    report = computed(tmp_path, spec_of(rows=["benchmark"], repetitions=1), document)
    assert report.notes[0].text.endswith(
        ": machine.memory_bytes, machine.os_build, machine.virtualisation, machine.platform."
    )


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        # the cell is 2, its range 1.5 to 4
        (4.5, True),
        (3, None),
        (1, False),
    ],
)
def test_a_claim_with_a_range_holds_or_fails_only_over_all_of_it(
    tmp_path: Path, value: float, holds: bool | None
) -> None:
    columns = [
        column(kind, f"{kind}_of_paired_ratios", "elapsed_s", baseline=OTHER, places=1)
        for kind in ("median", "min", "max")
    ]
    test = {"cell": f"{ROW}:median", "op": "<", "value": value, "low": f"{ROW}:min", "high": f"{ROW}:max"}
    spec = spec_of(*columns, rows=["benchmark"], claims=[{"id": "c", "text": NUMBERS, "test": test}])
    report = computed(tmp_path, spec, samples(a=[2.0, 3.0, 8.0], b=[1.0, 2.0, 2.0]))
    assert report.verdicts[0].holds is holds


def test_a_range_has_two_ends(tmp_path: Path) -> None:
    test = {"cell": f"{ROW}:s", "op": "<", "value": 1, "low": f"{ROW}:s"}
    with pytest.raises(SpecError, match=r"x\.toml::\$\.claims\[0\]\.test: has one end of a range"):
        report_of(tmp_path, claims=[{"id": "c", "text": NUMBERS, "test": test}])


def test_a_sentence_may_quote_the_number_that_its_test_compares_with(tmp_path: Path) -> None:
    test = {"cell": f"{ROW}:s", "op": "<=", "value": 0.85}
    claim = {
        "id": "fast",
        "text": f"{{{ROW}:s}} is at most {{target:fast}} in {{ledger:found}} runs",
        "test": test,
    }
    [found] = report_of(tmp_path, claims=[claim]).verdicts
    assert found.sentence.text == "0.5 is at most 0.85 in 2 runs"
    assert found.sentence.parts[2].source == "target:x/fast"
