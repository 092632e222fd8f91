"""Inputs with right answers: the strict reader, order statistics and redaction against each of them.

The project carries small cases of its own; an external folder of the same form is run as well when it is
there (``make cases CASES=DIR``, or ``../shared/cases``). A case whose subject does not exist yet is named in
NOT_YET with its subject, so that it is neither forgotten nor skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.case_folders import case_folders
from support.evidence import imported_execution, small_execution

from tallymark.check import check_document
from tallymark.errors import UnreadableError
from tallymark.evidence import canonical, documents, strict_json
from tallymark.evidence.personal import KnownNames, personal, replaced
from tallymark.histogram import Histogram, merged
from tallymark.stats.order import median, minimum_samples, nearest_rank
from tallymark.stats.slopes import theil_sen

FOLDERS = case_folders()


def named(path: Path) -> str:
    return f"{path.parts[-3]}/{path.name}"


def listed(file: str) -> list[Any]:
    """The cases of one file in every folder that has it; the own folder has them all."""
    paths = [folder / file for folder in FOLDERS if (folder / file).is_file()]
    return [case for path in paths for case in json.loads(path.read_bytes())]


BAD_JSON = [path for folder in FOLDERS for path in sorted((folder / "badjson").glob("*"))]
STATISTICS = listed("statistics.json")
REDACTION = listed("redaction.json")

# --- strict reading ---------------------------------------------------------------------------------------

REFUSED = {
    "01_nan.json",
    "02_infinity.json",
    "03_dup_keys.json",
    "08_bom.json",
    "09_utf16le.json",
    "10_lone_surrogate.json",
    "11_raw_surrogate_bytes.json",
    "12_crlf.ndjson",
    "13_huge_exp.json",
    "15_deep.json",
    "15c_deep_2000.json",
    "16_bigint_5000_digits.json",
    "17_trailing_comma.json",
    "18_comment.json",
    "19_invalid_utf8.json",
    "27_empty.json",
    "28_two_docs.json",
    "31_leading_zero.json",
}
READ = {
    "04_bigint.json",
    "05_bigint64.json",
    "06_minus_zero.json",
    "07_one_point_zero.json",
    "14_tiny_exp.json",
    "15b_deep_500.json",
    "20_nul_escape.json",
    "21_proto.json",
    "22_17digits.json",
    "23_exp_int.json",
    "24_trailing_newline_id.json",
    "25_unicode_digit.json",
    "26_nfc_nfd.json",
    "29_u2028.json",
    "30_bad_date.json",
    "32_single_value_float_key_order.json",
}


@pytest.mark.parametrize("path", BAD_JSON, ids=named)
def test_odd_json_is_refused_or_read_as_listed(path: Path) -> None:
    assert (path.name in REFUSED) != (path.name in READ), "state the verdict in REFUSED or READ"
    try:
        strict_json.parse(path.read_bytes(), path.name)
        verdict = "read"
    except UnreadableError as error:
        verdict = "refused"
        assert error.where.startswith(f"{path.name}::$")
    assert verdict == ("refused" if path.name in REFUSED else "read")


# What the reader lets pass and a document does not: (key in the case, place in a run, what refuses it there).
REFUSED_LATER = {
    "04_bigint.json": ("ops", "tasks_submitted", "schema"),
    "05_bigint64.json": ("ops", "tasks_submitted", "schema"),
    "06_minus_zero.json": ("b", "queue_at_end", "schema"),
    "07_one_point_zero.json": ("repeat", "repetition", "schema"),
    "14_tiny_exp.json": ("a", "elapsed_ms", "elapsed-positive"),
    "23_exp_int.json": ("n", "agents", "schema"),
    "24_trailing_newline_id.json": ("run_id", "run_id", "schema"),
    "25_unicode_digit.json": ("v", "benchmark_version", "schema"),
    "30_bad_date.json": ("started_at", "started_at", "schema"),
}


@pytest.mark.parametrize("path", [path for path in BAD_JSON if path.name in REFUSED_LATER], ids=named)
def test_what_the_reader_lets_pass_is_refused_in_a_run(path: Path) -> None:
    key, place, rule = REFUSED_LATER[path.name]
    document = small_execution(tasks=3)
    document["runs"][0][place] = json.loads(path.read_bytes())[key]
    findings = check_document(documents.from_bytes(canonical.encode(document), "run.json"))
    assert (rule, f"$.runs[0].{place}") in {(finding.rule, finding.pointer) for finding in findings}


@pytest.mark.parametrize("name", ["20_nul_escape.json", "29_u2028.json"])
def test_text_that_cannot_be_seen_is_refused_in_a_name(name: str) -> None:
    path = next(path for path in BAD_JSON if path.name == name)
    document = imported_execution()
    document["runs"][0]["benchmark"] = json.loads(path.read_bytes())["a"]
    findings = check_document(documents.from_bytes(canonical.encode(document), "run.json"))
    assert "no-unprintable" in {finding.rule for finding in findings}


# --- order statistics -------------------------------------------------------------------------------------


def p01(right: dict[str, Any]) -> None:
    values = [1] * 1000 + [10_000_000]
    assert (len(values), nearest_rank(values, 99, 100)) == (right["n"], right["p99"])
    assert nearest_rank(range(1, 1002), 99, 100) == right["rank"]


def p02(right: dict[str, Any]) -> None:
    assert nearest_rank(range(100), 7, 100) == right["value"]


def p03(right: dict[str, Any]) -> None:
    assert nearest_rank([10, 20, 30], 99, 100) == right["nearest_rank"]
    assert minimum_samples(99, 100) > 3


def p05(right: dict[str, Any]) -> None:
    values = range(1, 10_001)
    assert nearest_rank(values, 999, 1000) == nearest_rank(values, right["permyriad"], 10_000) == 9990


def p06(right: dict[str, Any]) -> None:
    run = small_execution(tasks=3)
    empty = Histogram.recorded([]).to_record() | {"sample_every": 16}
    run["runs"][0]["histograms"]["execution"] = empty
    run["runs"][0] |= {"execution_p99_ms": 580, "execution_max_ms": 575}
    findings = check_document(documents.from_bytes(canonical.encode(run), "run.json"))
    assert bool(findings) != right["consistent"]
    assert [(f.rule, f.pointer) for f in findings] == [("percentile-order", "$.runs[0].execution_p99_ms")]
    assert "execution_max_ms" in findings[0].problem


def n01(right: dict[str, Any]) -> None:
    assert (minimum_samples(95, 100) <= 5) == right["supported"]
    assert nearest_rank(range(1, 6), 95, 100) == right["nearest_rank_index"]
    least = right["min_n_for_p95_not_max"]
    assert nearest_rank(range(least - 1), 95, 100) == least - 2
    assert nearest_rank(range(least), 95, 100) < least - 1


def n02(right: dict[str, Any]) -> None:
    assert minimum_samples(999, 1000) == right["rule_10_over_1_minus_q"]
    assert (minimum_samples(999, 1000) <= 2000) == right["print"]


def n04(right: dict[str, Any]) -> None:
    assert right["print"].startswith("not reported")
    assert minimum_samples(95, 100) > 8 and minimum_samples(99, 100) > 8


def a01(right: dict[str, Any]) -> None:
    runs = [[1] * 985 + [10] * 15, [1] * 985 + [12] * 15, [1] * 950 + [200] * 50]
    in_run = [nearest_rank(values, 99, 100) for values in runs]
    assert in_run == right["in_run"]
    assert median(in_run) == right["median_of_in_run"]
    pooled = merged([Histogram.recorded(values) for values in runs])
    assert pooled.percentile_ns(99, 100) == right["pooled"]


def a02(right: dict[str, Any]) -> None:
    shards = [[1] * 9900, [50] * 50 + [1] * 50]
    pooled = merged([Histogram.recorded(values) for values in shards])
    assert pooled.percentile_ns(99, 100) == right["pooled"]


def h05(right: dict[str, Any]) -> None:
    assert nearest_rank([10, 20, 30], 99, 100) == right["nearest_rank"]
    assert Histogram.recorded([10, 20, 30]).percentile_ns(99, 100) == right["nearest_rank"]


def t01(right: dict[str, Any]) -> None:
    elapsed = [50, 60, 70]
    rate = median([1_000_000 / seconds for seconds in elapsed])
    over_median = 1_000_000 / median(elapsed)
    assert (rate == over_median) == right["equal"]
    assert rate == pytest.approx(right["median_rate"], abs=0.0005)
    assert over_median == pytest.approx(right["tasks_over_median"], abs=0.0005)


def o03(right: dict[str, Any]) -> None:
    assert median([50.1, 50.3, 49.9, 50.2, 50.0, 58.7]) == pytest.approx(right["median_all"], abs=1e-12)


def o04(right: dict[str, Any]) -> None:
    successes = [float(value) for value in range(1, 91)]
    assert nearest_rank(successes, 95, 100) == right["p95_success"]
    assert nearest_rank([*successes, *[float("inf")] * 10], 95, 100) == float(right["p95_adjusted"])


def m02(right: dict[str, Any]) -> None:
    assert nearest_rank(right["list"], 50, 100) == right["p50"]


def l01(right: dict[str, Any]) -> None:
    drained = [101.2, 110.4, 112.1, 112.6, 114.3, 114.9, 116.0, 117.2, 117.8, 119.1, 119.9, 121.0]
    found = theil_sen(list(enumerate(drained))[3:])
    assert [found.slope, found.low, found.high] == pytest.approx([right["slope"], *right["ci"]], rel=1e-3)


def l05(right: dict[str, Any]) -> None:
    assert theil_sen([(1, 10), (2, 20), (3, 30), (4, 40)]).slope == right["slope"]


IMPLEMENTED: dict[str, Callable[[dict[str, Any]], None]] = {
    "P01": p01,
    "P02": p02,
    "P03": p03,
    "P05": p05,
    "P06": p06,
    "N01": n01,
    "N02": n02,
    "N04": n04,
    "A01": a01,
    "A02": a02,
    "H05": h05,
    "L01": l01,
    "L05": l05,
    "T01": t01,
    "O03": o03,
    "O04": o04,
    "M02": m02,
}
# Subject → the cases that wait for it.
NOT_YET: dict[str, tuple[str, ...]] = {
    "intervals and spread of few runs": ("S01", "S03", "S05"),
    "means of ratios and of requests": ("A04", "A05", "T03", "T04", "T06", "T07"),
    "a page that does not join aggregates of different runs": ("A06",),
    "foreign histograms with cumulative or bounded buckets": ("H01", "H03"),
    "significance of a comparison": ("C01", "C02", "C04", "C05", "C06", "C13"),
    "paired comparison": ("C07", "C08", "C10", "C11", "C15"),
    "outlier rules": ("O01",),
    "warm-up detection": ("W01", "W03"),
    "change points": ("K01", "K03", "K05"),
    "correction of coordinated omission": ("M01",),
    "leaks of buffers that are emptied in cycles": ("L03",),
    "memory of foreign tools": ("L06",),
    "queueing laws": ("Q01", "Q03", "Q05"),
    "knee and quality under load": ("Z01", "Z03", "Z05", "Z07"),
    "retry amplification": ("R01", "R03"),
    "many comparisons at once": ("B01", "B03", "B04"),
    "grouping, which the tables test": ("G01", "V03"),
    "early stopping": ("E01", "E03"),
    "axes of charts": ("V01",),
}
WAITING = {case: subject for subject, cases in NOT_YET.items() for case in cases}


@pytest.mark.parametrize("case", STATISTICS, ids=lambda case: case["id"])
def test_statistics_have_the_right_answer_or_a_named_subject_that_is_to_come(case: dict[str, Any]) -> None:
    if case["id"] in IMPLEMENTED:
        IMPLEMENTED[case["id"]](case["right"])
    else:
        assert case["id"] in WAITING, f"{case['id']} ({case['area']}) is neither implemented nor waited for"


def test_no_case_is_both_implemented_and_waited_for() -> None:
    assert not IMPLEMENTED.keys() & WAITING.keys()


# --- redaction --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", REDACTION, ids=lambda case: case["why"][:40])
def test_personal_text_is_replaced_and_the_rest_survives(case: dict[str, str]) -> None:
    nobody = KnownNames(user=None, host=None, home=None)
    once = replaced(case["input"], personal(case["input"], nobody))
    assert once == case["expected"]
    assert not personal(once, nobody)
