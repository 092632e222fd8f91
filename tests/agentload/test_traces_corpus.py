"""The corpus: what is written is read back, and a line that was changed is refused at its place."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.traces import FILES, imported

from tallymark import schemas
from tallymark.agentload.traces import corpus, own
from tallymark.agentload.traces.corpus import (
    Agent,
    Block,
    Call,
    Loss,
    Prefixes,
    Rows,
    Source,
    Step,
    Task,
)
from tallymark.errors import TallymarkError
from tallymark.validator import validator

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
counts = st.none() | st.integers(0, 2**32 - 1)
times = st.none() | st.integers(0, 2**53 - 1)
some = st.none() | names
blocks = st.lists(st.builds(Block, st.integers(0, 5).map(str), st.integers(0, 3)), max_size=5).map(tuple)
calls = st.lists(st.builds(Call, names, times, times, counts, counts, some), max_size=3).map(tuple)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    tokens = draw(counts)
    cached = None if tokens is None else draw(st.none() | st.integers(0, tokens))
    return Step(
        *(draw(some), draw(some), draw(times), draw(times)),
        *(tokens, cached, draw(counts), draw(counts), draw(counts)),
        *(draw(some), draw(blocks), draw(calls)),
    )


tasks = st.builds(
    Task,
    id=names,
    source=st.just(0),
    steps=st.lists(steps(), min_size=1, max_size=4).map(tuple),
    kind=some,
    start_ns=st.none() | st.integers(-4 * 10**18, 4 * 10**18),
    duration_ns=times,
    succeeded=st.none() | st.booleans(),
    system_tokens=counts,
    tools_tokens=counts,
    prefixes=st.none() | st.builds(Prefixes, names, st.sampled_from(["tokens", "characters"])),
    agents=st.lists(st.builds(Agent, names, some), max_size=3).map(tuple),
)


def source(count: int) -> Source:
    rows = Rows(count + 3, count + 1, {"a reason": 2})
    return Source("x.csv", "azure", "0" * 64, count, rows, None, (Loss("$.a", "why", 3),))


@given(st.lists(tasks, max_size=5))
def test_what_is_written_is_read_back(written: list[Task]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "c.jsonl")
        corpus.write(path, [source(len(written))], written)
        sources, found = own.read(path)
        assert sources == (source(len(written)),)
        assert list(found) == written


def test_blocks_that_two_steps_share_are_written_once(tmp_path: Path) -> None:
    """A conversation grows by its last blocks: without this a corpus grows with the square of its steps."""
    chain = tuple(Block(str(n), 64) for n in range(100))
    grown = tuple(Step(input_tokens=64 * n, output_tokens=1, blocks=chain[:n]) for n in range(1, 101))
    task = Task("t", 0, grown)
    value = json.loads(corpus.task_line(task))
    assert [len(step.get("blocks", [])) for step in value["steps"]] == [1] * 100
    corpus.write(tmp_path / "c.jsonl", [source(1)], [task])
    assert list(own.read(tmp_path / "c.jsonl")[1]) == [task]


def changed(value: dict[str, Any], pointer: str, new: Any) -> dict[str, Any]:
    at: Any = value
    *parents, last = [int(part) if part.isdigit() else part for part in pointer.split(".")]
    for part in parents:
        at = at[part]
    at[last] = new
    return value


@pytest.mark.parametrize(
    ("line", "pointer", "new", "problem"),
    [
        (0, "tasks", 7, "says 7, but there are 1 tasks"),
        (0, "sources.0.rows.read", 9, "is 9, not 4 used + 0 dropped"),
        (0, "extra", 1, "is no key of agent-traces/1.0"),
        (1, "source", 1, "is above 0"),
        (1, "steps", [], "is empty"),
        (1, "steps.0.input_tokens", -1, "is negative"),
        (1, "steps.0.input_tokens", 1.5, "is a number with a fraction"),
        (1, "steps.0.cached_tokens", 131, "is 131, more than the input tokens"),
        (1, "steps.0.kept_blocks", 1, "is above 0"),
        (1, "steps.1.blocks.0", ["3"], "is not [id, length]"),
        (1, "steps.0.calls.0.latency_ns", "9", "is a string, not an integer"),
        (1, "steps.0.calls.0.prompt", "secret", "is no key"),
        (1, "prefixes.unit", "bytes", "is neither"),
        (1, "succeeded", 1, "is neither true nor false"),
        (1, "id", "", "is empty"),
    ],
)
def test_a_changed_corpus_is_refused(tmp_path: Path, line: int, pointer: str, new: Any, problem: str) -> None:
    imported(tmp_path, FILES / "weka.json")
    lines = [json.loads(text) for text in (tmp_path / "corpus.jsonl").read_bytes().splitlines()]
    changed(lines[line], pointer, new)
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    with pytest.raises(TallymarkError) as stopped:
        list(own.read(tmp_path / "bad.jsonl")[1])
    assert problem in stopped.value.problem
    assert f"bad.jsonl:{line + 1}::$" in stopped.value.where


def test_every_line_passes_the_schema(tmp_path: Path) -> None:
    """The header by the schema itself, the tasks by its ``$defs/task``."""
    files = sorted(path for path in FILES.iterdir() if path.name not in ("own.csv", "own.toml"))
    imported(tmp_path, *files)
    whole = schemas.schema(corpus.SCHEMA)
    judge = validator(whole["$defs"]["task"] | {"$id": "urn:task"}, [])
    header, *lines = (tmp_path / "corpus.jsonl").read_bytes().splitlines()
    assert schemas.errors(corpus.SCHEMA, json.loads(header)) == []
    assert len(lines) > 10
    for line in lines:
        assert [error.message for error in judge.iter_errors(json.loads(line))] == []


@given(tasks)
def test_what_is_written_passes_the_schema(task: Task) -> None:
    judge = validator(schemas.schema(corpus.SCHEMA)["$defs"]["task"] | {"$id": "urn:task"}, [])
    assert [error.message for error in judge.iter_errors(json.loads(corpus.task_line(task)))] == []
