"""The mix: whole tasks with what belongs together, and honest about what was not recorded."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from support.traces import FILES, imported

from tallymark.agentload.mix import NO_TOKENS, MixCall, mix_of, read_mix
from tallymark.agentload.traces.corpus import Block, Call, Prefixes, Step, Task
from tallymark.errors import FindingsError

SCOPE = Prefixes("s", "tokens")


def task(name: str, *blocks: tuple[str, int], scope: Prefixes = SCOPE, tokens: int = 1000) -> Task:
    step = Step(input_tokens=tokens, output_tokens=1, blocks=tuple(Block(*block) for block in blocks))
    return Task(name, 0, (step,), prefixes=scope)


def test_tasks_keep_their_steps_tokens_and_tools_together(tmp_path: Path) -> None:
    imported(tmp_path, FILES / "otlp_new.json", FILES / "burstgpt_v1.csv")
    mix = read_mix(tmp_path / "corpus.jsonl")
    assert [len(one.steps) for one in mix.tasks] == [3, 1, 1]
    first = mix.tasks[0]
    assert [(step.input_tokens, step.output_tokens, step.cached_tokens) for step in first.steps] == [
        (1000, 50, 600),
        (300, 80, None),
        (1201, 71, None),
    ]
    assert first.steps[1].calls == (MixCall("wiki", 500_000_000, True, None),)
    assert (first.model, first.duration_ns) == ("big-1", 7_390_000_000)
    assert list(mix.tools) == ["crm.find", "wiki"]
    assert (mix.tools["wiki"].latencies_ns, mix.tools["wiki"].calls, mix.tools["wiki"].failed) == (
        (500_000_000,),
        1,
        1,
    )


def test_a_task_without_tokens_is_left_out_whole_or_estimated_and_said(tmp_path: Path) -> None:
    imported(tmp_path, FILES / "flat_spans.json", FILES / "azure.csv")
    without = read_mix(tmp_path / "corpus.jsonl")
    assert (len(without.tasks), dict(without.dropped)) == (2, {NO_TOKENS: 1})
    estimated = read_mix(tmp_path / "corpus.jsonl", Fraction(4))
    assert (len(estimated.tasks), dict(estimated.dropped)) == (3, {})
    # 4 and 9 characters of prompt, 3 and 1 of answer, at four a token, rounded up
    assert [(step.input_tokens, step.output_tokens) for step in estimated.tasks[0].steps] == [(1, 1), (3, 1)]
    assert "estimated at 4.0 characters each; 1 of 3 tasks" in estimated.assumptions[0]
    assert not any("estimated" in sentence for sentence in without.assumptions)


def test_a_mix_of_nothing_is_refused(tmp_path: Path) -> None:
    imported(tmp_path, FILES / "flat_spans.json")
    with pytest.raises(
        FindingsError, match="no task can be sampled: 1 tasks have a step without token counts"
    ):
        read_mix(tmp_path / "corpus.jsonl")


def test_a_prefix_is_the_longest_beginning_that_another_task_has_too() -> None:
    """a and b share 3 blocks, c only the first one with them, d nothing, e the same ids in another scope."""
    mix = mix_of(
        [
            task("a", ("1", 512), ("2", 512), ("3", 100), ("4", 1)),
            task("b", ("1", 512), ("2", 512), ("3", 100)),
            task("c", ("1", 512), ("9", 10)),
            task("d", ("8", 512)),
            task("e", ("1", 512), scope=Prefixes("other", "tokens")),
        ]
    )
    assert [(one.prefix, one.shared_tokens) for one in mix.tasks] == [
        (0, 1000),  # 1,124 tokens of blocks, but the prompt has 1,000
        (0, 1000),
        (1, 512),
        (None, 0),
        (None, 0),
    ]
    assert mix.prefix_tokens == (1000, 512)


def test_the_same_id_after_another_beginning_is_another_prefix() -> None:
    mix = mix_of([task("a", ("1", 10), ("2", 10)), task("b", ("3", 10), ("2", 10))])
    assert [one.prefix for one in mix.tasks] == [None, None]


def test_ids_that_differ_above_32_bits_share_nothing() -> None:
    mix = mix_of([task("a", ("1", 512)), task("b", (str(1 + 2**32), 512))])
    assert [one.prefix for one in mix.tasks] == [None, None]


def test_characters_of_a_prefix_become_its_part_of_the_prompts_tokens() -> None:
    """30 of 40 characters are shared; the prompt has 1,000 tokens."""
    scope = Prefixes("import", "characters")
    mix = mix_of([task("a", ("1", 30), ("2", 10), scope=scope), task("b", ("1", 30), ("3", 10), scope=scope)])
    assert [(one.prefix, one.shared_tokens) for one in mix.tasks] == [(0, 750), (0, 750)]


def test_whole_tasks_are_sampled_so_that_what_belongs_together_stays_so() -> None:
    """Nine short tasks with a fast tool, one of forty steps with a slow one: no draw mixes them."""
    short = Task("short", 0, (Step(input_tokens=10, output_tokens=1, calls=(Call("t", latency_ns=1),)),))
    long = Task(
        "long", 0, (Step(input_tokens=9000, output_tokens=1, calls=(Call("t", latency_ns=10**9),)),) * 40
    )
    mix = mix_of([short] * 9 + [long])
    drawn = list(mix.sample(2000, seed=7))
    for one in drawn:
        latencies = {call.latency_ns for step in one.steps for call in step.calls}
        assert (len(one.steps), latencies) in ((1, {1}), (40, {10**9}))
    share = Counter(one.id for one in drawn)["long"] / 2000
    assert 0.07 < share < 0.13  # 0.1 with a standard deviation of 0.0067: more than four of them
    assert [one.id for one in mix.sample(50, seed=7)] == [one.id for one in drawn[:50]]
    assert [one.id for one in mix.sample(50, seed=8)] != [one.id for one in drawn[:50]]
