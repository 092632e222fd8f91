"""Each ceiling against a division that is worked out by hand (see ``support.hand``)."""

from __future__ import annotations

from typing import Any

import pytest
from support import hand

from tallymark.agentload import ceilings, demand, pilot
from tallymark.agentload.arithmetic import shown
from tallymark.agentload.ceilings import Ceiling, Processor


def inventory(*processor: Processor, **sections: dict[str, Any]) -> dict[str, Ceiling]:
    scenario = hand.scenario(**sections)
    found = ceilings.inventory(scenario, demand.of_mix(scenario), pilot.run(scenario, 2).service, *processor)
    return {one.name: one for one in found}


@pytest.mark.parametrize(
    ("section", "limit", "name", "rate"),
    [
        ("providers", {"tokens_per_min": 39_000}, "provider:vendor:tokens", 39_000 / 3900),
        ("providers", {"requests_per_min": 60}, "provider:vendor:requests", 60 / 3),
        ("providers", {"concurrency": 21}, "provider:vendor:concurrency", 21 * 60 / 12.6),
        ("providers", {"kv_tokens": 16_460}, "provider:vendor:kv", 60.0),
        ("tools", {"rate_per_min": 100}, "tool:crm:rate", 100 / 4),
        ("tools", {"concurrency": 1}, "tool:crm:concurrency", 60 / 2),
        ("slots", {"workers": 73}, "slots", 73 * 60 / 14.6),
    ],
)
def test_each_limit_is_so_many_tasks_a_minute(
    section: str, limit: dict[str, int], name: str, rate: float
) -> None:
    found = inventory(**{section: limit})
    assert found[name].state == "known"
    assert found[name].tasks_per_min == pytest.approx(rate)
    assert found[name].lines[-1].endswith(f"= {shown(found[name].tasks_per_min or 0)} tasks/min")
    first = ceilings.first(list(found.values()))
    assert first is not None and first.name == name
    assert [one.name for one in found.values() if one.state == "known"] == [name]


def test_an_unknown_limit_is_neither_zero_nor_infinite() -> None:
    found = inventory(providers={"concurrency": "unknown"}, tools={"rate_per_min": 100})
    assert found["provider:vendor:concurrency"].state == "unknown"
    assert found["provider:vendor:concurrency"].tasks_per_min is None
    assert found["provider:vendor:concurrency"].per_task == pytest.approx(12.6)
    assert found["provider:vendor:kv"].state == "none"
    assert found["cpu"].state == "unknown"


def test_our_own_cpu_is_a_ceiling_once_it_is_measured() -> None:
    """Two cores, half a second a task."""
    assert inventory(Processor(500, 2))["cpu"].tasks_per_min == 240


def test_a_limit_that_no_task_uses_bounds_nothing() -> None:
    found = inventory(tasks={"tool_calls": []}, tools={"rate_per_min": 1})
    assert (found["tool:crm:rate"].state, found["tool:crm:rate"].tasks_per_min) == ("unused", None)


def test_calls_in_flight_slow_each_other_down() -> None:
    """With as many calls as the reference and a slope of 1, each takes twice as long."""
    found = inventory(providers={"concurrency": 10}, models={"load_slope": 1})
    assert found["provider:vendor:concurrency"].tasks_per_min == pytest.approx(10 * 60 / 25.2)


def test_slots_are_pinned_longer_when_calls_slow_down() -> None:
    """Ten slots that do nothing but call: ten calls in flight, twice as slow each."""
    found = inventory(
        slots={"workers": 10}, models={"load_slope": 1, "load_reference": 10}, tools={"latency_ms": 0}
    )
    assert found["slots"].tasks_per_min == pytest.approx(10 * 60 / 25.2)


def test_the_tokens_of_a_cold_start_are_a_line_of_their_own() -> None:
    found = inventory(providers={"tokens_per_min": 39_000, "cache_tokens": 10_000})["provider:vendor:tokens"]
    assert found.tasks_per_min == pytest.approx(39_000 / 1700)
    assert found.lines[0] == "cold, nothing cached: 39,000 tokens/min ÷ 3,900 tokens/task = 10 tasks/min"
    assert "2,200 cached, which do not count = 1,700 tokens" in found.lines[1]


def test_nothing_known_is_no_first_ceiling() -> None:
    assert ceilings.first(list(inventory().values())) is None
