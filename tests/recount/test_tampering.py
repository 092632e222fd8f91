"""Whoever changes a number of a published site, and signs the site again, is found at the right place.

The site is a real one: two reports, charts and all pages, as the site builder makes it.
"""

from __future__ import annotations

import dataclasses
import html
import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.published import edit, replace_once, sign

from tallymark.evidence import canonical
from tallymark.recount import charts, files, pages, published, search, status
from tallymark.recount.difference import Difference
from tallymark.recount.published import Published
from tallymark.recount.verify import verify

NAME = "runtime-scale"
PAGE = f"reports/{NAME}.html"
RAW = "data/runtime-scale/100k.json"
CELL = re.compile(r"(<td\b[^>]*>)(.*?)(?=</td>)", re.DOTALL)
MARKED = re.compile(r'(<(?:span|code|time|h1)\b[^>]*data-from="(?!illustration)[^>]*>)([^<]*)(?=<)')
ROW = "tasks=100000,agents=100"


def differences(site: Path) -> list[Difference]:
    return list(verify(site, site.parent.parent).differences)


def lines(site: Path) -> list[str]:
    return [one.line() for one in differences(site)]


def next_digit(inside: str, pick: Callable[[list[int]], int]) -> str:
    """``inside`` with one digit of its text (never of a tag) replaced by the next one."""
    digits = [m.start() for m in re.finditer(r"\d(?![^<]*>)", inside) if not _in_entity(inside, m.start())]
    if not digits:
        return inside
    at = pick(digits)
    return inside[:at] + str((int(inside[at]) + 1) % 10) + inside[at + 1 :]


def _in_entity(text: str, at: int) -> bool:
    start = text.rfind("&", 0, at)
    return start >= 0 and re.fullmatch(r"&#?\w*", text[start:at]) is not None


