"""recount.py: its own arithmetic by hand, everything odd refused at once, and what it is made of."""

from __future__ import annotations

import ast
import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.evidence import died, imported_execution, runtime_execution
from support.tables import column, computed, published, recorded, samples, spec_of

from tallymark.evidence import canonical
from tallymark.recount import recount

SOURCE = Path(recount.__file__).read_text(encoding="utf-8")
Json = dict[str, Any]


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> tuple[Json, Json]:
    """A published spec and the document that it was made for: 2 rows of 3 runs."""
    document = runtime_execution()
    columns = (
        column("runs", "run_count"),
        column("elapsed", "median_of_runs", "elapsed_ms", places=3),
        column("p99", "pooled_percentile", "histograms.queue", percentile="99/100", significant=3, unit="ms"),
    )
    report = computed(tmp_path_factory.mktemp("road"), spec_of(*columns), document)
    return published(report)[0], document


def recounted(spec: Json, *documents: Json) -> Json:
    files = [(f"{index}.json", canonical.encode(value)) for index, value in enumerate(documents)]
    found: Json = recount.recompute(spec, files)
    return found


def refused(spec: Json, *documents: Json) -> tuple[int, str]:
    with pytest.raises(recount.Refused) as caught:
        recounted(spec, *documents)
    return caught.value.code, str(caught.value)


# --- what it is made of ---


def test_the_script_is_python_3_8_and_imports_only_the_standard_library() -> None:
    tree = ast.parse(SOURCE, feature_version=(3, 8))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module).split(".")[0])
    assert imported <= sys.stdlib_module_names
    assert not {"socket", "urllib", "http", "subprocess", "os", "shutil", "tempfile"} & imported


# --- arithmetic, by hand ---


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (2.675, 2, "2.68"),
        (1.005, 2, "1.01"),
        (0.5, 0, "1"),
        (-0.5, 0, "-1"),
        (-0.001, 2, "0.00"),
        (1e21, 2, "1000000000000000000000.00"),
        (5e-324, 3, "0.000"),
        (2**53 - 1, 1, "9007199254740991.0"),
    ],
)
def test_rounding_is_half_up_on_the_shortest_decimal(value: float, places: int, text: str) -> None:
    assert recount.fixed(value, places) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(9.996, 3, "10.0"), (123456, 3, "123000"), (0, 3, "0"), (0.0, 3, "0"), (0.00012345, 2, "0.00012")],
)
def test_significant_digits_are_counted_from_the_first_that_is_not_zero(
    value: float, digits: int, text: str
) -> None:
    assert recount.significant(value, digits) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True])
def test_what_is_no_finite_number_is_not_rounded(value: Any) -> None:
    with pytest.raises(recount.Refused):
        recount.fixed(value, 2)


@pytest.mark.parametrize(("index", "high"), [(0, 0), (127, 127), (128, 128), (256, 257), (506, 1003)])
def test_buckets_of_the_histogram_end_where_the_layout_says(index: int, high: int) -> None:
    # 256 = 2 * 128: s = 1, from 256 to 257. 506 = 3 * 128 + 122: s = 2, (128 + 122) * 4 = 1000 to 1003.
    assert recount.bucket_high(index) == high


def test_pooled_percentile_is_nearest_rank_over_all_samples() -> None:
    # 990 of 10, 990 of 12 and 20 of 100 ns: rank 1980 of 2000 is the last 12, rank 1990 a 100
    merged = recount.merge([recorded(*[10] * 990), recorded(*[12] * 990), recorded(*[100] * 20)])
    assert merged["count"] == 2000
    assert (recount.percentile(merged, 99, 100), recount.percentile(merged, 995, 1000)) == (12, 100)


@pytest.mark.parametrize(
    ("values", "middle"), [([3, 1, 2], 2), ([1, 3], 2), ([1, 2], 1.5), ([0.1, 0.2], 0.15000000000000002)]
)
def test_median(values: list[Any], middle: float) -> None:
    assert recount.median(values) == middle


