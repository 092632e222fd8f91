"""The table of a report stands on its page: every cell, in its place, once."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from support.evidence import REPORT_SPEC
from support.published import NAME, differences, replace_once, write_site

from tallymark.recount import files, published
from tallymark.recount.published import Published

PAGE = f"reports/{NAME}.html"


TITLED = 'repetitions = 3\nrow_titles = { agents = "registered roles" }\n'


def edited(read: Published, change: Callable[[str], str]) -> list[str]:
    before = read.files.text(PAGE)
    after = change(before)
    assert after != before, "the edit changed nothing"
    return differences(read, {PAGE: after})


def row(text: str, at: int) -> str:
    rows: list[str] = re.findall(r"<tr data-base.*?</tr>", text)
    return rows[at]


def swap(first: str, second: str) -> Callable[[str], str]:
    return lambda text: text.replace(first, "\0").replace(second, first).replace("\0", second)


def test_a_removed_cell_is_named(read: Published) -> None:
    found = edited(read, lambda text: re.sub(r'<td data-from="cell:~:elapsed".*?</td>', "", text, count=1))
    assert any("column elapsed of row tasks=1000,agents=100 is missing" in line for line in found)


def test_a_removed_row_is_named(read: Published) -> None:
    found = edited(read, lambda text: text.replace(row(text, 1), ""))
    assert len(found) == 7  # 2 keys and 5 cells
    assert any("column peak_rss of row tasks=1000,agents=1000 is missing" in line for line in found)


def test_two_swapped_cells_are_named_even_with_their_sources(read: Published) -> None:
    def exchange(text: str) -> str:
        one = re.findall(r'<td data-from="cell:~:elapsed".*?</td>', row(text, 0))[0]
        other = re.findall(r'<td data-from="cell:~:rate_median".*?</td>', row(text, 0))[0]
        return text.replace(row(text, 0), swap(one, other)(row(text, 0)))

    (line,) = edited(read, exchange)
    assert "table, row 1: shown" in line
    assert "column rate_median of row tasks=1000,agents=100" in line


def test_two_swapped_rows_are_named(read: Published) -> None:
    (line,) = edited(read, lambda text: swap(row(text, 0), row(text, 1))(text))
    assert "table, row 1" in line


def test_a_repeated_row_is_named(read: Published) -> None:
    found = edited(read, lambda text: text.replace(row(text, 0), row(text, 0) * 2))
    assert any("stands twice" in line for line in found)


def test_two_swapped_headers_are_named_even_with_their_sources(read: Published) -> None:
    found = edited(read, lambda text: swap(*re.findall(r"<th><span.*?</th>", text)[3:5])(text))
    assert len(found) == 2
    assert all("table head: header" in line for line in found)


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """The small site with a title for one of its two row keys."""
    spec = REPORT_SPEC.replace("repetitions = 3\n", TITLED, 1)
    project = write_site(tmp_path_factory.mktemp("titled"), spec)
    return published.read_site(files.from_folder(project / "build" / "site"))


def test_a_row_key_is_shown_by_its_title(titled: Published) -> None:
    assert "registered roles</span></th>" in titled.files.text(PAGE)
    assert differences(titled, {}) == []


def test_a_row_key_without_its_title_is_named(titled: Published) -> None:
    shown = f'"spec:{NAME}/$.row_titles.agents">registered roles<'
    (line,) = edited(titled, replace_once(shown, f'"spec:{NAME}/$.rows[1]">agents<'))
    assert f"table head: header 2 is not spec:{NAME}/$.row_titles.agents" in line


def test_another_title_of_a_row_key_is_named(titled: Published) -> None:
    (line,) = edited(titled, replace_once("registered roles<", "users<"))
    assert 'shown "users", recomputed "registered roles"' in line


def test_a_header_without_its_unit_is_named(read: Published) -> None:
    (line,) = edited(read, replace_once(f' <i data-from="spec:{NAME}/$.columns[1].unit">ms</i>', " seconds"))
    assert "table head: header 4 is not" in line


def test_a_cell_without_a_source_is_named(read: Published) -> None:
    found = edited(read, replace_once('<td data-from="cell:~:runs" data-exact="3">3', "<td>3"))
    assert any('the number "3" has no source' in line for line in found)
    assert any("column runs of row tasks=1000,agents=100 is missing" in line for line in found)


def test_a_copy_of_the_page_is_named(read: Published) -> None:
    page = read.files.text(PAGE)
    found = differences(read, {"reports/better.html": page, "copy.html": page})
    assert "reports/better.html: is the page of a report that is not published. Remove the page." in found
    assert sum("a second time or on the wrong page" in line for line in found) == 2


def test_a_table_that_only_looks_like_the_report_is_named(read: Published) -> None:
    looks = (
        f'<table><tr data-base="{NAME}/tasks=1000,agents=100">'
        '<th data-from="key:~/tasks">1000</th><td data-from="cell:~:runs">3</td></tr></table><p>Runs found'
    )
    (line,) = edited(read, replace_once("<p>Runs found", looks))
    assert "has the cells of a report outside its table" in line


def test_a_report_without_its_page_is_named(read: Published) -> None:
    found = differences(read, {PAGE: "<article><p>Nothing to see.</p></article>"})
    assert found == [f"{PAGE}: does not show the table of {NAME}. Build the site again."]


def test_a_table_needs_one_head_and_one_body(read: Published) -> None:
    (line,) = edited(read, lambda text: text.replace("<thead>", "").replace("</thead>", ""))
    assert "has not one head and one body" in line


def test_a_cell_whose_source_has_no_form_is_named(read: Published) -> None:
    found = edited(read, replace_once("cell:~:runs", "cell:5:runs"))
    assert any("'cell:5:runs' lacks a part" in line for line in found)
    assert any("a cell with cell:5:runs does not belong there" in line for line in found)
