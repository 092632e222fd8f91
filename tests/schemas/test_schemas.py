"""The registry: validators without a network, messages without secrets, annotations, configuration."""

from __future__ import annotations

import copy
import re
import socket
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators
from support.evidence import (
    REPORT_SPEC,
    configuration_of,
    died,
    imported_execution,
    runtime_execution,
    small_execution,
)

from tallymark import schemas
from tallymark.errors import UsageError
from tallymark.evidence import strict_json
from tallymark.schemas import SchemaSet
from tallymark.units import UNITS

RUNTIME = "runtime-execution/1.0"


def messages(document: dict[str, Any], schema_id: str = RUNTIME) -> list[tuple[str, str]]:
    return [(pointer, message) for pointer, _, message in schemas.errors(schema_id, document)]


def test_the_schemas_of_this_version_are_shipped() -> None:
    grown = ("imported-execution", "report", "report-spec", "runtime-execution")
    kinds = ("ab-plan", "agent-execution", "agent-scenario", "agent-traces", "findings", "profile")
    assert sorted(schemas.released()) == sorted(
        [f"{k}/1.0" for k in (*kinds, *grown)] + [f"{k}/1.1" for k in grown]
    )


def test_schemas_and_the_module_of_that_name_live_side_by_side() -> None:
    assert schemas.__file__.endswith("schemas.py")
    assert (files("tallymark") / "schemas" / "lock.json").is_file()


def test_valid_documents_have_no_errors() -> None:
    import tomllib

    documents = {
        RUNTIME: [small_execution(), runtime_execution(tasks=20), small_execution(suite="smoke")],
        "imported-execution/1.0": [imported_execution()],
        "report-spec/1.0": [tomllib.loads(REPORT_SPEC)],
    }
    for schema_id, values in documents.items():
        for value in values:
            assert messages(value, schema_id) == []


def test_a_run_recorded_by_its_parent_leaves_out_what_was_never_known() -> None:
    document = small_execution()
    document["runs"][0] = died(document["runs"][0])
    assert messages(document) == []
    document["runs"][0]["elapsed_ms"] = 3.5
    assert messages(document) == [("$.runs[0].elapsed_ms", "must not be there")]


def test_a_completed_run_lacks_nothing() -> None:
    document = small_execution()
    del document["runs"][0]["tasks_failed"]
    document["runs"][0]["scheduler_latency_p99_ms"] = None
    document["runs"][0]["cause"] = "none"
    assert messages(document) == [
        ("$.runs[0].cause", '"none" is not null'),
        ("$.runs[0].scheduler_latency_p99_ms", "null is not a number"),
        ("$.runs[0]", "'tasks_failed' is missing"),
    ]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("agents",), 1e2, "100.0 is not an integer"),
        (("agents",), True, "true is not an integer"),
        (("agents",), 0, "0 is below the minimum of 1"),
        (("agents",), 1_000_001, "1000001 is above the maximum of 1000000"),
        (("tasks_submitted",), 2**53, "9007199254740992 is above the maximum of 9007199254740991"),
        (("run_id",), "0123456789abcdef\n", "the text has 17 characters, more than 16"),
        (("run_id",), "0123456789ABCDEF", '"0123456789ABCDEF" is not of the form ^[0-9a-f]{16}$'),
        (("started_at",), "2026-02-30T12:00:00Z", '"2026-02-30T12:00:00Z" is not a date-time that exists'),
        (("started_at",), "2026-02-28T24:00:00Z", '"2026-02-28T24:00:00Z" is not a date-time that exists'),
        (("suite",), "a\n", '"a\\n" is not of the form ^[a-z0-9][a-z0-9._-]{0,63}$'),
        (("benchmark_version",), "1.\u0662", "is not of the form"),
        (("submission",), "burst", '"burst" is not one of "closed", "paced"'),
        (("elapsed_ms",), "3.5", '"3.5" is not a number'),
        (("histograms", "queue", "unit"), "us", '"us" is not "ns"'),
        (("histograms", "queue", "buckets"), [[1]], "1 items, at least 2 are needed"),
        (("memory",), [], "an array is not an object"),
    ],
)
def test_a_wrong_value_is_named_with_its_limit(path: tuple[str, ...], value: object, message: str) -> None:
    document = small_execution()
    holder = document["runs"][0]
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    found = [text for _, text in messages(document)]
    assert any(message in text for text in found), found


