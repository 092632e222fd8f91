"""Report specs: what is refused before any data is read, and at which place."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from support.tables import column, declared

from tallymark.errors import SpecError, UsageError
from tallymark.tables import spec
from tallymark.tables.spec import from_value

P99 = {"percentile": "99/100", "significant": 3}
CLAIM = {"id": "c", "text": "{a=1:x} and {ledger:found} and {constant:workers}"}
EXCLUDED = {"sha256": "0" * 64, "pointer": "$.runs[0]", "reason": "noise"}


def refused(*columns: dict[str, Any], **more: Any) -> tuple[str, str]:
    with pytest.raises(SpecError) as caught:
        from_value(declared(*columns, **more), "site/reports/x.toml")
    path, _, pointer = caught.value.where.partition("::")
    assert path == "site/reports/x.toml"
    return pointer, caught.value.problem


@pytest.mark.parametrize(
    ("one", "pointer", "problem"),
    [
        (column("c", "mean_of_runs", "x"), "$.columns[0].aggregate", '"mean_of_runs" is not one of'),
        (column("c", "median_of_runs"), "$.columns[0]", "'source' is missing"),
        (column("c", "ratio_of_totals", "x"), "$.columns[0]", "'over' is missing"),
        (column("c", "total", "x", over="y"), "$.columns[0].over", "must not be there"),
        (column("c", "run_count", "x"), "$.columns[0].source", "must not be there"),
        (column("c", "pooled_percentile", "x", significant=3), "$.columns[0]", "'percentile' is missing"),
        (column("c", "total", "x", places=1, significant=1), "$.columns[0]", "exclude each other"),
        ({"name": "c", "aggregate": "total", "source": "x"}, "$.columns[0]", "has no rounding rule"),
        (
            column("c", "pooled_percentile", "x", percentile="100/100", significant=3),
            "$.columns[0].percentile",
            "'100/100' is not a percentile between 0 and 1",
        ),
        (
            column("c", "pooled_percentile", "x", percentile="0.99", significant=3),
            "$.columns[0].percentile",
            '"0.99" is not of the form',
        ),
        (
            column("c", "pooled_percentile", "x", percentile="99/100", significant=4),
            "$.columns[0]",
            "a histogram holds no more than 3 significant digits",
        ),
        (
            column("c", "pooled_percentile", "x", percentile="99/100", places=3),
            "$.columns[0]",
            "a histogram holds no more than 3 significant digits",
        ),
        (
            column("c", "pooled_percentile", "x", samples="n", **P99),
            "$.columns[0].samples",
            "the pooled histogram counts its own samples",
        ),
        (
            column("c", "median_of_runs", "wait_p99_ms"),
            "$.columns[0].source",
            "'wait_p99_ms' is a percentile, and how many samples it needs is not stated",
        ),
        (column("c", "median_of_runs", "x", **P99), "$.columns[0]", "a percentile of each run needs samples"),
        (
            column("c", "total", "x", samples="n", **P99),
            "$.columns[0].percentile",
            "total of percentiles means nothing",
        ),
        (
            column("c", "median_of_runs", "x", samples="n"),
            "$.columns[0].samples",
            "belongs to a percentile and there is none",
        ),
        (column("c", "total", "x", factor=[1, 2]), "$.columns[0].factor", "is computed from the evidence"),
        (column("c", "total", "x", tile=1), "$.columns[0].tile", "the key is unknown"),
        (column("c", "total", "x", footnote="of 3 runs"), "$.columns[0].footnote", "'3' has no source"),
    ],
)
def test_a_column_that_cannot_be_computed_is_refused_at_its_place(
    one: dict[str, Any], pointer: str, problem: str
) -> None:
    found, said = refused(one)
    assert found == pointer and problem in said


@pytest.mark.parametrize(
    ("more", "pointer", "problem"),
    [
        ({"data": ["../x.json"]}, "$.data[0]", "is not of the form"),
        ({"data": ["/etc/x.json"]}, "$.data[0]", "is not of the form"),
        ({"rows": []}, "$.rows", "at least 1"),
        ({"rows": ["a", "a"]}, "$.rows", "an item appears twice"),
        ({"repetitions": 0}, "$.repetitions", "below the minimum of 1"),
        ({"expected_rows": {"tasks": [1]}}, "$.expected_rows", "has the keys ['tasks']"),
        ({"expected_rows": [{"tasks": 1, "agents": 1}]}, "$.expected_rows", "lists combinations"),
        ({"row_titles": {"workers": "threads"}}, "$.row_titles.workers", "'workers' makes no rows"),
        ({"row_titles": {"agents": "roles of 2"}}, "$.row_titles.agents", "holds a digit"),
        ({"row_titles": {"agents": "p\u0661"}}, "$.row_titles.agents", "holds a digit"),
        (
            {"row_titles": {"agents": "n", "tasks": "n"}},
            "$.row_titles.agents",
            "'n' is the title of two row keys",
        ),
        ({"row_titles": {"agents": "tasks"}}, "$.row_titles.agents", "'tasks' is the title of two row keys"),
        ({"row_titles": {"agents": ""}}, "$.row_titles.agents", "has 0 characters"),
        ({"evidence_schema": "a/1.0"}, "$.evidence_schema", "is computed from the evidence"),
        ({"scope": {"measured": ["with 8 workers"]}}, "$.scope.measured[0]", "'8' has no source"),
        ({"scope": {"completion": "64 probes"}}, "$.scope.completion", "'64' has no source"),
        ({"claims": [{**CLAIM, "text": "{a:x} is few"}]}, "$.claims[0].text", "takes 1 numbers"),
        ({"claims": [{**CLAIM, "text": "{a:x} {a:x} {a:x}"}]}, "$.claims[0].text", "takes 1 numbers"),
        ({"claims": [{**CLAIM, "tolerance": 0.1}]}, "$.claims[0].tolerance", "belongs to a test"),
        ({"claims": [CLAIM, CLAIM]}, "$.claims[1].id", "'c' appears 2 times"),
        ({"exclude": [EXCLUDED, EXCLUDED]}, "$.exclude[1]", "appears 2 times"),
        ({"schema": "report-spec/2.0"}, "$.schema", 'is not "report-spec/1.1"'),
        ({"charts": [{"id": "c", "kind": "pie", "title": "t"}]}, "$.charts[0].kind", "is not one of"),
    ],
)
def test_a_spec_that_cannot_be_right_is_refused_at_its_place(
    more: dict[str, Any], pointer: str, problem: str
) -> None:
    found, said = refused(**more)
    assert found == pointer and problem in said


def test_two_columns_of_one_name_are_refused() -> None:
    assert refused(column("c", "run_count"), column("c", "run_count")) == (
        "$.columns[1].name",
        "'c' appears 2 times",
    )


@pytest.mark.parametrize(
    "test", [{"cell": "a:x", "op": "<"}, {"cell": "a:x", "op": "<", "value": 1, "than": "b:x"}]
)
def test_a_claim_is_tested_against_exactly_one_thing(test: dict[str, Any]) -> None:
    pointer, problem = refused(claims=[{**CLAIM, "test": test}])
    assert pointer == "$.claims[0].test" and "value (a number) or than (a cell)" in problem


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_toml_knows_numbers_that_a_test_may_not_use(value: float) -> None:
    pointer, _ = refused(claims=[{**CLAIM, "test": {"cell": "a:x", "op": "<", "value": value}}])
    assert pointer == "$.claims[0].test.value"


def test_names_with_digits_are_no_numbers() -> None:
    said = "p99 and p99.9 of SHA-256 on x86-64"
    assert from_value(declared(scope={"completion": said}), "x.toml").scope.completion == said


def test_a_title_is_a_name_and_may_hold_digits() -> None:
    assert from_value(declared(title="HTTP/2 on 10 GbE"), "x.toml").title == "HTTP/2 on 10 GbE"


def test_a_run_count_needs_no_rounding_and_a_column_no_title() -> None:
    found = from_value(declared({"name": "runs", "aggregate": "run_count"}), "x.toml").columns[0]
    assert (found.places, found.significant, found.title) == (0, None, "runs")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name = ", "not TOML: Invalid value"),
        ("schema = 'report-spec/1.0'\nschema = 'x'", "not TOML: Cannot overwrite a value"),
    ],
)
def test_what_is_no_toml_is_a_spec_error(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=r"x\.toml: ") as caught:
        spec.load(path, tmp_path)
    assert caught.value.problem.startswith(problem)


def test_bytes_that_are_no_utf8_are_a_spec_error(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(SpecError, match=r"byte 8 is not UTF-8"):
        spec.load(tmp_path / "x.toml", tmp_path)


def test_a_report_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "site" / "reports").mkdir(parents=True)
    (tmp_path / "site" / "reports" / "b.toml").touch()
    (tmp_path / "site" / "reports" / "a.toml").touch()
    with pytest.raises(UsageError, match=r"c\.toml: there is no such report\. Known reports: a, b"):
        spec.by_name(tmp_path, "c")


def test_a_spec_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    folder = tmp_path / "site" / "reports"
    folder.mkdir(parents=True)
    text = (Path(__file__).parents[2] / "site" / "reports" / "runtime-scale.toml").read_text(encoding="utf-8")
    (folder / "runtime-scale.toml").write_text(text, encoding="utf-8")
    found = spec.by_name(tmp_path, "runtime-scale")
    assert found == spec.by_name(tmp_path, str(folder / "runtime-scale.toml"))
    assert found.path == "site/reports/runtime-scale.toml"
