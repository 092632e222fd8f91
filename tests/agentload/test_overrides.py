"""``--set``: keys of a scenario's file, entries of lists by their name."""

from __future__ import annotations

from typing import Any

import pytest

from tallymark.agentload import overrides
from tallymark.errors import UsageError

VALUE: dict[str, Any] = {
    "arrival": {"rate_per_min": 6},
    "providers": [{"name": "vendor", "tokens_per_min": 10}],
    "retries": [{"layer": "client", "attempts": 3}],
}


def test_values_are_numbers_as_in_toml_or_words() -> None:
    parsed = overrides.parse(["arrival.rate_per_min=5,2.5", "slots.discipline=fair", "tools.crm.write=true"])
    assert [(one.key, one.values) for one in parsed] == [
        ("arrival.rate_per_min", (5, 2.5)),
        ("slots.discipline", ("fair",)),
        ("tools.crm.write", (True,)),
    ]


def test_points_are_the_product_in_the_order_given() -> None:
    parsed = overrides.parse(["a=1,2", "b=3,4"])
    assert [dict(point) for point in overrides.points(parsed)] == [
        {"a": 1, "b": 3},
        {"a": 1, "b": 4},
        {"a": 2, "b": 3},
        {"a": 2, "b": 4},
    ]
    assert list(overrides.points(())) == [()]


def test_a_change_leaves_the_file_alone_and_finds_entries_by_name() -> None:
    settings = [("providers.vendor.tokens_per_min", 20), ("retries.client.attempts", 1), ("slots.workers", 4)]
    made = overrides.changed(VALUE, settings)
    assert made["providers"][0]["tokens_per_min"] == 20
    assert made["retries"][0]["attempts"] == 1
    assert made["slots"] == {"workers": 4}
    assert VALUE["providers"][0]["tokens_per_min"] == 10


@pytest.mark.parametrize(
    "text", ["slots.workers", "=3", "slots.workers=", "a=1,1", "a={}", "a=[1]", "a=2026-01-01"]
)
def test_what_is_no_setting(text: str) -> None:
    with pytest.raises(UsageError):
        overrides.parse([text])


@pytest.mark.parametrize("key", ["providers.nobody.error", "arrival.rate_per_min.x", "providers.error"])
def test_a_key_that_leads_nowhere_is_refused(key: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        overrides.changed(VALUE, [(key, 1)])


def test_a_key_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        overrides.parse(["a=1", "a=2"])
