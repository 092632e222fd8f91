"""Records of every workload and submission, judged by schema and rules as the documents of suites are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.evidence import runtime_execution
from support.runtime import spoken

from tallymark.check import check_document
from tallymark.evidence import canonical, documents
from tallymark.runtime import build_information

SMALL = {"context_bytes": 65536, "sampler_interval_ms": 1}
OPEN = {"window": 0, "rate_per_s": 20_000}
PHASES = OPEN | {"steady_ms": 40, "pause_ms": 10, "burst_ms": 5, "burst_factor": 3}
POOLED = {"task_stack": "pooled", "stack_bytes": 65536}
CASES: dict[str, dict[str, Any]] = {
    "closed": {},
    "priorities": {"priorities": 9, "access_pattern": "hot"},
    "paced": {"submission": "paced"} | OPEN,
    "poisson": {"submission": "poisson"} | OPEN,
    "held": {"submission": "held", "window": 0},
    "batches": {"batches": 10},
    "phases": {"submission": "paced", "tasks": 5000} | PHASES,
    "yields": POOLED | {"yields": 2},
    "faults": {"fail_permille": 50, "slow_permille": 20, "slow_us": 50, "cancel_permille": 50},
    "timeouts": {"timeout_us": 1000, "wait_mode": "blocking", "wait_us": 3000, "tasks": 100},
    "never-started": {"submission": "held", "window": 0, "timeout_us": 1, "tenants": 2},
    "blocking": {"wait_mode": "blocking", "wait_us": 100},
    "yielding": POOLED | {"wait_mode": "yielding", "wait_us": 200, "wait_distribution": "exponential"},
    "outage": POOLED
    | {"submission": "paced", "window": 0, "rate_per_s": 5000, "wait_mode": "yielding", "wait_us": 300}
    | {"outage_start_ms": 50, "outage_ms": 50, "tenants": 3}
    | {"retry_policy": "backoff", "retry_attempts": 3, "retry_delay_us": 500},
    "rollback": {"snapshot": "running", "rollbacks": 5, "rewrite_permille": 200},
    "lookup": {"workload": "lookup", "agents": 500},
    "context": {"workload": "context", "tasks": 1, "context_bytes": 1 << 20, "rewrite_permille": 10},
    "memory": {"memory_limit_bytes": 1 << 20, "context_bytes": 64 << 20},
    "memory-midway": {"memory_limit_bytes": 48 << 20, "tasks": 1_000_000, "submission": "held", "window": 0},
}


# A limit of address space leaves no room for a sanitizer's shadow memory.
PLAIN = {name: [pytest.mark.plain_build] if name.startswith("memory") else [] for name in CASES}


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks) for name, marks in PLAIN.items()])
def test_a_record_of_each_kind_passes_schema_and_rules(name: str) -> None:
    if "memory_limit_bytes" in CASES[name] and build_information()["sanitizer"] != "none":
        pytest.skip("a sanitizer's own memory makes every limit of address space mean something else")
    heard = spoken(json.dumps({"tasks": 1000} | SMALL | CASES[name])).last
    assert "run" in heard, heard
    value = runtime_execution(version="1.1", tasks=1000, agents=(100,), repetitions=1, warmup_runs=0)
    record = heard["run"] | {"index": 0, "repetition": 1}
    (entry,) = value["execution"]["plan"]
    entry["configuration"] = {key: record[key] for key in entry["configuration"]}
    value["execution"] |= {"started_at": record["started_at"], "finished_at": record["started_at"]}
    value |= {"manifest": heard["manifest"] | {"dirty": False}, "runs": [record]}
    document = documents.from_bytes(canonical.encode(value), "run.json")
    found = [finding.line() for finding in check_document(document) if finding.severity == "error"]
    assert found == []
    expected = {"completed"}
    if "memory_limit_bytes" in CASES[name]:
        expected = {"failed"}
    elif CASES[name].get("submission") in ("paced", "poisson"):
        expected = {"completed", "overloaded"}  # on a machine that stood still meanwhile
    assert record["outcome"] in expected


def test_a_task_that_never_started_is_in_no_latency() -> None:
    """Its execution of 0 ns would make the typical task of a run with many cancellations take no time."""
    held = {"submission": "held", "window": 0, "timeout_us": 1, "tenants": 2}
    record = spoken(json.dumps({"tasks": 1000} | SMALL | held)).last["run"]
    assert record["tasks_timed_out"] == 1000
    assert record["execution_p50_ms"] is None
    assert record["histograms"]["queue"]["count"] == 0
    assert record["faults"]["tenants"]["t1"]["timed_out"] == 500
    assert record["faults"]["tenants"]["t1"]["end_to_end"]["count"] == 0
