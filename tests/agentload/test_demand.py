"""What a task asks for, against sums that are worked out by hand (see ``support.hand``)."""

from __future__ import annotations

import pytest
from support import hand

from tallymark.agentload import demand, pilot, scenario_file
from tallymark.agentload.distributions import Distribution


def test_input_tokens_grow_with_the_square_of_the_steps() -> None:
    found = demand.of_mix(hand.scenario())
    use = found.models["large"]
    assert (use.calls, use.input_tokens, use.output_tokens) == (3, 3600, 300)
    assert (use.cached_tokens, use.counted_tokens) == (0, 3900)
    assert found.tools == {"crm": 4}
    (only,) = found.classes
    assert (only.steps, only.resends, only.prompt_tokens, only.growth_tokens) == (3, 3, 1000, 200)
    assert only.input_tokens == 3 * 1000 + 3 * 200


@pytest.mark.parametrize(("steps", "tokens"), [(10, 19_000), (20, 58_000), (40, 196_000)])
def test_twice_the_steps_is_four_times_the_transcript_sent_again(steps: int, tokens: int) -> None:
    """k · 1000 + k (k - 1) / 2 · 200."""
    assert demand.of_mix(hand.scenario(tasks={"steps": steps})).models["large"].input_tokens == tokens


def test_the_steps_of_a_mix_are_not_those_of_its_mean() -> None:
    """90 % three steps and 10 % forty: 0.9 · 3,600 + 0.1 · 196,000, not what 6.7 steps would take."""
    mixed = hand.scenario(tasks={"steps": {"choices": [3, 40], "weights": [9, 1]}})
    found = demand.of_mix(mixed)
    assert found.models["large"].input_tokens == pytest.approx(22_840)
    assert found.classes[0].steps == pytest.approx(6.7)


def test_a_cache_leaves_only_what_is_new_to_count() -> None:
    """1,000 + 200 + 200 new tokens and 300 output; 1,000 + 1,200 are cached."""
    use = demand.of_mix(hand.scenario(providers={"cache_tokens": 10_000})).models["large"]
    assert (use.cached_tokens, use.counted_tokens) == (2200, 1700)
    shared = hand.scenario(providers={"cache_tokens": 10_000}, tasks={"prefixes": 2, "prefix_share": 0.75})
    assert demand.of_mix(shared).models["large"].counted_tokens == 1700 - 750


def test_a_vendor_may_count_cached_tokens_all_the_same() -> None:
    counting = hand.scenario(providers={"cache_tokens": 10_000, "count_cached": True})
    assert demand.of_mix(counting).models["large"].counted_tokens == 3900


def test_a_longer_context_lengthens_prompts_and_results_not_output() -> None:
    found = demand.of_mix(hand.scenario(run={"context_factor_permille": 2000}))
    assert found.classes[0].prompt_tokens == 2000
    assert found.classes[0].growth_tokens == 100 + 2 * 100


def test_failed_attempts_are_sent_again_and_failed_tasks_end_early() -> None:
    """Half of the calls fail and there are two attempts: 1.5 a step, and a step is passed with 3/4."""
    failing = hand.value(providers={"error": 0.5}, tasks={"tool_calls": []})
    failing["retries"] = [{"layer": "client", "attempts": 2, "on": ["error"]}]
    use = demand.of_mix(scenario_file.from_value(failing, "x")).models["large"]
    assert use.calls == 1.5 * (1 + 0.75 + 0.75**2)
    assert use.output_tokens == 100 * 0.75 * (1 + 0.75 + 0.75**2)  # a call that fails writes nothing


def test_layers_of_retries_that_do_not_know_of_each_other_multiply() -> None:
    """Four by three attempts: nearly twelve calls for one when everything fails."""
    failing = hand.value(providers={"error": 1}, tasks={"steps": 1, "tool_calls": []})
    failing["retries"] = [
        {"layer": "client", "attempts": 4, "on": ["error"]},
        {"layer": "workflow", "attempts": 3, "on": ["error"]},
    ]
    assert demand.of_mix(scenario_file.from_value(failing, "x")).models["large"].calls == 12


