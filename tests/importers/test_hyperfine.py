"""hyperfine files of every version: what becomes a run, what is lost, and what is refused where."""

from __future__ import annotations

from typing import Any

import pytest
from support.hyperfine import FILES, NOBODY, entry, imported

from tallymark import importers
from tallymark.errors import FindingsError, TallymarkError
from tallymark.importers.compose import Source
from tallymark.importers.interface import Imported


def of_file(name: str) -> Imported:
    source = Source(name=name, shown=name, data=(FILES / name).read_bytes())
    return importers.read(importers.importer("hyperfine"), source, NOBODY)


def changed(whole: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The entry with some keys replaced, or removed where the change is ``...``."""
    return {key: value for key, value in {**whole, **change}.items() if value is not ...}


def lost(found: Imported) -> dict[str, str]:
    return {loss.pointer: loss.reason for loss in found.loss if loss.pointer != "$"}


def test_each_timing_becomes_one_run_in_the_order_of_the_file() -> None:
    """The numbers stand in files/scan.json, which hyperfine wrote."""
    runs = of_file("scan.json").runs
    assert [(run.benchmark, dict(run.parameters), run.repetition, run.elapsed_s) for run in runs] == [
        ("sleep 0.01", {"n": "0.01"}, 1, 0.012482993000000001),
        ("sleep 0.01", {"n": "0.01"}, 2, 0.012961553),
        ("sleep 0.01", {"n": "0.01"}, 3, 0.011864465000000001),
        ("sleep 0.01", {"n": "0.01"}, 4, 0.011904215000000001),
        ("sleep 0.02", {"n": "0.02"}, 1, 0.021451614),
        ("sleep 0.02", {"n": "0.02"}, 2, 0.021430498000000003),
        ("sleep 0.02", {"n": "0.02"}, 3, 0.021341045000000003),
        ("sleep 0.02", {"n": "0.02"}, 4, 0.021612608000000002),
    ]
    assert {(run.outcome, run.exit_code, run.memory_bytes) for run in runs} == {("completed", 0, None)}


def test_a_run_with_another_exit_code_than_0_failed_and_keeps_its_time() -> None:
    """``false`` exits with 1; hyperfine measured it because of -i."""
    runs = of_file("failing.json").runs
    assert [(run.benchmark, run.outcome, run.exit_code) for run in runs] == [
        *[("false", "failed", 1)] * 3,
        *[("true", "completed", 0)] * 3,
    ]
    assert runs[0].elapsed_s == 0.0021610080000000003


def test_a_run_without_an_exit_code_among_others_was_killed() -> None:
    runs = imported(entry(exit_codes=[0, None, 137])).runs
    assert [(run.outcome, run.exit_code) for run in runs] == [
        ("completed", 0),
        ("killed", None),
        ("failed", 137),
    ]


def test_exit_codes_that_no_version_recorded_are_a_loss_and_not_a_zero() -> None:
    """hyperfine wrote none before 1.12."""
    found = imported(entry(exit_codes=...))
    assert {(run.outcome, run.exit_code, run.exit_code_recorded) for run in found.runs} == {
        ("completed", None, False)
    }
    assert "cannot be told" in lost(found)["$.results[0].exit_codes"]


@pytest.mark.parametrize("value", [4, "4"])
def test_the_nameless_parameter_of_old_versions_gets_a_name_and_a_loss(value: Any) -> None:
    """hyperfine 1.6 to 1.10 wrote ``"parameter": 4``."""
    found = imported(entry(parameter=value, exit_codes=..., memory_usage_byte=...))
    assert {tuple(run.parameters.items()) for run in found.runs} == {(("parameter", "4"),)}
    assert "not recorded" in lost(found)["$.results[0].parameter"]


def test_an_empty_parameter_value_is_a_value() -> None:
    """``hyperfine -L flag ,-O2`` measures without and with the flag."""
    assert imported(entry(parameters={"flag": ""})).runs[0].parameters == {"flag": ""}


def test_memory_is_kept_for_each_run_and_0_means_not_read() -> None:
    """hyperfine writes 0 on Windows, where it reads no memory."""
    found = imported(entry(memory_usage_byte=[1_900_544, 0, 1_904_640]))
    assert [run.memory_bytes for run in found.runs] == [1_900_544, None, 1_904_640]
    assert "not read" in lost(found)["$.results[0].memory_usage_byte"]


def test_user_and_system_time_are_reported_means_and_listed_as_lost() -> None:
    found = imported(entry())
    assert (found.reported[0].user_mean_s, found.reported[0].system_mean_s) == (0.0007, 0.0013)
    assert set(lost(found)) == {"$.results[0].user", "$.results[0].system"}


def test_a_single_timing_has_no_deviation() -> None:
    found = imported(entry(times=(0.25,)))
    assert (len(found.runs), found.reported[0].stddev_s) == (1, None)


def test_figures_that_an_old_version_did_not_write_are_unknown() -> None:
    """``median`` exists since hyperfine 1.6."""
    assert imported(entry(median=...)).reported[0].median_s is None


def test_unknown_keys_are_listed_and_never_dropped_silently() -> None:
    found = imported(entry() | {"shell": "bash", "odd key": 1}, host="x")
    assert {"$.host", "$.results[0].shell", '$.results[0]["odd key"]'} < set(lost(found))


def test_what_no_version_records_is_listed_for_the_whole_file() -> None:
    whole = [loss.reason for loss in imported(entry()).loss if loss.pointer == "$"]
    assert any("no machine" in reason for reason in whole)
    assert any("no version of itself" in reason for reason in whole)


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"times": ...}, "$.results[0].times", "a mean without its samples cannot be recounted"),
    ({"times": None}, "$.results[0].times", "a mean without its samples"),
    ({"times": []}, "$.results[0].times", "nothing was measured"),
    ({"times": 0.1}, "$.results[0].times", "is a number, not an array"),
    ({"times": [0.102, "0.101", 0.106]}, "$.results[0].times[1]", "is not a number"),
    ({"times": [0.102, True, 0.106]}, "$.results[0].times[1]", "is not a number"),
    ({"times": [0.102, 0, 0.106]}, "$.results[0].times[1]", "must be above 0"),
    ({"times": [0.102, -0.1, 0.106]}, "$.results[0].times[1]", "must be above 0"),
    ({"times": [0.102, 0.101, 2e7]}, "$.results[0].times[2]", "more than 1e7 s"),
    ({"times": [0.102, 0.101, 10**400]}, "$.results[0].times[2]", "more than 1e7 s"),
    ({"mean": ...}, "$.results[0]", "the key 'mean' is missing"),
    ({"mean": "0.1"}, "$.results[0].mean", "is a string, not a number"),
    ({"mean": 10**400}, "$.results[0].mean", "is above 1e15"),
    ({"user": -0.5}, "$.results[0].user", "is below 0"),
    ({"stddev": True}, "$.results[0].stddev", "is a boolean, not a number"),
    ({"command": ["sleep"]}, "$.results[0].command", "is an array, not a string"),
    ({"command": " "}, "$.results[0].command", "is empty"),
    ({"command": "x" * 2001}, "$.results[0].command", "2001 characters"),
    ({"command": "a\nb"}, "$.results[0].command", "does not print"),
    ({"command": "a\x1b[2Jb"}, "$.results[0].command", "'a\\x1b[2Jb'"),
    ({"command": "a\u202eb"}, "$.results[0].command", "'a\\u202eb'"),
    ({"exit_codes": [0, 0]}, "$.results[0].exit_codes", "has 2 elements for 3 timings"),
    ({"exit_codes": [0, "0", 0]}, "$.results[0].exit_codes[1]", "neither an integer nor null"),
    ({"exit_codes": [0, 0, 2**40]}, "$.results[0].exit_codes[2]", "is no exit code"),
    ({"memory_usage_byte": [1]}, "$.results[0].memory_usage_byte", "has 1 elements for 3 timings"),
    ({"memory_usage_byte": [1, 2, 1.5]}, "$.results[0].memory_usage_byte[2]", "is no number of bytes"),
    ({"parameters": []}, "$.results[0].parameters", "is an array, not an object"),
    ({"parameters": {"n": 1}}, "$.results[0].parameters.n", "is a number, not a string"),
    ({"parameters": {"a b": "1"}}, '$.results[0].parameters["a b"]', "is no name for a parameter"),
    ({"parameters": {"n": "\x07"}}, "$.results[0].parameters.n", "does not print"),
    ({"parameter": 1.5}, "$.results[0].parameter", "is a number, not a string"),
]


@pytest.mark.parametrize(("change", "place", "problem"), REFUSED)
def test_a_file_with_a_fault_is_refused_at_its_place(
    change: dict[str, Any], place: str, problem: str
) -> None:
    with pytest.raises(FindingsError) as caught:
        imported(changed(entry(), change))
    assert caught.value.where == f"h.json::{place}"
    assert problem in caught.value.problem
    assert caught.value.line().isprintable()


def test_a_result_that_is_no_object_is_refused_at_its_place() -> None:
    with pytest.raises(FindingsError, match=r"h\.json::\$\.results\[1\]: is a number, not an object"):
        imported(entry(), 7)


def test_a_file_without_results_measured_nothing() -> None:
    with pytest.raises(FindingsError, match="nothing was measured"):
        imported()


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{"results": [{"command": "a", "mean": NaN}]}', "$.results[0].mean"),
        (b'{"results": [{"command": "a", "command": "b"}]}', "$.results[0].command"),
        (b'{"results": [{"command": "a", "mean": 1e999}]}', "$.results[0].mean"),
        (b'\xef\xbb\xbf{"results": []}', "$"),
        (b'{"results": [{"command": "\\ud800", "mean": 1}]}', "$.results[0].command"),
        (b"[" * 100_000, "$"),
        (b"", "$"),
    ],
)
def test_what_is_not_strict_json_is_unreadable_at_its_place(data: bytes, place: str) -> None:
    with pytest.raises(TallymarkError) as caught:
        importers.read(importers.importer("hyperfine"), Source("h.json", "h.json", data), NOBODY)
    assert (caught.value.exit_code, caught.value.where) == (5, f"h.json::{place}")
