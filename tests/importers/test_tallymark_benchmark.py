"""Our own benchmarks: every process a run, every figure computed again, every wrong number at its place."""

from __future__ import annotations

import copy
import json
import re
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.benchmark import WRITTEN, Json, benchmark, changed, imported, source_of
from support.console import Console

from tallymark import check, tables
from tallymark.errors import FindingsError, UnreadableError
from tallymark.evidence import canonical, documents
from tallymark.importers.compose import Request, document
from tallymark.tables import spec

SHIPPED = Path(__file__).parents[2] / "site" / "reports" / "scheduler-benchmark.toml"


def test_every_process_is_a_run_in_the_order_in_which_they_ran() -> None:
    runs = imported(benchmark()).runs
    assert [(run.benchmark, run.round, run.repetition) for run in runs] == [
        ("ours", 1, 1),
        ("loop", 1, 1),
        ("ours", 1, 2),
        ("queue", 1, 1),
        ("loop", 2, 2),
        ("queue", 2, 2),
        ("ours", 2, 3),
        ("ours", 2, 4),
    ]
    assert [run.elapsed_s for run in runs] == [0.01, 0.04, 0.02, 0.009, 0.04, 0.009, 0.01, 0.01]
    assert [run.cpu_s for run in runs[:3]] == [0.03, 0.02, 0.05]
    assert {(run.operations, run.voluntary_switches, run.involuntary_switches) for run in runs} == {
        (1000, 7, 2)
    }
    assert {run.outcome for run in runs} == {"completed"}


def test_bytes_that_were_not_measured_are_left_out() -> None:
    runs = imported(benchmark()).runs
    assert [(run.queued_bytes, run.drained_bytes) for run in runs if run.benchmark == "queue"] == [
        (500, 1000),
        (600, 1200),
    ]
    assert {run.queued_bytes for run in runs if run.benchmark != "queue"} == {None}


def with_latency(value: Json) -> None:
    """Latencies and peak memory of the case ``queue``, and a figure over the better of two cases.

    CPU of ``queue`` over the lower of ours and loop: 9 ms over min(40, 20), then 9 over min(30, 10).
    """
    for number, one in enumerate(value["rounds"], start=1):
        one["runs"]["queue"][0].update(
            latency_p50_ns=250_000 * number, latency_p99_ns=2_500_000 * number, memory_bytes=4096
        )
        one["runs"]["queue"][0].update(cpu_ns_per_task=9000.0, memory_per_task=4.096, turns=number)
    over = {"case": "queue", "over": ["ours", "loop"], "better": "lower"}
    value["to_best"] = {"median": 0.675, "low": 0.45, "high": 0.9, "quantity": "cpu_s", **over}
    value["turns"] = {"median": 1.5, "low": 1, "high": 2, "quantity": "turns", "case": "queue", "over": None}


def test_latencies_and_peak_memory_are_carried_over() -> None:
    made = imported(changed(with_latency))
    queue = [run for run in made.runs if run.benchmark == "queue"]
    assert [(run.latency_p50_s, run.latency_p99_s) for run in queue] == [(0.00025, 0.0025), (0.0005, 0.005)]
    assert {run.memory_bytes for run in queue} == {4096}
    assert {(run.latency_p99_s, run.memory_bytes) for run in made.runs if run.benchmark != "queue"} == {
        (None, None)
    }
    assert any("'turns' is measured by the benchmark" in loss.reason for loss in made.loss)