def test_pointers_lead_to_values_and_else_to_none() -> None:
    value = {"a": [{"b c": 1}], "d": None}
    assert recount.pointer(value, '$.a[0]["b c"]') == 1
    assert recount.pointer(value, "$") is value
    assert [recount.pointer(value, text) for text in ("$.a[1]", "$.x.y", "$.d.e", "$.a.b")] == [None] * 4


@pytest.mark.parametrize("text", ["a", "$a", "$..a", "$.a[", "$.a[-1]", "$.a[x]", "$.a["])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(recount.Refused, match="not a pointer"):
        recount.pointer({}, text)


# --- the table ---


def test_it_recounts_the_table_with_hashes_and_pointers(road: tuple[Json, Json]) -> None:
    spec, document = road
    found = recounted(spec, document)
    assert [row["id"] for row in found["rows"]] == ["tasks=1000,agents=100", "tasks=1000,agents=1000"]
    runs = [at for at, run in enumerate(document["runs"]) if run["agents"] == 100]
    cell = found["rows"][0]["cells"]["elapsed"]
    assert cell["exact"] == sorted(document["runs"][at]["elapsed_ms"] for at in runs)[1]
    assert cell["sources"] == [
        {"sha256": found["files"][0]["sha256"], "pointer": f"$.runs[{at}].elapsed_ms"} for at in runs
    ]
    assert found["constants"]["workers"] == 8
    assert found["ledger"] == {
        "found": 6,
        "published": 6,
        "failed": 0,
        "excluded": [],
        "duplicate": 0,
        "expected": 6,
        "missing": 0,
        "warmups": 1,
        "closes": True,
    }


def test_an_altered_file_is_recounted_under_its_new_hash(road: tuple[Json, Json]) -> None:
    spec, document = road
    altered = copy.deepcopy(document)
    altered["runs"][0]["elapsed_ms"] += 1000
    before, after = recounted(spec, document), recounted(spec, altered)
    assert before["files"] != after["files"] and before["digest"] != after["digest"]


def test_the_order_of_the_files_does_not_matter(road: tuple[Json, Json]) -> None:
    spec, document = road
    other = runtime_execution(seed=2, tasks=2000)
    files = [("a.json", canonical.encode(document)), ("b.json", canonical.encode(other))]
    assert recount.recompute(spec, files) == recount.recompute(spec, files[::-1])


def test_failed_runs_are_counted_and_aggregated_nowhere(road: tuple[Json, Json]) -> None:
    spec, document = road
    altered = copy.deepcopy(document)
    altered["runs"][0] = died(altered["runs"][0])
    found = recounted(spec, altered)
    assert (found["ledger"]["published"], found["ledger"]["failed"]) == (5, 1)
    assert sorted(row["cells"]["runs"]["text"] for row in found["rows"]) == ["2", "3"]


# --- everything odd ---

Change = Callable[[Json], Any]


def drop_run(document: Json) -> None:
    del document["runs"][1]


def swap_agents(document: Json) -> None:
    runs = document["runs"]
    other = next(run for run in runs if run["agents"] != runs[0]["agents"])
    runs[0]["agents"], other["agents"] = other["agents"], runs[0]["agents"]


def vary_probes(document: Json) -> None:
    for at in (0, 1):
        document["runs"][at]["probes"] += 1
        document["execution"]["plan"][at]["configuration"]["probes"] += 1


def repeat_run(document: Json) -> None:
    document["runs"][1]["run_id"] = document["runs"][0]["run_id"]


