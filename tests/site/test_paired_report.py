"""A report of paired ratios on a page: claims with a range, one ring a round, and every number recounted."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.benchmark import benchmark, imported, source_of

from tallymark.evidence import canonical
from tallymark.importers.compose import Request, document
from tallymark.recount import files, jq, published, sample
from tallymark.recount.verify import verify
from tallymark.site.build import build_site

SPEC = """\
schema = "report-spec/1.0"
name = "b"
version = 1
title = "Ratios"
data = ["data/b/*.json"]
rows = ["benchmark"]
repetitions = {'benchmark="ours"' = 4, 'benchmark="loop"' = 2, 'benchmark="queue"' = 2}

[[columns]]
name = "cpu"
title = "CPU ratio, median"
source = "cpu_s"
over = "operations"
aggregate = "median_of_paired_ratios"
baseline = 'benchmark="loop"'
places = 2

[[columns]]
name = "low"
title = "CPU ratio, lowest"
source = "cpu_s"
aggregate = "min_of_paired_ratios"
baseline = 'benchmark="loop"'
places = 2

[[columns]]
name = "high"
title = "CPU ratio, highest"
source = "cpu_s"
aggregate = "max_of_paired_ratios"
baseline = 'benchmark="loop"'
unit = "percent"
places = 0

[[columns]]
name = "each"
title = "CPU time a task"
source = "cpu_s"
over = "operations"
aggregate = "ratio_of_totals"
unit = "us"
places = 3

[[columns]]
name = "switches"
title = "Switches of a thousand tasks"
source = "voluntary_switches"
over = "operations"
aggregate = "ratio_of_totals"
unit = "permille"
places = 1

[[charts]]
id = "ratios"
kind = "runs_points"
title = "Every round"
columns = ["cpu"]

[[claims]]
id = "met"
text = "{benchmark=\\"ours\\":cpu} from {benchmark=\\"ours\\":low}, at most {target:met}."
[claims.test]
cell = 'benchmark="ours":cpu'
low = 'benchmark="ours":low'
high = 'benchmark="ours":cpu'
op = "<="
value = 2.5

[[claims]]
id = "open"
text = "{benchmark=\\"ours\\":cpu} from {benchmark=\\"ours\\":low}, at most {target:open}."
[claims.test]
cell = 'benchmark="ours":cpu'
low = 'benchmark="ours":low'
high = 'benchmark="ours":cpu'
op = "<="
value = 2.25
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the hand-made benchmark and its site; building recounts it."""
    folder = tmp_path_factory.mktemp("paired")
    value = benchmark()
    made = document(
        imported(value), source_of(value), Request("b", "b", datetime(2026, 11, 29, 9, 5, tzinfo=UTC))
    )
    (folder / "data" / "b").mkdir(parents=True)
    (folder / "data" / "b" / "b.json").write_bytes(canonical.encode(made))
    (folder / "site" / "reports").mkdir(parents=True)
    (folder / "site" / "reports" / "b.toml").write_text(SPEC, encoding="utf-8")
    build_site(folder)
    return folder


@pytest.fixture
def page(project: Path) -> str:
    return (project / "build" / "site" / "reports" / "b.html").read_text(encoding="utf-8")


def test_nothing_on_it_differs_from_the_recount(project: Path) -> None:
    outcome = verify(project / "build" / "site", project)
    assert [one.line() for one in outcome.differences] == []


def test_a_claim_says_its_target_and_whether_all_of_its_range_meets_it(page: str) -> None:
    verdicts = re.findall(r'data-from="claim:b/(\w+)">([a-z ]+)<', page)
    assert verdicts == [("met", "holds"), ("open", "cannot tell")]
    assert 'data-from="target:b/met">2.5<' in page and 'data-from="target:b/open">2.25<' in page


def test_a_panel_has_one_ring_a_round(project: Path) -> None:
    charts = json.loads((project / "build/site/reports/b.charts.json").read_bytes())
    (figure,) = charts["figures"]
    rings: dict[str, Any] = next(
        trace for trace in figure["data"] if trace["meta"]["from"] == "series:runs/b/cpu"
    )
    # by hand: the loop beside itself is 1; ours 40 / 20 and 30 / 10; the queue 9 / 20 and 9 / 10
    expected = {"loop": [1, 1], "ours": [2, 3], "queue": [0.45, 0.9]}
    values: dict[str, list[float]] = {name: [] for name in expected}
    for row, value in zip(rings["x"], rings["y"], strict=True):
        values[json.loads(row.removeprefix("benchmark="))].append(value)
    assert values == {name: pytest.approx(found) for name, found in expected.items()}


def test_the_lineage_of_a_ratio_names_the_row_beside_it_and_repeats_no_run(page: str) -> None:
    # two rows beside the loop, three paired columns; the loop beside itself needs no other row
    beside = re.findall(r'with the runs of <span data-from="spec:b/\$\.columns\[\d\]\.baseline">', page)
    assert len(beside) == 6


def test_the_runs_name_their_round(page: str) -> None:
    assert ">Round</th>" in page
    assert len(re.findall(r'data-from="raw:~\.round"', page)) == 8


def test_every_cell_agrees_with_jq_and_with_its_hand_calculation(project: Path) -> None:
    site = project / "build" / "site"
    read = published.read_site(files.from_folder(site))
    report = read.reports["b"]
    for row_id, row in report.rows.items():
        for name, cell in row["cells"].items():
            words = shlex.split(jq.of_cell(report, row_id, name))
            done = subprocess.run(words, cwd=site, capture_output=True, text=True, check=True)
            assert json.loads(done.stdout) == cell["exact"], (row_id, name)
    drawn, total = sample.draw(read, 100, seed=1)
    assert (total, [one.column for one in drawn if not one.agrees]) == (15, [])


def test_the_hand_calculation_names_rounds_and_both_sides(project: Path) -> None:
    read = published.read_site(files.from_folder(project / "build" / "site"))
    (one,) = (
        found
        for found in sample.draw(read, 100, seed=1)[0]
        if (found.row, found.column) == ('benchmark="ours"', "low")
    )
    steps = [f"{step} {text}" for step, text in one.steps]
    assert "divide 0.04 / 0.02 = 2.0" in steps and "divide 0.03 / 0.01 = 3.0" in steps
    assert sum(step.startswith("baseline round") for step in steps) == 2