def test_only_a_document_with_latencies_needs_the_newer_schema() -> None:
    request = Request("x", "b", datetime(2027, 1, 1, tzinfo=UTC))
    for value, schema in (
        (benchmark(), "imported-execution/1.0"),
        (changed(with_latency), "imported-execution/1.1"),
    ):
        encoded = canonical.encode(document(imported(value), source_of(value), request))
        assert json.loads(encoded)["schema"] == schema
        assert check.check_document(documents.from_bytes(encoded, "data/x/b.json")) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v["to_best"].update(better="higher"), "$.to_best.median: is not the median"),
        (lambda v: v["to_best"].pop("better"), "$.to_best: the key 'better' is missing"),
        (lambda v: v["to_best"].update(better="lighter"), "$.to_best.better: is neither higher nor lower"),
        (lambda v: v["to_best"].update(over=["ours", 7]), "$.to_best.over: is no list of cases"),
        (lambda v: v["to_best"].update(over=[]), "$.to_best.over: is no list of cases"),
        (lambda v: v["to_best"].update(over=["ours", "them"]), "$.to_best.over: 'them' has no 'cpu_s'"),
        (lambda v: v["turns"].update(high=3), "$.turns.high: is not the high"),
        (
            lambda v: v["rounds"][0]["runs"]["queue"][0].update(cpu_ns_per_task=9001.0),
            "$.rounds[0].runs.queue[0].cpu_ns_per_task: does not follow",
        ),
        (
            lambda v: v["rounds"][0]["runs"]["queue"][0].update(latency_p99_ns=-1),
            "$.rounds[0].runs.queue[0].latency_p99_ns: is not between 0",
        ),
    ],
)
def test_what_newer_figures_say_is_computed_again(change: Callable[[Json], Any], said: str) -> None:
    value = changed(with_latency)
    change(value)
    with pytest.raises(FindingsError) as caught:
        imported(value)
    assert said in caught.value.line()


def test_what_is_fixed_becomes_parameters() -> None:
    assert imported(benchmark()).runs[0].parameters == {
        "tasks": "1000",
        "window": "1024",
        "submission": "closed",
        "gcc": "12.2.0",
        "flags": "-O2 -pthread",
        "onetbb": "2021.8",
        "revision": "a" * 40,
        "dirty": "false",
    }


def test_machine_times_and_seed_are_those_of_the_file(console: Console) -> None:
    Path("b.json").write_text(json.dumps(benchmark()))
    code, out, err = console.run("import", "benchmark", "b.json", "--out", "data/x")
    assert (code, out) == (0, "data/x/b.json\n")
    made = json.loads(Path("data/x/b.json").read_bytes())
    execution = made["execution"]
    assert (execution["started_at"], execution["finished_at"], execution["seed"]) == (
        "2026-11-29T09:00:00Z",
        "2026-11-29T09:02:00Z",
        7,
    )
    assert made["manifest"] == {
        "machine": {
            "cpu_model": "Example CPU",
            "cores": 2,
            "memory_bytes": 8589934592,
            "os_build": "6.1.0",
            "virtualisation": None,
            "platform": "x86_64",
        },
        "unavailable": {"virtualisation": "benchmark does not record it"},
    }
    assert (made["reported"], made["source"]["format_version"]) == ([], "1")
    assert made["runs"][0]["round"] == 1 and "exit_code" not in made["runs"][0]
    assert "b.json: loss at $.rounds[*].runs: 'probe_checksum' is measured" in err
    assert "loss at $.rounds[*]: 'load_average_before' is not carried over" in err
    assert console.run("check", "data/x")[0] == 0


def test_a_file_that_the_benchmark_wrote_is_imported() -> None:
    value = json.loads(WRITTEN.read_bytes())
    runs = imported(value).runs
    assert len(runs) == sum(len(one["order"]) for one in value["rounds"])
    assert len({run.benchmark for run in runs}) == 22
    made = document(imported(value), source_of(value), Request("x", "b", datetime(2027, 1, 1, tzinfo=UTC)))
    encoded = canonical.encode(made)
    assert check.check_document(documents.from_bytes(encoded, "data/x/b.json")) == ()


