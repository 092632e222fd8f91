"""A report over series of a run: slopes, charts over a series or a key, keys that follow from the row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.evidence import write_project
from support.site_pages import article
from support.whole import batches, phased

from tallymark.recount import files, published
from tallymark.recount.verify import compare_site
from tallymark.site.build import build_site

SPEC = """\
schema = "report-spec/1.1"
name = "runtime-scale"
version = 1
title = "Memory by batches"
data = ["data/runtime-scale/*.json"]
rows = ["tasks", "agents"]
row_titles = { agents = "roles" }
determined = ["batches"]
repetitions = 1

[[columns]]
name = "rate"
title = "Tasks/s"
source = "tasks_per_second"
aggregate = "median_of_runs"
places = 0

[[columns]]
name = "growth"
title = "Growth a task"
source = "batch_memory.rss_anon_bytes"
over = "batch_memory.tasks_done"
aggregate = "theil_sen_high"
resolution = 4096
significant = 3

[[charts]]
id = "memory"
kind = "timeline"
series = "batch_memory"
title = "Memory after each batch"
columns = ["rss_anon_bytes", "rss_bytes"]

[[charts]]
id = "pace"
kind = "by_key"
x = "tasks"
title = "Pace and growth by tasks"
columns = ["rate", "growth"]
"""


def _batches(tasks: int, count: int, agents: int) -> dict[str, Any]:
    document = batches(tasks, count)
    document["execution"]["id"] = f"{tasks:08x}{agents:08x}"
    document["runs"][0]["run_id"] = f"{agents:08x}{tasks:08x}"
    for holder in (document["runs"][0], document["execution"]["plan"][0]["configuration"]):
        holder["agents"] = agents
    memory = document["runs"][0]["batch_memory"]["rows"]
    for at, row in enumerate(memory):
        row[4] += 8192 * at
    return document


@pytest.fixture(scope="module")
def series_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    documents = {
        f"{tasks}-{agents}": _batches(tasks, tasks // 10, agents)
        for tasks in (100, 200)
        for agents in (1, 50)
    }
    return build_site(write_project(tmp_path_factory.mktemp("series"), documents, SPEC)).site


def test_a_site_of_series_is_built_and_recounted(series_site: Path) -> None:
    """``build_site`` refuses to swap in what differs; here the chart data are looked into."""
    charts = json.loads((series_site / "reports/runtime-scale.charts.json").read_bytes())
    found = {figure["id"]: figure for figure in charts["figures"]}
    assert list(found) == ["memory-rss_anon_bytes", "memory-rss_bytes", "pace-rate", "pace-growth"]
    memory = found["memory-rss_anon_bytes"]["data"]
    assert len(memory) == 4
    # 10 batches from 10 MiB on, 8 KiB more each
    assert memory[0]["x"] == list(range(1, 11))
    assert memory[0]["y"] == [10 + at * 8192 / 2**20 for at in range(10)]
    pace = found["pace-rate"]["data"]
    assert [(one["name"], one["x"], one.get("showlegend")) for one in pace] == [
        ("1", [100, 200], None),
        ("1", [100, 200], False),
        ("50", [100, 200], None),
        ("50", [100, 200], False),
    ]


def test_the_page_says_what_follows_from_the_row_and_what_the_slope_leaves_open(series_site: Path) -> None:
    page = article(series_site / "reports/runtime-scale.html")
    text = page.text()
    assert "batches = 20" in text and "tasks=200,agents=1" in text
    # 8192 bytes a batch of 10 tasks, and one page over 9 batches
    report = json.loads((series_site / "reports/runtime-scale.json").read_bytes())
    assert report["rows"][0]["cells"]["growth"]["exact"] == 819.2 + 4096 / 90


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "series:line/runtime-scale/tasks=100,agents=1/tasks/rate",
            "series:line/runtime-scale/tasks=100,agents=50/tasks/rate",
        ),
        ("batch_memory/rss_anon_bytes", "batch_memory/rss_bytes"),
        ("line:runtime-scale/tasks=100,agents=50/tasks", "line:runtime-scale/tasks=100,agents=1/tasks"),
    ],
)
def test_a_line_that_stands_for_another_one_is_found(series_site: Path, old: str, new: str) -> None:
    folder = {name: (series_site / name).read_bytes() for name in files.from_folder(series_site).names}
    page = folder["reports/runtime-scale.html"].decode()
    assert old in page
    folder["reports/runtime-scale.html"] = page.replace(old, new, 1).encode()
    outcome = compare_site(published.read_site(files.from_memory("site", folder)))
    assert any(one.file == "reports/runtime-scale.html" for one in outcome.differences)


def test_percentiles_of_a_phase_are_pooled_and_drawn(tmp_path: Path) -> None:
    spec = SPEC.partition("[[columns]]")[0].replace('determined = ["batches"]\n', "")
    spec += """
[[columns]]
name = "burst_p50"
title = "Queue in bursts, p50"
source = "phases.burst.queue"
aggregate = "pooled_percentile"
percentile = "1/2"
unit = "us"
significant = 3

[[charts]]
id = "burst"
kind = "percentiles"
title = "Queue latency in bursts"
stage = "phases.burst.queue"

[[charts]]
id = "periods"
kind = "timeline"
series = "periods"
title = "Over the periods"
columns = ["p50_ms", "rss_bytes"]
only = ["tasks=40,agents=100"]
"""
    document = phased()
    rows = document["runs"][0]["periods"]["rows"]
    rows[3][6:9] = [None] * 3
    site = build_site(write_project(tmp_path, {"phased": document}, spec)).site
    charts = json.loads((site / "reports/runtime-scale.charts.json").read_bytes())["figures"]
    assert charts[0]["title"].startswith("Queue latency (burst) by share of tasks")
    assert len(charts[1]["data"][0]["y"]) == len(rows) - 1