def without_plan(document: Json, change: Change) -> Json:
    changed = copy.deepcopy(document)
    change(changed)
    del changed["execution"]["plan"]
    return changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (drop_run, "0.json::$.execution.plan: plans 6 runs, not these 5"),
        (swap_agents, "0.json::$.runs[0]: agents: not as planned"),
        (vary_probes, 'probes varies: {"64":"0.json::$.runs[2]","65":"0.json::$.runs[0]"}'),
        (repeat_run, "0.json::$.runs[1]: duplicate of 0.json::$.runs[0]"),
        (lambda d: d["execution"].update(complete=False), "$.execution.complete: not true"),
        (
            lambda d: d.update(schema="imported-execution/1.0"),
            "0.json: is imported-execution/1.0, not runtime",
        ),
        (lambda d: d.update(schema="runtime-execution/1.1"), "0.json: is runtime-execution/1.1, not runtime"),
        (lambda d: d["runs"][0].pop("workers"), "0.json::$.runs[0].workers: missing"),
        (lambda d: d["manifest"].pop("build"), "0.json::$.manifest.build: missing"),
        (lambda d: d["runs"][0].update(elapsed_ms="2.5"), "elapsed_ms of column elapsed is no number"),
        (lambda d: d["runs"][0].update(elapsed_ms=True), "elapsed_ms of column elapsed is no number"),
        (
            lambda d: d["runs"][0]["histograms"]["queue"].update(layout="log-linear/8"),
            "cannot add a histogram of layout log-linear/8",
        ),
        (lambda d: d["runs"][0]["histograms"]["queue"].update(unit="us"), "of layout log-linear/7, us"),
        (lambda d: d["runs"][0]["histograms"]["queue"].update(sample_every=2), "cannot add a histogram"),
        (lambda d: d["runs"][0]["histograms"]["queue"].update(count=999), "do not add up"),
        (lambda d: d["runs"][0]["histograms"]["queue"]["buckets"].reverse(), "do not add up"),
        (lambda d: d.update(runs={}), "0.json::$.runs: not a list"),
        (lambda d: d["runs"].append(7), "0.json::$.runs[6].suite: missing"),
        (lambda d: d["execution"].update(plan=7), "spec: does not fit the files"),
    ],
)
def test_everything_odd_in_a_file_stops_it_at_once(
    road: tuple[Json, Json], change: Change, said: str
) -> None:
    spec, document = road
    altered = copy.deepcopy(document)
    change(altered)
    code, message = refused(spec, altered)
    assert code == 1 and said in message


def test_a_missing_run_is_named_by_its_row_where_no_plan_tells(road: tuple[Json, Json]) -> None:
    spec, document = road
    code, message = refused(spec, without_plan(document, drop_run))
    assert code == 1 and "has 2 runs, 3 are declared" in message


def test_an_extra_run_is_refused(road: tuple[Json, Json]) -> None:
    spec, document = road
    extra = without_plan(document, lambda d: d["runs"].append({**d["runs"][0], "run_id": "0" * 16}))
    assert "has 4 runs, 3 are declared" in refused(spec, extra)[1]


def test_the_same_file_twice_is_refused(road: tuple[Json, Json]) -> None:
    spec, document = road
    code, message = refused(spec, document, document)
    assert code == 1 and message.startswith("1.json: duplicate of 0.json")


def test_one_foreign_file_imported_twice_is_refused(tmp_path: Path) -> None:
    document = samples(a=[0.1])
    spec, _, _ = published(computed(tmp_path, spec_of(rows=["benchmark"], repetitions=1), document))
    other = copy.deepcopy(document)
    other["execution"]["id"] = "0" * 16
    assert "duplicate of 0.json" in refused(spec, document, other)[1]


def test_files_of_two_kinds_are_refused(road: tuple[Json, Json]) -> None:
    spec, document = road
    assert (
        "1.json: is imported-execution/1.0, not runtime-execution/1.0"
        in refused(spec, document, imported_execution())[1]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s["columns"][1].update(aggregate="mean_of_runs"), 'rule: {"aggregate":"mean_of_runs"'),
        (lambda s: s["columns"][1].pop("places"), '"name":"elapsed"'),
        (lambda s: s["columns"][2].update(places=3), '"name":"p99"'),
        (lambda s: s["columns"][2].update(percentile="1/1"), '"percentile":"1/1"'),
        (lambda s: s["columns"][2].update(percentile="3/2"), '"percentile":"3/2"'),
    ],
)
def test_a_spec_that_it_does_not_understand_is_misuse(
    road: tuple[Json, Json], change: Change, said: str
) -> None:
    spec, document = copy.deepcopy(road)
    change(spec)
    code, message = refused(spec, document)
    assert code == 2 and "spec: unknown rule" in message and said in message