def test_an_unknown_key_is_named_with_the_one_that_may_be_meant() -> None:
    document = small_execution()
    document["runs"][0]["elapsed_us"] = 1
    document["runs"][0]["<b>"] = 1
    assert messages(document) == [
        ("$.runs[0].elapsed_us", "the key is unknown (is 'elapsed_ms' meant?)"),
        ('$.runs[0]["<b>"]', "the key is unknown"),
    ]


def test_only_the_first_unknown_keys_are_compared_with_the_known_ones() -> None:
    document = small_execution()
    document["runs"][0] |= {f"elapsed_m{n}": n for n in range(200)}
    found = [message for _, message in messages(document)]
    assert len(found) == 200
    assert ["meant?" in message for message in found] == [True] * 50 + [False] * 150


def test_no_message_repeats_much_of_the_document() -> None:
    document = small_execution()
    secret = "hunter2" * 100
    document["runs"][0] |= {"outcome": secret, "suite": secret, "started_at": secret, "agents": secret}
    for _, message in messages(document):
        assert message.count("hunter2") <= 6


def test_no_reference_is_ever_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refused)
    (tmp_path / "kind").mkdir()
    for target in ("http://127.0.0.1:9/x.json", "file:///etc/hostname"):
        schema = f'{{"$id": "urn:x", "properties": {{"schema": {{"$ref": "{target}"}}}}}}'
        (tmp_path / "kind" / "1.0.schema.json").write_text(schema, encoding="utf-8")
        with pytest.raises(Exception, match="Unresolvable"):
            list(SchemaSet(tmp_path).iter_errors("kind/1.0", {"schema": 1}))


def test_an_unknown_schema_or_definition_is_a_misuse() -> None:
    for call in (
        lambda: schemas.schema("runtime-execution/9.0"),
        lambda: schemas.errors("x", {}),
        lambda: schemas.definition("x"),
    ):
        with pytest.raises(UsageError):
            call()


def test_the_complete_configuration_is_what_the_design_lists() -> None:
    # the sample documents spell out the keys of the design, in the order of the record
    scalar = list(configuration_of(small_execution()["runs"][0]))
    assert len(scalar) == 19
    expected = [(name, f"$.runs[].{name}") for name in scalar]
    expected += [("build", "$.manifest.build"), ("machine", "$.manifest.machine")]
    assert [(key.name, key.pointer) for key in schemas.config_keys(RUNTIME)] == expected
    assert [key.name for key in schemas.config_keys("imported-execution/1.0")] == [
        "benchmark",
        "parameters",
        "machine",
    ]


def test_the_newest_schema_is_the_latest_minor_version_of_one_kind() -> None:
    assert schemas.newest(["a/1.9", "a/1.10", "a/1.0"]) == "a/1.10"
    assert schemas.newest(["a/1.0"]) == "a/1.0"
    assert schemas.newest(["a/1.0", "a/2.0"]) is None
    assert schemas.newest(["a/1.0", "b/1.0"]) is None


def test_keys_that_a_minor_version_adds_say_what_older_documents_are_read_with() -> None:
    before = {key.name for key in schemas.config_keys(RUNTIME)}
    added = {key.name: key.default_before for key in schemas.config_keys("runtime-execution/1.1")}
    assert {name for name, default in added.items() if default is None} == before
    assert (added["workload"], added["tenants"], added["overview_bytes"]) == ("tasks", 1, 3900)
    definitions = schemas.schema("runtime-execution/1.1")["$defs"]
    for name in added.keys() - before:
        assert not list(Draft202012Validator(definitions[name]).iter_errors(added[name])), name