def test_money_counts_cached_tokens_at_their_price() -> None:
    """1,400 · 2 + 2,200 · 0.5 + 300 · 10 = 6,900 millionths of a dollar."""
    prices = {"usd_per_million_input": 2, "usd_per_million_cached": 0.5, "usd_per_million_output": 10}
    priced = hand.scenario(providers={"cache_tokens": 10_000}, models=prices)
    assert demand.of_mix(priced).usd == pytest.approx(0.0069)
    assert demand.of_mix(hand.scenario()).usd is None


def test_slow_calls_of_a_tool_time_out() -> None:
    samples = Distribution.declared({"samples": [1, 2, 3, 4]})
    assert demand.above(samples, 3) == 0.25
    lognormal = Distribution.declared({"lognormal": {"median": 100, "p99": 1000}})
    assert demand.above(lognormal, 1000) == pytest.approx(0.01, abs=0.002)
    exponential = Distribution.declared({"exponential": {"mean": 100}})
    assert demand.above(exponential, 100) == pytest.approx(0.3679, abs=0.002)  # 1/e


def test_the_pilot_measures_what_is_computed() -> None:
    """Two ways to the same numbers: sums over the spans of simulated tasks, and the formulas."""
    scenario = hand.scenario(providers={"cache_tokens": 10_000})
    computed, measured = demand.of_mix(scenario), pilot.run(scenario, 3)
    assert measured.demand.tools == pytest.approx(dict(computed.tools))
    assert measured.demand.models["large"].counted_tokens == pytest.approx(1700)
    assert measured.demand.models["large"].cached_tokens == pytest.approx(2200)


@pytest.mark.parametrize("seed", range(4))
def test_the_pilot_agrees_where_calls_fail_and_are_tried_again(seed: int) -> None:
    """Fractional uses, errors, time-outs, optional tools, stacked retries: 4,000 tasks, within 3 %."""
    value = hand.value(providers={"error": 0.06, "cache_tokens": 10**6 * (seed % 2)})
    value["seed"] = seed
    value["models"][0] |= {
        "usd_per_million_input": 2,
        "usd_per_million_cached": 0.5,
        "usd_per_million_output": 10,
    }
    value["tools"][0] |= {
        "latency_ms": {"samples": [100] * 19 + [9000]},
        "error": 0.1,
        "timeout": 0.05,
        "timeout_s": 5,
        "optional": seed >= 2,
    }
    value["tasks"][0] |= {"steps": {"choices": [2, 5], "weights": [1, 1]}, "prefixes": 3, "prefix_share": 0.5}
    value["tasks"][0]["tool_calls"] = [{"tool": "crm", "per_step": 1.4}]
    value["retries"] = [
        {"layer": "client", "attempts": 2, "on": ["error", "timeout"]},
        {"layer": "tool", "attempts": 2, "on": ["error", "timeout"]},
    ]
    scenario = scenario_file.from_value(value, "x")
    computed, measured = demand.of_mix(scenario), pilot.run(scenario, 4000).demand
    assert measured.tools["crm"] == pytest.approx(computed.tools["crm"], rel=0.03)
    one, other = measured.models["large"], computed.models["large"]
    for key in ("calls", "input_tokens", "cached_tokens", "output_tokens", "counted_tokens", "usd"):
        assert getattr(one, key) == pytest.approx(getattr(other, key), rel=0.03), key


def test_the_pilot_measures_time_without_limits() -> None:
    tight = hand.scenario(providers={"requests_per_min": 1}, tools={"rate_per_min": 1}, slots={"workers": 1})
    found = pilot.run(tight, 3)
    assert found.durations_s == pytest.approx([14.6] * 3)
    assert found.service.model_s == pytest.approx({"large": 12.6})
    assert found.service.tool_s == pytest.approx({"crm": 2.0})
    assert found.service.kv_token_s == pytest.approx({"vendor": 16_460})
