"""The timing map is drawn from what the evidence says about its own timestamps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.evidence import REPORT_SPEC, write_project
from support.runtime import spoken
from support.site_pages import article
from support.whole import closed

from tallymark.site.build import build_site


def _site(folder: Path, timestamps: list[dict[str, Any]], intervals: list[dict[str, Any]]) -> Path:
    document = closed(30)
    document["manifest"] |= {"timestamps": timestamps, "intervals": intervals}
    spec = REPORT_SPEC.replace("repetitions = 3", "repetitions = 1")
    return build_site(write_project(folder, {"one": document}, spec)).site


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The manifest that the runtime of this build writes."""
    manifest: dict[str, Any] = spoken('{"tasks": 1}').last["manifest"]
    return manifest


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory, described: dict[str, Any]) -> Path:
    return _site(tmp_path_factory.mktemp("timing"), described["timestamps"], described["intervals"])


def test_every_stage_says_thread_lock_and_how_often_the_clock_is_read(
    mapped: Path, described: dict[str, Any]
) -> None:
    rows = [
        [cell.text() for cell in (*row.all("th"), *row.all("td"))]
        for row in article(mapped / "timing.html").all("tr")
    ]
    words = {"task": "for each task", "batch": "once for a batch", "call": "once for a call"}
    for entry in described["timestamps"]:
        lock = entry["lock"] or "none"
        assert [entry["stage"], entry["taken"], entry["thread"], lock, words[entry["read_per"]]] in rows
    for line in described["intervals"]:
        assert any(
            row[:3] == [line["name"], line["from"], line["to"]] and row[4] == line["what"] for row in rows
        )


def test_the_recorded_intervals_are_histograms_of_a_run_and_end_to_end_is_their_sum(
    described: dict[str, Any],
) -> None:
    """The map would mislead if it named a histogram that no run has, or left a gap between two intervals."""
    recorded = {
        line["histogram"]: (line["from"], line["to"]) for line in described["intervals"] if line["histogram"]
    }
    assert set(recorded) <= set(closed()["runs"][0]["histograms"])
    whole = recorded.pop("end_to_end")
    ways = list(recorded.values())
    assert [end for _, end in ways[:-1]] == [start for start, _ in ways[1:]]
    assert whole == (ways[0][0], ways[-1][1])


def test_the_picture_has_a_mark_for_each_stage_and_squares_where_a_lock_is_held(
    mapped: Path, described: dict[str, Any]
) -> None:
    (picture,) = [
        one for one in article(mapped / "timing.html").all("svg") if one.attributes.get("class") == "tm-map"
    ]
    marks = [
        one.attributes["class"]
        for one in picture.all("path")
        if one.attributes["class"] in ("locked", "free")
    ]
    assert marks == ["locked" if entry["under_lock"] else "free" for entry in described["timestamps"]]


def test_reports_of_the_runtime_lead_to_the_map(mapped: Path) -> None:
    links = [one.attributes.get("href") for one in article(mapped / "reports/runtime-scale.html").all("a")]
    assert "../timing.html" in links


def test_older_evidence_that_does_not_describe_its_threads_has_no_map(site: Path) -> None:
    assert not (site / "timing.html").exists()
