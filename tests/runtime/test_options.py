"""Run options: defaults, JSON in and out, and what is refused before the runtime sees it."""

from __future__ import annotations

import pytest

from tallymark.errors import UsageError
from tallymark.runtime import RunOptions


def test_options_survive_their_json() -> None:
    options = RunOptions(tasks=7, submission="paced", window=0, rate_per_s=100, run_id="0" * 16)
    assert RunOptions.from_json(options.to_json()) == options


def test_what_is_not_given_takes_its_default() -> None:
    assert RunOptions.from_json({}) == RunOptions()
    assert RunOptions.from_json({"tasks": 5}) == RunOptions(tasks=5)


def test_the_defaults_are_those_of_the_runtime() -> None:
    """The same numbers stand in rt_run_options_init; only run_id has no default there."""
    from tallymark._runtime import ffi, lib

    defaults = ffi.new("rt_run_options *")
    lib.rt_run_options_init(defaults)
    for name, value in RunOptions().to_json().items():
        given = getattr(defaults, name)
        if isinstance(value, str):
            assert ffi.string(given).decode() == value, name
        else:
            assert (None if given == ffi.NULL else given) == value, name


@pytest.mark.parametrize(
    ("value", "where", "problem"),
    [
        ([], "options", "not a JSON object"),
        ({"task": 1}, "task", "no such option"),
        ({"tasks": 1.0}, "tasks", "not a whole number"),
        ({"tasks": True}, "tasks", "not a whole number"),
        ({"tasks": "1"}, "tasks", "not a whole number"),
        ({"tasks": None}, "tasks", "not a whole number"),
        ({"tasks": -1}, "tasks", "out of range"),
        ({"tasks": 2**53}, "tasks", "out of range"),
        ({"suite": 1}, "suite", "not a text"),
        ({"suite": None}, "suite", "not a text"),
        ({"run_id": 1}, "run_id", "not a text"),
        ({"suite": "sc\0ale"}, "suite", "not a plain word"),
        ({"suite": "\ud800"}, "suite", "not a plain word"),
    ],
)
def test_options_of_the_wrong_kind_are_refused(value: object, where: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        RunOptions.from_json(value)
    assert caught.value.where == where
    assert problem in caught.value.problem
