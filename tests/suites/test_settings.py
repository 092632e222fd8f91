"""``--set``: exactly the configuration keys, typed, each once."""

from __future__ import annotations

import pytest

from tallymark import schemas
from tallymark.errors import MISUSE, UsageError
from tallymark.suites.model import KEYS, SCHEMA
from tallymark.suites.scale import SCALE
from tallymark.suites.settings import FIXED, SETTABLE, as_options, parse


def test_the_keys_are_exactly_the_scalar_configuration_keys_of_the_schema() -> None:
    keys = schemas.config_keys(SCHEMA)
    assert {key.name for key in keys if key.pointer.startswith("$.runs[]")} == set(KEYS)
    assert set(SETTABLE) | set(FIXED) == set(KEYS)


def test_values_are_typed_and_keep_their_order() -> None:
    settings = parse(["agents=1000,10", "tasks=5000", "submission=paced"], SCALE)
    assert dict(settings.values) == {"agents": (1000, 10), "tasks": (5000,), "submission": ("paced",)}


def test_options_are_repeated_in_the_order_of_the_record_whatever_the_order_given() -> None:
    settings = parse(["workers=4", "agents=1000,10"], SCALE)
    assert as_options(settings) == ["--set agents=1000,10", "--set workers=4"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("agents", "there is no '='"),
        ("agent=5", "'agent' is not a configuration key"),
        ("AGENTS=5", "'AGENTS' is not a configuration key"),
        ("suite=scale", "suite follows from the suite that is run"),
        ("variant=a", "variant follows from the suite that is run"),
        ("benchmark_version=2", "benchmark_version follows from the suite that is run"),
        ("agents=", "'' is not a whole number"),
        ("agents=1e3", "'1e3' is not a whole number"),
        ("agents=1_000", "'1_000' is not a whole number"),
        ("agents=٣", "'٣' is not a whole number"),
        ("tasks=9007199254740992", "'9007199254740992' is not a whole number below 2^53"),
        ("tasks=99999999999999999999", "is not a whole number below 2^53"),
        ("agents=5,5", "a value is given twice"),
        ("tasks=1000,2000", "one document holds one task count"),
        ("workers=1,2", "suite scale takes several values only for agents"),
        ("submission=a b", "'a b' is not a value of submission"),
    ],
)
def test_what_is_not_a_setting_is_refused_as_misuse(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse([text], SCALE)
    assert problem in refused.value.problem
    assert refused.value.exit_code == MISUSE


def test_an_unknown_key_is_answered_with_all_known_ones() -> None:
    with pytest.raises(UsageError) as refused:
        parse(["threads=4"], SCALE)
    assert all(key in refused.value.do for key in SETTABLE)


def test_a_key_set_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="workers is set twice"):
        parse(["workers=4", "workers=8"], SCALE)
