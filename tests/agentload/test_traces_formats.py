"""Each format of traces on a small file made by hand; every expected number was counted in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.traces import FILES, imported

from tallymark.agentload.traces.corpus import Agent, Block, Call, Prefixes, Step, Task
from tallymark.agentload.traces.mapped_csv import MappedCsv, read_mapping

MS = 1_000_000
S = 1_000 * MS


def test_spans_with_new_names_are_counted_once_each(tmp_path: Path) -> None:
    """14 spans: 3 model and 2 tool calls count; for each of the other 9 the reason is in the file."""
    (source,), (task,) = imported(tmp_path, FILES / "otlp_new.json")
    assert (source.format, source.rows.read, source.rows.used) == ("otlp", 14, 5)
    assert source.rows.dropped == {
        "not a GenAI span": 1,  # span 0
        "wrapper span: the calls inside it are counted": 3,  # 1, 2, 7: their 9,999 tokens count nowhere
        "span sent twice": 1,  # span 3 stands at the end again
        "tool call inside another one: its time is part of that": 1,  # 5 in 4
        "tool call around model calls: the calls inside it are counted": 1,  # 6 around 8
        "model call around another one: the same call recorded twice": 1,  # 10 around 11
        "operation that is neither a model call nor a tool call": 1,  # 12
    }
    assert task.id == "5b8efff798038103d269b633813fc60c"
    assert task.agents == (Agent("000000000000eee7", "expert"),)
    assert task.duration_ns == 7_390 * MS  # span 3 starts at 100 ms, span 11 ends at 7,490 ms
    assert task.steps == (
        Step(
            model="big-1",
            start_ns=0,
            latency_ns=1_000 * MS,
            input_tokens=1000,
            cached_tokens=600,
            output_tokens=50,
            calls=(Call("crm.find", start_ns=1_100 * MS, latency_ns=500 * MS, result_characters=4),),
        ),
        Step(
            agent="000000000000eee7",
            model="big-1",
            start_ns=2_100 * MS,
            latency_ns=2_000 * MS,
            input_tokens=300,
            output_tokens=80,
            calls=(Call("wiki", start_ns=4_200 * MS, latency_ns=500 * MS, error="429"),),
        ),
        Step(
            model="big-1-0401",
            start_ns=6_410 * MS,
            latency_ns=980 * MS,
            input_tokens=1201,
            output_tokens=71,
        ),
    )


def test_spans_with_old_names_one_export_a_line(tmp_path: Path) -> None:
    (source,), tasks = imported(tmp_path, FILES / "otlp_old.jsonl")
    assert (source.rows.read, source.rows.used, source.rows.dropped) == (3, 3, {})
    assert source.clock_start == "2023-11-14T22:13:20.000000000Z"  # 1,700,000,000 s since 1970
    first, second = tasks
    assert (first.id, first.start_ns, first.duration_ns) == ("a" * 32, 0, 1_250 * MS)
    assert first.steps[0].calls == (Call("grep", start_ns=S, latency_ns=250 * MS),)
    assert (first.steps[0].input_tokens, first.steps[0].output_tokens) == (20, 2)
    assert (second.id, second.start_ns) == ("b" * 32, 5 * S)
    assert (second.steps[0].input_characters, second.steps[0].output_characters) == (5, 2)


def test_flat_spans_without_tokens_keep_characters_and_identities(tmp_path: Path) -> None:
    (source,), (task,) = imported(tmp_path, FILES / "flat_spans.json")
    assert (source.format, source.rows.read, source.rows.used) == ("flat-spans", 2, 2)
    assert [(loss.reason[:33], loss.places) for loss in source.loss] == [
        ("a model call has no token counts:", 2)
    ]
    assert task.prefixes == Prefixes("import", "characters")
    assert task.duration_ns == 5 * S
    first, second = task.steps
    assert (first.input_tokens, first.input_characters, first.output_characters) == (None, 4, 3)
    assert (second.start_ns, second.latency_ns) == (3_250 * MS, 1_750 * MS)
    assert [block.length for block in second.blocks] == [4, 3, 2]
    assert second.blocks[0] == first.blocks[0]


def test_blocks_of_mooncake_fit_their_lengths_and_keep_64_bits(tmp_path: Path) -> None:
    (source,), tasks = imported(tmp_path, FILES / "mooncake.jsonl")
    assert (source.format, source.rows.read, source.rows.used) == ("mooncake", 3, 3)
    assert [task.steps[0].blocks for task in tasks] == [
        (Block("1", 512), Block("2", 488)),
        (Block("1", 512), Block("4294967298", 512)),  # 2 + 2^32 is not 2
        (Block("18446744073709551615", 512), Block("3", 1)),
    ]
    assert [task.start_ns for task in tasks] == [0, 3_000 * MS, 3_500 * MS]
    assert [task.steps[0].output_tokens for task in tasks] == [50, 7, 9]


def test_sessions_of_mooncake_are_whole_tasks(tmp_path: Path) -> None:
    (source,), tasks = imported(tmp_path, FILES / "mooncake_sessions.jsonl")
    assert (source.rows.read, source.rows.used, source.tasks) == (4, 4, 2)
    assert [(task.id, len(task.steps), task.start_ns) for task in tasks] == [
        ("u1", 2, 100 * MS),
        ("u2", 2, 200 * MS),
    ]
    assert [step.start_ns for step in tasks[0].steps] == [0, 2_000 * MS]
    assert [step.start_ns for step in tasks[1].steps] == [None, None]  # only a pause is known


def test_azure_rows_are_tasks_of_one_step_with_seven_decimals(tmp_path: Path) -> None:
    (source,), tasks = imported(tmp_path, FILES / "azure.csv")
    assert (source.format, source.clock_start) == ("azure", "2023-11-16T18:17:03.979960000Z")
    assert (source.rows.read, source.rows.used) == (3, 2)
    assert source.rows.dropped == {"no tokens: the request failed or was not served": 1}
    assert [task.steps for task in tasks] == [
        (Step(input_tokens=4808, output_tokens=10),),
        (Step(input_tokens=110, output_tokens=27),),
    ]
    # 2023-11-16 18:17:03.97996 to 2024-05-10 00:00:00.00993: 175 days, 5 h 42 min 56.02997 s
    assert tasks[1].start_ns == ((175 * 24 + 5) * 3600 + 42 * 60 + 56) * S + 29_970_000


def test_burstgpt_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    sources, tasks = imported(tmp_path, FILES / "burstgpt_v1.csv", FILES / "burstgpt_v3.csv")
    assert [(s.rows.read, s.rows.used, dict(s.rows.dropped)) for s in sources] == [
        (3, 2, {"no tokens: the request failed or was not served": 1}),
        (3, 3, {}),
    ]
    assert [(task.id, task.kind, task.start_ns) for task in tasks] == [
        ("line 2", "Conversation log", 5 * S),
        ("line 4", "API log", 118 * S),
        ("line 3", "API log", 11 * S),
        ("s1", "Conversation log", 10_500 * MS),
    ]
    assert tasks[3].duration_ns == 13 * S  # from 10.5 s to 20.5 + 3 s
    assert [
        (step.model, step.input_tokens, step.output_tokens, step.latency_ns) for step in tasks[3].steps
    ] == [("GPT-4", 100, 20, 2_250 * MS), ("GPT-4", 140, 10, 3 * S)]


def test_a_trajectory_has_its_times_and_never_its_texts(tmp_path: Path) -> None:
    (source,), (task,) = imported(tmp_path, FILES / "sweagent.traj")
    assert (source.format, source.rows.read, source.rows.used, task.id) == ("swe-agent", 5, 5, "sweagent")
    first, second = task.steps
    assert (first.input_characters, first.output_characters) == (15, 4)  # 10 + 5 before "look"
    assert first.calls == (Call("find_file", latency_ns=250 * MS, result_characters=5),)
    assert (second.input_characters, second.output_characters) == (24, 5)  # 15 + "look" + "found"
    assert second.calls == (Call("submit", latency_ns=1_500 * MS),)
    corpus = (tmp_path / "corpus.jsonl").read_text(encoding="utf-8")
    assert "0123456789" not in corpus and "look" not in corpus and "abcde" not in corpus


def test_a_trajectory_may_be_its_history_only(tmp_path: Path) -> None:
    text = (FILES / "sweagent.traj").read_text(encoding="utf-8")
    (tmp_path / "h.traj").write_text(
        '{"history": ['
        + text.partition('"history": [')[2].partition(' "info"')[0].rstrip().rstrip(",")
        + "}",
        encoding="utf-8",
    )
    (source,), (task,) = imported(tmp_path, tmp_path / "h.traj")
    assert [call.latency_ns for step in task.steps for call in step.calls] == [None, None]
    assert "there is no trajectory: the times of the tools are unknown" in [
        loss.reason for loss in source.loss
    ]


def test_a_sub_agent_has_an_id_of_its_own_and_unknown_keys_are_ignored_by_name(tmp_path: Path) -> None:
    (source,), (task,) = imported(tmp_path, FILES / "weka.json")
    assert (source.format, source.rows.read, source.rows.used) == ("weka", 4, 4)
    assert "'novelty' is unknown and was ignored" in [loss.reason for loss in source.loss]
    assert (task.id, task.agents) == ("w-1", (Agent("sub-a", None),))
    assert (task.system_tokens, task.tools_tokens) == (28, 100)
    assert [(step.agent, step.start_ns, step.input_tokens) for step in task.steps] == [
        (None, 0, 130),
        (None, 17 * S, 192),
        (None, 21 * S, 200),
        ("sub-a", 21_500 * MS, 64),  # 20.5 s, then 1 s from its own start
    ]
    assert task.steps[0].calls == (Call("unnamed", start_ns=4_870 * MS, latency_ns=12 * S),)
    assert task.steps[0].blocks == (Block("1", 64), Block("2", 64))  # 130 tokens: the last 2 have no id
    assert task.duration_ns == 23 * S


def test_any_csv_by_a_mapping(tmp_path: Path) -> None:
    mapping = MappedCsv(read_mapping(FILES / "own.toml"))
    (source,), tasks = imported(tmp_path, FILES / "own.csv", mapping=mapping)
    assert (source.format, source.rows.read, source.rows.used) == ("mapped-csv", 5, 4)
    assert source.rows.dropped == {"no tokens: neither a model call nor a tool call": 1}
    first, second = tasks
    assert (first.id, second.id, second.start_ns, second.duration_ns) == ("r1", "r2", 10 * S, 500 * MS)
    assert [(s.start_ns, s.input_tokens, s.cached_tokens, s.output_tokens) for s in first.steps] == [
        (0, 1000, 0, 50),
        (4 * S, 1100, 900, 5),  # 13:00:04+01:00 is 12:00:04
    ]
    assert first.steps[0].calls == (
        Call("search", latency_ns=250 * MS),
        Call("fetch", start_ns=2_500 * MS, latency_ns=40 * MS),
    )


def test_a_corpus_is_a_format_too_and_two_become_one(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    _, before = imported(tmp_path / "a", FILES / "mooncake.jsonl", FILES / "weka.json")
    (tmp_path / "b").mkdir()
    sources, after = imported(tmp_path / "b", FILES / "azure.csv", tmp_path / "a" / "corpus.jsonl")
    assert [(s.format, s.tasks) for s in sources] == [("azure", 2), ("agent-traces", 4)]
    assert [(task.id, task.steps) for task in after[2:]] == [(task.id, task.steps) for task in before]
    assert {task.source for task in after[2:]} == {1}


@pytest.mark.parametrize("name", ["otlp_new.json", "weka.json", "sweagent.traj", "flat_spans.json"])
def test_the_same_files_give_the_same_corpus(tmp_path: Path, name: str) -> None:
    written = []
    for folder in (tmp_path / "1", tmp_path / "2"):
        folder.mkdir()
        imported(folder, FILES / name)
        written.append((folder / "corpus.jsonl").read_bytes())
    assert written[0] == written[1]


def _span(i: int, parent: int | None, operation: str, start: int, **more: str) -> str:
    attributes = {"gen_ai.operation.name": operation, "gen_ai.usage.input_tokens": 1} | more
    attributes |= {"gen_ai.usage.output_tokens": 1}
    return json.dumps(
        {
            "trace_id": "t",
            "span_id": str(i),
            "parent_span_id": None if parent is None else str(parent),
            "start_time": f"2026-01-01T00:00:{start:02d}",
            "end_time": f"2026-01-01T00:00:{start + 1:02d}",
            "attributes": attributes,
        }
    )


def tree(tmp_path: Path, *spans: str) -> Task:
    path = tmp_path / "tree.json"
    path.write_text('{"spans": [' + ",".join(spans) + "]}", encoding="utf-8")
    _, (task,) = imported(tmp_path, path)
    return task


def test_nested_workflows_are_four_calls_not_six(tmp_path: Path) -> None:
    """The case of the conventions' own text: an outer workflow of 2 calls around an inner one of 2."""
    task = tree(
        tmp_path,
        _span(1, None, "invoke_workflow", 0),
        _span(2, 1, "chat", 1),
        _span(3, 1, "invoke_workflow", 2),
        _span(4, 3, "chat", 3),
        _span(5, 3, "chat", 4),
        _span(6, 1, "chat", 5),
    )
    assert len(task.steps) == 4


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    task = tree(
        tmp_path,
        _span(1, 2, "invoke_agent", 0),
        _span(2, 1, "invoke_agent", 0),
        _span(3, 1, "chat", 1),
    )
    assert len(task.steps) == 1


