"""What each reference resolves to, on the small site of six runs."""

from __future__ import annotations

import hashlib
import json

import pytest

from tallymark.recount import series
from tallymark.recount.published import Published
from tallymark.recount.reference import Unresolved, parse
from tallymark.recount.resolver import resolve

NAME = "runtime-scale"
ROW = "tasks=1000,agents=100"
RAW = f"data/{NAME}/1k.json"


def text(read: Published, reference: str) -> str:
    (document,) = read.raw.values()
    return resolve(read, parse(reference.replace("SHA", document.sha256), None)).text


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        # the values that tests/support/evidence.py writes
        (f"cell:{NAME}/{ROW}:runs", "3"),
        (f"cell:{NAME}/{ROW}:runs|exact", "3"),
        (f"cell:{NAME}/{ROW}:peak_rss", "17.00"),
        (f"cell:{NAME}/{ROW}:peak_rss|exact", "17"),
        (f"cell:{NAME}/{ROW}:peak_rss|n", "3"),
        (f"cell:{NAME}/{ROW}:queue_p99_pooled|samples", "3000"),
        (f"key:{NAME}/{ROW}/agents", "100"),
        (f"row:{NAME}/{ROW}", ROW),
        (f"row:{NAME}/{ROW}|values", "1000 / 100"),
        (f"row:{NAME}/{ROW}|label", "1000 / 100"),
        ("raw:SHA/$.runs[0].workers", "8"),
        ("raw:SHA/$.runs[0].context_bytes|factor=1/1048576|places=2", "8.00"),
        ("raw:SHA/$.runs[0].context_bytes|significant=2", "8400000"),
        ("raw:SHA/$.manifest.build.lto", "false"),
        ("raw:SHA/$.manifest.governor", "null"),
        ("raw:SHA/$.manifest.machine.cpu_model", "Example CPU"),
        ("pointer:SHA/$.runs[0]", "$.runs[0]"),
        (f"constant:{NAME}/workers", "8"),
        (f"constant:{NAME}/machine/cores", "2"),
        (f"ledger:{NAME}/found", "6"),
        (f"ledger:{NAME}/excluded", "0"),
        (f"ledger:{NAME}/closes", "true"),
        (f"spec:{NAME}/$.columns[1].title", "Elapsed, median"),
        (f"samples:{NAME}/{ROW}/queue", "3000"),
        (f"points:runs/{NAME}/elapsed", "6"),
        (f"claims:{NAME}/holds", "1"),
        (f"claims:{NAME}/total", "1"),
        (f"claim:{NAME}/quick", "holds"),
        (f"file:{RAW}|name", "1k.json"),
        (f"file:{RAW}|path", RAW),
        ("count:reports", "1"),
        ("count:runs", "6"),
        ("count:cells", "10"),
        ("count:raw-files", "1"),
        (f"count:{NAME}/cells", "10"),
        (f"command:{NAME}/rerun", "tallymark run scale --set tasks=1000 --label 1k"),
        (
            f"command:{NAME}/recount",
            f"python3 recount.py --report reports/{NAME}.json reports/{NAME}.spec.json {RAW}",
        ),
        # 66 seconds from start to end
        (f"duration:{NAME}/minutes", "2"),
        (f"memory:{NAME}/mib", "17"),
    ],
)
def test_a_reference_gives_its_text(read: Published, reference: str, shown: str) -> None:
    assert text(read, reference) == shown


def test_facts_of_a_file_are_those_of_its_bytes(read: Published) -> None:
    data = read.files.read(RAW)
    digest = hashlib.sha256(data).hexdigest()
    assert text(read, f"file:{RAW}|sha256") == digest
    assert text(read, f"file:{RAW}|sha12") == digest[:12]
    assert text(read, f"file:{RAW}|bytes") == str(len(data))
    assert text(read, f"report:{NAME}/$.digest|sha12") == read.reports[NAME].table["digest"][:12]


def test_a_float_without_rounding_reads_as_json_writes_it(read: Published) -> None:
    (document,) = read.raw.values()
    value = document.value["runs"][0]["elapsed_ms"]  # type: ignore[index, call-overload]
    assert text(read, "raw:SHA/$.runs[0].elapsed_ms") == json.dumps(value)


@pytest.mark.parametrize(
    "reference",
    [
        "raw:SHA/$.runs[99].tasks",
        "raw:SHA/$.runs[0].nothing",
        "raw:SHA/runs",
        "raw:SHA/$.runs[0].cause|places=2",
        "raw:SHA/$.runs[0].elapsed_ms|places=2|significant=2",
        "raw:SHA/$.runs[0].elapsed_ms|mib",
        "pointer:SHA/$.runs[99]",
        f"cell:{NAME}/{ROW}:runs|samples",
        f"cell:{NAME}/{ROW}:runs|reason",
        f"cell:{NAME}/{ROW}:runs|mib",
        f"key:{NAME}/{ROW}/colour",
        f"constant:{NAME}/tasks",
        f"samples:{NAME}/{ROW}/lunch",
        f"points:runs/{NAME}/queue_p99_pooled",
        f"claims:{NAME}/lost",
        f"claim:{NAME}/other",
        f"said:{NAME}/$.version",
        f"command:{NAME}/destroy",
        f"duration:{NAME}/hours",
        f"memory:{NAME}/gib",
        f"file:{RAW}",
        f"report:{NAME}/$.rows[0].id",
        "illustration",
    ],
)
def test_a_reference_that_leads_to_nothing_is_unresolved(read: Published, reference: str) -> None:
    with pytest.raises(Unresolved):
        text(read, reference)


def test_invisible_characters_are_shown_as_escapes(read: Published) -> None:
    (document,) = read.raw.values()
    execution = document.value["execution"]
    label = execution["label"]  # type: ignore[index, call-overload]
    try:
        execution["label"] = "a\u202eb\x00c"  # type: ignore[index, call-overload]
        assert text(read, "raw:SHA/$.execution.label") == "a\\u202eb\\u0000c"
    finally:
        execution["label"] = label  # type: ignore[index, call-overload]


def test_series_over_runs_follow_the_table_and_the_lineage(read: Published) -> None:
    found = series.recompute(read, f"runs/{NAME}/elapsed")
    assert found.x == (ROW,) * 3 + ("tasks=1000,agents=1000",) * 3
    values = [run.value["elapsed_ms"] for run in read.reports[NAME].sources(ROW, "elapsed")]
    assert list(found.y[:3]) == values


def test_a_percentile_series_stops_where_its_samples_do(read: Published) -> None:
    found = series.recompute(read, f"percentiles/{NAME}/{ROW}/queue")
    # 3,000 samples allow p99 (1,000 needed) and not p99.9 (10,000 needed); the last point is the maximum
    assert found.x == (0.5, 0.75, 0.9, 0.95, 0.99, 1)
    assert list(found.y) == sorted(found.y)


def test_a_timeline_series_shows_memory_in_mib(read: Published) -> None:
    (sha256,) = read.raw
    found = series.recompute(read, f"timeline/{sha256}/$.runs[0]/rss_bytes")
    assert found.y[0] == 14
    assert found.x[0] == 0
    assert series.row_of(read, f"timeline/{sha256}/$.runs[0]/rss_bytes") in read.reports[NAME].rows


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "pie/x/y",
        f"cells/{NAME}/speed",
        f"percentiles/{NAME}/tasks=7/queue",
        f"timeline/{'0' * 64}/$.runs[0]/queue",
    ],
)
def test_an_unknown_series_is_unresolved(read: Published, rest: str) -> None:
    with pytest.raises(Unresolved):
        series.recompute(read, rest)