def visible(inside: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", inside))


@pytest.fixture(scope="module")
def read(built: Path) -> Published:
    return published.read_site(files.from_folder(built / "build" / "site"))


def compare(read: Published, changes: Mapping[str, bytes]) -> list[Difference]:
    """What pages, charts, search and status of the site say with other bytes of some files."""
    held = {name: read.files.read(name) for name in read.files.names} | dict(changes)
    changed = dataclasses.replace(read, files=files.from_memory("site", held))
    trees, unreadable = pages.read_pages(changed.files)
    found = [*unreadable, *pages.compare_pages(changed, trees).differences]
    found += [*charts.compare_charts(changed, trees)[1], *search.compare_search(changed.files, trees)]
    return [*found, *status.compare(changed)]


def edited(read: Published, page: str, change: Callable[[str], str]) -> list[str]:
    """The same for one edited text, as lines."""
    text = read.files.text(page)
    after = change(text)
    assert after != text, "the edit changed nothing"
    return [one.line() for one in compare(read, {page: after.encode()})]


@pytest.mark.parametrize(
    ("page", "marked"),
    [(PAGE, CELL), (PAGE, MARKED), ("reports/sleeping.html", CELL), ("index.html", MARKED)],
    ids=["td", "prose", "td of an import", "prose of the start page"],
)
def test_a_digit_changed_in_every_number_is_found_in_every_number(
    read: Published, page: str, marked: re.Pattern[str]
) -> None:
    changed: list[tuple[str, str]] = []

    def change(match: re.Match[str]) -> str:
        inside = next_digit(match[2], lambda digits: digits[-1])
        if inside != match[2]:
            changed.append((visible(match[2]), visible(inside)))
        return match[1] + inside

    found = compare(read, {page: marked.sub(change, read.files.text(page)).encode()})
    assert len(changed) > 8
    for before, after in changed:
        assert any(
            one.shown and one.shown in after and one.recomputed and one.recomputed in before for one in found
        )


def test_one_digit_of_any_cell_is_enough(read: Published) -> None:
    text = read.files.text(PAGE)
    source = random.Random(20261129)
    cells = [m for m in CELL.finditer(text) if next_digit(m[2], source.choice) != m[2]]
    for match in source.sample(cells, 12):
        inside = next_digit(match[2], source.choice)
        tampered = text[: match.start(2)] + inside + text[match.end(2) :]
        found = compare(read, {PAGE: tampered.encode()})
        assert found, match.group()
        assert any((one.shown or "") in visible(inside) for one in found), match.group()


def test_the_cell_is_named_with_the_shown_and_the_recomputed_text(real: Path) -> None:
    text = (real / PAGE).read_text()
    cell = re.search(r'data-from="cell:~:elapsed"[^>]*><a[^>]*>([^<]*)</a>', text)
    assert cell is not None
    right, wrong = cell[1], next_digit(cell[1], lambda digits: digits[0])
    edit(real, PAGE, replace_once(cell.group(), cell.group().replace(f">{right}<", f">{wrong}<")))
    assert lines(real)[0] == (
        f'{PAGE}::report {NAME}, row {ROW}, column elapsed: shown "{wrong}", recomputed "{right}". '
        "Build the site again, or find out who edited the page."
    )


def document(site: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((site / RAW).read_bytes())
    return value


def test_one_byte_of_a_raw_file_is_found_in_the_file_and_in_every_cell_that_it_moves(real: Path) -> None:
    run = next(run for run in document(real)["runs"] if run["agents"] == 100)
    # the identifier leads to the run; its peak of 17 MiB becomes 27825792 bytes = 26.54 MiB
    pattern = f'({run["run_id"]}.*?"peak_rss_bytes": )1(7825792)'
    edit(real, RAW, lambda text: re.sub(pattern, r"\g<1>2\2", text, count=1, flags=re.DOTALL))
    found = lines(real)
    assert any(line.startswith(f"{RAW}::SHA-256 of the project's file: shown") for line in found)
    assert any(f'row {ROW}, column peak_rss: shown "17.00", recomputed "26.54"' in line for line in found)
    assert any(line.startswith(f"reports/{NAME}.json::$.data[0].sha256: shown") for line in found)


def test_an_unlisted_file_is_found(real: Path) -> None:
    (real / "data" / "runtime-scale" / "best.json").write_bytes((real / RAW).read_bytes())
    (line,) = lines(real)
    assert line.startswith("data/runtime-scale/best.json: is there and not listed")


def test_a_run_deleted_from_a_document_is_found(real: Path) -> None:
    value = document(real)
    del value["runs"][2]
    (real / RAW).write_bytes(canonical.encode(value))
    sign(real)
    assert any(line.startswith(f"{RAW}::$.execution.plan") for line in lines(real))


def test_a_run_deleted_with_its_plan_entry_is_found(real: Path) -> None:
    value = document(real)
    del value["runs"][2], value["execution"]["plan"][2]
    (real / RAW).write_bytes(canonical.encode(value))
    sign(real)
    assert any(line.startswith(f"{RAW}::") for line in lines(real))


def test_two_runs_swapped_between_configurations_are_found(real: Path) -> None:
    value = document(real)
    few = next(run for run in value["runs"] if run["agents"] == 100)
    many = next(run for run in value["runs"] if run["agents"] == 1000)
    few["agents"], many["agents"] = 1000, 100
    (real / RAW).write_bytes(canonical.encode(value))
    sign(real)
    assert any(line.startswith(f"{RAW}::$.runs[") and "plan" in line for line in lines(real))


def test_runs_swapped_together_with_the_plan_are_found_in_the_cells(real: Path) -> None:
    value = document(real)
    for part in (value["runs"], [entry["configuration"] for entry in value["execution"]["plan"]]):
        for one in part:
            one["agents"] = 1100 - one["agents"]
    (real / RAW).write_bytes(canonical.encode(value))
    sign(real)
    assert any(f"row {ROW}, column elapsed: shown" in line for line in lines(real))


def with_chart(read: Published, change: Callable[[dict[str, Any]], Any]) -> list[str]:
    """What recount says when the first figure is changed in the chart data, in script and JSON alike."""
    name = f"reports/{NAME}.charts.json"
    value = json.loads(read.files.read(name))
    change(value["figures"][0])
    data = canonical.encode(value)
    script = b"window.tallymarkCharts = " + data[:-1] + b";\n"
    changes = {name: data, f"reports/{NAME}.charts.js": script}
    return [one.line() for one in compare(read, changes) if one.file == name]


def test_a_value_of_a_chart_is_found(read: Published) -> None:
    def raise_it(figure: dict[str, Any]) -> None:
        figure["data"][0]["y"][1] += 1

    (line,) = with_chart(read, raise_it)
    assert line.startswith(f'reports/{NAME}.charts.json::$.figures[0].data[0].y[1]: shown "')


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda figure: figure["data"].pop(), "$.figures[0].data: holds"),
        (lambda figure: figure["data"][0]["x"].reverse(), "$.figures[0].data[0].x[0]: shown"),
        (lambda figure: figure["data"][0].update(text=["99"]), "$.figures[0].data[0].text: is unknown"),
        (lambda figure: figure["data"][0].update(name="15000"), "$.figures[0].data[0].name"),
        (lambda figure: figure["data"][0]["meta"].update({"from": "series:cells/x/y"}), "$.figures[0].data"),
        (lambda figure: figure["data"][0].pop("meta"), "$.figures[0].data[0]: has no source"),
        (lambda figure: figure["layout"].update(annotations=[{}]), "layout.annotations: is unknown"),
        (lambda figure: figure["layout"]["meta"].update(swap=False), "$.figures[0].layout.meta: says"),
        (lambda figure: figure["layout"]["xaxis"]["ticktext"].reverse(), "does not name the rows"),
        (lambda figure: figure.update(title="9 times faster"), "$.figures[0].title: says"),
        (lambda figure: figure.update(id="other"), "$.figures: shown"),
    ],
)
def test_whatever_else_is_changed_in_a_chart_is_found(
    read: Published, change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    assert any(said in line for line in with_chart(read, change))


def test_a_chart_script_that_is_not_the_data_is_found(read: Published) -> None:
    found = edited(read, f"reports/{NAME}.charts.js", replace_once("tallymarkCharts", "tallymarkCharts2"))
    assert any(line.startswith(f"reports/{NAME}.charts.js: does not hold the bytes of") for line in found)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (r'<circle cx="([0-9.]+)"', '<circle cx="1.00"', "point 1: shown"),
        (r'<polyline points="[0-9.]+,', '<polyline points="1.00,', "point 1: shown"),
        (r'<circle cx="[0-9.]+" cy="[0-9.]+" r="4"/>', "", "points"),
        (r'(data-axis="y" data-value="[^"]*" data-from="axis">)([^<]*)', r"\g<1>9\2", "does not read as"),
        (r'<text class="across" x="[0-9.]+"', '<text class="across" x="3.00"', 'stands at "3.00"'),
        (r'data-y="(\w+),[^,]*,', r'data-y="\1,0.001,', "point 1: shown"),
        (r'<g class="dots', '<g transform="translate(9)" class="dots', "is moved by an attribute"),
        (r"(<circle[^>]*/></g>)", r'\1<circle cx="5" cy="5" r="4"/>', "belongs to no series"),
        (r'<path class="key s0"', '<path class="key s1"', "is not that of its series"),
    ],
)
def test_whatever_is_moved_in_a_static_chart_is_found(read: Published, old: str, new: str, said: str) -> None:
    found = edited(read, PAGE, lambda text: re.sub(old, new, text, count=1))
    assert any(said in line and f"{PAGE}::figure " in line for line in found), found


