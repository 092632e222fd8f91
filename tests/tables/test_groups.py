"""Rows by the complete configuration: nothing varies unseen, nothing merges, no run is lost or added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evidence import runtime_execution
from support.tables import column, computed, run_of, samples, spec_of, texts

from tallymark.errors import FindingsError, SpecError
from tallymark.tables import groups
from tallymark.tables.evidence import Evidence, State
from tallymark.tables.resolve import ResolvedSpec
from tallymark.tables.spec import Spec


def grouped(
    spec: Spec, configurations: list[dict[str, Any]], states: list[State] | None = None
) -> groups.Grouped:
    keys = {name: f"$.runs[].{name}" for name in configurations[0]}
    states = states or [State.PUBLISHED] * len(configurations)
    runs = tuple(run_of(state, key=key) for state, key in zip(states, configurations, strict=True))
    evidence = Evidence("runtime-execution/1.0", (runs[0].document,), runs, 0)
    return groups.group(ResolvedSpec(spec, evidence.schema, keys, ()), evidence)


def rows_of(found: groups.Grouped) -> list[tuple[str, int]]:
    return [(row.id, len(row.runs)) for row in found.rows]


def test_runs_of_one_configuration_make_one_row() -> None:
    spec = spec_of(rows=["a"], repetitions=2)
    found = grouped(spec, [{"a": 2, "b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 1, "b": "x"}])
    assert rows_of(found) == [("a=1", 2), ("a=2", 2)]
    assert found.constants == {"b": "x"}


def test_values_that_only_look_equal_stay_apart_and_null_is_a_value() -> None:
    # pandas alone would merge 1, True and 1.0 and drop the null
    values: list[Any] = ["1", 1.0, None, True, 1, "null", False]
    found = grouped(spec_of(rows=["a"], repetitions=1), [{"a": value} for value in values])
    assert rows_of(found) == [
        ("a=null", 1),
        ("a=false", 1),
        ("a=true", 1),
        ("a=1", 1),
        ("a=1.0", 1),
        ('a="1"', 1),
        ('a="null"', 1),
    ]


def test_compound_keys_are_equal_when_their_canonical_text_is() -> None:
    left = {"flags": "-O2", "compiler": "gcc"}
    right = {"compiler": "gcc", "flags": "-O2"}
    found = grouped(spec_of(rows=["build"], repetitions=2), [{"build": left}, {"build": right}])
    assert rows_of(found) == [('build={"compiler":"gcc","flags":"-O2"}', 2)]


def test_numbers_are_ordered_by_value_and_text_by_code_point() -> None:
    found = grouped(spec_of(rows=["a"], repetitions=1), [{"a": value} for value in ["b", 10, 9, "Z", 9.5]])
    assert [row.id for row in found.rows] == ["a=9", "a=9.5", "a=10", 'a="Z"', 'a="b"']


@settings(max_examples=50, deadline=None)
@given(st.permutations([(tasks, agents, n) for tasks in (1, 10) for agents in (2, 3) for n in range(2)]))
def test_the_order_of_the_input_does_not_matter(order: list[tuple[int, int, int]]) -> None:
    found = grouped(
        spec_of(repetitions=2), [{"tasks": tasks, "agents": agents} for tasks, agents, _ in order]
    )
    assert rows_of(found) == [
        ("tasks=1,agents=2", 2),
        ("tasks=1,agents=3", 2),
        ("tasks=10,agents=2", 2),
        ("tasks=10,agents=3", 2),
    ]


def test_a_key_that_varies_and_makes_no_row_is_named_with_both_values_and_places(tmp_path: Path) -> None:
    one, other = runtime_execution(seed=1), runtime_execution(seed=2, tasks=2000)
    for record in [
        *other["runs"],
        *other["warmups"],
        *(e["configuration"] for e in other["execution"]["plan"]),
    ]:
        record["workers"] = 4
    with pytest.raises(SpecError) as caught:
        computed(tmp_path, spec_of(), one, other)
    assert caught.value.line() == (
        "x.toml::$.rows: workers varies and makes no row: 8 in data/x/0.json::$.runs[0], "
        "4 in data/x/1.json::$.runs[0]. Add 'workers' to rows, or take the data apart."
    )


def test_a_compound_key_that_varies_is_named_by_the_part_that_differs(tmp_path: Path) -> None:
    one, other = runtime_execution(seed=1), runtime_execution(seed=2, tasks=2000)
    other["manifest"]["build"]["flags"] = "-O3"
    with pytest.raises(
        SpecError, match=r'build\.flags varies and makes no row: "-O2 -std=gnu11" in .*, "-O3" in'
    ):
        computed(tmp_path, spec_of(), one, other)


def test_a_missing_run_is_an_error_that_names_the_row(tmp_path: Path) -> None:
    with pytest.raises(
        SpecError, match=r"row tasks=1000,agents=100 has 3 runs in data/x/0.json, 4 are declared: missing"
    ):
        computed(tmp_path, spec_of(repetitions=4), runtime_execution())


def test_an_extra_run_is_an_error_and_never_cut_off(tmp_path: Path) -> None:
    with pytest.raises(
        SpecError, match=r"row tasks=1000,agents=100 has 3 runs in data/x/0.json, 2 are declared: extra"
    ):
        computed(tmp_path, spec_of(repetitions=2), runtime_execution())


def test_repetitions_may_be_declared_for_each_row(tmp_path: Path) -> None:
    spec = spec_of(rows=["benchmark"], repetitions={'benchmark="a"': 2, 'benchmark="b"': 3})
    report = computed(tmp_path, spec, samples(a=[0.1, 0.2], b=[0.1, 0.2, 0.3]))
    assert texts(report, "runs") == ["2", "3"]


def test_a_row_without_declared_repetitions_is_an_error(tmp_path: Path) -> None:
    spec = spec_of(rows=["benchmark"], repetitions={'benchmark="a"': 2})
    with pytest.raises(SpecError, match=r'says nothing about row benchmark="b"'):
        computed(tmp_path, spec, samples(a=[0.1, 0.2], b=[0.1, 0.2]))


def test_two_runs_swapped_between_configurations_are_refused(tmp_path: Path) -> None:
    document = runtime_execution()
    runs = document["runs"]
    other = next(at for at, run in enumerate(runs) if run["agents"] != runs[0]["agents"])
    runs[0]["agents"], runs[other]["agents"] = runs[other]["agents"], runs[0]["agents"]
    with pytest.raises(FindingsError, match=r"data/x/0\.json::\$\.runs\[0\]"):
        computed(tmp_path, spec_of(), document)


def test_a_run_taken_out_of_a_document_is_refused(tmp_path: Path) -> None:
    document = runtime_execution()
    del document["runs"][2]
    with pytest.raises(FindingsError, match=r"data/x/0\.json::\$"):
        computed(tmp_path, spec_of(), document)


def test_declared_rows_that_were_not_measured_are_shown_as_such(tmp_path: Path) -> None:
    spec = spec_of(
        column("runs", "run_count"),
        column("peak", "max_of_runs", "queue_peak"),
        expected_rows={"tasks": [1000, 2000], "agents": [100, 1000]},
    )
    report = computed(tmp_path, spec, runtime_execution(tasks=1000))
    assert [row.id for row in report.table.rows] == [
        "tasks=1000,agents=100",
        "tasks=1000,agents=1000",
        "tasks=2000,agents=100",
        "tasks=2000,agents=1000",
    ]
    assert texts(report, "runs") == ["3", "3", "not measured", "not measured"]
    assert texts(report, "peak") == ["1000", "1000", "not measured", "not measured"]
    assert (report.table.ledger.expected, report.table.ledger.missing) == (12, 6)
    assert report.table.ledger.closes


def test_a_row_that_is_not_among_the_declared_ones_is_refused(tmp_path: Path) -> None:
    spec = spec_of(expected_rows={"tasks": [1000], "agents": [100]})
    with pytest.raises(SpecError, match=r"row tasks=1000,agents=1000 is measured in .* and not declared"):
        computed(tmp_path, spec, runtime_execution(tasks=1000))


def test_an_excluded_run_may_differ_in_what_is_constant_for_the_rest() -> None:
    spec, configurations = spec_of(rows=["a"], repetitions=2), [{"a": 1, "w": 4}, {"a": 1, "w": 8}]
    with pytest.raises(SpecError, match="w varies"):
        grouped(spec, configurations)
    found = grouped(spec, configurations, [State.EXCLUDED, State.PUBLISHED])
    assert found.constants == {"w": 8}


def test_a_table_of_nothing_but_excluded_runs_is_refused() -> None:
    spec = spec_of(rows=["a"], repetitions=1)
    with pytest.raises(SpecError, match="every run is excluded"):
        grouped(spec, [{"a": 1}], [State.EXCLUDED])