def test_a_tool_called_by_a_model_call_belongs_to_it(tmp_path: Path) -> None:
    """Some instrumentations put the tool inside the model call that asked for it."""
    task = tree(
        tmp_path,
        _span(1, None, "chat", 0),
        _span(2, None, "chat", 1),
        _span(3, 1, "execute_tool", 5, **{"gen_ai.tool.name": "grep"}),
    )
    assert [len(step.calls) for step in task.steps] == [1, 0]


def test_the_example_of_a_mapping_maps_everything(tmp_path: Path) -> None:
    mapping = read_mapping(Path(__file__).resolve().parents[2] / "examples" / "traces-mapping.toml")
    columns = list(mapping.columns.values())
    row = ["r", "c", "2026-01-31T12:00:00.5Z", "m", "9", "8", "7", "1.5", "", "grep", "20", "3", "timeout"]
    (tmp_path / "a.csv").write_text(f"{','.join(columns)}\n{','.join(row)}\n", encoding="utf-8")
    _, (task,) = imported(tmp_path, tmp_path / "a.csv", mapping=MappedCsv(mapping))
    assert (task.id, task.kind, task.start_ns) == ("r", "c", 0)
    assert task.steps == (
        Step(
            model="m",
            start_ns=0,
            latency_ns=1_500 * MS,
            input_tokens=9,
            cached_tokens=8,
            output_tokens=7,
            calls=(Call("grep", latency_ns=20 * MS, result_tokens=3, error="timeout"),),
        ),
    )
