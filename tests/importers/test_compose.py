"""An import as a document: nothing added, nothing guessed, and it passes the check."""

from __future__ import annotations

import json
import math
import statistics
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hyperfine import NOBODY, entry, export, imported

from tallymark import check, importers
from tallymark.errors import UsageError
from tallymark.evidence import canonical, documents
from tallymark.importers import compose

AT = datetime(2026, 11, 29, 9, 0, 0, tzinfo=UTC)


def composed(data: bytes, **changes: Any) -> dict[str, Any]:
    source = compose.Source(name="h.json", shown="h.json", data=data)
    request = compose.Request(**{"suite": "sleep", "label": "h", "imported_at": AT, **changes})
    found = importers.read(importers.importer("hyperfine"), source, NOBODY, request.redact)
    return compose.document(found, source, request)


def test_the_document_says_where_it_comes_from() -> None:
    """The digest is of the very bytes; the id is its beginning, so one file imported twice is seen."""
    data = export(entry())
    document = composed(data)
    assert document["source"] == {
        "format": "hyperfine",
        "format_version": None,
        "sha256": canonical.sha256_hex(data),
        "bytes": len(data),
        "name": "h.json",
    }
    assert document["execution"] == {
        "id": canonical.sha256_hex(data)[:16],
        "suite": "sleep",
        "label": "h",
        "imported_at": "2026-11-29T09:00:00Z",
        "tool_version": "0.1.0",
        "command": "tallymark import hyperfine h.json --out data/sleep --label h",
        "complete": True,
        "repetitions": 3,
    }


def test_the_command_says_that_names_were_redacted() -> None:
    document = composed(export(entry("/home/li/x")), redact=True)
    assert document["execution"]["command"].endswith(" --redact")
    assert "li" not in json.dumps(document["runs"])


def test_the_machine_is_null_with_a_reason_for_each_key() -> None:
    manifest = composed(export(entry()))["manifest"]
    assert set(manifest["machine"].values()) == {None}
    assert manifest["unavailable"].keys() == manifest["machine"].keys()


def test_a_machine_that_was_vouched_for_is_taken_and_said_to_be_so() -> None:
    values = {**dict.fromkeys(compose._MACHINE), "cpu_model": "Example CPU", "cores": 2}
    reasons = {key: "not readable" for key in compose._MACHINE if values[key] is None}
    machine = compose.Machine("1m.json", "a" * 16, values, {**reasons, "governor": "no cpufreq directory"})
    document = composed(export(entry()), machine=machine)
    assert document["manifest"] == {"machine": values, "unavailable": reasons}
    assert document["execution"]["command"].endswith(" --machine 1m.json")
    assert {
        "pointer": "$",
        "reason": f"the machine is that of execution {'a' * 16}, as the importing person says",
    } in (document["loss"])


def test_repetitions_that_differ_are_not_one_number() -> None:
    document = composed(export(entry("a"), entry("b", times=(0.5, 0.6))))
    assert document["execution"]["repetitions"] is None
    assert [run["index"] for run in document["runs"]] == [0, 1, 2, 3, 4]


def test_what_the_file_does_not_record_is_left_out() -> None:
    document = composed(export(entry(exit_codes=..., memory_usage_byte=..., median=..., times=(0.5,))))
    assert document["runs"] == [
        {
            "index": 0,
            "repetition": 1,
            "benchmark": "sleep 0.1",
            "parameters": {},
            "outcome": "completed",
            "elapsed_s": 0.5,
        }
    ]
    assert document["reported"][0].keys() == {
        *("benchmark", "parameters", "mean_s", "min_s", "max_s", "user_mean_s", "system_mean_s")
    }


def test_a_killed_run_keeps_its_null() -> None:
    run = composed(export(entry(exit_codes=[None, 0, 0])))["runs"][0]
    assert (run["outcome"], run["exit_code"]) == ("killed", None)


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "a/b", "-a", ".a", "a\n", "é", "a" * 65, "con:"])
def test_a_name_that_is_no_file_name_everywhere_is_refused_with_a_proposal(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        compose.chosen_name(name, "--label")
    proposal = caught.value.do.removeprefix("give --label ")
    assert compose.chosen_name(proposal, "--label") == proposal
    assert caught.value.line().isprintable()


# without the signs that lead to homes, hosts and addresses: those have their own test
NAMES = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_characters="/\\@~:=.").filter(
        str.isprintable
    )
)
SECONDS = st.floats(min_value=1e-9, max_value=1e6)
SERIES = st.dictionaries(
    NAMES.map(lambda text: f"run {text}"),
    st.lists(SECONDS, min_size=1, max_size=8),
    min_size=1,
    max_size=5,
)


@given(SERIES)
def test_every_sample_survives_bit_for_bit_and_the_document_passes_the_check(
    series: dict[str, list[float]],
) -> None:
    """Whatever hyperfine measured: written, read back and checked, each sample is the same double."""
    data = export(*(entry(command, times) for command, times in series.items()))
    encoded = canonical.encode(composed(data))
    assert check.check_document(documents.from_bytes(encoded, "data/sleep/h.json")) == ()
    read_back = json.loads(encoded)
    assert [run["elapsed_s"] for run in read_back["runs"]] == [t for times in series.values() for t in times]
    for reported, times in zip(read_back["reported"], series.values(), strict=True):
        assert math.isclose(reported["mean_s"], statistics.fmean(times), rel_tol=1e-12)


def test_both_orders_of_the_file_give_the_same_runs() -> None:
    there, back = imported(entry("a"), entry("b")), imported(entry("b"), entry("a"))
    assert sorted(map(repr, there.runs)) == sorted(map(repr, back.runs))
