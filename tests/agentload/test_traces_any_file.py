"""Whatever a file holds, it is imported or refused with its place: never a bug of ours, never a row lost."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.traces import FILES, NOBODY

from tallymark.agentload.traces import own
from tallymark.agentload.traces.importing import Import
from tallymark.agentload.traces.mapped_csv import MappedCsv, read_mapping

MAPPING = MappedCsv(read_mapping(FILES / "own.toml"))
SEEDS = [path.read_bytes() for path in sorted(FILES.iterdir()) if path.suffix != ".toml"]
ODD: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**53, 2**64, 2**70, -(2**63), 0.5, -0.0, 1e300, "", "x", "-1", "\u202e"),
    *([], {}, [[]], {"": 0}, [None], "9" * 30, "2026-01-01T00:00:00Z", "[1, {", '[{"role": 3}]'),
]


def added(data: bytes) -> None:
    """Import it; what was imported must reconcile and be readable."""
    with tempfile.TemporaryDirectory() as folder, Import(NOBODY, mapping=MAPPING) as found:
        path = Path(folder, "file")
        path.write_bytes(data)
        found.add(path)
        assert len(found.sources) + len(found.refusals) == 1
        for refusal in found.refusals:
            assert refusal.error.where.startswith(path.as_posix())
            assert refusal.error.line().isprintable()
        for source in found.sources:
            assert source.rows.read == source.rows.used + sum(source.rows.dropped.values())
            found.write(Path(folder, "corpus.jsonl"))
            sources, tasks = own.read(Path(folder, "corpus.jsonl"))
            assert len(list(tasks)) == sources[0].tasks > 0


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [at, *(place for key, member in members for place in places(member, (*at, key)))]


def put(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = put(value[place[0]], place[1:], new)
    return copy


@st.composite
def odd_documents(draw: st.DrawFn) -> bytes:
    """One of the own JSON files with some values in it replaced."""
    lines = [json.loads(line) for line in _lines(draw(st.sampled_from([s for s in SEEDS if s[:1] == b"{"])))]
    for _ in range(draw(st.integers(1, 3))):
        index = draw(st.integers(0, len(lines) - 1))
        lines[index] = put(
            lines[index], draw(st.sampled_from(places(lines[index]))), draw(st.sampled_from(ODD))
        )
    return b"\n".join(json.dumps(line).encode() for line in lines)


def _lines(data: bytes) -> list[bytes]:
    lines = data.splitlines()
    return lines if lines[0].endswith(b"}") else [data]


@settings(max_examples=300)
@given(odd_documents())
def test_a_value_that_nobody_expected(data: bytes) -> None:
    added(data)


@settings(max_examples=150)
@given(st.sampled_from(SEEDS), st.data())
def test_bytes_that_were_cut_or_changed(seed: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, min(len(seed), start + 40)))
    added(
        seed[:start]
        + data.draw(st.binary(max_size=4) | st.sampled_from([b",", b'"', b"\n", b"-"]))
        + seed[end:]
    )


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    added(data)
