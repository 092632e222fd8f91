"""Traces that are refused: where, what is wrong, what to do; and what of a file is never kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.traces import FILES, NOBODY, imported, refused

from tallymark.agentload.traces import files
from tallymark.agentload.traces.importing import Import
from tallymark.agentload.traces.mapped_csv import MappedCsv, read_mapping
from tallymark.errors import FindingsError

MOONCAKE: dict[str, Any] = {"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}
REQUEST = {"t": 0.0, "type": "n", "model": "m", "in": 64, "out": 1, "hash_ids": [1]}
WEKA: dict[str, Any] = {"id": "w", "block_size": 64, "requests": [REQUEST]}
SPAN: dict[str, Any] = {
    "trace_id": "t",
    "span_id": "s",
    "start_time": "2026-01-01T00:00:00Z",
    "end_time": "2026-01-01T00:00:01Z",
    "attributes": {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "7"},
}
SOURCE = {
    "name": "x",
    "format": "x",
    "sha256": "0" * 64,
    "tasks": 1,
    "rows": {"read": 1, "used": 1, "dropped": {}},
    "loss": [],
}
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
BURST = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"


def otlp(**span: Any) -> dict[str, Any]:
    whole = {
        "traceId": "A" * 32,
        "spanId": "B" * 16,
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}],
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [whole | span]}]}]}


def tokens(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.usage.input_tokens", "value": value},
    ]


REFUSED: list[tuple[str, Any, str, str]] = [
    # every file
    ("empty.csv", "", "$", "the file is empty"),
    ("bom.jsonl", "\ufeff{}", ":1::$", "the file starts with a byte order mark"),
    ("bom.csv", "\ufeff" + AZURE, ":1::$", "the file starts with a byte order mark"),
    ("text.md", "# Trace samples\n\n| a |\n", "::$", "not recognised: its first line is neither JSON nor"),
    ("other.json", {"commit_hash": "a"}, "::$", "not recognised: these keys are of no known format"),
    ("list.json", [1, 2], "::$", "not recognised"),
    # JSON Lines
    ("cut.jsonl", json.dumps(MOONCAKE) + '\n{"timestamp": 3000, "inp', ":2::$", "the last line is cut off"),
    ("bad.jsonl", json.dumps(MOONCAKE) + "\n{]\n{}\n", ":2::$", "at line 1 column 2"),
    (
        "nan.jsonl",
        '{"timestamp": 0, "input_length": NaN, "hash_ids": []}',
        ":1::$.input_length",
        "NaN is not a JSON number",
    ),
    (
        "twice.jsonl",
        json.dumps(MOONCAKE) + '\n{"timestamp": 0, "timestamp": 1}\n',
        ":2::$.timestamp",
        "twice",
    ),
    ("array.jsonl", json.dumps(MOONCAKE) + "\n[]\n", ":2::$", "is an array, not an object"),
    # Mooncake
    ("m.jsonl", MOONCAKE | {"input_length": -1}, ":1::$.input_length", "is negative"),
    ("m.jsonl", MOONCAKE | {"input_length": "600"}, ":1::$.input_length", "is a string, not an integer"),
    ("m.jsonl", MOONCAKE | {"input_length": 600.5}, "input_length", "is a number with a fraction"),
    ("m.jsonl", MOONCAKE | {"output_length": True}, ":1::$.output_length", "is a boolean, not an integer"),
    ("m.jsonl", MOONCAKE | {"output_length": 2**40}, ":1::$.output_length", "is above 4294967295"),
    ("m.jsonl", MOONCAKE | {"timestamp": None}, ":1::$", "the key 'timestamp' is missing"),
    (
        "m.jsonl",  # blocks of 16 tokens: 32 times too short with all counts right
        MOONCAKE | {"input_length": 32},
        ":1::$.hash_ids",
        "2 blocks of 512 tokens do not make input_length 32, which takes 1",
    ),
    ("m.jsonl", MOONCAKE | {"input_length": 1025}, "$.hash_ids", "2 blocks of 512 tokens do not make"),
    ("m.jsonl", MOONCAKE | {"hash_ids": [1, 2**64]}, "$.hash_ids[1]", "does not fit into 64 bits"),
    ("m.jsonl", MOONCAKE | {"hash_ids": [1, "2"]}, "$.hash_ids[1]", "is a string, not an integer"),
    # CSV
    ("a.csv", AZURE + "2023-11-16 18:17:03,5\n", ":2::$", "the row has 2 fields, the header has 3"),
    ("a.csv", AZURE + "2023-11-16 18:17:03,-5,1\n", ":2::$.ContextTokens", "-5 is negative"),
    ("a.csv", AZURE + "2023-11-16 18:17:03,x,1\n", ":2::$.ContextTokens", "'x' is no whole number"),
    ("a.csv", AZURE + "2023-11-16 18:17:03,٣,1\n", ":2::$.ContextTokens", "'٣' is no whole number"),
    ("a.csv", AZURE + "yesterday,5,1\n", ":2::$.TIMESTAMP", "'yesterday' is no time"),
    ("a.csv", AZURE + "2023-13-16 18:17:03,5,1\n", ":2::$.TIMESTAMP", "is no time"),
    ("a.csv", AZURE + '"2023,5,1\n', "$", "not CSV"),
    ("a.csv", AZURE, "::$", "no task is left of 0 rows"),
    ("a.csv", AZURE + "2023-11-16 18:17:03,0,0\n", "::$", "no task is left of 1 rows (1 no tokens"),
    ("a.csv", "TIMESTAMP," + AZURE, ":1::$", "the column 'TIMESTAMP' is there twice"),
    ("b.csv", BURST + "1,GPT-4,2,3,6,x\n", ':2::$["Total tokens"]', "6 is not 2 + 3"),
    ("b.csv", BURST + "-1,GPT-4,2,3,5,x\n", ":2::$.Timestamp", "-1 is negative"),
    ("b.csv", "Request tokens,Response tokens\n1,2\n", ":1::$", "the column 'Timestamp' is missing"),
    # spans
    ("o.json", otlp(attributes=[]), "::$", "no span has GenAI attributes (gen_ai.*)"),
    ("o.json", otlp(traceId="xyz"), "spans[0].traceId", "'xyz' is not 32 hexadecimal digits"),
    ("o.json", otlp(endTimeUnixNano="0"), "endTimeUnixNano", "is before startTimeUnixNano"),
    ("o.json", otlp(startTimeUnixNano=1.5), "startTimeUnixNano", "no whole number of nanoseconds"),
    ("o.json", otlp(attributes=tokens({"intValue": "-7"})), 'input_tokens"]', "is negative"),
    ("o.json", otlp(attributes=tokens({"intValue": "7x"})), "intValue", "no whole number"),
    ("o.json", otlp(attributes=tokens({"stringValue": "many"})), 'input_tokens"]', "is 'many', not a number"),
    ("f.json", {"spans": []}, "::$", "no span has GenAI attributes"),
    ("f.json", {"spans": [SPAN | {"end_time": "2025-01-01T00:00:00Z"}]}, "$.spans[0].end_time", "is before"),
    ("f.json", {"spans": [SPAN | {"attributes": []}]}, "$.spans[0].attributes", "is no object"),
    (
        "f.json",
        {"spans": [SPAN | {"attributes": SPAN["attributes"] | {"gen_ai.usage.cache_read.input_tokens": 8}}]},
        '$.spans[0].attributes["gen_ai.usage.cache_read.input_tokens"]',
        "8 cached of 7 input tokens",
    ),
    # Weka
    ("w.json", WEKA | {"requests": []}, "$.requests", "is empty"),
    ("w.json", WEKA | {"block_size": 0}, "$.block_size", "is below 1"),
    ("w.json", WEKA | {"block_size": 16}, "$.requests[0].hash_ids", "1 blocks of 16 tokens do not make 64"),
    ("w.json", WEKA | {"requests": [REQUEST | {"t": -1}]}, "$.requests[0].t", "is negative"),
    ("w.json", WEKA | {"hash_id_scope": "moon"}, "$.hash_id_scope", "neither 'local' nor 'global'"),
    (
        "w.json",
        WEKA | {"requests": [{"t": 0, "type": "subagent", "agent_id": "a", "requests": []}] * 2},
        "$.requests[1].agent_id",
        "is there twice in one session",
    ),
    # trajectories
    ("s.traj", {"history": []}, "$.history", "holds no answer of a model"),
    ("s.traj", {"history": [{"role": "oracle", "content": ""}]}, "$.history[0].role", "is no role"),
    ("s.traj", {"history": [{"role": "user", "content": 5}]}, "$.history[0].content", "not an array"),
    # a corpus
    ("c.jsonl", {"schema": "agent-traces/9.0"}, ":1::$.schema", "is 'agent-traces/9.0', not"),
]


@pytest.mark.parametrize(("name", "content", "where", "problem"), REFUSED)
def test_a_bad_file_is_refused_at_its_place(
    tmp_path: Path, name: str, content: Any, where: str, problem: str
) -> None:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    error = refused(path)
    assert error.where.endswith(where), error.where
    assert name in error.where
    assert problem in error.problem
    assert error.do


def test_a_refused_file_leaves_nothing_of_its_first_rows(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text(AZURE + "2023-11-16 18:17:03,5,1\n" * 3 + "2023-11-16 18:17:03,5,-1\n", encoding="utf-8")
    assert refused(bad).where.endswith(":5::$.GeneratedTokens")
    with Import(NOBODY) as found:
        found.add(FILES / "mooncake.jsonl")
        found.add(bad)
        found.add(FILES / "weka.json")
        found.write(tmp_path / "corpus.jsonl")
    lines = (tmp_path / "corpus.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in lines[1:]] == ["line 1", "line 2", "line 3", "w-1"]


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1000)
    (tmp_path / "long.jsonl").write_text(
        json.dumps(MOONCAKE) + "\n" + '{"a": "' + "x" * 2000 + '"}\n', encoding="utf-8"
    )
    error = refused(tmp_path / "long.jsonl")
    assert (error.where.endswith("long.jsonl:2::$"), "the line is longer" in error.problem) == (True, True)


def test_a_document_on_one_long_line_is_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1000)
    (tmp_path / "w.json").write_text(json.dumps(WEKA | {"x": "x" * 2000}), encoding="utf-8")
    assert imported(tmp_path, tmp_path / "w.json")[0][0].format == "weka"


def test_a_task_that_no_line_of_a_corpus_can_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallymark.agentload.traces.importing.MAX_LINE_BYTES", 100)
    assert "the task 'w-1' takes more than" in refused(FILES / "weka.json").problem


def test_rows_of_sessions_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallymark.agentload.traces.mooncake.MAX_GROUPED_ROWS", 3)
    assert "rows of tasks that go over several rows" in refused(FILES / "mooncake_sessions.jsonl").problem


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    assert "it is not a regular file" in refused(Path("/dev/zero")).problem
    assert "it is not a regular file" in refused(tmp_path).problem
    assert "there is no such file" in refused(tmp_path / "none").problem


def test_a_hostile_name_is_kept_as_it_can_be_printed(tmp_path: Path) -> None:
    hostile = {
        "history": [
            {
                "role": "assistant",
                "content": "x",
                "tool_calls": [{"function": {"name": "rm\u202e\x1b[2J\n" + "y" * 500}}],
            }
        ]
    }
    (tmp_path / "h.traj").write_text(json.dumps(hostile), encoding="utf-8")
    (source,), (task,) = imported(tmp_path, tmp_path / "h.traj")
    name = task.steps[0].calls[0].tool
    assert name.startswith("rm\\u202e\\u001b[2J\\u000ayyy")
    assert name.isprintable() and len(name) < 250
    assert "a name was shortened, escaped or replaced" in [loss.reason for loss in source.loss]


def test_a_persons_name_stops_the_import_or_is_replaced_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "h.traj"
    calls = [{"function": {"name": "/home/maria/bin/tool"}}]
    path.write_text(json.dumps({"history": [{"role": "assistant", "tool_calls": calls}]}), encoding="utf-8")
    error = refused(path)
    assert isinstance(error, FindingsError)
    assert (error.where.endswith("$.history[0].tool_calls[0].function.name"), "--redact" in error.do) == (
        True,
        True,
    )
    assert "maria" not in error.line()
    _, (task,) = imported(tmp_path, path, redact=True)
    assert "maria" not in task.steps[0].calls[0].tool


def test_a_deep_value_of_a_span_is_refused(tmp_path: Path) -> None:
    value: dict[str, Any] = {"stringValue": "x"}
    for _ in range(60):
        value = {"arrayValue": {"values": [value]}}
    (tmp_path / "o.json").write_text(
        json.dumps(otlp(attributes=[{"key": "a", "value": value}])), encoding="utf-8"
    )
    assert "nested more than 32 deep" in refused(tmp_path / "o.json").problem


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        ("[columns]\ninput_tokens = 'a'\n", "$.columns", "does not map output_tokens"),
        ("[columns]\ninput = 'a'\n", "$.columns.input", "is unknown"),
        ("[units]\nlatency = 'h'\n", "$.units", "'h', no unit"),
        ("[csv]\ndelimiter = ';;'\n", "$.csv", "not one character"),
        ("[rows]\n", "$.rows", "is no table of a mapping"),
        ("columns = 3\n", "$.columns", "is a number, not an object"),
    ],
)
def test_a_bad_mapping_says_what_to_do(tmp_path: Path, text: str, where: str, problem: str) -> None:
    whole = "" if "columns" in text else "[columns]\ninput_tokens = 'a'\noutput_tokens = 'b'\n"
    (tmp_path / "m.toml").write_text(whole + text, encoding="utf-8")
    with pytest.raises(FindingsError) as stopped:
        read_mapping(tmp_path / "m.toml")
    assert stopped.value.where.endswith(where)
    assert problem in stopped.value.problem


def test_rows_of_a_mapped_task_are_in_order(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        "[columns]\ntask='t'\nstart='s'\ninput_tokens='i'\noutput_tokens='o'\ncached_tokens='c'\n",
        encoding="utf-8",
    )
    mapping = MappedCsv(read_mapping(tmp_path / "m.toml"))
    (tmp_path / "a.csv").write_text("t,s,i,o,c\nx,5,1,1,\nx,4,1,1,\n", encoding="utf-8")
    assert "is before the first row of its task" in refused(tmp_path / "a.csv", mapping=mapping).problem
    (tmp_path / "b.csv").write_text("t,s,i,o,c\nx,5,1,1,2\n", encoding="utf-8")
    assert refused(tmp_path / "b.csv", mapping=mapping).problem == "2 cached of 1 input tokens"


def test_a_short_line_cannot_claim_memory_without_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step may say that it begins like the one before: a few bytes that stand for all of its blocks."""
    monkeypatch.setattr("tallymark.agentload.traces.own.MAX_BLOCKS", 20)
    header = {"schema": "agent-traces/1.0", "tasks": 1, "sources": [SOURCE]}
    first = {"input_tokens": 10, "output_tokens": 1, "blocks": [[str(n), 1] for n in range(10)]}
    task = {"id": "t", "source": 0, "steps": [first, {"kept_blocks": 10}, {"kept_blocks": 1}]}
    (tmp_path / "c.jsonl").write_text(json.dumps(header) + "\n" + json.dumps(task) + "\n", encoding="utf-8")
    assert "have more than 20 blocks in all" in refused(tmp_path / "c.jsonl").problem


def test_a_trajectory_that_cannot_be_held_together_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallymark.agentload.traces.sweagent.MAX_BLOCKS", 5)  # it has 2, then 4 before it
    assert "too many answers" in refused(FILES / "sweagent.traj").problem


def test_a_trace_of_many_calls_and_a_deep_one_take_no_longer_than_they_must(tmp_path: Path) -> None:
    """4,000 calls in one trace and a chain of 4,000 parents; with the square of them this would not end."""
    spans = [SPAN | {"span_id": f"m{n}", "parent_span_id": f"w{n}"} for n in range(2000)]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
    spans += [SPAN | {"span_id": f"t{n}", "attributes": tool} for n in range(2000)]
    wrapper = {"gen_ai.operation.name": "invoke_workflow"}
    spans += [
        SPAN | {"span_id": f"w{n}", "parent_span_id": f"w{n + 1}", "attributes": wrapper} for n in range(4000)
    ]
    (tmp_path / "f.json").write_text(json.dumps({"spans": spans}), encoding="utf-8")
    (source,), (task,) = imported(tmp_path, tmp_path / "f.json")
    assert (source.rows.read, source.rows.used) == (8000, 4000)
    assert sum(len(step.calls) for step in task.steps) == 2000