@pytest.mark.parametrize(
    "change", [lambda s: s.update(rows=["task"]), lambda s: s["columns"][2].update(percentile="99")]
)
def test_a_spec_that_does_not_fit_is_refused(road: tuple[Json, Json], change: Change) -> None:
    spec, document = copy.deepcopy(road)
    change(spec)
    assert "spec: does not fit the files" in refused(spec, document)[1]


@pytest.mark.parametrize("spec", [[], {}, None, 7, {"rows": [], "columns": []}])
def test_what_is_no_spec_is_refused_and_no_traceback(spec: Any, road: tuple[Json, Json]) -> None:
    refused(spec, road[1])


def test_no_file_is_misuse(road: tuple[Json, Json]) -> None:
    assert refused(road[0])[0] == 2


def test_an_exclusion_without_its_run_is_refused(road: tuple[Json, Json]) -> None:
    spec, document = copy.deepcopy(road)
    spec["exclude"] = [{"sha256": "0" * 64, "pointer": "$.runs[0]", "reason": "x"}]
    assert "has no $.runs[0] to exclude" in refused(spec, document)[1]


def test_a_row_outside_the_declared_ones_is_refused(road: tuple[Json, Json]) -> None:
    spec, document = copy.deepcopy(road)
    spec["expected_rows"] = [{"tasks": 1000, "agents": 100}]
    assert "row tasks=1000,agents=1000 is not expected" in refused(spec, document)[1]


def test_only_value_with_two_values_is_refused(road: tuple[Json, Json]) -> None:
    spec, document = copy.deepcopy(road)
    spec["columns"][1]["aggregate"] = "only_value"
    assert "column elapsed has several values" in refused(spec, document)[1]


def test_nothing_is_divided_by_zero(road: tuple[Json, Json]) -> None:
    spec, document = copy.deepcopy(road)
    spec["columns"][1].update(aggregate="ratio_of_totals", over="tasks_failed")
    assert "column elapsed: float division by zero" in refused(spec, document)[1]


# --- strict JSON of its own ---


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1e400}', "1e400"),
        (b'{"a": 9007199254740992}', "9007199254740992"),
        (b'{"a": 1, "b": {"c": 1, "c": 1}}', "duplicate key c"),
        (b'\xef\xbb\xbf{"a": 1}', "byte order mark"),
        (b'{"a": "\xff"}', "utf-8"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a": "\\uD800"}', "surrogate"),
        (b'{"a": 1} {"a": 1}', "Extra data"),
        (b'{"a": 1,}', "property name"),
        (b'{"a": 01}', "delimiter"),
        (b"", "Expecting value"),
        (b"[" * 100_000, "recursion"),
        (b'{"a": ' + b"9" * 5000 + b"}", "999"),
    ],
)
def test_what_two_readers_could_read_differently_is_unreadable(data: bytes, said: str) -> None:
    with pytest.raises(recount.Refused) as caught:
        recount.read_json(data, "f.json")
    assert caught.value.code == 5
    assert str(caught.value).startswith("f.json::$: not strict JSON: ") and said in str(caught.value)


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert recount.read_json(b'["\\ud83d\\ude00"]', "f.json") == ["\U0001f600"]


def test_numbers_keep_their_kind_and_their_digits() -> None:
    found = recount.read_json(b"[1, 1.0, -0.0, 0.1, 9007199254740991, 1e3]", "f.json")
    assert json.dumps(found) == "[1, 1.0, -0.0, 0.1, 9007199254740991, 1000.0]"
