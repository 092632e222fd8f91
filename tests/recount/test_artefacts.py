"""The published report JSON, its CSV and the evidence behind it are recounted as well."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.evidence import REPORT_SPEC, runtime_execution
from support.published import NAME, edit, replace_once, sign, write_site

from tallymark.evidence import canonical
from tallymark.recount import artefacts
from tallymark.recount.verify import verify

REPORT = f"reports/{NAME}.json"
CSV = f"reports/{NAME}.csv"


def lines(site: Path) -> list[str]:
    return [one.line() for one in verify(site, site.parent.parent).differences]


def change(site: Path, alter: Callable[[dict[str, Any]], Any], name: str = REPORT) -> list[str]:
    value = json.loads((site / name).read_bytes())
    alter(value)
    (site / name).write_bytes(canonical.encode(value))
    sign(site)
    return lines(site)


def cell(value: dict[str, Any], column: str = "elapsed") -> dict[str, Any]:
    found: dict[str, Any] = value["rows"][0]["cells"][column]
    return found


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (lambda v: cell(v).update(text="1.000"), "$.rows[0].cells.elapsed (row tasks=1000,agents=100"),
        (lambda v: cell(v).update(exact=1.0), 'column elapsed).exact: shown "1.0"'),
        (lambda v: cell(v).update(n=4), 'column elapsed).n: shown "4", recomputed "3"'),
        (lambda v: cell(v)["sources"].pop(), "column elapsed).sources: shown"),
        (lambda v: cell(v)["sources"][0].update(path="data/other.json"), ".sources[0].path: shown"),
        (lambda v: cell(v, "queue_p99_pooled").update(samples=1), 'queue_p99_pooled).samples: shown "1"'),
        (lambda v: cell(v).update(ties=True), 'column elapsed).ties: shown "true"'),
        (lambda v: v["rows"].reverse(), "$.rows, ids in order: shown"),
        (lambda v: v["rows"][0]["key"].update(tasks=2), '$.rows[0].key.tasks: shown "2", recomputed "1000"'),
        (lambda v: v["rows"][0]["cells"].pop("runs"), "$.rows[0].cells, columns in order: shown"),
        (lambda v: v["constants"].update(workers=9), '$.constants.workers: shown "9", recomputed "8"'),
        (lambda v: v["constants"].pop("workers"), "$.constants.workers: is missing"),
        (lambda v: v["constants"].update(colour="red"), "$.constants.colour: is not in the recount"),
        (lambda v: v["ledger"].update(failed=1), '$.ledger.failed: shown "1", recomputed "0"'),
        (lambda v: v["data"][0].update(sha256="0" * 64), f'$.data[0].sha256: shown "{"0" * 64}"'),
        (lambda v: v["data"][0].update(runs=7), '$.data[0].runs: shown "7", recomputed "6"'),
        (lambda v: v["data"][0].update(path="data/nowhere.json"), "which is not published"),
        (lambda v: v.update(digest="0" * 64), f'$.digest: shown "{"0" * 64}"'),
        (lambda v: v.update(title="Another"), '$.title: shown "Another", recomputed "Runtime scale"'),
        (lambda v: v["spec"]["columns"][1].update(places=2), '$.spec.columns[1].places: shown "2"'),
        (
            lambda v: v["claims"][0].update(holds=False),
            '$.claims[0].holds: shown "fails", recomputed "holds"',
        ),
        (lambda v: v["claims"][0].update(text="It is fast"), '$.claims[0].text: shown "It is fast"'),
        (lambda v: v["claims"][0]["numbers"][0].update(text="0"), "$.claims[0].numbers, tasks=1000"),
        (lambda v: v["claims"].clear(), "$.claims: are not the claims of the spec"),
        (lambda v: v["prose"]["claims"][0]["parts"][1].update(text="0"), "$.prose.claims[0]"),
        (lambda v: v["prose"]["claims"][0].update(parts=[{"text": "12 ms"}]), "$.prose.claims[0]"),
        (lambda v: v["prose"]["scope"]["measured"][0].update(text="All"), "$.prose.scope.measured[0]"),
        (lambda v: v["notes"].append("99 machines agree"), "$.notes"),
        (lambda v: v.update(surprise=1), "$"),
    ],
)
def test_a_change_of_the_report_is_named_by_its_pointer(
    site: Path, alter: Callable[[dict[str, Any]], Any], said: str
) -> None:
    found = change(site, alter)
    assert any(line.startswith(f"{REPORT}::") and said in line for line in found), found


def test_a_report_that_is_no_json_is_a_difference_and_not_a_crash(site: Path) -> None:
    edit(
        site,
        REPORT,
        replace_once(
            "{",
            "[",
        ),
    )
    found = lines(site)
    assert any(line.startswith(f"{REPORT}::$") for line in found)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1000,100,3,3", "1000,100,4,3", 'row tasks=1000,agents=100, column runs: shown "4"'),
        ("elapsed_exact", "elapsed_about", 'head, column elapsed_exact: shown "elapsed_about"'),
        ("1000,100,3,3", "1000,100,3,3,9", "has not the 3 lines of the table"),
        ("1000,100,3,3", '"1000",100,3,3', "is quoted or ended in another way"),
        ("\n1000,100", "\r\n1000,100", "is quoted or ended in another way"),
    ],
)
def test_a_change_of_the_csv_is_named_by_row_and_column(site: Path, old: str, new: str, said: str) -> None:
    path = site / CSV
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode(), 1))
    sign(site)
    (line,) = lines(site)
    assert line.startswith(f"{CSV}")
    assert said in line


def test_a_csv_that_is_no_text_is_named(site: Path) -> None:
    (site / CSV).write_bytes(b"tasks,agents\n\xff")
    sign(site)
    (line,) = lines(site)
    assert line.startswith(f"{CSV}: is not UTF-8")


def test_a_missing_csv_is_named(site: Path) -> None:
    (site / CSV).unlink()
    sign(site)
    assert lines(site) == [f"{CSV}: is missing. Build the site again, or restore the published file."]


def test_values_that_print_alike_are_marked_as_ties(tmp_path: Path) -> None:
    # 2.00062 ms and 2.00061 ms print alike with 3 places and differ in their exact value
    document = runtime_execution(tasks=1000, seed=1, label="1k")
    for run in document["runs"]:
        run["elapsed_ms"] = 2.00062 if run["agents"] == 100 else 2.00061
        run["tasks_per_second"] = run["tasks_completed"] / (run["elapsed_ms"] / 1000)
    site = write_site(tmp_path, REPORT_SPEC, documents={"1k": document}) / "build" / "site"
    value = json.loads((site / REPORT).read_bytes())
    assert cell(value)["ties"] is True
    assert lines(site) == []
    assert any("elapsed).ties" in line for line in change(site, lambda v: cell(v).pop("ties")))


def test_evidence_that_breaks_a_rule_is_named(site: Path) -> None:
    name = f"data/{NAME}/1k.json"
    found = change(site, lambda value: value["runs"][0].update(tasks_failed=1), name)
    assert any(line.startswith(f"{name}::$.runs[0]") for line in found)


def test_evidence_of_a_wrong_shape_stops_the_report_and_says_why(site: Path) -> None:
    name = f"data/{NAME}/1k.json"
    found = change(site, lambda value: value["runs"][0].pop("elapsed_ms"), name)
    assert any(line.startswith(f"{name}::$.runs[0]") and "elapsed_ms" in line for line in found)
    assert any("could not be recounted" in line for line in found)


def test_raw_files_of_the_project_must_be_the_published_ones(project: Path, site: Path) -> None:
    path = project / "data" / NAME / "1k.json"
    path.write_bytes(path.read_bytes() + b"\n")
    (line,) = lines(site)
    assert line.startswith(f"data/{NAME}/1k.json::SHA-256 of the project's file: shown")
    assert verify(site).differences == ()


def test_a_raw_file_of_the_project_that_the_report_leaves_out_is_named(project: Path, site: Path) -> None:
    folder = project / "data" / NAME
    (folder / "worse.json").write_bytes((folder / "1k.json").read_bytes())
    (line,) = lines(site)
    assert line.startswith(f"{REPORT}::$.data: leaves out data/{NAME}/worse.json, which its spec's")


def test_a_profile_beside_the_data_is_left_out_of_every_report(project: Path, site: Path) -> None:
    folder = project / "data" / NAME
    example = Path(__file__).parents[2] / "schemas" / "profile" / "examples" / "perf.json"
    (folder / "1k.profile.json").write_bytes(example.read_bytes())
    assert lines(site) == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-cmd", "'-cmd"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1", "' =1"),
        ("\t1", "'\t1"),
        ("-0.5", "-0.5"),
        ("12.000", "12.000"),
        ("≤ 0.5", "≤ 0.5"),
        ("sleep 0.1", "sleep 0.1"),
        ("", ""),
    ],
)
def test_a_text_that_a_spreadsheet_would_run_is_disarmed(text: str, written: str) -> None:
    assert artefacts.harmless(text) == written
