"""A report of simulated runs: what was assumed, unknown limits, first ceilings, buckets by their names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.evidence import write_project
from support.site_pages import article

from tallymark import schemas
from tallymark.recount import files, published
from tallymark.recount.verify import compare_site
from tallymark.site.build import build_site

SPEC = """\
schema = "report-spec/1.1"
name = "runtime-scale"
version = 1
title = "Simulated"
data = ["data/runtime-scale/*.json"]
rows = ["load", "cache"]
repetitions = 1

[[columns]]
name = "crm_429"
title = "Calls of the CRM that were throttled"
source = "tools.crm.throttled_429"
aggregate = "only_value"
places = 0

[[columns]]
name = "ceiling"
title = "Ceiling of the tokens"
source = "providers.vendor.ceilings.tokens.tasks_per_min"
aggregate = "only_value"
unit = "1/min"
places = 1

[[columns]]
name = "rate"
title = "Input tokens a task"
source = "tokens_input"
over = "tasks_arrived"
aggregate = "ratio_of_totals"
places = 1

[[charts]]
id = "headroom"
kind = "timeline"
series = "buckets"
title = "Headroom"
columns = ["provider:vendor:tokens_headroom_permille", "tool:crm:in_flight"]

[[charts]]
id = "calls"
kind = "percentiles"
title = "Calls of the CRM"
stage = "tools.crm.latency"
"""
PAGE = "reports/runtime-scale.html"


@pytest.fixture(scope="module")
def document() -> dict[str, object]:
    ((_, data),) = schemas.shipped().examples("agent-execution/1.0")
    loaded: dict[str, object] = json.loads(data)
    return loaded


@pytest.fixture(scope="module")
def simulated_site(tmp_path_factory: pytest.TempPathFactory, document: dict[str, object]) -> Path:
    return build_site(write_project(tmp_path_factory.mktemp("simulated"), {"small": document}, SPEC)).site


def test_the_page_lists_every_assumption_and_every_unknown_limit(
    simulated_site: Path, document: dict[str, object]
) -> None:
    text = article(simulated_site / PAGE).text()
    for said in (*document["assumptions"], *document["unknown_limits"]):  # type: ignore[misc]
        assert said in text
    assert "simulated, in virtual time" in text


def test_each_run_names_its_first_ceiling(simulated_site: Path, document: dict[str, object]) -> None:
    page = (simulated_site / PAGE).read_text(encoding="utf-8")
    runs: list[dict[str, object]] = document["runs"]  # type: ignore[assignment]
    named = [run["first_ceiling"] for run in runs if run["first_ceiling"] is not None]
    assert page.count(".first_ceiling&#34;") + page.count('.first_ceiling"') == len(named) > 0


def test_columns_reach_into_providers_and_tools_by_their_names(
    simulated_site: Path, document: dict[str, object]
) -> None:
    report = json.loads((simulated_site / "reports/runtime-scale.json").read_bytes())
    cells = {row["id"]: row["cells"] for row in report["rows"]}
    for run in document["runs"]:  # type: ignore[attr-defined]
        row = cells[f'load="{run["load"]}",cache="{run["cache"]}"']
        assert row["crm_429"]["exact"] == run["tools"]["crm"]["throttled_429"]
        assert row["rate"]["exact"] == run["tokens_input"] / run["tasks_arrived"]


def test_buckets_are_drawn_by_the_names_that_the_run_gives_them(simulated_site: Path) -> None:
    charts = json.loads((simulated_site / "reports/runtime-scale.charts.json").read_bytes())
    found = [figure["id"] for figure in charts["figures"]]
    assert found == [
        "headroom-provider-vendor-tokens_headroom_permille",
        "headroom-tool-crm-in_flight",
        "calls",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/$.assumptions[0]", "/$.assumptions[1]"),
        ("/$.unknown_limits[0]", "/$.assumptions[0]"),
        ("nothing was sent to a provider", "something was sent to a provider"),
    ],
)
def test_an_assumption_that_is_left_out_or_changed_is_found(simulated_site: Path, old: str, new: str) -> None:
    folder = {name: (simulated_site / name).read_bytes() for name in files.from_folder(simulated_site).names}
    page = folder[PAGE].decode()
    assert old in page
    folder[PAGE] = page.replace(old, new).encode()
    outcome = compare_site(published.read_site(files.from_memory("site", folder)))
    assert any(one.file == PAGE for one in outcome.differences)