def test_a_measure_says_its_unit_direction_and_definition() -> None:
    note = schemas.annotations(RUNTIME)["$.runs[].scheduler_latency_p99_ms"]
    assert (note.role, note.unit, note.direction, note.definition) == (
        "measure",
        "ms",
        "lower",
        "queue-latency",
    )
    assert schemas.definition("queue-latency").startswith("From the submission of a task")
    assert schemas.annotations(RUNTIME)["$.runs[].histograms.queue"].unit == "ns"


def test_names_carry_the_unit_that_the_schema_states() -> None:
    suffixes = {"_ms": "ms", "_s": "s", "_ns": "ns", "_bytes": "bytes", "_per_second": "1/s", "_per_s": "1/s"}
    for schema_id in ("runtime-execution/1.0", "imported-execution/1.0"):
        for pointer, note in schemas.annotations(schema_id).items():
            unit = next((unit for end, unit in suffixes.items() if pointer.endswith(end)), None)
            if pointer.endswith(("_per_s", "_per_second")):
                unit = "1/s"
            assert unit is None or note.unit == unit, pointer
            assert note.unit is None or note.unit in UNITS, pointer


def patterns(node: Any) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for member in node for found in patterns(member)]
    if not isinstance(node, dict):
        return []
    own = [node] if isinstance(node.get("pattern"), str) else []
    return own + [found for member in node.values() for found in patterns(member)]


def test_no_pattern_lets_a_final_newline_through() -> None:
    samples = [
        "0" * 16,
        "0" * 40,
        "0" * 64,
        "2026-01-01T00:00:00Z",
        "a",
        "1",
        "a/b.json",
        "99/100",
        "A.b-1",
        "0" * 8,
        "t1",
        "ab",
        "unknown",
        "unpriced",
        "2026-01-01T00:00:00.000000000Z",
    ]
    for schema_id in schemas.released():
        for node in patterns(schemas.schema(schema_id)):
            fitting = [text for text in samples if re.search(node["pattern"], text)]
            assert fitting, node["pattern"]
            for text in fitting:
                assert not re.search(node["pattern"], text + "\n"), node["pattern"]


PLAIN = st.none() | st.booleans() | st.integers(-3, 8000) | st.floats(allow_nan=False) | st.text(max_size=2)


@given(st.lists(st.lists(PLAIN, max_size=3) | PLAIN, max_size=6))
def test_rows_of_numbers_are_judged_as_the_standard_validator_does(buckets: list[Any]) -> None:
    record = small_execution(tasks=1)["runs"][0]["histograms"]["queue"] | {"buckets": buckets}
    definition = schemas.schema(RUNTIME)["$defs"]["histogram"]
    strict = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    extended = validators.extend(Draft202012Validator, type_checker=strict)  # type: ignore[no-untyped-call]
    standard = extended(definition)
    expected = {(tuple(e.absolute_path), e.validator) for e in standard.iter_errors(record)}
    document = small_execution(tasks=1)
    document["runs"][0]["histograms"]["queue"] = record
    found = {(pointer, keyword) for pointer, keyword, _ in schemas.errors(RUNTIME, document)}
    prefix = "$.runs[0].histograms.queue"
    assert found == {
        (prefix + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path), keyword)
        for path, keyword in expected
    }


def test_validation_changes_nothing() -> None:
    document = small_execution()
    before = copy.deepcopy(document)
    schemas.errors(RUNTIME, document)
    assert document == before


def test_every_example_is_strict_json_and_valid() -> None:
    for schema_id in schemas.released():
        examples = schemas.shipped().examples(schema_id)
        assert examples, schema_id
        for path, data in examples:
            assert schemas.errors(schema_id, strict_json.parse(data, path)) == [], path