def test_a_search_index_with_another_number_is_found(read: Published) -> None:
    name = "search/search_index.json"
    (line,) = edited(read, name, replace_once(" reports, ", " reports, 987654 runs, "))
    assert line == f'{name}::$.docs[0]: shows "987654", which index.html does not. Build the site again.'


def test_a_status_that_claims_more_than_there_is_is_found(read: Published) -> None:
    found = edited(
        read, "recount-status.json", lambda text: re.sub(r'"cells": \d+', '"cells": 9999', text, count=1)
    )
    assert any(line.startswith("recount-status.json::$.reports: shown") for line in found)


def test_a_cell_of_the_csv_is_found(real: Path) -> None:
    path = f"reports/{NAME}.csv"
    edit(real, path, lambda text: re.sub(r"^(100000,100,3,)", r"\g<1>9", text, count=1, flags=re.MULTILINE))
    assert any(line.startswith(f"{path}::row {ROW}, column runs_exact: shown") for line in lines(real))


def test_a_rounding_rule_changed_in_the_spec_is_found(real: Path) -> None:
    edit(real, f"reports/{NAME}.spec.json", replace_once('"places": 3', '"places": 2'))
    found = lines(real)
    assert any(f'{NAME}.spec.json::$.columns[1].places: shown "2", recomputed "3"' in line for line in found)
    assert any(f"{PAGE}::report {NAME}, row {ROW}, column elapsed: shown" in line for line in found)


@pytest.mark.parametrize(
    "name", ["recount.py", "tallymark/tallymark.js", "assets/plotly/plotly-cartesian.min.js"]
)
def test_changed_code_of_ours_is_found(real: Path, name: str) -> None:
    (real / name).write_bytes((real / name).read_bytes() + b"\n")
    sign(real)
    assert any(line.startswith(f"{name}: is not that of tallymark") for line in lines(real))


def test_a_broken_report_is_said_once_and_its_numbers_once_a_page(real: Path) -> None:
    edit(
        real,
        f"reports/{NAME}.spec.json",
        replace_once('"aggregate": "median_of_runs"', '"aggregate": "mean"'),
    )
    found = lines(real)
    assert any(line.startswith(f"reports/{NAME}.spec.json::$.columns[") for line in found)
    assert (
        sum(f"report {NAME} could not be recounted" in line for line in found if line.startswith(PAGE)) == 1
    )
