"""What all benchmarks compute of their rounds, against rounds that are small enough to compute by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from programs import BenchmarkError, Program
from rounds import Benchmark, Case, Ratio, parser, run_case, run_round, run_rounds, summary


def a_round(**cases: list[float]) -> dict[str, Any]:
    """A round in which each case ran as often as it has values of the quantity ``q``."""
    return {"runs": {name: [{"q": value} for value in values] for name, values in cases.items()}}


ROUNDS = [
    a_round(ours=[2, 10, 4], a=[8], b=[2]),
    a_round(ours=[6], a=[3], b=[12]),
    a_round(ours=[3], a=[3], b=[6]),
]


@pytest.mark.parametrize(
    ("over", "higher", "found"),
    [
        (None, True, (4, 3, 6)),  # 4 is the median of the first round's processes
        ("a", True, (1, 0.5, 2)),
        (("a", "b"), True, (0.5, 0.5, 0.5)),  # over the greater: 4/8, 6/12, 3/6
        (("a", "b"), False, (2, 1, 2)),  # over the smaller: 4/2, 6/3, 3/3
    ],
)
def test_a_figure_is_the_middle_of_the_rounds_and_their_range(
    over: str | tuple[str, ...] | None, higher: bool, found: tuple[float, float, float]
) -> None:
    made = summary(Ratio("f", "q", "ours", over, None, higher), ROUNDS)
    assert (made["median"], made["low"], made["high"]) == found
    assert made["verdict"] is None


@pytest.mark.parametrize(
    ("target", "higher", "verdict"),
    [
        (0.5, True, "met"),
        (0.6, True, "cannot tell"),
        (2, True, "cannot tell"),
        (2.1, True, "missed"),
        (2, False, "met"),
        (1.9, False, "cannot tell"),
        (0.5, False, "cannot tell"),
        (0.4, False, "missed"),
    ],
)
def test_a_target_inside_the_range_cannot_be_told(target: float, higher: bool, verdict: str) -> None:
    assert summary(Ratio("f", "q", "ours", "a", target, higher), ROUNDS)["verdict"] == verdict


def program(folder: Path, printed: str) -> Path:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{printed}\n")
    path.chmod(0o755)
    return path


def line(tasks: int, checksum: str = "00") -> str:
    return json.dumps({"tasks": tasks, "elapsed_ns": 2_000_000, "cpu_ns": 3_000_000, "checksum": checksum})


def test_what_follows_from_a_run_is_computed(tmp_path: Path) -> None:
    values = run_case(program(tmp_path, f"echo '{line(1000)}'"), Case("ours", ("x",), 1000))
    assert (values["elapsed_s"], values["cpu_s"], values["tasks_per_s"]) == (0.002, 0.003, 500_000)
    assert (values["cpu_ns_per_task"], values["queued_bytes"], values["switches_per_1000"]) == (3000, 0, 0)
    assert "memory_per_task" not in values


def test_a_run_that_did_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="did 999 of 1000 tasks"):
        run_case(program(tmp_path, f"echo '{line(999)}'"), Case("ours", ("x",), 1000))
    with pytest.raises(BenchmarkError, match=r"failed \(3\)"):
        run_case(program(tmp_path, "exit 3"), Case("ours", ("x",), 1000))


def benchmark(rounds: int, seconds_at_most: int) -> Benchmark:
    return Benchmark(
        name="b",
        description="",
        program=Program("b"),
        cases=(Case("a", ("aa",), 10, same_work="all"), Case("b", ("bb",), 10, 2, "all")),
        ratios=(),
        workload={},
        definitions={},
        rounds=rounds,
        seconds_at_most=seconds_at_most,
    )


def test_every_process_runs_in_every_round_and_the_seed_gives_the_order(tmp_path: Path) -> None:
    made = program(tmp_path, f"echo '{line(10)}'")
    first, again = ([one["order"] for one in run_rounds(benchmark(5, 60), made, 5, 7)] for _ in range(2))
    assert first == again
    assert [sorted(order) for order in first if isinstance(order, list)] == [["a", "b", "b"]] * 5
    assert len({tuple(order) for order in first if isinstance(order, list)}) > 1


def test_cases_that_should_do_the_same_must(tmp_path: Path) -> None:
    made = program(tmp_path, f"case $1 in aa) echo '{line(10)}';; *) echo '{line(10, 'ff')}';; esac")
    with pytest.raises(BenchmarkError, match="'all' did not do the same: "):
        run_round(benchmark(1, 60), made, random.Random(1))


def test_time_ends_the_rounds_early_but_leaves_three(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = program(tmp_path, f"echo '{line(10)}'")
    assert len(run_rounds(benchmark(9, 0), made, 9, 1)) == 3
    assert "ends after 3 of 9 rounds" in capsys.readouterr().err


def test_every_benchmark_has_the_same_options() -> None:
    options = parser("b", "", 9).parse_args(["--rounds", "4", "--seed", "5"])
    assert (options.rounds, options.seed, options.out.name) == (4, 5, "b.json")
