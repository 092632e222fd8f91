"""The jq line of a cell gives its exact value when jq runs it."""

from __future__ import annotations

import json
import math
import random
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.evidence import REPORT_SPEC, runtime_execution
from support.published import write_site
from support.tables import long_timelines

from tallymark.recount import files, jq, published, sample
from tallymark.recount.published import Report
from tallymark.recount.reference import Unresolved

EVERY_AGGREGATE = """
[[columns]]
name = "total_bytes"
title = "Bytes"
source = "prompt_bytes"
aggregate = "total"
unit = "KiB"
places = 3
[[columns]]
name = "least"
title = "Least"
source = "elapsed_ms"
aggregate = "min_of_runs"
unit = "s"
significant = 4
[[columns]]
name = "workers_seen"
title = "Probes"
source = "probes_done"
aggregate = "only_value"
unit = "1"
places = 0
[[columns]]
name = "share"
title = "Failed of submitted"
source = "tasks_failed"
over = "tasks_submitted"
aggregate = "ratio_of_totals"
unit = "percent"
places = 2
[[columns]]
name = "rate"
title = "Rate"
source = "tasks_completed"
over = "elapsed_ms"
aggregate = "total_over_median"
unit = "1/s"
places = 0
[[columns]]
name = "against_fewer_roles"
title = "Elapsed against fewer roles"
source = "elapsed_ms"
aggregate = "median_of_paired_ratios"
baseline = "tasks=3000,agents=100"
significant = 4
[[columns]]
name = "rate_against_fewer_roles"
title = "Rate against fewer roles"
source = "tasks_completed"
over = "elapsed_ms"
aggregate = "max_of_paired_ratios"
baseline = "tasks=3000,agents=100"
unit = "percent"
places = 2
"""


