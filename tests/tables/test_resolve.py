"""A spec against the schema of its evidence: keys, sources, units, factors, rules."""

from __future__ import annotations

from typing import Any

import pytest
from support.tables import column, spec_of

from tallymark import schemas
from tallymark.errors import SpecError
from tallymark.tables.resolve import Resolved, ResolvedSpec, resolve

RUNTIME, IMPORTED = "runtime-execution/1.0", "imported-execution/1.0"


def resolved(*columns: dict[str, Any], evidence: str = RUNTIME, **more: Any) -> ResolvedSpec:
    return resolve(spec_of(*columns, **more), evidence)


def one(kind: str, source: str | None = None, **more: Any) -> Resolved:
    return resolved(column("c", kind, source, **more)).columns[0]


def test_the_configuration_keys_are_those_of_the_schema() -> None:
    keys = resolved().config_keys
    assert keys["agents"] == "$.runs[].agents" and keys["build"] == "$.manifest.build"
    assert tuple(keys) == tuple(key.name for key in schemas.config_keys(RUNTIME))


def test_a_row_key_that_is_no_configuration_is_refused() -> None:
    with pytest.raises(SpecError, match=r"x\.toml::\$\.rows\[1\]: 'elapsed_ms' is not a configuration key"):
        resolved(rows=["tasks", "elapsed_ms"])


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"source": "elapsed"}, "source"),
        ({"source": "histograms.waiting"}, "source"),
        ({"source": "queue_peak", "over": "elapsed", "aggregate": "ratio_of_totals"}, "over"),
        (
            {
                "source": "scheduler_latency_p50_ms",
                "percentile": "1/2",
                "samples": "histograms.queue.number",
                "significant": 2,
            },
            "samples",
        ),
    ],
)
def test_a_source_that_the_schema_does_not_have_is_refused(more: dict[str, Any], place: str) -> None:
    settings = {"aggregate": "max_of_runs", **more}
    kind = settings.pop("aggregate")
    with pytest.raises(SpecError, match=rf"x\.toml::\$\.columns\[0\]\.{place}: .* is not measured by"):
        one(kind, **settings)


@pytest.mark.parametrize("source", ["outcome", "run_id", "suite"])
def test_what_has_no_unit_is_not_aggregated(source: str) -> None:
    with pytest.raises(SpecError, match=rf"'{source}' has no unit"):
        one("max_of_runs", source)


@pytest.mark.parametrize(
    ("source", "unit", "factor"),
    [
        ("elapsed_ms", None, (1, 1)),
        ("elapsed_ms", "s", (1, 1000)),
        ("elapsed_ms", "us", (1000, 1)),
        ("peak_rss_bytes", "MiB", (1, 1048576)),
        ("tasks_per_second", "1/s", (1, 1)),
    ],
)
def test_the_factor_turns_the_source_unit_into_the_shown_one(
    source: str, unit: str | None, factor: tuple[int, int]
) -> None:
    more = {} if unit is None else {"unit": unit}
    assert one("max_of_runs", source, **more).factor == factor


def test_a_pooled_percentile_is_in_nanoseconds_at_its_source() -> None:
    found = one("pooled_percentile", "histograms.queue", percentile="99/100", significant=3, unit="ms")
    assert (found.source_unit, found.unit, found.factor) == ("ns", "ms", (1, 1_000_000))


@pytest.mark.parametrize(
    ("source", "over", "unit", "shown", "factor"),
    [
        # 1 task a ms is 1000 tasks a s
        ("tasks_completed", "elapsed_ms", None, "1/s", (1000, 1)),
        # the share of one time in another, as it is and in percent
        ("cpu_user_ms", "elapsed_ms", None, "ratio", (1, 1)),
        ("cpu_user_ms", "elapsed_ms", "percent", "percent", (100, 1)),
        # so much a task: the unit of what is divided
        ("cpu_user_ms", "tasks_completed", "us", "us", (1000, 1)),
        ("retained_bytes", "retained_tasks", None, "bytes", (1, 1)),
        ("tasks_failed", "tasks_submitted", "percent", "percent", (100, 1)),
    ],
)
def test_a_quotient_has_the_unit_that_its_parts_give(
    source: str, over: str, unit: str | None, shown: str, factor: tuple[int, int]
) -> None:
    more = {} if unit is None else {"unit": unit}
    found = one("ratio_of_totals", source, over=over, **more)
    assert (found.unit, found.factor) == (shown, factor)


@pytest.mark.parametrize(
    ("source", "more"),
    [
        ("elapsed_ms", {"unit": "MiB"}),
        ("elapsed_ms", {"unit": "fortnight"}),
        ("elapsed_ms", {"aggregate": "ratio_of_totals", "over": "peak_rss_bytes"}),
        ("tasks_completed", {"aggregate": "total_over_median", "over": "elapsed_ms", "unit": "ms"}),
    ],
)
def test_a_unit_that_does_not_fit_is_refused(source: str, more: dict[str, Any]) -> None:
    kind = more.pop("aggregate", "max_of_runs")
    with pytest.raises(SpecError, match=r"x\.toml::\$\.columns\[0\]\.unit: "):
        one(kind, source, **more)


def test_direction_and_definition_come_from_the_schema() -> None:
    found = one("median_of_runs", "elapsed_ms", places=3)
    assert found.direction == "lower"
    assert found.definition == schemas.definition("elapsed")


def test_a_quotient_has_both_definitions_and_no_direction() -> None:
    found = one("total_over_median", "tasks_completed", over="elapsed_ms")
    assert found.direction == "none"
    assert schemas.definition("tasks-completed") in found.definition
    assert schemas.definition("elapsed") in found.definition


@pytest.mark.parametrize(
    ("found", "rule"),
    [
        (
            one("median_of_runs", "elapsed_ms", places=3),
            "median over the runs of elapsed_ms (completed runs), in ms, rounded half up to 3 places",
        ),
        (
            one("pooled_percentile", "histograms.queue", percentile="99/100", significant=3, unit="ms"),
            "99/100 percentile of all samples in the added histograms histograms.queue (completed runs),"
            " nearest rank, shown as the upper bound of its histogram bucket, in ms,"
            " rounded half up to 3 significant digits",
        ),
        (
            one("total", "tasks_failed", include_failed=True),
            "sum over the runs of tasks_failed (runs, failed ones too), rounded half up to 0 places",
        ),
        (one("run_count"), "number of completed runs, rounded half up to 0 places"),
        (
            one("run_count", include_failed=True),
            "number of runs, failed ones too, rounded half up to 0 places",
        ),
    ],
)
def test_a_rule_is_said_in_words(found: Resolved, rule: str) -> None:
    assert found.rule == rule


def test_the_same_machinery_reads_a_foreign_schema() -> None:
    found = resolved(
        column("median", "median_of_runs", "elapsed_s", unit="ms"), rows=["benchmark"], evidence=IMPORTED
    )
    assert tuple(found.config_keys) == ("benchmark", "parameters", "machine")
    assert found.columns[0].factor == (1000, 1)


def test_the_published_spec_passes_the_schema_of_specs() -> None:
    found = resolved(
        column("c", "max_of_runs", "elapsed_ms"),
        expected_rows={"tasks": [1, 2], "agents": [3]},
        scope={"measured": ["A thing"]},
    ).to_json()
    assert schemas.errors("report-spec/1.0", found) == []
    assert found["expected_rows"] == [{"tasks": 1, "agents": 3}, {"tasks": 2, "agents": 3}]