def test_the_shipped_report_gives_the_figures_of_the_benchmark(console: Console, tmp_path: Path) -> None:
    """Both compute medians and ranges of ratios within a round; neither knows of the other."""
    assert console.run("import", "benchmark", str(WRITTEN), "--out", "data/scheduler-benchmark")[0] == 0
    text = re.sub(  # seven rounds in the published report, two in this file
        r"(?m)^('.*') = (\d+)$",
        lambda row: f"{row[1]} = {int(row[2]) // 7 * 2}",
        SHIPPED.read_text(encoding="utf-8"),
    )
    path = tmp_path / "site" / "reports" / "scheduler-benchmark.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    report = tables.compute(tmp_path, spec.load(path, tmp_path))
    rows = {row.id: cells for row, cells in zip(report.table.rows, report.table.cells, strict=True)}
    ours, figures = rows['benchmark="tallymark:probes"'], json.loads(WRITTEN.read_bytes())
    for figure, name in (
        ("cpu_ratio_to_limit", "cpu_to_plain"),
        ("cpu_ratio_to_onetbb", "cpu_to_onetbb"),
        ("throughput_ratio_to_onetbb", "rate_to_onetbb"),
    ):
        found = [ours[f"{name}{end}"].exact for end in ("", "_low", "_high")]
        assert found == pytest.approx([figures[figure][key] for key in ("median", "low", "high")], rel=1e-12)
    verdicts = {verdict.id: verdict.holds for verdict in report.verdicts}
    said = {"met": True, "missed": False, "cannot tell": None}
    assert verdicts["cpu-to-plain-loop"] is said[figures["cpu_ratio_to_limit"]["verdict"]]
    assert verdicts["cpu-to-onetbb"] is said[figures["cpu_ratio_to_onetbb"]["verdict"]]
    assert verdicts["throughput-to-onetbb"] is said[figures["throughput_ratio_to_onetbb"]["verdict"]]


def first_run(value: Json) -> Json:
    found: Json = value["rounds"][0]["runs"]["ours"][0]
    return found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v.update(format="tallymark-benchmark/2"), "$.format: is a version that this importer"),
        (lambda v: v.update(rounds=[]), "$.rounds: is empty"),
        (lambda v: v.pop("rounds"), "$: the key 'rounds' is missing"),
        (lambda v: v.update(started_at="yesterday"), "$.started_at: is no time"),
        (lambda v: v.update(finished_at="2026-13-01T09:00:00Z"), "$.finished_at: is no time"),
        (lambda v: v.update(seed=-1), "$.seed: is not between 0"),
        (lambda v: v["workload"].update(gcc="1"), "$.compiler.gcc: is in two of workload"),
        (lambda v: v["workload"].update(rate=0.5), "$.workload.rate: is no integer, boolean"),
        (lambda v: v["machine"].update(cores=0), "$.machine.cores: is not between 1"),
        (lambda v: v["machine"].update(kernel="a\u202eb"), "$.machine.kernel: is no printable text"),
        (lambda v: v["rounds"][1]["order"].pop(), "$.rounds[1].order: does not name every process"),
        (lambda v: v["rounds"][0]["order"].append("ours"), "$.rounds[0].order[4]: names a process"),
        (lambda v: v["rounds"][0]["order"].append(7), "$.rounds[0].order[4]: names a process"),
        (
            lambda v: (v["rounds"][1]["order"].remove("queue"), v["rounds"][1]["runs"].pop("queue")),
            "$.rounds[1]: has not the processes of the first round",
        ),
        (lambda v: first_run(v).pop("cpu_ns"), "$.rounds[0].runs.ours[0]: the key 'cpu_ns' is missing"),
        (lambda v: first_run(v).update(tasks=0), "$.rounds[0].runs.ours[0].tasks: is not between 1"),
        (lambda v: first_run(v).update(tasks=True), "runs.ours[0].tasks: is a boolean, not an integer"),
        (lambda v: first_run(v).update(elapsed_ns=1.5), "elapsed_ns: is a number, not an integer"),
        # milliseconds where seconds are due, and one digit of a time
        (lambda v: first_run(v).update(elapsed_s=10.0), "elapsed_s: does not follow from the other values"),
        (lambda v: first_run(v).update(cpu_ns=30_000_001), "cpu_s: does not follow"),
        (lambda v: first_run(v).update(tasks_per_s=1.0), "tasks_per_s: does not follow"),
        (lambda v: first_run(v).update(backlog_bytes=8), "queued_bytes: does not follow"),
        (
            lambda v: v["cpu_ratio"].update(median=2.4),
            "$.cpu_ratio.median: is not the median over the rounds",
        ),
        (
            lambda v: v["cpu_ratio"].update(low=1.9),
            "$.cpu_ratio.low: is not the low over the rounds, which is 2",
        ),
        (
            lambda v: v["bytes"].update(high=1.3),
            "$.bytes.high: is not the high over the rounds, which is 1.2",
        ),
        (lambda v: v["cpu_ratio"].update(over="nobody"), "$.cpu_ratio.over: 'nobody' has no 'cpu_s'"),
        (lambda v: v["cpu_ratio"].update(quantity="luck"), "$.cpu_ratio.case: 'ours' has no 'luck'"),
        (lambda v: v["cpu_ratio"].pop("case"), "$.cpu_ratio: the key 'case' is missing"),
        (lambda v: v["bytes"].update(over="ours"), "$.bytes.over: divides by 0"),
        (lambda v: v["compiler"].update(flags="-I/home/li/src"), "$.compiler.flags: holds a home folder"),
    ],
)
def test_whatever_does_not_follow_is_refused_at_its_place(change: Callable[[Json], Any], said: str) -> None:
    with pytest.raises(FindingsError) as caught:
        imported(changed(change))
    assert f"b.json::{said}" in caught.value.line() or said in caught.value.line()


