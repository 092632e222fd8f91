"""The record that the runtime writes: its fields, and that its numbers agree with each other."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support.runtime import run, spoken
from support.suites import today

from tallymark.check import check_document
from tallymark.evidence import canonical, documents
from tallymark.histogram import Histogram
from tallymark.suites.model import KEYS

FIELDS = re.findall(
    r"\w+",
    """
    index repetition run_id started_at recorded_by
    suite benchmark_version agents tasks workers aux_workers probes context_bytes access_pattern queue_limit
    max_active history_limit_tasks history_limit_bytes output_bytes submission window rate_per_s task_stack
    sampler_interval_ms
    workload workload_seed variant priorities batches yields stack_bytes max_suspended wait_mode wait_us
    wait_distribution timeout_us fail_permille slow_permille cancel_permille slow_us fault_ramp
    memory_limit_bytes kill_after_tasks outage_start_ms outage_ms retry_policy retry_attempts retry_delay_us
    tenants steady_ms pause_ms burst_ms burst_factor snapshot rollbacks rewrite_permille overview_bytes
    outcome phase cause
    tasks_submitted tasks_admitted tasks_completed tasks_failed tasks_cancelled tasks_timed_out tasks_rejected
    active_at_end queue_at_end elapsed_ms tasks_per_second
    scheduler_latency_p50_ms scheduler_latency_p95_ms scheduler_latency_p99_ms scheduler_latency_max_ms
    execution_p50_ms execution_p95_ms execution_p99_ms execution_max_ms
    finalisation_p50_ms finalisation_p95_ms finalisation_p99_ms finalisation_max_ms
    end_to_end_p50_ms end_to_end_p95_ms end_to_end_p99_ms end_to_end_max_ms
    retained_tasks retained_bytes peak_rss_bytes rss_at_start_bytes rss_at_end_bytes queue_peak active_peak
    cpu_user_ms cpu_system_ms voluntary_switches involuntary_switches threads_peak
    role_lookups prompt_bytes probes_done output_bytes_written
    yields_done suspensions suspended_peak submit_ms drain_ms admitted_per_second
    lateness_p50_ms lateness_p95_ms lateness_p99_ms lateness_max_ms
    slots slot_occupancy_mean_ms capacity_per_second bytes_per_queued_task queue_at_release
    clamped_intervals load_average_before
    histograms timeline memory contention checks unavailable
    """,
)
SCALARS = {
    "scheduler_latency": "queue",
    "execution": "execution",
    "finalisation": "finalisation",
    "end_to_end": "end_to_end",
}


@pytest.fixture(scope="module")
def heard() -> dict[str, Any]:
    """Manifest and record of one run of 1,000 tasks."""
    options = {"tasks": 1000, "workers": 3, "index": 4, "repetition": 2, "run_id": "00000000000000ab"}
    last = spoken(json.dumps(options)).last
    assert isinstance(last, dict)
    return last


@pytest.fixture(scope="module")
def record(heard: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = heard["run"]
    return found


def test_a_record_has_exactly_the_fields_of_its_schema(record: dict[str, Any]) -> None:
    assert list(record) == FIELDS


def test_a_document_around_a_real_run_passes_schema_and_rules(heard: dict[str, Any]) -> None:
    value = today(tasks=1000, agents=(100,), repetitions=1, warmup_runs=0)
    record = heard["run"] | {"index": 0, "repetition": 1}
    (entry,) = value["execution"]["plan"]
    entry["configuration"] = {key: record[key] for key in entry["configuration"]}
    value["execution"] |= {"started_at": record["started_at"], "finished_at": record["started_at"]}
    value |= {"manifest": heard["manifest"] | {"dirty": False}, "runs": [record]}
    document = documents.from_bytes(canonical.encode(value), "run.json")
    assert [finding.line() for finding in check_document(document) if finding.severity == "error"] == []


def test_a_run_says_which_run_it_is(record: dict[str, Any]) -> None:
    assert (record["index"], record["repetition"], record["run_id"]) == (4, 2, "00000000000000ab")
    assert (record["suite"], record["benchmark_version"], record["recorded_by"]) == ("scale", "1", "runtime")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["started_at"])


def test_a_run_without_an_id_draws_one() -> None:
    first, second = run(tasks=1)["run_id"], run(tasks=1)["run_id"]
    assert re.fullmatch("[0-9a-f]{16}", first) and first != second


def test_every_task_is_accounted_for_once(record: dict[str, Any]) -> None:
    assert record["outcome"] == "completed" and record["phase"] == "finished" and record["cause"] is None
    assert record["tasks_submitted"] == record["tasks_admitted"] == record["tasks_completed"] == 1000
    for none in ("tasks_failed", "tasks_cancelled", "tasks_timed_out", "tasks_rejected", "clamped_intervals"):
        assert record[none] == 0
    assert record["active_at_end"] == record["queue_at_end"] == 0
    checks = record["checks"]
    assert (checks["tasks_seen_once"], checks["tasks_seen_never"], checks["tasks_seen_twice"]) == (1000, 0, 0)
    assert checks["context_checksum"] == checks["context_checksum_expected"]
    assert checks["probe_checksum"] == checks["probe_checksum_expected"]
    assert checks["prompt_bytes_expected"] == record["prompt_bytes"]
    assert record["role_lookups"] == 1000 and checks["lookups_failed"] == 0
    assert record["probes_done"] == 1000 * 64
    assert record["output_bytes_written"] == 1000 * 64


def test_rate_and_percentiles_follow_from_what_is_in_the_record(record: dict[str, Any]) -> None:
    assert record["tasks_per_second"] == pytest.approx(1000 / record["elapsed_ms"] * 1000, rel=1e-12)
    for prefix, stage in SCALARS.items():
        histogram = Histogram.from_record(record["histograms"][stage])
        assert histogram.count == 1000
        for name, a, b in (("p50", 50, 100), ("p95", 95, 100), ("p99", 99, 100), ("max", 1, 1)):
            assert record[f"{prefix}_{name}_ms"] == histogram.percentile_ns(a, b) / 1e6


def test_the_stages_of_all_tasks_add_up_to_end_to_end(record: dict[str, Any]) -> None:
    sums = {stage: int(histogram["sum_ns"]) for stage, histogram in record["histograms"].items()}
    assert sums["queue"] + sums["execution"] + sums["finalisation"] == sums["end_to_end"]


def test_sampled_spans_say_how_many_they_leave_out(record: dict[str, Any]) -> None:
    for stage in ("role_lookup", "prompt", "callback", "history_pruning"):
        histogram = record["histograms"][stage]
        assert histogram["sample_every"] == 64
        assert 1000 // 64 - 3 <= histogram["count"] <= 1000 // 64 + 3  # each of 3 workers counts for itself
        assert sum(count for _, count in histogram["buckets"]) == histogram["count"]


def test_the_timeline_begins_and_ends_with_the_run(record: dict[str, Any]) -> None:
    timeline = record["timeline"]
    rows = timeline["rows"]
    assert timeline["columns"] == ["t_ms", "queue", "active", "rss_bytes", "threads", "cpu_ms"]
    assert timeline["samples"] == len(rows) >= 2
    assert rows[0][0] == 0.0 and rows[0][5] == 0.0
    assert rows[-1][0] >= record["elapsed_ms"]
    assert rows[-1][1:3] == [0, 0]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert max(row[4] for row in rows) == record["threads_peak"]
    assert timeline["cost_cpu_ms"] > 0


def test_memory_has_one_definition_and_an_owner_for_each_part(record: dict[str, Any]) -> None:
    assert record["peak_rss_bytes"] >= record["rss_at_end_bytes"] > 0
    assert record["peak_rss_bytes"] >= record["rss_at_start_bytes"] > 0
    memory = record["memory"]
    assert memory["rss_anon_at_end_bytes"] + memory["rss_file_at_end_bytes"] <= record["rss_at_end_bytes"]
    assert memory["owners"]["context_bytes"] == 8 << 20
    for key in ("pss_at_end_bytes", "cgroup_current_bytes", "cgroup_peak_bytes"):
        assert (memory[key] is None) == (key in memory["unavailable"])


def test_the_peak_is_of_this_process_and_not_of_its_parent() -> None:
    """ru_maxrss would show the parent's 256 MiB in the child, as it did to others (bun issue 43304)."""
    ballast = bytearray(256 << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])
    record = run(tasks=1000, context_bytes=65536)
    assert record["peak_rss_bytes"] < len(ballast) / 2


def test_floats_stay_floats_and_integers_integers(record: dict[str, Any]) -> None:
    for key, value in record.items():
        if key.endswith("_ms") and key not in KEYS and key not in record["unavailable"]:
            assert isinstance(value, float), key
        elif isinstance(value, float):
            assert key in (
                "tasks_per_second",
                "admitted_per_second",
                "capacity_per_second",
                "load_average_before",
            ), key


def test_paced_submission_keeps_its_rate() -> None:
    """The last of 200 tasks at 2,000 a second is due 99.5 ms after the first, and none comes early."""
    record = run(tasks=200, submission="paced", window=0, rate_per_s=2000)
    assert record["outcome"] == "completed"
    assert (record["submission"], record["window"], record["rate_per_s"]) == ("paced", 0, 2000)
    assert record["elapsed_ms"] >= 99.5