def run(line: str, site: Path) -> Any:
    words = shlex.split(line)
    assert words[0] == "jq"
    done = subprocess.run(words, cwd=site, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def read(project: Path) -> list[Report]:
    return list(published.read_site(files.from_folder(project / "build" / "site")).reports.values())


def compare(project: Path) -> int:
    count = 0
    for report in read(project):
        for row_id, row in report.rows.items():
            for name, cell in row["cells"].items():
                line = jq.of_cell(report, row_id, name)
                assert run(line, project / "build" / "site") == cell["exact"], line
                count += 1
    return count


def test_every_cell_of_the_built_site_agrees_with_jq(built: Path) -> None:
    assert compare(built) == 66  # 4 rows of 16 columns, and 2 rows of 1 column


def test_every_aggregate_and_conversion_agrees_with_jq(tmp_path: Path) -> None:
    # 4 repetitions: the median is the mean of two values
    document = runtime_execution(tasks=3000, repetitions=4, seed=5, label="3k")
    spec = REPORT_SPEC.replace("repetitions = 3", "repetitions = 4") + EVERY_AGGREGATE
    assert compare(write_site(tmp_path, spec, documents={"3k": document})) == 2 * 12


SLOPES = """
[[columns]]
name = "slope"
title = "Growth of the queue"
source = "timeline.queue"
over = "timeline.t_ms"
aggregate = "theil_sen_slope"
skip = 2
significant = 6
[[columns]]
name = "slope_low"
title = "Growth of the queue, lower end"
source = "timeline.queue"
over = "timeline.t_ms"
aggregate = "theil_sen_low"
skip = 2
resolution = 1
significant = 6
[[columns]]
name = "slope_high"
title = "Growth of the queue, upper end"
source = "timeline.queue"
over = "timeline.t_ms"
aggregate = "theil_sen_high"
resolution = 1
significant = 6
[[columns]]
name = "completed"
title = "Completed"
aggregate = "run_count"
outcome = "completed"
"""


def test_slopes_and_outcomes_agree_with_jq_and_with_the_hand_calculation(tmp_path: Path) -> None:
    document = long_timelines(runtime_execution(tasks=3000, repetitions=4, seed=5, label="3k"))
    spec = REPORT_SPEC.replace("repetitions = 3", "repetitions = 4").replace("spec/1.0", "spec/1.1") + SLOPES
    project = write_site(tmp_path, spec, documents={"3k": document})
    assert compare(project) == 2 * 9
    site = project / "build" / "site"
    drawn, total = sample.draw(published.read_site(files.from_folder(site)), 1000, seed=1)
    assert total == 2 * 9
    assert [one.column for one in drawn if not one.agrees] == []
    steps = next(one.steps for one in drawn if one.column == "slope_high")
    # 14 samples: 91 pairs, sigma = sqrt(14 * 13 * 33 / 18) = sqrt(333.67), M = (91 - 35.80) / 2 = 27.6 -> 28
    assert [name for name, _ in steps if name in ("slopes", "rank", "end")][:3] == ["slopes", "rank", "end"]
    assert next(text for name, text in steps if name == "rank").endswith("to the nearest: 28")


def test_every_aggregate_agrees_with_its_hand_calculation(tmp_path: Path) -> None:
    document = runtime_execution(tasks=3000, repetitions=4, seed=5, label="3k")
    spec = REPORT_SPEC.replace("repetitions = 3", "repetitions = 4") + EVERY_AGGREGATE
    site = write_site(tmp_path, spec, documents={"3k": document}) / "build" / "site"
    drawn, total = sample.draw(published.read_site(files.from_folder(site)), 1000, seed=1)
    assert total == 2 * 12
    assert [one.column for one in drawn if not one.agrees] == []


def test_failed_runs_count_only_where_the_column_says_so(tmp_path: Path) -> None:
    document = runtime_execution(tasks=1000, seed=1, label="1k")
    failed = next(run for run in document["runs"] if run["agents"] == 100)
    failed.update(
        outcome="failed", phase="finished", cause="a task failed", tasks_failed=1, tasks_completed=999
    )
    failed["tasks_per_second"] = 999 / (failed["elapsed_ms"] / 1000)
    failed["checks"]["tasks_seen_once"] = 1000
    column = """
[[columns]]
name = "failures"
title = "Failed tasks"
source = "tasks_failed"
aggregate = "total"
unit = "1"
places = 0
include_failed = true
"""
    project = write_site(tmp_path, REPORT_SPEC + column, documents={"1k": document})
    (report,) = read(project)
    assert report.rows["tasks=1000,agents=100"]["cells"]["failures"]["exact"] == 1
    assert report.rows["tasks=1000,agents=100"]["cells"]["runs"]["exact"] == 2
    assert compare(project) == 2 * 6


def test_excluded_runs_are_left_out_by_file_and_place(pristine: Path, tmp_path: Path) -> None:
    (report,) = read(pristine)
    (sha256, name), *_ = [(one.sha256, one.path) for one in report.data]
    site = pristine / "build" / "site"
    run_of = next(iter(report.sources("tasks=1000,agents=100", "runs")))
    assert run_of.sha256 == sha256
    line = jq.line(
        report.spec, report.columns["runs"], {"tasks": 1000, "agents": 100}, [name], [(name, run_of.pointer)]
    )
    assert run(line, site) == 2


def test_a_total_of_floats_is_added_as_fsum_adds_it(tmp_path: Path) -> None:
    source = random.Random(1)
    wide = [[source.uniform(-1, 1) * 10 ** source.randint(-20, 20) for _ in range(9)] for _ in range(40)]
    # cancelling halves, and a sum whose last bit the third partial decides
    hard = [
        [1e16, 1.0, 1e-16],
        [2.0**53, 1.0, 2.0**-60],
        [1e100, 1.0, -1e100],
        [0.1] * 10,
        [-0.5, 0.5],
        [7.0],
    ]
    column = {"aggregate": "total", "source": "x", "factor": [1, 1]}
    program = jq.line({"config_keys": []}, column, {}, ["x.json"], floats=True)
    for values in wide + hard:
        runs = [{"outcome": "completed", "x": value} for value in values]
        (tmp_path / "x.json").write_text(json.dumps({"runs": runs}))
        assert float(run(program, tmp_path)) == math.fsum(values), values


def test_an_absent_cell_has_no_line(pristine: Path) -> None:
    (report,) = read(pristine)
    report.rows["tasks=1000,agents=100"]["cells"]["runs"] = {"absent": {}, "text": "not measured"}
    with pytest.raises(Unresolved, match="is absent"):
        jq.of_cell(report, "tasks=1000,agents=100", "runs")


@pytest.mark.parametrize("text", ["a'b", 'quote " and \\( 1 )', "$(touch x)", "é | 漢", '{"a": 1}'])
def test_hostile_names_stay_text(text: str, tmp_path: Path) -> None:
    spec = {"config_keys": [{"name": "benchmark", "pointer": "$.runs[].benchmark"}]}
    column = {"aggregate": "run_count", "factor": [1, 1]}
    document = {
        "runs": [{"benchmark": text, "outcome": "completed"}, {"benchmark": "b", "outcome": "completed"}]
    }
    (tmp_path / "a b.json").write_text(json.dumps(document))
    assert run(jq.line(spec, column, {"benchmark": text}, ["a b.json"]), tmp_path) == 1
    assert not (tmp_path / "x").exists()