def test_a_home_folder_in_the_flags_can_be_replaced() -> None:
    made = imported(changed(lambda v: v["compiler"].update(flags="-I/home/li/src")), redact=True)
    assert made.runs[0].parameters["flags"] == "-I<home>/src"
    assert [one.pointer for one in made.loss if "replaced" in one.reason] == ["$.compiler.flags"]


def test_what_the_machine_could_not_say_is_unknown() -> None:
    made = imported(changed(lambda v: v["machine"].update(cpu_model=None)))
    assert made.measured is not None and made.measured.machine["cpu_model"] is None


def test_outside_of_a_repository_there_is_no_tree() -> None:
    nothing = {"revision": None, "dirty": None}
    assert "revision" not in imported(changed(lambda v: v.update(tree=nothing))).runs[0].parameters
    assert "revision" not in imported(changed(lambda v: v.pop("tree"))).runs[0].parameters


def test_a_file_with_its_own_machine_takes_no_other(console: Console) -> None:
    from support.evidence import runtime_execution

    Path("b.json").write_text(json.dumps(benchmark()))
    Path("1m.json").write_bytes(canonical.encode(runtime_execution(tasks=10)))
    code, _, err = console.run("import", "benchmark", "b.json", "--machine", "1m.json")
    assert (code, "--machine: the file says itself where it was measured" in err) == (2, True)


def test_the_other_importer_names_this_one(console: Console) -> None:
    Path("b.json").write_text(json.dumps(benchmark()))
    code, _, err = console.run("import", "hyperfine", "b.json")
    assert (code, "Import it with: tallymark import benchmark" in err) == (2, True)


WHOLE = benchmark()
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside ``value``."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, member in inner for place in places(member, (*path, key)))]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(places(WHOLE)[1:]), JSON)
def test_any_value_at_any_place_is_refused_or_passes_the_check(path: tuple[Any, ...], value: Any) -> None:
    whole = copy.deepcopy(WHOLE)
    holder: Any = whole
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    try:
        made = imported(whole)
    except (FindingsError, UnreadableError) as error:
        assert error.where.startswith("b.json") and error.line().isprintable()
        return
    request = Request("x", "b", datetime(2027, 1, 1, tzinfo=UTC))
    encoded = canonical.encode(document(made, source_of(whole), request))
    findings = check.check_document(documents.from_bytes(encoded, "data/x/b.json"))
    assert [one for one in findings if one.severity == "error"] == []


def test_the_built_file_is_sound() -> None:
    """By hand: (30 + 50) / 2 / 20 = 2 and 30 / 10 = 3."""
    assert statistics.median([2.0, 3.0]) == benchmark()["cpu_ratio"]["median"]
